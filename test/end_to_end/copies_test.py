"""Tests asynchronous copies to shared memory, through the whole tool: what they move, and who waits for them."""

import unittest

import warplens_tool
from warplens_tool import KERNELS, Profile

BLOCKS, ROUNDS, WARPS = 4, 16, 8


class Copies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = ("--gpu", "a100", "--trials", "2", "--cold")
        cls.source = (KERNELS / "copies.cu").read_text().splitlines()
        cls.profile = Profile(KERNELS / "copies.cu", *options, "--nvcc", "-arch=sm_80")
        cls.older = Profile(KERNELS / "copies.cu", *options, "--kernel", "pipelined", "--nvcc", "-arch=sm_75")

    def sites(self, kernel, expression, kind):
        return [site for site in self.profile.kernel(kernel)["sites"] if expression in site["expression"] and site["kind"] == kind]

    def total(self, kernel, expression, kind, figure):
        return sum(site[figure] for site in self.sites(kernel, expression, kind))

    def test_the_program_computes_the_right_values(self):
        self.assertEqual(self.profile.stdout.splitlines(), ["right"])
        self.assertEqual(self.older.stdout.splitlines(), ["right"])

    def test_a_copy_is_a_load_and_a_store_to_shared_memory(self):
        copies = BLOCKS * ROUNDS * WARPS
        self.assertEqual(self.total("pipelined", "memcpy_async", "load", "executions"), copies)
        self.assertEqual(self.total("pipelined", "memcpy_async", "store", "executions"), copies)
        self.assertEqual(self.total("pipelined", "memcpy_async", "load", "bytes_used"), copies * 512)
        for site in self.sites("pipelined", "memcpy_async", "load"):
            self.assertEqual((site["space"], site["cache_operator"], site["sectors_per_request"]), ("global", "async_cg", 16))
            self.assertNotIn("l1_hit_rate", site)  # copies of 16 bytes skip the L1
        for site in self.sites("pipelined", "memcpy_async", "store"):
            self.assertEqual((site["space"], site["bank_conflicts"]), ("shared", 0))

    def test_the_data_come_from_memory(self):
        """Also where the compiler makes a load and a store of a copy."""
        read = BLOCKS * ROUNDS * WARPS * 512
        for profile in (self.profile, self.older):
            self.assertEqual(profile.kernel("pipelined")["totals"]["dram_read_bytes"], read)
        self.assertNotIn("code_unknown", self.profile.kernel("pipelined"))

    def test_the_line_that_waits_for_a_copy_has_the_wait(self):
        kernel = self.profile.kernel("pipelined")
        wait = next(number for number, text in enumerate(self.source, 1) if "// waits" in text)
        waiting = {line["line"]: line["states"].get("long_scoreboard", 0) for line in kernel["lines"]}
        self.assertGreater(waiting[wait], 0.3)
        self.assertGreater(waiting[wait], 10 * max(share for line, share in waiting.items() if line != wait))

    def test_every_executed_access_of_the_pipeline_has_a_probe(self):
        covered = Profile(KERNELS / "copies.cu", "--gpu", "a100", "--trials", "2", "--kernel", "pipelined", "--nvcc", "-arch=sm_80")
        self.assertEqual(covered.result["coverage"]["executed_accesses_probed"], 1)

    def test_narrow_copies_go_through_the_l1(self):
        loads = self.sites("narrow", ", 4)", "load")
        self.assertEqual([site["executions"] for site in loads], [WARPS])  # the one of zeros loads nothing
        self.assertEqual((loads[0]["element_bytes"], loads[0]["sectors_per_request"]), (4, 4))
        self.assertIn("l1_hit_rate", loads[0])

    def test_inline_ptx_copies_under_its_predicate(self):
        """200 threads copy: six warps, and a quarter of the seventh."""
        load = self.sites("ptx", "&in[t]", "load")[0]
        self.assertEqual((load["executions"], load["bytes_used"]), (7, 800))

    def test_a_group_copies_as_wide_as_the_alignment_that_it_knows(self):
        """That is 4 bytes for integers, 16 where the size says so."""
        group, half = self.sites("by_group", "memcpy_async", "load")
        self.assertEqual((group["executions"], group["bytes_used"], group["sectors_per_request"]), (4 * WARPS, 4096, 4))
        self.assertEqual((half["executions"], half["bytes_used"], half["sectors_per_request"]), (WARPS // 2, 2048, 16))


if __name__ == "__main__":
    warplens_tool.main()
