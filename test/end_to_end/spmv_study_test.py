"""Tests the finding of Baghsorkhi et al. (PPoPP 2012, case study) on its machine, the Tesla C2050, in its order of warps,
from the tool's own JSON.

Sparse matrix times vector, one thread per row, 32 (u, b) or 128 (U, B) non-zeros a row, at random (u, U) or block diagonal (b, B).
Against intuition the scalar kernel waits longer for indices[j] and val[j], which each thread reads in order, than for y[ind];
reading four at a time helps, most where y has locality.

24576 rows are somewhat more than the 21504 threads that 14 SMs run at once, so that the caches are as crowded as in the
paper. Four trials are enough: from one to another these latencies vary by less than 1 %.
"""

import unittest

import warplens_tool
from warplens_tool import PROJECT, Profile, only

ROWS = "24576"
INPUTS = ("u", "b", "U", "B")


def load_latency(kernel):
    """Returns the sum of executions × latency over all load sites, in ns. Both kernels go through the same rows, so that their
    ratio is that of the latencies per non-zero."""
    return sum(site["executions"] * site["latency_ns"]["mean"] for site in kernel["sites"]
               if site["kind"] == "load" and "latency_ns" in site)


class SpmvStudy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scalar, cls.vector = {}, {}
        for name in INPUTS:
            profile = Profile(PROJECT / "examples" / "spmv" / "spmv.cu", "--gpu", "c2050", "--schedule", "paper", "--trials", "4", "--cold",
                              run=[name, ROWS])
            cls.scalar[name], cls.vector[name] = profile.kernel("spmv_scalar"), profile.kernel("spmv_vector4")

    def latency(self, name, array):
        site = only(site for site in self.scalar[name]["sites"] if site["expression"].startswith(array + "["))
        return site["latency_ns"]["mean"]

    def test_streams_cost_more_than_the_gather(self):
        for name in INPUTS:
            with self.subTest(input=name):
                gather = self.latency(name, "y")
                self.assertGreater(self.latency(name, "indices"), gather)
                self.assertGreater(self.latency(name, "val"), gather)

    def test_four_at_a_time_helps_most_where_there_is_locality(self):
        ratio = {}
        for name in INPUTS:
            with self.subTest(input=name):
                self.assertEqual(self.scalar[name]["snapshot"]["blocks"], self.vector[name]["snapshot"]["blocks"])
                ratio[name] = load_latency(self.scalar[name]) / load_latency(self.vector[name])
                self.assertGreater(ratio[name], 1)
        self.assertGreater(ratio["b"], ratio["u"])
        self.assertGreater(ratio["B"], ratio["U"])


if __name__ == "__main__":
    warplens_tool.main()
