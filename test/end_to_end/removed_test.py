"""Tests that accesses which the compiler removes or hoists are counted as they run; kernels/removed.cu holds the counts."""

import re
import unittest

import warplens_tool
from warplens_tool import KERNELS, Profile, only

EXPECTATION = re.compile(r"// expect: (?:(nothing)|(\w+), (\d+) executions by warps, (\d+) by lanes)$")


class Removed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(KERNELS / "removed.cu", "--gpu", "c2050", "--trials", "2")

    def test_the_program_computes_the_right_values(self):
        lines = self.profile.stdout.splitlines()
        self.assertEqual(len(lines), 8)
        for line in lines:
            self.assertRegex(line, r"^\w+: right$")

    def test_counts(self):
        sites = [site for kernel in self.profile.result["kernels"] for site in kernel["sites"]]
        expectations = [(number, match) for number, line in enumerate(self.profile.lines, 1)
                        if (match := EXPECTATION.search(line))]
        self.assertEqual(len(expectations), 21)
        for number, match in expectations:
            with self.subTest(line=f"{number}: {self.profile.lines[number - 1].strip()}"):
                there = [site for site in sites if site["line"] == number]
                if match[1]:
                    self.assertEqual(there, [])
                    continue
                site = only(there)
                self.assertEqual(site["kind"], match[2])
                self.assertEqual(site["executions"], int(match[3]))
                self.assertAlmostEqual(site["executions"] * site["active_lanes"], int(match[4]), places=6)

    def test_a_probe_that_records_once_still_covers_its_access(self):
        self.assertEqual(self.profile.result["coverage"]["executed_accesses_probed"], 1)


if __name__ == "__main__":
    warplens_tool.main()
