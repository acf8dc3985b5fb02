"""Tests `warplens ab`: two versions of a file, or one file and what git has of it, and which of them is faster."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

import warplens_tool
from warplens_tool import PROJECT, warplens

PROGRAM = """
#include "step.h"
__global__ void %s(float* out, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * STEP %% (1 << 18)] = in[i * STEP %% (1 << 18)];
}
int main(int count, char**) {
  float *in, *out;
  cudaMalloc(&in, 1 << 20);
  cudaMalloc(&out, 1 << 20);
  for (int i = 0; i < count; ++i)
    %s<<<1024, 256>>>(out, in);
  return cudaDeviceSynchronize() != cudaSuccess || count > 3;
}
"""


class Ab(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.write("step.h", "#ifndef STEP\n#define STEP 1\n#endif\n")
        self.write("a.cu", "#define STEP 16\n" + PROGRAM % ("strided", "strided"))
        self.write("b.cu", PROGRAM % ("consecutive", "consecutive"))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def ab(self, *arguments):
        return warplens("ab", *arguments[:1], "--backend", "cpu", "--trials", "2", *arguments[1:], cwd=self.folder)

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.folder, check=True, capture_output=True)

    def test_the_faster_one(self):
        done = self.ab("a.cu", "b.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[-1], r"^B is \d\.\d\d.* times as fast as A on a100$")
        self.assertIn("A  a.cu\nB  b.cu\n", done.stdout)
        self.assertEqual(self.ab("a.cu", "b.cu", "--exit-code", "verdict", "--quiet").returncode, 3)

    def test_the_same(self):
        done = self.ab("b.cu", "b.cu", "--quiet", "--exit-code", "verdict", "--run", "two", "launches")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines()[-2:], ["1 kernel equal, 0 changed", "B takes as long as A on a100, within ±1 %"])
        count = self.folder / "runs"
        self.write("b.cu", "#include <cstdio>\n" + PROGRAM.replace("{\n  float", '{\n  fputs("run\\n", fopen("runs", "a"));\n  float') % ("consecutive", "consecutive"))
        done = self.ab("b.cu", "./b.cu")
        self.assertIn("equal       ./b.cu: the same file in both versions, built and run once", done.stderr)
        self.assertEqual(count.read_text(), "run\n")
        self.assertEqual(done.stdout.splitlines()[-2], "1 kernel equal, 0 changed")
        self.write("b.cu", PROGRAM % ("consecutive", "consecutive"))
        self.write("c.cu", "// moved\n" + PROGRAM % ("consecutive", "consecutive"))
        done = self.ab("b.cu", "c.cu")
        self.assertEqual(done.stdout.splitlines()[-2], "1 kernel equal, 0 changed: the sources differ, their machine code does not")
        self.assertRegex(done.stderr, r"model +1 launch equal, not modelled again")

    def test_formats(self):
        done = self.ab("a.cu", "b.cu", "--format", "json", "-o", "out", "--quiet")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(json.loads((self.folder / "out").read_text())["schema"], "warplens-diff/1")
        self.assertIn("\n| `consecutive` | a100 | ", self.ab("a.cu", "b.cu", "--format", "markdown").stdout)

    def test_a_revision(self):
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        self.assertIn("a.cu: the same file in both versions, built and run once", self.ab("a.cu", "--at", "HEAD").stderr)
        self.write("a.cu", PROGRAM % ("strided", "strided"))
        done = self.ab("a.cu", "--at", "HEAD")
        self.assertNotIn("run once", done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("A  a.cu at HEAD\nB  a.cu\n", done.stdout)
        self.assertRegex(done.stdout.splitlines()[-1], r"^B is \d\.\d\d.* times as fast as A on a100$")
        for revision, why in (("nowhere", "git has no such version of a.cu: fatal"), ("--output=x", "not a revision")):
            done = self.ab("a.cu", f"--at={revision}")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(why, done.stderr)
        self.assertFalse((self.folder / "x").exists())

    def test_what_cannot_be_compared(self):
        two = (PROGRAM % ("one", "one")).replace("int main", "__global__ void other(float* a) { a[threadIdx.x] = 1; }\nint main")
        self.write("two.cu", two.replace("  return", "  other<<<1, 32>>>(out);\n  return"))
        for arguments, why in ((["a.cu"], "expected two files"), (["a.cu", "b.cu", "--at", "HEAD"], "here are two"), (["a.cu", "none.cu"], "none.cu"), (["a.cu", "b.cu", "--trace", "kept"], "two versions leave two"),
                               (["a.cu", "two.cu"], "no kernel in common"), (["a.cu", "b.cu", "--run", "1", "2", "3"], "a.cu")):
            done = self.ab(*arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""), arguments)
            self.assertIn(why, done.stderr.splitlines()[-1])


    SCANNED = """
#include <cstdlib>
__global__ void copy(float* out, const float* in, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * step % (1 << 18)] = in[i * STEP % (1 << 18)];
}
int main(int, char** arguments) {
  float *in, *out;
  cudaMalloc(&in, 1 << 20);
  cudaMalloc(&out, 1 << 20);
  copy<<<108, 256>>>(out, in, atoi(arguments[1]));
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""

    def test_a_scan_of_a_macro_and_an_argument(self):
        self.write("scan.cu", self.SCANNED)
        words = ["scan.cu", "--gpu", "a100,v100", "-L", "STEP", "16,1", "-P", "n", "1", "9", "8"]
        text = self.ab(*words, "--run", "{n}")
        self.assertEqual(text.returncode, 0, text.stderr)
        lines = text.stdout.splitlines()
        self.assertEqual(lines[0].split(), ["n", "STEP", "a100", "v100"])
        self.assertEqual([line.split()[:2] for line in lines[1:5]], [["1", "16"], ["1", "1"], ["9", "16"], ["9", "1"]])
        self.assertEqual([line.count("best") for line in lines[1:5]], [0, 2, 0, 0])
        # Two trials of so few blocks cannot tell more than that.
        self.assertEqual([line.split(";")[0] for line in lines[5:]], ["", "n=1 STEP=1 is the fastest on a100", "n=1 STEP=1 is the fastest on v100"])
        self.assertEqual(text.stderr.count("\nbuild ") + text.stderr.startswith("build "), 2)  # once for each value of the macro

        found = json.loads(self.ab(*words, "--format", "json", "--quiet", "--run", "{n}").stdout)
        jsonschema.validate(found, json.loads((PROJECT / "docs/schemas/scan.json").read_text()))
        self.assertEqual(found["configurations"][2], {"n": "9", "STEP": "16"})
        for gpu in found["gpus"]:
            self.assertEqual(gpu["best"], 1)
            times = [time["microseconds"] for time in gpu["times"]]
            self.assertEqual(min(times), times[1])
            for time in gpu["times"]:
                # The ratio of paired trials, all of which both have, is that of the means.
                self.assertAlmostEqual(time["beside_best"]["share"], time["microseconds"] / times[1] - 1, places=9)
                self.assertLessEqual(time["beside_best"]["low"], time["beside_best"]["share"])
        # Each time is that of the same program alone.
        alone = self.folder / "alone.json"
        done = warplens("profile", "scan.cu", "--backend", "cpu", "--trials", "2", "--quiet", "--nvcc", "-DSTEP=16", "--format", "json", "-o", alone,
                        "--run", "9", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(alone.read_text())["kernels"][0]["time"]["microseconds"]["mean"], found["gpus"][0]["times"][2]["microseconds"])

    def test_a_scan_whose_values_change_nothing(self):
        self.write("scan.cu", self.SCANNED)
        done = self.ab("scan.cu", "-L", "option", "-DSTEP=1,-DSTEP=1 -DNOTHING", "--nvcc", "{option}", "--format", "markdown", "--quiet", "--run", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[:4], [
            "**option=-DSTEP=1 is the fastest on a100; as fast within ±1 %: option=-DSTEP=1 -DNOTHING**", "", "| option | a100 |  |", "|---|--:|--:|"])
        self.assertRegex(done.stdout.splitlines()[4], r"^\| -DSTEP=1 \| \S+ µs \| \*\*best\*\* \|$")
        self.assertRegex(done.stdout.splitlines()[5], r"^\| -DSTEP=1 -DNOTHING \| \S+ µs \| same \|$")

    def test_scans_that_cannot_be(self):
        for words, message in ((["a.cu", "b.cu", "-L", "n", "1"], "ab: -P and -L time one file in several configurations"),
                               (["a.cu", "--at", "HEAD", "-L", "n", "1"], "ab: -P and -L time one file in several configurations"),
                               (["b.cu", "--exit-code", "verdict", "-L", "n", "1"], "ab: --exit-code is about two versions"),
                               (["b.cu", "-P", "n", "3", "1", "1"], "-P n=3:1:1: a range is FROM:TO or FROM:TO:STEP, ascending"),
                               (["b.cu", "-L", "a-b", "1"], "-L a-b=1: it is NAME=FROM:TO:STEP or NAME=VALUE,VALUE"),
                               (["b.cu", "-L", "n", "1", "-P", "n", "1", "2", "1"], "the parameter n is varied twice"),
                               (["b.cu", "-L", "n", "1", "--run", "{m}"], "'{m}': there is no -P or -L m"),
                               (["b.cu", "-L", "STEP", "1,)", "--quiet"], "STEP=): b.cu:")):
            done = self.ab(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertTrue(done.stderr.startswith("warplens: " + message), done.stderr)


if __name__ == "__main__":
    warplens_tool.main()
