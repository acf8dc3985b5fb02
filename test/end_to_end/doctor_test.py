"""Tests `warplens doctor`: what works here, and what it says where a part is missing or a GPU is there."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import jsonschema

import warplens_tool
from warplens_tool import warplens

FAKE_DRIVER = """
#include <string.h>
int cuInit(unsigned flags) { return RESULT; }
int cuDeviceGetCount(int* count) { *count = 2; return 0; }
int cuDeviceGetName(char* name, int length, int device) { strncpy(name, device ? "B" : "A", length); return 0; }
"""


def parts(done):
    report = json.loads(done.stdout)
    jsonschema.validate(report, json.loads((warplens_tool.PROJECT / "docs/schemas/doctor.json").read_text()))
    return {part["part"]: part for part in report["parts"]}


class Doctor(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_here_everything_that_profiling_needs_works(self):
        done = warplens("doctor", "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = parts(done)
        for part in ("installation", "LLVM libraries", "Clang", "CUDA Toolkit", "ptxas", "CPU back end"):
            self.assertEqual(found[part]["condition"], "works", found[part])
        linked = subprocess.run(["ldd", warplens_tool.tool], capture_output=True, text=True, check=True).stdout
        self.assertEqual(found["MPI"]["condition"] != "absent", "libmpi" in linked)
        text = warplens("doctor").stdout
        self.assertRegex(text, r"CPU back end    works +a kernel was compiled, run and modelled\n")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_an_incomplete_installation(self):
        """Copies the program without what compiles: it says what is missing, and what still works."""
        (self.folder / "bin").mkdir()
        shutil.copy(warplens_tool.tool, self.folder / "bin/warplens")
        done = subprocess.run([self.folder / "bin/warplens", "doctor", "--format", "json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("warplens: programs cannot be profiled here: "), done.stderr)
        found = parts(done)
        self.assertEqual(found["installation"]["condition"], "absent")
        self.assertIn("libexec/warplens/warplens-compile", found["installation"]["found"])
        self.assertEqual(found["CPU back end"]["condition"], "absent")

    def test_drivers(self):
        for result, condition, text in ((0, "works", "A, B"), (100, "absent", "the driver's cuInit fails with error 100")):
            library = self.folder / "libcuda.so.1"
            subprocess.run(["cc", "-shared", "-fPIC", f"-DRESULT={result}", "-x", "c", "-", "-o", library], input=FAKE_DRIVER,
                           text=True, check=True)
            found = parts(warplens("doctor", "--format", "json", env={**os.environ, "LD_LIBRARY_PATH": str(self.folder)}))["GPU"]
            self.assertEqual((found["condition"], found["found"]), (condition, text))


if __name__ == "__main__":
    warplens_tool.main()
