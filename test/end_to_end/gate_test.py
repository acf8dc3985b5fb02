"""Tests `warplens baseline` and `warplens gate`: what is recorded, what fails, and that equal kernels are not modelled again."""

import json
import os
import pathlib
import re
import shlex
import tempfile
import time
import unittest
import xml.etree.ElementTree

import warplens_tool
from warplens_tool import warplens

SVG = "{http://www.w3.org/2000/svg}"
PROGRAM = """
__global__ void copy(float* out, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * STRIDE % (1 << 18)];
}
__global__ void fill(float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = FILLED; }
MORE
int main(int count, char**) {
  float *in, *out;
  cudaMalloc(&in, 1 << 20);
  cudaMalloc(&out, 1 << 20);
  copy<<<256, 256>>>(out, in);
  LAUNCH
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


class Gate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)

    def setUp(self):
        (self.folder / "kept.txt").unlink(missing_ok=True)
        self.write()

    def write(self, stride=1, filled="1", launch="fill<<<256, 256>>>(out);", more="", above=""):
        """Writes the program, an hour ago: what is compiled of a file that has just changed is not kept."""
        text = PROGRAM.replace("STRIDE", str(stride)).replace("FILLED", filled).replace("LAUNCH", launch)
        (self.folder / "a.cu").write_text(above + text.replace("MORE", more))
        an_hour_ago = time.time() - 3600
        os.utime(self.folder / "a.cu", (an_hour_ago, an_hour_ago))

    def run_tool(self, *arguments):
        return warplens(*arguments[:1], "a.cu", "--backend", "cpu", "--trials", "2", "--baseline", "kept.txt", *arguments[1:], cwd=self.folder)

    def record(self):
        done = self.run_tool("baseline", "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return self.kept()

    def kept(self):
        return (self.folder / "kept.txt").read_text()

    def gate(self, *arguments):
        return self.run_tool("gate", *arguments)

    def waive(self, line):
        (self.folder / "kept.txt").write_text(self.kept().replace("\nkernel", f"\n{line}\nkernel", 1))

    def test_what_is_equal_is_not_modelled(self):
        kept = self.record()
        self.assertTrue(kept.startswith("warplens-baseline 1\n"))
        self.assertLess(kept.index('kernel ["a.cu","a100","copy'), kept.index('kernel ["a.cu","a100","fill'))
        self.write(above="// a line that moves the code\n")
        done = self.gate()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "kernels: 2 equal: machine code, launches and inputs are as recorded\n")
        self.assertRegex(done.stderr, r"model +2 launches equal, not modelled again")
        self.assertEqual(self.record(), kept, "what is equal is recorded as it was")

    def test_worse_better_and_back(self):
        before = self.record()
        self.write(stride=32)
        done = self.gate("--quiet", "--sarif", "out.sarif")
        self.assertEqual((done.returncode, done.stderr), (4, ""), done.stdout)
        self.assertRegex(done.stdout, r"^worse: copy on a100: .* µs → .* µs, \+")
        self.assertRegex(done.stdout, r"\n    a\.cu:4 in\[i \* 32 % \(1 << 18\)\]: new, .* 32 sectors per request")
        self.assertIn("kernels: 1 worse, 1 the same\n", done.stdout)  # `fill` begins behind another `copy`
        self.assertNotEqual(self.gate("--same-within", "1").returncode, 2)
        results = json.loads((self.folder / "out.sarif").read_text())["runs"][0]["results"]
        self.assertIn("strided", {result["ruleId"] for result in results})

        self.record()
        self.write(stride=1)
        done = self.gate("--quiet")
        self.assertEqual(done.returncode, 3, done.stdout)
        last = done.stdout.splitlines()[-1]
        self.assertTrue(last.startswith("to record it: warplens baseline a.cu "), last)
        words = shlex.split(last.removeprefix("to record it: "))[1:]
        self.assertEqual(warplens(*words, cwd=self.folder).returncode, 0)
        self.assertEqual(self.kept(), before, "the command records what was there at first")
        self.assertEqual(self.gate().returncode, 0)

    def test_only_what_changed_is_modelled(self):
        self.record()
        self.write(filled="2")
        done = self.gate()
        self.assertRegex(done.stderr, r"model +1 launch on 1 GPU.*; 1 launch equal, not modelled again")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout, "kernels: 1 the same, 1 equal\n")

    def test_new_and_gone(self):
        self.record()
        self.write(launch="other<<<1, 32>>>(out);", more="__global__ void other(float* a) { a[threadIdx.x] = 1; }")
        done = self.gate("--quiet", "--format", "json")
        self.assertEqual(done.returncode, 3, done.stderr)
        verdicts = {kernel["kernel"]: kernel["verdict"] for kernel in json.loads(done.stdout)["kernels"]}
        self.assertEqual(verdicts, {"copy": "equal", "other": "new", "fill": "removed"})
        self.assertEqual(self.gate("--quiet", "--kernel", "copy").returncode, 0)

    def test_ratchets(self):
        self.record()
        self.write(filled="out[0] * out[1] + blockIdx.x")
        self.assertRegex(self.gate("--quiet").stdout, r"\n    instructions [\d,]+ → [\d,]+\n")
        done = self.gate("--quiet", "--ratchet", "registers,instructions")
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stdout, r"worse: fill.*\n(    .*\n)*    instructions [\d,]+ → [\d,]+, which --ratchet forbids")

    def test_waivers(self):
        kept = self.record()
        self.write(stride=32)
        self.waive('waive "copy" on a100 until 2999-12-31: the new layout comes next')
        done = self.gate("--quiet")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("\n    waived until 2999-12-31: the new layout comes next\n", done.stdout)
        (self.folder / "kept.txt").write_text(kept)
        self.waive('waive "copy" until 2020-01-31: once')
        done = self.gate("--quiet")
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stdout, r"kept.txt:\d+: the waiver of copy.* has expired on 2020-01-31 \(once\)")

    def test_a_comment_for_a_pull_request(self):
        self.record()
        self.write(stride=32)
        done = self.gate("--quiet", "--format", "markdown", "-o", "comment.md")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        comment = (self.folder / "comment.md").read_text()
        self.assertLessEqual(len(comment.splitlines()), 60)
        self.assertTrue(comment.startswith("**Warplens: worse than recorded**\n"), comment)
        self.assertIn("\n| `copy` | a100 | ", comment)
        self.assertRegex(comment, r"\n- \*\*worse\*\*: copy on a100: .*\n(  - .*\n)*  - a\.cu:4 in\\\[i")

    def test_a_picture_and_badges(self):
        self.record()
        self.write(stride=32, filled="2", launch="fill<<<256, 256>>>(out); other<A<B>><<<1, 32>>>(out);",
                   more="struct B {}; template <class T> struct A {}; template <class T> __global__ void other(float* a) { a[threadIdx.x] = 1; }")
        (self.folder / "pictures").mkdir(exist_ok=True)
        done = self.gate("--quiet", "--format", "markdown", "-o", "comment.md", "--picture", "pictures/moved (1).svg", "--badge", "badge.svg", "--badge", "badge.json")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (4, "", ""))
        comment = (self.folder / "comment.md").read_text()
        self.assertIn("\n![Times of the kernels that moved, recorded and now](pictures/moved%20%281%29.svg)\n", comment)
        self.assertLessEqual(len(comment.splitlines()), 60)
        self.assertRegex(comment, r"\nwarplens baseline a\.cu (?!.*(--picture|--badge))")
        picture = xml.etree.ElementTree.parse(self.folder / "pictures/moved (1).svg").getroot()
        self.assertEqual(picture.tag, SVG + "svg")
        texts = [text.text for text in picture.iter(SVG + "text")]
        change = re.search(r"\n\| `copy` \| a100 \| ([^|]*) \| ([^|]*) \| ", comment)
        self.assertIn("copy", texts)
        self.assertIn(change[1], texts)
        self.assertTrue(any(text.startswith(change[2] + ", ") for text in texts), texts)
        self.assertNotIn("fill", texts, "the time of `fill` did not move")
        # The bars have the lengths of the times.
        bars = [float(bar.get("width")) for bar in picture.iter(SVG + "rect") if bar.get("height") == "14"]
        entry = json.loads(self.gate("--quiet", "--format", "json").stdout)["kernels"][0]
        self.assertEqual(len(bars), 2)
        self.assertAlmostEqual(bars[1] / bars[0], min(entry["after_us"] / entry["before_us"], 4), delta=0.01)
        badge = xml.etree.ElementTree.parse(self.folder / "badge.svg").getroot()
        self.assertEqual([text.text for text in badge.iter(SVG + "text")], ["warplens", "a100: 1 slower, 1 new"])
        self.assertEqual(json.loads((self.folder / "badge.json").read_text()),
                         {"schemaVersion": 1, "label": "warplens", "message": "a100: 1 slower, 1 new", "color": "#b42318"})
        self.gate("--quiet", "--format", "markdown", "-o", "comment.md", "--picture", "a.svg", "--picture-url", "https://example.org/a.svg?x=(1)")
        self.assertIn("(https://example.org/a.svg?x=%281%29)", (self.folder / "comment.md").read_text())

        self.write()
        self.assertEqual(self.gate("--quiet", "--picture", "a.svg", "--badge", "badge.svg").returncode, 0)
        self.assertIn("No kernel's time moved", [text.text for text in xml.etree.ElementTree.parse(self.folder / "a.svg").getroot().iter(SVG + "text")])
        self.assertIn("a100: unchanged", (self.folder / "badge.svg").read_text())
        self.assertEqual(self.gate("--picture-url", "https://example.org/").returncode, 2)

    def test_results_in_place_of_sources(self):
        options = ["--backend", "cpu", "--trials", "2", "--quiet", "--format", "json"]
        self.assertEqual(warplens("profile", "a.cu", *options, "-o", "a.json", cwd=self.folder).returncode, 0)
        self.assertEqual(warplens("baseline", "a.json", "--baseline", "kept.txt", cwd=self.folder).returncode, 0)
        self.assertEqual(self.gate().returncode, 0)
        done = warplens("gate", "a.json", "a.cu", "--baseline", "kept.txt", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (1, "warplens: results (.json) and sources together: a program is either run, or was\n"))

    def test_hostile_baselines(self):
        done = self.gate("--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertIn("kept.txt: there is no such baseline: `warplens baseline`", done.stderr)
        kept = self.record()
        for text, why in ((kept[:-9], "ends in the middle of a line"), (kept.replace("\nkernel", "\n<<<<<<< ours\nkernel", 1), "a merge left its marker"),
                          (kept.replace("baseline 1", "baseline 9", 1), "version")):
            (self.folder / "kept.txt").write_text(text)
            done = self.gate("--quiet")
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
            self.assertRegex(done.stderr, r"^warplens: kept\.txt:\d+: .*" + why)


if __name__ == "__main__":
    warplens_tool.main()
