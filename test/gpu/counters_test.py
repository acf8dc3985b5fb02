"""Tests the hit rates, the recorder and the accuracy table, on files of Nsight Compute's made by hand (synthetic/).
Started as `python3 counters_test.py PATH-OF-WARPLENS`."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import accuracy
import counters
import record

HERE = pathlib.Path(__file__).resolve().parent
SYNTHETIC = HERE / "synthetic"
tool = None


class Rates(unittest.TestCase):
    def test_a_launch_has_the_rates_that_were_counted(self):
        shared, merged, _ = counters.read(tool, SYNTHETIC / "raw.csv")
        self.assertEqual([counters.base_name(launch["kernel"]) for launch in (shared, merged)], ["merge_shared", "merge_global"])
        self.assertEqual(counters.hit_rates(shared["counters"]), {"l1_read_hit_rate": 0, "l2_read_hit_rate": 0.5, "l2_write_hit_rate": 1})
        self.assertEqual(counters.hit_rates(merged["counters"]),
                         {"l1_read_hit_rate": 0.875, "l2_read_hit_rate": None, "l2_write_hit_rate": 0.75})
        self.assertEqual(counters.hit_rates({}), {"l1_read_hit_rate": None, "l2_read_hit_rate": None, "l2_write_hit_rate": None})

    def test_the_first_launch_of_each_kernel(self):
        first = counters.first_of_each(counters.read(tool, SYNTHETIC / "raw.csv", SYNTHETIC / "source.csv"))
        self.assertEqual([len(launch["lines"]) for launch in first], [3, 2])

    def test_damaged_files_are_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.csv")
            path.write_text("==ERROR== nothing\n")
            with self.assertRaisesRegex(counters.Damaged, "x.csv: no report or CSV of ncu"):
                counters.read(tool, path)


class Recorder(unittest.TestCase):
    def test_results_become_a_reference(self):
        with tempfile.TemporaryDirectory() as folder:
            results, target = pathlib.Path(folder, "results"), pathlib.Path(folder, "reference")
            (results / "counters").mkdir(parents=True)
            (results / "versions.log").write_text("driver 0\n")
            with self.assertRaises(counters.Damaged):
                record.record(tool, results, target, "h100-sxm")
            (results / "counters/merge_sort.csv").write_text((SYNTHETIC / "raw.csv").read_text())
            (results / "counters/merge_sort.source.csv").write_text((SYNTHETIC / "source.csv").read_text())
            self.assertEqual(record.record(tool, results, target, "h100-sxm"), 1)
            made = json.loads((target / "counters.json").read_text())
            self.assertEqual((made["model"], made["programs"][0]["program"], len(made["programs"][0]["kernels"])), ("h100-sxm", "merge_sort", 2))
            self.assertEqual([len(kernel["lines"]) for kernel in made["programs"][0]["kernels"]], [3, 2])
            self.assertEqual((target / "versions.txt").read_text(), "driver 0\n")


class Accuracy(unittest.TestCase):
    def reference(self, folder, off):
        """Writes counters that are `off` points away from the model's of SpMV, and one line of it that has twice the sectors."""
        kernel = accuracy.modelled(tool, "spmv", 4096, "h100-sxm")[0]
        totals = kernel["totals"]
        lines = [{"file": file, "line": line, "space": space, "operation": operation,
                  "counters": {"inst_executed": executions, "memory_l2_theoretical_sectors_global": sectors}}
                 for (file, line, space, operation), (executions, sectors) in accuracy.sites_by_line(kernel["sites"]).items()]
        lines[0]["counters"]["memory_l2_theoretical_sectors_global"] *= 2
        self.lines = lines
        percent = lambda level: 100 * totals[level]["mean"] + off
        metrics = {"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct": percent("l1_read_hit_rate"),
                   "lts__t_sector_op_read_hit_rate.pct": percent("l2_read_hit_rate"),
                   "lts__t_sector_op_write_hit_rate.pct": percent("l2_write_hit_rate")}
        (folder / "synthetic").mkdir()
        (folder / "synthetic/counters.json").write_text(json.dumps({"model": "h100-sxm", "programs": [
            {"program": "spmv", "size": 4096, "kernels": [{"kernel": "spmv(unsigned int)", "counters": metrics, "lines": lines}]}]}))

    def test_errors_are_in_points_and_have_an_aim(self):
        with tempfile.TemporaryDirectory() as folder:
            self.reference(pathlib.Path(folder), 1.75)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                means = accuracy.compare(tool, pathlib.Path(folder, "synthetic"))
            for mean in means.values():
                self.assertAlmostEqual(mean, 1.75, places=6)
            self.assertRegex(printed.getvalue(), r"mean absolute error +1\.75 +1\.75\n")
            self.assertIn(f"of {len(self.lines)} accesses of source lines that both have, figures that differ by more than 1 %: 1\n"
                          f"  spmv.cu:{self.lines[0]['line']} global {self.lines[0]['operation']}: sectors per request", printed.getvalue())
            done = subprocess.run([sys.executable, "-B", HERE / "accuracy.py", tool, folder], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (1, "beyond the aim: synthetic: l1_read_hit_rate, synthetic: l2_read_hit_rate\n"))

    def test_numbers_that_agree_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            self.reference(pathlib.Path(folder), -0.75)
            done = subprocess.run([sys.executable, "-B", HERE / "accuracy.py", tool, folder], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"mean absolute error +0\.75 +0\.75\n")

    def test_without_counters_it_is_skipped(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", HERE / "accuracy.py", tool, folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, accuracy.SKIPPED)
        self.assertIn("no counters of a real GPU have been recorded", done.stdout)


if __name__ == "__main__":
    tool = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
