"""Tests `warplens placement` and `warplens advise` through the whole tool."""

import csv
import json
import pathlib
import re
import tempfile
import unittest

import jsonschema

import warplens_tool
from warplens_tool import KERNELS, PROJECT, warplens

SOURCE = KERNELS / "placement.cu"


def json_of(test, *arguments):
    done = warplens(*arguments, "--format", "json", "--quiet", "--trials", "4", timeout=900)
    test.assertEqual(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)


class Placement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = pathlib.Path(cls.folder.name, "trace")
        done = warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "k80,a100", "--trace", cls.trace, "--trials", "2", "--quiet")
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def candidates(self, report, gpu):
        kernel = next(one for one in report["kernels"] if one["gpu"] == gpu)
        return {(one["moves"][0]["array"], one["moves"][0]["to"]): one for one in kernel["candidates"] if len(one["moves"]) == 1}

    def test_each_array_in_each_place(self):
        report = json_of(self, "placement", self.trace, "--kernel", "six_arrays", "--gpu", "k80,a100")
        self.assertEqual(report["schema"], "warplens-placement/1")
        self.assertEqual({one["name"] for one in report["kernels"][0]["arrays"]}, {"uniform", "scattered", "index", "left", "right", "out"})
        for gpu in ("k80", "a100"):
            candidates = self.candidates(report, gpu)
            refused = candidates["out", "ldg"]
            self.assertFalse(refused["legal"])
            self.assertEqual(refused["reasons"][0]["line"], 14)
            self.assertEqual(pathlib.Path(refused["reasons"][0]["file"]).name, "placement.cu")
            self.assertFalse(candidates["left", "constant"]["legal"])  # 3 MB
            # Each lane has an index of its own, and constant memory serves one address after the other.
            self.assertGreater(candidates["scattered", "constant"]["delta"]["share"], 0.1)
        # The K80's L1 has no data of global memory: the cache of its texture units has.
        self.assertLess(self.candidates(report, "k80")["scattered", "texture"]["delta"]["share"], -0.3)
        self.assertLess(abs(self.candidates(report, "a100")["scattered", "ldg"]["delta"]["share"]), 0.03)

    def test_one_placement_and_wrong_ones(self):
        report = json_of(self, "placement", self.trace, "--kernel", "six_arrays", "--gpu", "a100", "--move", "left:texture,right:ldg")
        self.assertEqual(len(report["kernels"][0]["candidates"][0]["moves"]), 2)
        for moves, words in (("nothing:ldg", "no array 'nothing'"), ("left:cloud", "no place for an array"), ("out:ldg", "is refused")):
            done = warplens("placement", self.trace, "--kernel", "six_arrays", "--gpu", "a100", "--move", moves, "--quiet", "--trials", "2")
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)

    def test_formats(self):
        for format, begin in (("text", "six_arrays"), ("csv", "kernel,gpu,moves"), ("html", "<!doctype html>")):
            done = warplens("placement", self.trace, "--kernel", "six_arrays", "--gpu", "a100", "--format", format, "--quiet", "--trials", "2")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(begin), done.stdout[:100])
            self.assertIn("scattered", done.stdout)

    def figures_in_each_format(self, *options):
        """Returns the header of the text and its rows' figures, JSON's report and the CSV's rows, of six_arrays on an A100."""
        arguments = ("placement", self.trace, "--kernel", "six_arrays", "--gpu", "a100", "--move", "left:texture", "--quiet", "--trials", "2", *options)
        text, rows, json_text = (warplens(*arguments, "--format", format) for format in ("text", "csv", "json"))
        for done in (text, rows, json_text):
            self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(json_text.stdout)
        jsonschema.validate(report, json.loads((PROJECT / "docs/schemas/placement.json").read_text()))
        return text.stdout, report["kernels"][0], list(csv.DictReader(rows.stdout.splitlines()))

    def test_one_figure_in_all_formats(self):
        for options in (("--measured-ns", "100000"), ("--time", "paper", "--measured-ns", "100000"), ("--time", "paper"), ("--time", "model")):
            text, kernel, rows = self.figures_in_each_format(*options)
            sample, moved = kernel["sample"]["time_ns"]["mean"], kernel["candidates"][0]["time_ns"]["mean"]
            if "--measured-ns" in options:
                self.assertAlmostEqual(sample, 100000, delta=1)
                self.assertIn("a100  100 µs as is", text)
            self.assertAlmostEqual(float(rows[0]["microseconds"]) * 1000, sample, delta=1)
            self.assertAlmostEqual(float(rows[1]["microseconds"]) * 1000, moved, delta=1)
            self.assertIn(f"{moved / 1000:.3g}", text)
            change = kernel["candidates"][0]["delta"]
            if "paper" in options:
                self.assertAlmostEqual(change["share"], moved / sample - 1, places=6)
                self.assertEqual(set(kernel["sample"]["time_ns"]), {"mean"})
                self.assertNotIn("±", text)
            else:
                self.assertIn("half_width", change)

    def test_porple_has_no_time(self):
        text, kernel, rows = self.figures_in_each_format("--time", "porple")
        self.assertNotIn("µs", text)
        self.assertNotIn("time_ns", kernel["sample"])
        self.assertEqual(rows[0]["microseconds"], "")
        latencies = kernel["sample"]["latency_cycles"], kernel["candidates"][0]["latency_cycles"]
        self.assertAlmostEqual(kernel["candidates"][0]["delta"]["share"], latencies[1] / latencies[0] - 1, places=6)

    def test_measured_times_that_are_none(self):
        of_one = ("placement", self.trace, "--kernel", "six_arrays", "--gpu", "a100", "--quiet")
        for value in ("nan", "inf", "1e300", "-5", "0", "1e-300", "12x"):
            done = warplens(*of_one, f"--measured-ns={value}")
            self.assertEqual(done.returncode, 2, value)
            self.assertIn("is not a time from 1 to 1e12 ns", done.stderr)
        for options, words in ((("--measured-ns", "5000", "--time", "porple"), "only ranks"), (("--without", "queue"), "--time paper")):
            done = warplens(*of_one, *options)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)
        done = warplens("placement", self.trace, "--gpu", "a100", "--quiet", "--measured-ns", "5000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 launches on 1 GPUs", done.stderr)

    def test_a_change_that_is_made_in_the_source(self):
        """With --check the figures are those of the changed program, as `advise --check` has them of the same edit by hand."""
        options = ("--kernel", "six_arrays", "--gpu", "a100")
        report = json_of(self, "placement", SOURCE, "--backend", "cpu", *options, "--check")
        jsonschema.validate(report, json.loads((PROJECT / "docs/schemas/placement.json").read_text()))
        candidates = self.candidates(report, "a100")
        compiled = {moved for moved, one in candidates.items() if "moved_in_trace" in one}
        loaded = ("uniform", "scattered", "index", "left", "right")
        self.assertEqual(compiled, {(array, place) for array in loaded for place in ("ldg", "texture")} | {("uniform", "constant"), ("scattered", "constant")})
        by_hand = {("scattered", "ldg"): (("scattered[index[i] + k];", "__ldg(&scattered[index[i] + k]);"),),
                   ("uniform", "constant"): (("uniform[k]", "fixed[k]"), ("/// Reads", "__constant__ float fixed[TABLE];\n/// Reads"), (
                       "  six_arrays<<<", "  cudaMemcpyToSymbol(fixed, table, sizeof fixed, 0, cudaMemcpyDeviceToDevice);\n  six_arrays<<<"))}
        for moved, edits in by_hand.items():
            with self.subTest(moved), tempfile.TemporaryDirectory() as folder:
                changed = pathlib.Path(folder, "placement.cu")
                text = SOURCE.read_text()
                for now, then in edits:
                    text = text.replace(now, then)
                changed.write_text(text)
                check = json_of(self, "advise", SOURCE, "--check", changed, "--backend", "cpu", *options)
            change = check["programs"][0]["change"]
            self.assertAlmostEqual(candidates[moved]["delta"]["share"], change["share"], delta=0.02)
        self.assertIn("compiled; moved in the trace: ", warplens("placement", SOURCE, "--backend", "cpu", *options, "--check", "--move",
                                                                 "scattered:ldg", "--quiet", "--trials", "2").stdout)
        done = warplens("placement", self.trace, "--check", "--gpu", "a100", "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--check edits the sources of a program", done.stderr)

    def test_a_source_that_the_edit_does_not_take(self):
        """Why a change is not compiled stands beside the figure of the moved trace."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "scale.cu")
            source.write_text("""#include <cuda_runtime.h>
__global__ void scale(float* out, const float* factors) { out[blockIdx.x * 256 + threadIdx.x] *= factors[3]; }
int main() {
  float *factors, *out;
  cudaMalloc(&factors, 64);
  cudaMalloc(&out, 64 * 256 * 4);
  cudaMemset(factors, 0, 64);
  cudaMemset(out, 0, 64 * 256 * 4);
  void* arguments[] = {&out, &factors};
  cudaLaunchKernel(reinterpret_cast<const void*>(scale), dim3(64), dim3(256), arguments, 0, nullptr);
}
""")
            report = json_of(self, "placement", source, "--backend", "cpu", "--gpu", "a100", "--check", "--move", "factors:constant")
        candidate = report["kernels"][0]["candidates"][0]
        self.assertNotIn("moved_in_trace", candidate)
        self.assertEqual(candidate["not_compiled"], "no line of this file launches scale<<<...>>>")

    def test_the_search_tries_textures_of_two_dimensions(self):
        """The rows of the matrix follow from its accesses."""
        report = json_of(self, "placement", self.trace, "--kernel", "columns", "--gpu", "k80", "--search")
        moved = [one["moves"] for one in report["kernels"][0]["candidates"]
                 if one["legal"] and any((move["array"], move["to"]) == ("in", "texture2d") for move in one["moves"])]
        self.assertIn(1, map(len, moved))
        self.assertTrue([moves for moves in moved if len(moves) > 1])

    def test_what_was_not_measured_has_no_rank(self):
        words = "no kernel with constant memory, textures"
        arguments = ("placement", self.trace, "--kernel", "six_arrays", "--gpu", "a100", "--quiet", "--trials", "2")
        text, rows, json_text, page = (warplens(*arguments, "--format", format).stdout for format in ("text", "csv", "json", "html"))
        self.assertIn(words, " ".join(text.split()))
        self.assertIn(words, page)
        self.assertIn("class=doubted", page)
        jsonschema.validate(json.loads(json_text), json.loads((PROJECT / "docs/schemas/placement.json").read_text()))
        kernel = json.loads(json_text)["kernels"][0]
        self.assertIn(words, kernel["accuracy"])
        for one in kernel["candidates"]:
            self.assertEqual(bool(one["not_measured"]), one["moves"][0]["to"] in ("texture", "texture2d", "constant"), one["moves"])
        table = list(csv.DictReader(rows.splitlines()))
        self.assertIn(words, table[0]["accuracy"])
        self.assertIn("constant memory", {row["not_measured"] for row in table})
        for text in (text, warplens(*arguments[:-1], "3", "--search").stdout):
            # Constant memory is the fastest, and stands behind all that have a rank.
            ranked = re.findall(r"^ +\d+  .*", text, re.MULTILINE)
            self.assertTrue(ranked)
            self.assertFalse([line for line in ranked if "texture" in line or "constant" in line])
            self.assertRegex(text, r"\n +\?  uniform->constant")
            self.assertIn("no measured kernel has constant memory", " ".join(text.split()))

    def test_an_overlap_that_was_trained(self):
        table = pathlib.Path(self.folder.name, "measured.csv")
        rows = ["trace,kernel,gpu,moves,nanoseconds"]
        for kernel, moves, nanoseconds in (("six_arrays", "", 9000), ("six_arrays", "scattered:texture", 6000), ("six_arrays", "scattered:shared", 5500),
                                           ("columns", "", 8000), ("columns", "in:ldg", 7500), ("columns", "in:texture", 7600)):
            rows.append(f"trace,{kernel},k80,{moves},{nanoseconds}")
        table.write_text("\n".join(rows) + "\n")
        report = json_of(self, "placement", self.trace, "--kernel", "six_arrays", "--gpu", "k80", "--time", "paper", "--train", table)
        self.assertEqual(len(report["overlap"]["weights"]), 11)
        sample = report["kernels"][0]["sample"]
        self.assertGreater(sample["paper"]["rows"][2] + sample["paper"]["rows"][1], 0)
        for one in report["kernels"][0]["candidates"]:
            if one["legal"]:
                self.assertGreater(one["time_ns"]["mean"], 0)
                self.assertLess(abs(one["delta"]["share"]), 4, one["moves"])
        # The regression brings the launch nearer to its measured time than no overlap and all of it are.
        paper = sample["paper"]
        cycles = sorted((paper["tcomp"] + paper["tmem"], max(paper["tcomp"], paper["tmem"])))
        self.assertLessEqual(cycles[0] / 0.875 - 1, sample["time_ns"]["mean"])
        self.assertLessEqual(sample["time_ns"]["mean"], cycles[1] / 0.875 + 1)
        table.write_text(rows[0] + "\ntrace,six_arrays,k80,,1e300\n")
        done = warplens("placement", self.trace, "--gpu", "k80", "--time", "paper", "--train", table, "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a time from 1 to 1e12 ns", done.stderr)

    def test_the_program_that_measures_pairs(self):
        source, pairs = (pathlib.Path(self.folder.name, name) for name in ("measure_pairs.cu", "pairs.csv"))
        source.write_text(warplens("dram-map", "--kernel").stdout)
        pairs.write_text(warplens("dram-map", "--pairs", "--highest-bit", "22", "--random-pairs", "2048").stdout)
        report = pathlib.Path(self.folder.name, "report.txt")
        done = warplens("profile", source, "--backend", "cpu", "--gpu", "c2050", "--trials", "2", "-o", report, "--quiet", "--run", pairs, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr)
        measured, asked = done.stdout.splitlines(), pairs.read_text().splitlines()
        self.assertEqual(measured[0], "first,second,nanoseconds")
        self.assertEqual([line.rpartition(",")[0] for line in measured[1:]], asked[1:])

    def test_advice_with_a_patch_that_keeps_its_word(self):
        report = json_of(self, "advise", SOURCE, "--backend", "cpu", "--kernel", "columns", "--gpu", "a100")
        padded = next(one for one in report["kernels"][0]["suggestions"] if one["change"] == "padded")
        self.assertIn("+  __shared__ float tile[32][32 + 1];", padded["patch"])
        with tempfile.TemporaryDirectory() as folder:
            changed = pathlib.Path(folder, "placement.cu")
            changed.write_text(SOURCE.read_text().replace("tile[32][32];", "tile[32][32 + 1];"))
            check = json_of(self, "advise", SOURCE, "--check", changed, "--backend", "cpu", "--kernel", "columns", "--gpu", "a100")
        jsonschema.validate(check, json.loads((PROJECT / "docs/schemas/check.json").read_text()))
        change = check["programs"][0]["change"]
        self.assertEqual(change["verdict"], "faster")
        self.assertAlmostEqual(change["share"], padded["share"], delta=0.05)
        lines = check["programs"][0]["kernels"][0]["lines"]
        self.assertTrue(any("bank conflicts" in figure for line in lines for figure in line["figures"]))

    def test_a_program_beside_itself(self):
        check = json_of(self, "advise", self.trace, "--check", self.trace, "--gpu", "a100")
        change = check["programs"][0]["change"]
        self.assertEqual((change["share"], change["verdict"]), (0, "same"))


if __name__ == "__main__":
    warplens_tool.main()
