"""Tests that a part stands for the whole: windows across the grid for all of its blocks, and traced launches for all others."""

import json
import os
import pathlib
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, Profile, warplens

SOURCE = KERNELS / "whole_run.cu"


def profiled(what, *options):
    return Profile(SOURCE, "--gpu", "t4", "--trials", "2", *options, run=[what]).result["kernels"]


def mean(kernel, name):
    return kernel["totals"][name]["mean"]


def microseconds(kernels):
    return sum(kernel["time"]["microseconds"]["mean"] * kernel["times_this_launch"] for kernel in kernels)


class Windows(unittest.TestCase):
    def test_a_grid_whose_work_grows_comes_out_as_all_of_its_blocks_do(self):
        (part,) = profiled("triangle")
        (whole,) = profiled("triangle", "--snapshot-blocks", str(1 << 16))
        windows = part["snapshot"]["windows"]
        self.assertGreaterEqual(len(windows), 5)
        self.assertEqual(sum(window["stands_for"] for window in windows), 1 << 16)
        self.assertIn("as the work of its blocks differs", part["snapshot"]["limit"])
        self.assertLess(part["snapshot"]["blocks"], 0.8 * whole["snapshot"]["blocks"])
        self.assertNotIn("windows", whole["snapshot"])
        for rate in ("l1_read_hit_rate", "l2_read_hit_rate"):
            self.assertAlmostEqual(mean(part, rate), mean(whole, rate), delta=0.03, msg=rate)
        self.assertAlmostEqual(microseconds([part]) / microseconds([whole]), 1, delta=0.1)


class Unknown(unittest.TestCase):
    def test_a_gpu_without_machine_code_has_rates_and_no_time_in_any_format(self):
        """On a C2050 the issue between accesses is a guess; the order of the paper needs no time, and its rates are there."""
        with tempfile.TemporaryDirectory() as folder:
            result = pathlib.Path(folder) / "result.json"
            done = warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "c2050", "--trials", "2", "--timeline", "--format", "json", "-o",
                            result, "--run", "triangle")
            self.assertEqual(done.returncode, 0, done.stderr)
            printed = {name: warplens("report", result, "--format", name).stdout for name in ("text", "brief", "brief-json", "html", "csv", "sarif")}
            (kernel,) = json.loads(result.read_text())["kernels"]
        self.assertNotIn("time", kernel)
        self.assertNotIn("timeline", kernel)
        for name, text in printed.items():
            self.assertIn("no compiler makes machine code for this GPU", text, name)
        for name in ("text", "brief"):
            self.assertRegex(printed[name], r"\ntime +not known(: |, because )no compiler")
            self.assertNotIn("roofline", printed[name])
        self.assertGreater(mean(kernel, "l2_read_hit_rate"), 0)
        (of_paper,) = Profile(SOURCE, "--gpu", "c2050", "--schedule", "paper", "--trials", "2", run=["triangle"]).result["kernels"]
        self.assertIn("l1_read_hit_rate", of_paper["totals"])
        self.assertNotIn("time_unknown", of_paper)


class Cut(unittest.TestCase):
    def cut_after(self, accesses, *options):
        """Returns the kernel whose snapshot ends after this number of accesses, and what is said of that."""
        with tempfile.TemporaryDirectory() as folder:
            result = pathlib.Path(folder) / "result.json"
            done = warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "t4", "--trials", "2", "--format", "json", "-o", result, *options,
                            "--run", "triangle", env={**os.environ, "WARPLENS_SNAPSHOT_ACCESSES": str(accesses)})
            self.assertEqual(done.returncode, 0, done.stderr)
            printed = {name: warplens("report", result, "--format", name).stdout for name in ("text", "brief", "brief-json", "html", "csv")}
            (kernel,) = json.loads(result.read_text())["kernels"]
        return kernel, printed, done.stderr

    def test_whole_blocks_across_the_grid_have_the_time_of_all(self):
        (part,) = profiled("triangle")
        cut, printed, said = self.cut_after(500_000)
        self.assertIn("(WARPLENS_SNAPSHOT_ACCESSES sets the limit)", said)
        self.assertLess(cut["snapshot"]["warp_accesses"], part["snapshot"]["warp_accesses"])
        self.assertGreaterEqual(len(cut["snapshot"]["windows"]), 5)
        self.assertTrue(cut["snapshot"]["complete"])
        self.assertAlmostEqual(microseconds([cut]) / microseconds([part]), 1, delta=0.25)
        for name, text in printed.items():
            self.assertNotIn("the snapshot was cut", text, name)

    def test_less_than_a_wave_has_no_time_in_any_format(self):
        cut, printed, _ = self.cut_after(1000)
        self.assertLess(cut["snapshot"]["blocks"], 40 * cut["occupancy"]["blocks_per_sm"])
        self.assertNotIn("time", cut)
        self.assertRegex(cut["time_unknown"], r"^the snapshot was cut after \d+ of 65536 blocks, and 640 run at once$")
        for name, text in printed.items():
            self.assertIn("the snapshot was cut after", text, name)
        for name in ("text", "brief"):
            self.assertRegex(printed[name], r"\ntime +not known")
            self.assertNotIn("roofline", printed[name])


class Launches(unittest.TestCase):
    def test_a_search_comes_out_as_all_of_its_launches_do(self):
        some, every = profiled("search"), profiled("search", "--launches", "100")
        self.assertLess(len(some), len(every))
        self.assertEqual(sum(kernel["launches"] for kernel in some), len(every))
        self.assertEqual([kernel["launches"] for kernel in every], [1] * len(every))
        self.assertEqual({kernel["launches_of_kernel"] for kernel in some + every}, {len(every)})
        self.assertAlmostEqual(microseconds(some) / microseconds(every), 1, delta=0.1)

    def test_steps_that_are_alike_are_one(self):
        (step,) = profiled("solver")
        self.assertEqual((step["launches"], step["launches_of_kernel"]), (200, 200))
        self.assertAlmostEqual(step["times_this_launch"], 200, delta=0.01)

    def test_an_elimination_is_sampled_by_its_grids(self):
        steps = profiled("elimination")
        self.assertGreaterEqual(len(steps), 8)
        self.assertLessEqual(len(steps), 24)
        self.assertEqual(len({tuple(step["grid"]) for step in steps}), len(steps))
        self.assertEqual(sum(step["launches"] for step in steps), 319)
        work = sum((319 - pivot) ** 2 for pivot in range(319))
        represented = sum(step["times_this_launch"] * step["grid"][1] ** 2 for step in steps)
        self.assertAlmostEqual(represented / work, 1, delta=0.1)


if __name__ == "__main__":
    warplens_tool.main()
