"""Tests the reader of Nsight Compute's CSV, the recorder and the accuracy table, on files made by hand (synthetic/).
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
import source_counters

HERE = pathlib.Path(__file__).resolve().parent
SYNTHETIC = HERE / "synthetic"
tool = None


class Reader(unittest.TestCase):
    def test_a_row_per_kernel(self):
        launches = counters.read(SYNTHETIC / "raw.csv")
        self.assertEqual([counters.base_name(launch["kernel"]) for launch in launches], ["merge_shared", "merge_global", "merge_global"])
        self.assertEqual(launches[0]["grid"], "(4, 1, 1)")
        metrics = launches[0]["metrics"]
        self.assertEqual(metrics["dram__bytes_read.sum"], 1.5e6)
        self.assertEqual(metrics["gpu__time_duration.sum"], 12250)
        self.assertEqual(metrics["lts__t_sectors_srcunit_tex_op_read.sum"], 1024)
        self.assertNotIn("lts__t_sector_op_read_hit_rate.pct", launches[1]["metrics"])
        self.assertEqual(len(counters.first_of_each(launches)), 2)
        self.assertEqual(counters.first_of_each(launches)[1]["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 12345)

    def test_a_row_per_metric(self):
        launches = counters.read(SYNTHETIC / "details.csv")
        self.assertEqual(len(launches), 2)
        self.assertEqual(counters.base_name(launches[0]["kernel"]), "gather")
        self.assertEqual(launches[0]["metrics"]["dram__bytes_read.sum"], 2000)
        self.assertEqual(launches[1]["metrics"], {})
        self.assertEqual(len(counters.first_of_each(launches)), 2)

    def test_rates(self):
        shared, merged, _ = counters.read(SYNTHETIC / "raw.csv")
        self.assertEqual(counters.hit_rates(shared["metrics"]), {"l1_read_hit_rate": 0, "l2_read_hit_rate": 0.5, "l2_write_hit_rate": 1})
        self.assertEqual(counters.hit_rates(merged["metrics"]),
                         {"l1_read_hit_rate": 0.875, "l2_read_hit_rate": None, "l2_write_hit_rate": 0.75})
        self.assertEqual(counters.hit_rates({}), {"l1_read_hit_rate": None, "l2_read_hit_rate": None, "l2_write_hit_rate": None})

    def test_damaged_files_are_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.csv")
            for text, expected in (("", "no row with a column 'Kernel Name'"), ("==ERROR== nothing\n", "no row with a column"),
                                   ('"ID","Kernel Name","Block Size","Grid Size"\n', "nothing behind it"),
                                   ('"ID","Kernel Name","Block Size","Grid Size"\n"0","k"\n', "row 2 has 2 columns"),
                                   ('"ID","Kernel Name"\n"0","k"\n', "no column 'Grid Size'")):
                path.write_text(text)
                with self.assertRaises(counters.Damaged) as caught:
                    counters.read(path)
                self.assertIn(expected, str(caught.exception))


class SourceReader(unittest.TestCase):
    launches = [launch["kernel"] for launch in counters.read(SYNTHETIC / "raw.csv")]

    def test_instructions_of_a_line_are_added_up_by_what_they_do(self):
        shared, first, second = source_counters.read(SYNTHETIC / "source.csv", self.launches)
        self.assertEqual(shared, [
            {"file": "merge_sort.cu", "line": 40, "space": "global", "operation": "load", "executed": 64, "lanes": 2048,
             "tag_requests": 64, "sectors": 256, "sectors_ideal": 256, "wavefronts": 0, "wavefronts_ideal": 0},
            {"file": "merge_sort.cu", "line": 40, "space": "shared", "operation": "store", "executed": 64, "lanes": 2048,
             "tag_requests": 0, "sectors": 0, "sectors_ideal": 0, "wavefronts": 1128, "wavefronts_ideal": 64},
            {"file": "program.h", "line": 90, "space": "global", "operation": "load", "executed": 20, "lanes": 630,
             "tag_requests": 40, "sectors": 160, "sectors_ideal": 80, "wavefronts": 0, "wavefronts_ideal": 0}])
        self.assertEqual([(entry["operation"], entry["executed"], entry.get("lanes")) for entry in first], [("load", 2, None), ("store", 2, 64)])
        self.assertEqual([entry["executed"] for entry in second], [3, 3])  # the same file again: the next launch

    def test_damaged_files_are_reported(self):
        heading = '"Line No","Source","Address","Source","Instructions Executed","Address Space","Access Operation"\n'
        place = '"File Path","a.cu"\n"Function Name","merge_shared"\n'
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.csv")
            for text, expected in (("", "no table with columns"), ('"Kernel Name","k"\n"Address","Source"\n', "no table with columns"),
                                   (heading, "of no file"), (place + '"Line No","Address"\n', "no column 'Address Space'"),
                                   (place + heading + '"1","x"\n', "row 4 has 2 columns, the heading 7"),
                                   (place.replace("merge_shared", "other") + heading, "other in a.cu belongs to none of the launches")):
                path.write_text(text)
                with self.assertRaises(counters.Damaged) as caught:
                    source_counters.read(path, self.launches)
                self.assertIn(expected, str(caught.exception))


class Recorder(unittest.TestCase):
    def test_results_become_a_reference(self):
        with tempfile.TemporaryDirectory() as folder:
            results, target = pathlib.Path(folder, "results"), pathlib.Path(folder, "reference")
            (results / "counters").mkdir(parents=True)
            (results / "versions.log").write_text("driver 0\n")
            with self.assertRaises(counters.Damaged):
                record.record(results, target, "h100-sxm")
            (results / "counters/merge_sort.csv").write_text((SYNTHETIC / "raw.csv").read_text())
            (results / "counters/merge_sort.source.csv").write_text((SYNTHETIC / "source.csv").read_text())
            self.assertEqual(record.record(results, target, "h100-sxm"), 1)
            made = json.loads((target / "counters.json").read_text())
            self.assertEqual((made["model"], made["programs"][0]["program"], len(made["programs"][0]["kernels"])), ("h100-sxm", "merge_sort", 2))
            self.assertEqual([len(kernel["lines"]) for kernel in made["programs"][0]["kernels"]], [3, 2])
            self.assertEqual((target / "versions.txt").read_text(), "driver 0\n")


class Accuracy(unittest.TestCase):
    def reference(self, folder, off):
        """Writes counters that are `off` points away from the model's of SpMV, and one line of it that has twice the sectors."""
        kernel = accuracy.modelled(tool, "spmv", 4096, "h100-sxm")[0]
        totals = kernel["totals"]
        lines = [{"file": file, "line": line, "space": space, "operation": operation, "executed": executions, "sectors": sectors}
                 for (file, line, space, operation), (executions, sectors) in accuracy.sites_by_line(kernel["sites"]).items()]
        lines[0]["sectors"] *= 2
        self.lines = lines
        percent = lambda level: 100 * totals[level]["mean"] + off
        metrics = {"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct": percent("l1_read_hit_rate"),
                   "lts__t_sector_op_read_hit_rate.pct": percent("l2_read_hit_rate"),
                   "lts__t_sector_op_write_hit_rate.pct": percent("l2_write_hit_rate")}
        (folder / "synthetic").mkdir()
        (folder / "synthetic/counters.json").write_text(json.dumps({"model": "h100-sxm", "programs": [
            {"program": "spmv", "size": 4096, "kernels": [{"kernel": "spmv(unsigned int)", "metrics": metrics, "lines": lines}]}]}))

    def test_errors_are_in_points_and_have_an_aim(self):
        with tempfile.TemporaryDirectory() as folder:
            self.reference(pathlib.Path(folder), 1.25)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                means = accuracy.compare(tool, pathlib.Path(folder, "synthetic"))
            for mean in means.values():
                self.assertAlmostEqual(mean, 1.25, places=6)
            self.assertRegex(printed.getvalue(), r"mean absolute error +1\.25 +1\.25 +1\.25\n")
            self.assertIn(f"of {len(self.lines)} accesses of source lines that both have, figures that differ by more than 1 %: 1\n"
                          f"  spmv.cu:{self.lines[0]['line']} global {self.lines[0]['operation']}: sectors per request", printed.getvalue())
            # 1.25 points are within the aim for loads, not for stores.
            done = subprocess.run([sys.executable, "-B", HERE / "accuracy.py", tool, folder], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (1, "beyond the aim: synthetic: l2_write_hit_rate\n"))

    def test_numbers_that_agree_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            self.reference(pathlib.Path(folder), -0.75)
            done = subprocess.run([sys.executable, "-B", HERE / "accuracy.py", tool, folder], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"mean absolute error +0\.75 +0\.75 +0\.75\n")

    def test_without_counters_it_is_skipped(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", HERE / "accuracy.py", tool, folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, accuracy.SKIPPED)
        self.assertIn("no counters of a real GPU have been recorded", done.stdout)


if __name__ == "__main__":
    tool = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
