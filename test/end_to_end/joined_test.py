"""Tests that components which the compiler accesses at once count once, with their common width: kernels/joined.cu against
nvcc's own PTX."""

import collections
import os
import unittest

import ptx
import warplens_tool
from warplens_tool import KERNELS, Profile

# Accesses are counted as nvcc's PTX has them, not as the machine code that is made of it.
os.environ["WARPLENS_EXECUTE"] = "none"
SOURCE = KERNELS / "joined.cu"


def counted(kernel):
    """Returns the accesses of the one warp, in the format of ptx.accesses_of()."""
    result = collections.Counter()
    for site in kernel["sites"]:
        if site["kind"] == "barrier":
            continue
        for kind in ["load", "store"] if site["kind"] == "update" else [site["kind"]]:
            result[kind, site["space"], site["element_bytes"]] += site["executions"]
    return result


class Joined(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(SOURCE, "--gpu", "a100", "--trials", "2")

    def test_the_program_runs(self):
        self.assertEqual(self.profile.stdout, "right\n")

    def test_accesses_are_those_of_nvcc(self):
        of_nvcc = ptx.accesses_of(SOURCE)
        self.assertEqual(len(of_nvcc), 11, of_nvcc.keys())
        for kernel, accesses in of_nvcc.items():
            with self.subTest(kernel=kernel):
                self.assertEqual(counted(self.profile.kernel(kernel)), accesses)

    def test_a_request_has_all_that_the_vectors_lie_in(self):
        (site,) = (site for site in self.profile.kernel("by_component")["sites"] if site["kind"] == "load")
        self.assertEqual(site["expression"], "a[t + i * 32].x")
        self.assertEqual(site["executions"], 4)
        self.assertEqual(site["sectors_per_request"], 16)
        self.assertEqual(self.profile.kernel("by_component")["totals"]["l1_read_hit_rate"]["mean"], 0)


if __name__ == "__main__":
    warplens_tool.main()
