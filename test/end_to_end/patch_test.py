"""Tests that `warplens patch` prints a diff that patch takes, and that nvcc compiles the outcome with the flags in the diff's head."""

import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, warplens


class Patch(unittest.TestCase):
    def patched(self, source, folder, flags=""):
        """Returns the text of `source` after applying its patch as the head says; plain nvcc compiles it in `folder`."""
        done = warplens("patch", source, "--nvcc", flags, cwd=folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        apply, include = (shlex.split(re.search(f"^#   ({start}.+)$", done.stdout, re.MULTILINE)[1]) for start in ("patch ", "-I "))
        applied = subprocess.run([*apply, "--fuzz=0"], cwd=folder, input=done.stdout, capture_output=True, text=True)
        self.assertEqual(applied.returncode, 0, applied.stdout + applied.stderr)
        compiled = subprocess.run([warplens_tool.real_nvcc(), "-std=c++17", "-arch=sm_80", *flags.split(), *include, "-c", source, "-o",
                                   "out.o"], cwd=folder, capture_output=True, text=True)
        self.assertEqual(compiled.returncode, 0, compiled.stderr)
        return (folder / source).read_text()

    def test_applies_and_compiles(self):
        for name in ("patterns.cu", "lockstep.cu"):
            with self.subTest(source=name), tempfile.TemporaryDirectory() as folder:
                shutil.copy(KERNELS / name, folder)
                after = self.patched(name, pathlib.Path(folder))
                self.assertNotEqual((KERNELS / name).read_text(), after)
                self.assertGreater(after.count("::warplens::load("), 5)

    def test_it_begins_with_its_head(self):
        """LLVM's remark on a loop that it does not unroll must not come first."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a.cu").write_text("__global__ void k(float* a, int n) {\n#pragma unroll 8\n"
                                                    "  for (int i = 0; i < n; ++i) {\n    a[i] += 1;\n    __syncthreads();\n  }\n}\n")
            self.assertTrue(warplens("patch", "a.cu", cwd=folder).stdout.startswith("# Instrumentation by Warplens."))

    def test_headers_outside_the_current_folder(self):
        """`patch` refuses to follow names that lead there."""
        for flags in ("", "-I../a_link", "-I{}/include"):
            with self.subTest(flags), tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                (folder / "include").mkdir()
                (folder / "a program").mkdir()
                (folder / "a_link").symlink_to("include")
                header = folder / "include/twice.h"
                header.write_text("__device__ inline void twice(float* a) { a[0] *= 2; }\n")
                name = "twice.h" if flags else "../include/twice.h"
                (folder / "a program/a.cu").write_text(f'#include "{name}"\n__global__ void k(float* a) {{ twice(a); a[1] = 0; }}\n')
                self.assertIn("::warplens::store(", self.patched("a.cu", folder / "a program", flags.format(folder)))
                self.assertIn("::warplens::update(", header.read_text())


if __name__ == "__main__":
    warplens_tool.main()
