"""Tests that accesses in unrolled loops count as often as the compiler leaves them: kernels/unrolled.cu against nvcc's own PTX."""

import re
import unittest

import ptx
import warplens_tool
from warplens_tool import KERNELS, Profile

SOURCE = KERNELS / "unrolled.cu"
EXPECTATION = re.compile(r"// expect: (\d+) (loads|stores)$")


def counted(kernel, line=None):
    """Returns the loads and stores of one thread of the one warp."""
    sites = [site for site in kernel["sites"] if line in (None, site["line"])]
    return [sum(site["executions"] for site in sites if site["kind"] in (kind, "update")) for kind in ("load", "store")]


def in_ptx(accesses):
    """Returns the same from a kernel's ptx.accesses_of(). (nvcc gives merged accesses the line of any of them.)"""
    return [sum(count for (of, space, _), count in accesses.items() if (of, space) == (kind, "global"))
            for kind in ("load", "store")]


class Unrolled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(SOURCE, "--gpu", "c2050", "--trials", "2")

    def test_the_program_runs(self):
        self.assertEqual(self.profile.stdout, "right\n")

    def test_counts_are_those_of_nvcc(self):
        of_nvcc = {kernel: in_ptx(accesses) for kernel, accesses in ptx.accesses_of(SOURCE).items()}
        self.assertEqual(len(of_nvcc), 11, of_nvcc.keys())
        for kernel, counts in of_nvcc.items():
            with self.subTest(kernel=kernel):
                self.assertEqual(counted(self.profile.kernel(kernel)), counts)

    def test_counts_where_loops_are_left(self):
        expectations = [(number, match) for number, line in enumerate(self.profile.lines, 1)
                        if (match := EXPECTATION.search(line))]
        self.assertEqual(len(expectations), 7)
        for number, match in expectations:
            with self.subTest(line=f"{number}: {self.profile.lines[number - 1].strip()}"):
                there = [counted(kernel, number) for kernel in self.profile.result["kernels"]]
                self.assertEqual(sum(both[match[2] == "stores"] for both in there), int(match[1]))


if __name__ == "__main__":
    warplens_tool.main()
