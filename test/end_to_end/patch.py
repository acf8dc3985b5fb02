"""`warplens patch` prints a diff that patch takes, and nvcc compiles the outcome with the flags that the diff's head names."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, warplens


class Patch(unittest.TestCase):
    def test_applies_and_compiles(self):
        for name in ("patterns.cu", "lockstep.cu"):
            with self.subTest(source=name), tempfile.TemporaryDirectory() as folder:
                shutil.copy(KERNELS / name, folder)
                before = (KERNELS / name).read_text()
                done = warplens("patch", name, cwd=folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

                applied = subprocess.run(["patch", "-p0", "--fuzz=0"], cwd=folder, input=done.stdout, capture_output=True,
                                         text=True)
                self.assertEqual(applied.returncode, 0, applied.stdout + applied.stderr)
                after = (pathlib.Path(folder) / name).read_text()
                self.assertNotEqual(before, after)
                self.assertGreater(after.count("::warplens::load("), 5)

                include = re.search(r"^# +-I (.+)$", done.stdout, re.MULTILINE)
                self.assertIsNotNone(include, "the diff's head names the include folder")
                compiled = subprocess.run([warplens_tool.real_nvcc(), "-std=c++17", "-arch=sm_80", "-I", include[1], "-c", name, "-o", "out.o"],
                                          cwd=folder, capture_output=True, text=True)
                self.assertEqual(compiled.returncode, 0, compiled.stderr)


if __name__ == "__main__":
    warplens_tool.main()
