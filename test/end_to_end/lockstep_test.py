"""Tests that the warp accesses collected on the CPU back end are those of a warp in lock step; kernels/lockstep.cu holds the counts."""

import re
import unittest

import warplens_tool
from warplens_tool import KERNELS, Profile, only

EXPECTATION = re.compile(r"// expect: (\w+), (\d+) executions by warps, (\d+) by lanes$")


class LockStep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(KERNELS / "lockstep.cu", "--gpu", "c2050", "--trials", "2")

    def test_the_program_computes_the_right_values(self):
        lines = self.profile.stdout.splitlines()
        self.assertEqual(len(lines), 11)
        self.assertEqual(lines[-1], "atomics: 4 4")
        for line in lines[:-1]:
            self.assertRegex(line, r"^\w+: right$")

    def test_counts(self):
        sites = [site for kernel in self.profile.result["kernels"] for site in kernel["sites"]]
        expectations = [(number, match) for number, line in enumerate(self.profile.lines, 1)
                        if (match := EXPECTATION.search(line))]
        self.assertEqual(len(expectations), 23)
        for number, match in expectations:
            kind, executions, lanes = match[1], int(match[2]), int(match[3])
            with self.subTest(line=f"{number}: {self.profile.lines[number - 1].strip()}"):
                site = only(site for site in sites if site["line"] == number and site["kind"] == kind)
                self.assertEqual(site["executions"], executions)
                self.assertAlmostEqual(site["executions"] * site["active_lanes"], lanes, places=6)

    def test_shared_memory_is_recognised(self):
        for site in self.profile.kernel("reduction")["sites"]:
            if site["kind"] == "barrier":
                continue
            with self.subTest(site=site["expression"]):
                self.assertEqual(site["space"], "shared" if site["expression"].startswith("tile") else "global")


if __name__ == "__main__":
    warplens_tool.main()
