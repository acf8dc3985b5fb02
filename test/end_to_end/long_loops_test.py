"""Tests that kernels whose long loops leave out iterations come out as they do whole, and that the result says where they cannot."""

import json
import math
import os
import pathlib
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, warplens

SOURCE = KERNELS / "long_loops.cu"


def mean(kernel, name):
    return kernel["totals"][name]["mean"]


def executions(kernel):
    return {(site["line"], site["column"], site["kind"]): site["executions"] for site in kernel["sites"]}


class LongLoops(unittest.TestCase):
    def modelled(self, what, limit=None, model_again=(), limit_of="WARPLENS_SNAPSHOT_WHOLE", options=()):
        """Returns the kernel, traced whole or with a limit of accesses; with `model_again` modelled from the trace with these options."""
        with tempfile.TemporaryDirectory() as folder:
            result, trace = pathlib.Path(folder) / "result.json", pathlib.Path(folder) / "trace.wlt"
            environment = {**os.environ, **({limit_of: str(limit)} if limit else {})}
            done = warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "t4", "--trials", "2", "--trace", trace, "--format", "json", "-o",
                            result, *options, *([] if limit else ["--whole-loops"]), "--run", *what.split(), env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            if model_again:
                again = warplens("model", trace, "--trials", "2", "--format", "json", "-o", result, *model_again)
                self.assertEqual(again.returncode, 0, again.stderr)
            (kernel,) = json.loads(result.read_text())["kernels"]
            return kernel

    def whole_and_sampled(self, what, options=()):
        whole = self.modelled(what, options=options)
        self.assertNotIn("replayed", whole["snapshot"]["limit"])
        # A wave of whole blocks has a little more than the limit.
        wave = min(math.prod(whole["grid"]), 40 * 1024 // math.prod(whole["block"]))
        records = sum(site["executions"] for site in whole["sites"]) / whole["snapshot"]["blocks"]
        sampled = self.modelled(what, int(0.9 * wave * records), options=options)
        self.assertIn("of the accesses are replayed, as loops repeat", sampled["snapshot"]["limit"])
        return whole, sampled

    def assert_alike(self, sampled, whole):
        self.assertTrue(sampled["snapshot"]["complete"])
        ratio = sampled["time"]["microseconds"]["mean"] / whole["time"]["microseconds"]["mean"]
        self.assertAlmostEqual(ratio, 1, delta=0.08)
        for rate, points in (("l1_read_hit_rate", 0.01), ("l2_read_hit_rate", 0.02)):
            self.assertAlmostEqual(mean(sampled, rate), mean(whole, rate), delta=points, msg=rate)
        if whole["snapshot"]["blocks"] != sampled["snapshot"]["blocks"]:
            return
        self.assertAlmostEqual(sampled["executed"]["instructions"] / whole["executed"]["instructions"], 1, delta=0.001)
        self.assertEqual(executions(sampled).keys(), executions(whole).keys())
        for site, count in executions(whole).items():
            self.assertAlmostEqual(executions(sampled)[site] / count, 1, delta=0.001, msg=site)

    def test_a_product_by_tiles_whose_warps_meet_at_barriers(self):
        whole, sampled = self.whole_and_sampled("tiles 128 3072")
        self.assert_alike(sampled, whole)

    def test_sums_that_go_on_from_tile_to_tile(self):
        whole, sampled = self.whole_and_sampled("running_sums 80 256")
        self.assert_alike(sampled, whole)

    def test_warps_that_take_turns(self):
        # Schedulers prefer the youngest warp, which passes many iterations while others wait.
        whole, sampled = self.whole_and_sampled("rows 112 4096", ["--schedule", "greedy_then_youngest"])
        ratio = sampled["time"]["microseconds"]["mean"] / whole["time"]["microseconds"]["mean"]
        self.assertAlmostEqual(ratio, 1, delta=0.08)

    def test_where_no_two_iterations_are_alike_nothing_is_left_out(self):
        kernel = self.modelled("collatz 4096", 4096, limit_of="WARPLENS_SNAPSHOT_ACCESSES")
        self.assertNotIn("replayed", kernel["snapshot"]["limit"])
        self.assertNotIn("time", kernel)

    def test_what_needs_whole_loops_has_them(self):
        for options in (["--whole-loops"], ["--timeline"], ["--sharing"], ["--schedule", "paper"]):
            with self.subTest(options):
                self.assertNotIn("replayed", self.modelled("running_sums 16 256", 100_000, options=options)["snapshot"]["limit"])
        self.assertIn("replayed", self.modelled("running_sums 16 256", 100_000)["snapshot"]["limit"])

    def test_a_baseline_of_whole_loops_is_held_against_whole_loops(self):
        with tempfile.TemporaryDirectory() as folder:
            def held(command, *options):
                return warplens(command, SOURCE, "--backend", "cpu", "--gpu", "t4", "--trials", "2", "--baseline", pathlib.Path(folder) / "kept.txt",
                                *options, "--run", "running_sums", "4", "256", env={**os.environ, "WARPLENS_SNAPSHOT_WHOLE": "25000"})
            self.assertEqual(held("baseline", "--whole-loops").returncode, 0)
            whole = held("gate", "--whole-loops")
            self.assertEqual(whole.returncode, 0, whole.stderr + whole.stdout)
            self.assertTrue(whole.stdout.startswith("kernels: 1 equal"), whole.stdout)
            self.assertNotIn("1 equal", held("gate").stdout)

    def test_kernels_beside_each_other_need_all_iterations(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace.wlt"
            done = warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "t4", "--trials", "2", "--trace", trace, "--format", "brief", "-o",
                            os.devnull, "--run", "running_sums", "16", "256", env={**os.environ, "WARPLENS_SNAPSHOT_WHOLE": "100000"})
            self.assertEqual(done.returncode, 0, done.stderr)
            done = warplens("corun", trace, trace, "--gpu", "t4", "--trials", "2", "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertIn("running_sums: the trace leaves out iterations", done.stderr)
        self.assertIn("--whole-loops", done.stderr)

    def test_only_the_machine_code_tells_what_is_left_out(self):
        kernel = self.modelled("running_sums 16 256", 200_000, ["--gpu", "c2050"])
        self.assertNotIn("time", kernel)
        self.assertIn("leaves out iterations", kernel["time_unknown"])


if __name__ == "__main__":
    warplens_tool.main()
