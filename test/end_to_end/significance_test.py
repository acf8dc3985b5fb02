"""Tests `warplens sweep` and `warplens explain` on the real command line."""

import csv
import io
import json
import pathlib
import resource
import tempfile
import unittest

import jsonschema

import warplens_tool
from warplens_tool import PROJECT, warplens

SOURCE = PROJECT / "examples/matmul/matmul.cu"
SIZES = range(20, 81, 10)


def sweep(folder, *options, sizes="20:80:10"):
    return warplens("sweep", SOURCE, "--backend", "cpu", "--gpu", "a100,v100", "--trials", "2", "--run", "{n}", "--vary", f"n={sizes}",
                    "-o", folder, *options)


def measured(folder, seconds):
    """Writes a table of ncu's per size, with a time and DRAM's sectors; returns the files."""
    heading = '"ID","Kernel Name","Block Size","Grid Size","Device","gpu__time_duration.sum","dram__sectors_read.sum"\n"","","","","","usecond","sector"\n'
    files = []
    for size in SIZES:
        file = folder / f"run_{size}.csv"
        file.write_text(f'==PROF== Connected\n{heading}"0","matmul_tiled(unsigned int, const float *)","(16, 16, 1)","(4, 4, 1)","0","{1e6 * seconds(size)}","{size ** 3:,}"\n')
        files.append(file)
    return files


class Significance(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name) / "sweep"
        done = sweep(cls.folder)
        assert done.returncode == 0, done.stderr

    def explain(self, *arguments):
        done = warplens("explain", *arguments, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        jsonschema.validate(found, json.loads((PROJECT / "docs/schemas/significance.json").read_text()))
        return found

    def test_a_profile_per_configuration(self):
        runs = json.loads((self.folder / "runs.json").read_text())
        jsonschema.validate(runs, json.loads((PROJECT / "docs/schemas/sweep.json").read_text()))
        self.assertEqual([run["params"] for run in runs["runs"]], [{"n": str(size)} for size in SIZES])
        for run in runs["runs"]:
            self.assertEqual(json.loads((self.folder / run["result"]).read_text())["schema"], "warplens-result/1")

    def test_a_sweep_resumes_where_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(sweep(folder, sizes="20,30").returncode, 0)
            before = pathlib.Path(folder, "n=20.json").stat().st_mtime_ns
            more = sweep(folder, sizes="20,30,40")
            self.assertIn("3 configurations, 1 of them profiled now", more.stderr)
            self.assertNotIn("1 of 3", more.stderr)
            self.assertEqual(pathlib.Path(folder, "n=20.json").stat().st_mtime_ns, before)
            other = sweep(folder, "--seed", "7")
            self.assertEqual(other.returncode, 1)
            self.assertIn("holds another sweep", other.stderr)

    def test_a_configuration_that_fails_does_not_end_the_sweep(self):
        with tempfile.TemporaryDirectory() as folder:
            done = sweep(folder, sizes="0,20")  # 0 is no size for the program
            self.assertEqual(done.returncode, 1)
            self.assertIn("1 of 2 configurations failed; the first, n=0: ", done.stderr)
            self.assertEqual(len(json.loads(pathlib.Path(folder, "runs.json").read_text())["runs"]), 1)

    def test_kernels_on_each_gpu_are_explained(self):
        found = self.explain(self.folder)
        self.assertEqual(found["schema"], "warplens-significance/1")
        self.assertEqual(sorted((region["name"].split("(")[0].split(" ")[0], region["gpu"]) for region in found["regions"]),
                         [(kernel, gpu) for kernel in ("matmul_naive", "matmul_tiled") for gpu in ("a100", "v100")])
        for region in found["regions"]:
            self.assertTrue(region["target_is_modelled"])
            self.assertEqual(region["n"], len(SIZES))
            self.assertTrue(region["few_runs"])
        text = warplens("explain", self.folder).stdout
        self.assertIn("target time, modelled", text)
        self.assertIn("correlation, not cause", text)
        markdown = warplens("explain", self.folder, "--format", "markdown").stdout
        self.assertEqual(markdown.count("### matmul\\_"), 0)  # an underscore within a word needs no escape
        self.assertEqual(markdown.count("### matmul_"), 4)

    def test_resources_as_csv(self):
        """CSV has the figures that JSON has, a row for each resource of each kernel that is explained."""
        command = ("explain", self.folder, "--target", "latency", "--by", "line", "--kernel", "naive", "--draws", "500")
        rows = list(csv.DictReader(io.StringIO(warplens(*command, "--format", "csv").stdout)))
        figures = {(region["name"], region["gpu"], resource["name"].split("/")[-1]): resource["rsm"]
                   for region in self.explain(*command[1:])["regions"] for resource in region["resources"]}
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(float(row["significance"]), figures[row["kernel"], row["gpu"], row["resource"]])
            self.assertLessEqual(float(row["significance low"]), float(row["significance high"]))

    def test_the_latency_is_explained_by_lines(self):
        found = self.explain(self.folder, "--target", "latency", "--by", "line", "--kernel", "naive", "--draws", "500")
        multiplication = next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if "a[row * size + k] * b" in line)
        for region in found["regions"]:
            self.assertGreater(region["q2"], 0.9)
            self.assertIn(f"matmul.cu:{multiplication}", region["resources"][0]["name"] + region["resources"][1]["name"])

    def test_the_same_on_any_number_of_cores(self):
        one, two = (self.explain(self.folder, "--threads", threads) for threads in (1, 2))
        self.assertEqual(one, two)

    def test_measured_times_join_the_profiles(self):
        with tempfile.TemporaryDirectory() as folder:
            files = measured(pathlib.Path(folder), lambda size: 1e-9 * size ** 3)
            found = self.explain(self.folder, "--measured", *files, "--key", "run_{n}.csv", "--kernel", "tiled")
            for region in found["regions"]:
                self.assertFalse(region["target_is_modelled"])
                self.assertAlmostEqual(region["runs"][-1]["target"], 1e-9 * 80 ** 3)
                self.assertTrue(region["explained"])
            alone = self.explain("--measured", *files, "--key", "run_{n}.csv")
            self.assertEqual(alone["regions"][0]["resources"][0]["name"], "DRAM")
            self.assertAlmostEqual(alone["regions"][0]["resources"][0]["rsm"], 1, places=6)
            steady = warplens("explain", "--measured", *measured(pathlib.Path(folder), lambda size: 1e-6 + 1e-11 * size), "--key", "run_{n}.csv")
            self.assertEqual(steady.returncode, 1)
            self.assertIn("the target does not vary", steady.stderr)

    def test_kernels_are_compared_on_each_gpu(self):
        found = self.explain(self.folder, "--compare", "matmul_naive,matmul_tiled")
        self.assertEqual(len(found["comparisons"]), 2)
        for comparison in found["comparisons"]:
            self.assertGreater(len(comparison["bars"]), 2)
        wrong = warplens("explain", self.folder, "--compare", "matmul_naive,tield")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("there are matmul_naive", wrong.stderr)

    def test_the_authors_tables_and_nvprofs_events_are_explained(self):
        data = PROJECT / "test/significance/data/matmult"
        text = warplens("explain", data / "ts_Tiling.csv", data / "ts_Unroll.csv", "--as", "dashing").stdout
        self.assertRegex(text, r"ts_Tiling: 28 runs \(config = 0…27\), target time \(no time was measured: target\)\n.*\n  L2 +0\.6")
        self.assertRegex(text, r"(?s)ts_Unroll: .*\n  DRAM +0\.7")
        with tempfile.TemporaryDirectory() as folder:
            for n in range(1, 9):
                pathlib.Path(folder, f"events_{n}.csv").write_text(
                    '==1== Profiling result:\n"Device","Kernel","Invocations","Event Name","Min","Max","Avg","Total"\n' + "".join(
                        f'"Tesla V100 (0)","gemm(int)",1,"{name}",{value},{value},{value},{value}\n' for name, value in (
                            ("elapsed_cycles_sm", 1000 * n ** 3), ("active_cycles", 100 * n ** 3 + n), ("fb_subp0_read_sectors", n ** 3), ("inst_executed", n))))
            files = sorted(pathlib.Path(folder).iterdir())
            for target in "time", "score":
                found = self.explain("--measured", *files, "--key", "events_{n}.csv", "--target", target)["regions"][0]
                self.assertEqual(found["n"], 8)
                self.assertEqual(found["target_source"], "cycles")
            self.assertIn("gemm(int) on Tesla V100 (0): 8 runs (n = 1…8), target time (no time was measured: cycles)",
                          warplens("explain", "--measured", *files, "--key", "events_{n}.csv").stdout)

    def test_many_counters_take_memory_for_their_values_alone(self):
        """40,000 counters of 12 runs: a matrix of their products would take 12.8 GB."""
        rows = [",kernel", 'Runtime,"' + ",".join(str(n ** 3) for n in range(8, 20)) + '"']
        for counter in range(40_000):
            power = 1 + 2.5 * (counter * 7919 % 40_000) / 40_000
            rows.append(f'c{counter},"' + ",".join(f"{n ** power * (1 + (n * 31 + counter * 17) % 101 / 500):.6g}" for n in range(8, 20)) + '"')
        table = pathlib.Path(self.temporary.name, "many.csv")
        table.write_text("\n".join(rows) + "\n")
        done = warplens("explain", table, "--threads", "2", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("explained: R2 ", done.stdout)

    def test_the_page_holds_the_analysis(self):
        page = pathlib.Path(self.temporary.name) / "why.html"
        done = warplens("explain", self.folder, "--format", "html", "-o", page)
        if "has no report page" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"significance":{"schema":"warplens-significance/1"', page.read_text())

    def test_wrong_uses_say_what_is_wrong(self):
        negative = measured(pathlib.Path(self.temporary.name), lambda size: -2e-6)
        table = pathlib.Path(self.temporary.name, "negative.csv")
        table.write_text(',kernel\nRuntime,"1,-2,3,4"\ndram,"1,2,3,4"\n')
        for arguments, message in (
                (["explain", "/nowhere"], "/nowhere"),
                (["explain"], "nothing to explain"),
                (["explain", SOURCE], "no report or CSV of ncu"),
                (["explain", self.folder, "--target", "power"], "there is no target 'power'"),
                (["explain", self.folder, "--workload", "nope"], "--workload nope: matmul_"),
                (["explain", self.folder, "--scale-by", "n"], "--scale-by is for --target effloss, and the target is time"),
                (["explain", negative[0]], "matmul_tiled(unsigned int, const float *) took -2e-06 s, and a time is not negative"),
                (["explain", table], "kernel: the time of the run run=1 is -2 s, and a time is not negative"),
                (["sweep", SOURCE, "--run", "{m}", "--vary", "n=1,2", "-o", "/tmp/x"], "neither --run nor --nvcc has {n}"),
                (["sweep", SOURCE, "--run", "{n} {m}", "--vary", "n=1,2", "-o", "/tmp/x"], "there is no --vary m"),
                (["sweep", SOURCE, "--run", "{n}", "--vary", "n=9:1", "-o", "/tmp/x"], "a range is FROM:TO"),
                (["sweep", SOURCE, "--run", "{n}", "--vary", "n", "-o", "/tmp/x"], "NAME=FROM:TO:STEP")):
            with self.subTest(arguments=arguments[1:]):
                done = warplens(*arguments)
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    warplens_tool.main()
