"""Tests that the whole tool finds the figures that can be worked out by hand: counts exactly, rates to half a point.

Assumed throughout: allocations start at multiples of 256 bytes; each launch starts with cold caches (--cold); lanes of one warp access
are coalesced over the whole warp; a hit on a line or sector whose fill is still in flight counts as a hit; nothing promotes a
miss in L1 to more sectors than were requested, except on the C2050, whose L1 has no sectors and always fills 128 bytes.
56 blocks of 256 threads are 448 warps.
"""

import unittest

import warplens_tool
from warplens_tool import KERNELS, Profile

WARPS = 448
RATE = 0.005
GPUS = ("c2050", "a100")
STRIDES = (4, 8, 16, 32, 64, 128, 256)


class Patterns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(KERNELS / "patterns.cu", "--gpu", ",".join(GPUS), "--trials", "16", "--cold")

    def find(self, kernel, site, gpu, kind="load"):
        return self.profile.site(self.profile.kernel(kernel, gpu), site, kind)

    def check_counts(self, site, executions, sectors, lanes=32):
        self.assertEqual(site["executions"], executions)
        self.assertEqual(site["active_lanes"], lanes)
        self.assertEqual(site["sectors_per_request"], sectors)
        self.assertEqual(site["bytes_moved"], executions * sectors * 32)

    def check_l1(self, site, rate):
        self.assertAlmostEqual(site["l1_hit_rate"]["mean"], rate, delta=RATE)

    def test_the_program_computes_the_right_values(self):
        lines = self.profile.stdout.splitlines()
        self.assertEqual(len(lines), 25)
        for line in lines:
            self.assertRegex(line, r"^\w+: right$")

    def test_coverage(self):
        self.assertGreaterEqual(self.profile.result["coverage"]["executed_accesses_probed"], 0.99)

    def test_streaming_copy(self):
        """128 bytes a warp are four sectors, each used once: no hit anywhere."""
        for gpu in GPUS:
            with self.subTest(gpu=gpu):
                load, store = (self.find("copy", "copy", gpu, kind) for kind in ("load", "store"))
                self.check_counts(load, WARPS, 4)
                self.check_counts(store, WARPS, 4)
                self.assertEqual(load["bytes_used"], WARPS * 128)
                self.check_l1(load, 0)
                self.assertAlmostEqual(load["l2_hit_rate"]["mean"], 0, delta=RATE)
                self.assertEqual(self.profile.kernel("copy", gpu)["totals"]["dram_read_bytes"], WARPS * 128)

    def test_sectors_of_strides_across_lanes(self):
        """32 lanes at a stride span 32 × stride bytes, but no more than one sector a lane."""
        for gpu in GPUS:
            for stride in STRIDES:
                with self.subTest(gpu=gpu, stride=stride):
                    site = self.find(f"stride<{stride}>", "stride", gpu)
                    self.check_counts(site, WARPS, min(stride, 32))
                    self.assertEqual(site["bytes_used"], WARPS * 128)
                    self.check_l1(site, 0)

    def test_sectors_of_structs_across_lanes(self):
        """32 structs of 12 (24) bytes lie in 12 (24) sectors, and no stride below 32 leaves one out."""
        for gpu in GPUS:
            for struct, sectors in (("triple", 12), ("wide", 24)):
                for field in "xyz":
                    with self.subTest(gpu=gpu, struct=struct, field=field):
                        site = self.find(f"{struct}_fields", f"{struct}_{field}", gpu)
                        self.check_counts(site, WARPS, sectors)

    def test_l1_of_struct_fields(self):
        """The first of the three loads of one warp misses and the others find all its sectors. Which one is first depends on
        where the model lets a warp start in its trace (schedule deviation), so only their sum is certain. On the A100 each block
        has an SM to itself; on the C2050 four share one, whose L1 still holds their 12-byte structs (12 KiB)."""
        for gpu, kernel in (("a100", "triple_fields"), ("a100", "wide_fields"), ("c2050", "triple_fields")):
            with self.subTest(gpu=gpu, kernel=kernel):
                totals = self.profile.kernel(kernel, gpu)["totals"]
                self.assertAlmostEqual(totals["l1_read_hit_rate"]["mean"], 2 / 3, delta=RATE)

    def test_one_thread_walking_memory(self):
        """One miss per unit of fill: 128 bytes on the C2050, a sector of 32 on the A100."""
        for gpu, fill in (("c2050", 128), ("a100", 32)):
            for stride in STRIDES:
                with self.subTest(gpu=gpu, stride=stride):
                    site = self.find(f"walk<{stride}>", "walk", gpu)
                    self.check_counts(site, 1024, 1, lanes=1)
                    self.check_l1(site, max(0, 1 - stride / fill))

    def test_table_that_fits_the_l1(self):
        """Ten rounds over a table of at most three quarters of the L1 (16 KiB, 192 KiB): only the first round misses."""
        for gpu, kilobytes in (("c2050", 12), ("a100", 12), ("a100", 96)):
            with self.subTest(gpu=gpu, kilobytes=kilobytes):
                site = self.find(f"reread<{kilobytes * 256}>", "reread", gpu)
                self.assertEqual(site["executions"], kilobytes * 8 * 10)
                self.check_l1(site, 0.9)

    def test_table_that_fits_the_l2_only(self):
        """One warp sweeps a table of at least twice the L1 again and again: least-recently-used order has always just evicted
        the next line, so the L1 never hits, and the L2 misses in the first round only."""
        for gpu, kilobytes, rounds in (("c2050", 64, 10), ("a100", 512, 5)):
            with self.subTest(gpu=gpu):
                site = self.find(f"reread<{kilobytes * 256}>", "reread", gpu)
                self.check_counts(site, kilobytes * 8 * rounds, 4)
                self.check_l1(site, 0)
                self.assertAlmostEqual(site["l2_hit_rate"]["mean"], 1 - 1 / rounds, delta=RATE)

    def test_all_blocks_read_the_same_line(self):
        """The first warp on each SM misses in L1, the first of those in L2. Blocks go to SMs round robin: 56 blocks use all 14
        SMs of a C2050, and 56 of an A100's."""
        for gpu, sms in (("c2050", 14), ("a100", 56)):
            with self.subTest(gpu=gpu):
                site = self.find("same_line", "same_line", gpu)
                self.check_counts(site, WARPS, 4)
                self.check_l1(site, 1 - sms / WARPS)
                self.assertAlmostEqual(site["l2_hit_rate"]["mean"], 1 - 1 / sms, delta=RATE)

    def test_float4(self):
        """16 bytes a lane in one access: 512 bytes a warp, 16 sectors."""
        for gpu in GPUS:
            for kind in ("load", "store"):
                with self.subTest(gpu=gpu, kind=kind):
                    site = self.find("copy_float4", "float4", gpu, kind)
                    self.assertEqual(site["element_bytes"], 16)
                    self.check_counts(site, WARPS, 16)

    def test_copy_of_a_struct(self):
        """Compiled code copies a class in units of its alignment, at most 16 bytes: 12 bytes aligned to 4 are three accesses,
        each to 12 sectors; 32 bytes aligned to 16 are two, each to 32. The later ones hit in L1."""
        for gpu in GPUS:
            for kind in ("load", "store"):
                for struct, accesses, sectors in (("triple", 3, 12), ("pair", 2, 32)):
                    with self.subTest(gpu=gpu, kind=kind, struct=struct):
                        site = self.find(f"copy_{struct}", struct, gpu, kind)
                        self.check_counts(site, WARPS * accesses, sectors)
        self.check_l1(self.find("copy_triple", "triple", "a100"), 2 / 3)
        self.check_l1(self.find("copy_pair", "pair", "a100"), 1 / 2)


if __name__ == "__main__":
    warplens_tool.main()
