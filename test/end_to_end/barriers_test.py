"""Tests that barriers are counted as they run, and that warps wait there: kernels/barriers.cu, and two examples."""

import csv
import io
import json
import pathlib
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, PROJECT, Profile, only, warplens


def barriers(kernel):
    """Returns the executions of each barrier, by line."""
    return [site["executions"] for site in kernel["sites"] if site["kind"] == "barrier"]


class Barriers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(KERNELS / "barriers.cu", "--gpu", "a100", "--trials", "4")

    def site(self, kernel, name):
        return self.profile.site(self.profile.kernel(kernel), name, "barrier")

    def report(self, format):
        with tempfile.TemporaryDirectory() as folder:
            result = pathlib.Path(folder, "result.json")
            result.write_text(json.dumps(self.profile.result))
            done = warplens("report", result, "--format", format, cwd=PROJECT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_program_computes_the_right_values(self):
        self.assertEqual(self.profile.stdout, "even right\nuneven right\nvariants right\n")

    def test_each_warp_arrives_once(self):
        for kernel, name, executions, lanes in (("even", "filled", 6 * 4 * 5, 32), ("even", "read", 6 * 4 * 5, 32),
                                                ("uneven", "uneven", 6 * 4, 32), ("variants", "count", 6 * 3, 80 / 3),
                                                ("variants", "and", 6 * 3, 80 / 3), ("variants", "or", 6 * 3, 80 / 3),
                                                ("variants", "in a function", 6 * 3, 80 / 3)):
            with self.subTest(kernel=kernel, barrier=name):
                site = self.site(kernel, name)
                self.assertEqual(site["executions"], executions)
                self.assertAlmostEqual(site["active_lanes"], lanes)
                self.assertEqual(site["space"], "generic")

    def test_a_barrier_has_no_figures_of_memory(self):
        site = self.site("even", "filled")
        for figure in ("sectors_per_request", "bytes_used", "bytes_moved", "bank_conflicts", "l1_hit_rate", "l2_hit_rate",
                       "latency_ns", "latency_parts", "latency_share"):
            self.assertNotIn(figure, site)

    def test_barriers_are_no_accesses(self):
        self.assertEqual(self.profile.kernel("even")["snapshot"]["warp_accesses"], 6 * 4 * (5 * 3 + 1))
        self.assertEqual(self.profile.result["coverage"]["executed_accesses_probed"], 1)

    def test_warps_wait_for_the_last_one(self):
        kernel, site = self.profile.kernel("uneven"), self.site("uneven", "uneven")
        chain = only(site for site in kernel["sites"] if site["expression"] == "next[at]")
        # The chain's warp waits for its 64 loads, and each of the other three waits at the barrier for as long.
        waited_for_chain = chain["executions"] * chain["time"]["waited_cycles"]["mean"]
        waited_at_barrier = site["executions"] * site["time"]["waited_cycles"]["mean"]
        self.assertGreater(waited_for_chain, 6 * 64 * 100)
        self.assertAlmostEqual(waited_at_barrier / waited_for_chain, 3, delta=0.3)
        self.assertAlmostEqual(site["time"]["waited_share"], 0.75, delta=0.05)  # of the time of four warps
        self.assertGreater(site["time"]["share"]["mean"], 0.6)
        self.assertLess(self.site("even", "filled")["time"]["waited_share"], 0.2)

    def test_every_report_knows_them(self):
        verdict = r"its warps arrive unevenly: \d\d % of the warps' time is spent waiting here"
        text = self.report("text")
        self.assertRegex(text, r"What to look at first\n +\d+ %  barriers.cu:\d+  __syncthreads\(\)\n +warps wait .* at it, .*\n +" + verdict)
        rows = list(csv.DictReader(io.StringIO(self.report("csv"))))
        row = only(row for row in rows if row["kernel"].startswith("uneven") and row["kind"] == "barrier")
        self.assertEqual((row["space"], row["l1_hit_rate [fraction]"], row["latency_ns"], row["executions [count]"]), ("generic", "", "", "24"))
        messages = [result["message"]["text"] for result in json.loads(self.report("sarif"))["runs"][0]["results"]
                    if result["ruleId"] == "uneven-arrival" and "of uneven on" in result["message"]["text"]]
        self.assertRegex(only(messages), r"^__syncthreads\(\): " + verdict)
        self.assertRegex(self.report("html"), verdict)

    def test_the_papers_schedule_has_none(self):
        paper = Profile(KERNELS / "barriers.cu", "--gpu", "a100", "--trials", "2", "--schedule", "paper")
        for kernel in paper.result["kernels"]:
            self.assertEqual(barriers(kernel), [])
            self.assertEqual(kernel["snapshot"]["warp_accesses"], self.profile.kernel(
                warplens_tool.base_name(kernel["name"]))["snapshot"]["warp_accesses"])


class Examples(unittest.TestCase):
    def test_matmul(self):
        profile = Profile(PROJECT / "examples/matmul/matmul.cu", "--gpu", "a100", "--trials", "2")
        self.assertEqual(barriers(profile.kernel("matmul_naive")), [])
        # 8 x 8 blocks of 8 warps, each of which fills 128 / 16 tiles.
        self.assertEqual(barriers(profile.kernel("matmul_tiled")), [8 * 8 * 8 * 8, 8 * 8 * 8 * 8])

    def test_reduction(self):
        profile = Profile(PROJECT / "examples/reduction/reduction.cu", "--gpu", "a100", "--trials", "2")
        # 256 blocks of 8 warps, then one.
        self.assertEqual([barriers(kernel) for kernel in profile.result["kernels"]], [[256 * 8], [8]])


if __name__ == "__main__":
    warplens_tool.main()
