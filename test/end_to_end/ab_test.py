"""Tests `warplens ab`: two versions of a file, or one file and what git has of it, and which of them is faster."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import warplens

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
        self.write("a.cu", PROGRAM % ("strided", "strided"))
        done = self.ab("a.cu", "--at", "HEAD")
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


if __name__ == "__main__":
    warplens_tool.main()
