"""Tests constant memory's caches and the K80's read-only cache, through the whole tool: figures that can be worked out by hand."""

import os
import unittest

import warplens_tool
from warplens_tool import KERNELS, Profile

# ptxas makes one load of the two read-only ones: the hit rates are those of the accesses that the source has.
os.environ["WARPLENS_EXECUTE"] = "none"

BLOCKS = 80
WEIGHTS = 256


class OtherCaches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(KERNELS / "other_caches.cu", "--gpu", "v100,k80", "--trials", "4")

    def find(self, kernel, site, gpu="v100"):
        return self.profile.site(self.profile.kernel(kernel, gpu), site)

    def test_the_program_computes_the_right_values(self):
        self.assertEqual(self.profile.stdout.splitlines(), ["right"])

    def test_one_address_for_all_lanes(self):
        """1 KiB are 16 lines of an SM's cache and 4 of a group's; 80 SMs are 6 groups."""
        site, totals = self.find("uniform", "uniform"), self.profile.kernel("uniform", "v100")["totals"]
        self.assertEqual(site["space"], "constant")
        self.assertEqual(site["executions"], BLOCKS * WEIGHTS)
        self.assertAlmostEqual(site["constant_hit_rate"]["mean"], 1 - 16 / WEIGHTS)
        self.assertAlmostEqual(totals["constant_hit_rate"]["mean"], 1 - 16 / WEIGHTS)
        self.assertAlmostEqual(totals["constant_group_hit_rate"]["mean"], 1 - 6 * 4 / (BLOCKS * 16))
        self.assertNotIn("l1_hit_rate", site)

    def test_lanes_with_addresses_of_their_own(self):
        """Reads every eighth of the weights: two addresses in each of 16 lines."""
        self.assertAlmostEqual(self.find("apart", "apart")["constant_hit_rate"]["mean"], 0.5)

    def test_read_only_loads(self):
        """Reads each block's 128 bytes twice: through the V100's L1, or through the K80's read-only cache, whose L1 plain loads skip."""
        for gpu in ("v100", "k80"):
            with self.subTest(gpu=gpu):
                self.assertEqual(self.find("twice", "read only", gpu)["cache_operator"], "nc")
                self.assertAlmostEqual(self.find("twice", "read only", gpu)["l1_hit_rate"]["mean"], 0.5)
                self.assertEqual("l1_hit_rate" in self.find("twice", "plain", gpu), gpu == "v100")

    def test_without_constants_there_is_no_rate(self):
        self.assertNotIn("constant_hit_rate", self.profile.kernel("twice", "v100")["totals"])


if __name__ == "__main__":
    warplens_tool.main()
