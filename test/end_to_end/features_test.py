"""Tests features of today's CUDA on the CPU back end, a program for several, each of which checks its own results.

Those that take longest run where WARPLENS_FEATURES is "all".
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import HERE, warplens

PROGRAMS = HERE / "modern" / "features"
QUICK = ["clusters.cu", "mma_types.cu", "conversions.cu", "nested_launches.cu"]


class Features(unittest.TestCase):
    def test_programs(self):
        chosen = sorted(PROGRAMS.glob("*.cu")) if os.environ.get("WARPLENS_FEATURES") == "all" else [PROGRAMS / name for name in QUICK]
        self.assertGreaterEqual(len(chosen), len(QUICK))
        for source in chosen:
            with self.subTest(source.name), tempfile.TemporaryDirectory() as folder:
                flags = re.search("^// flags: (.*)$", source.read_text(), re.MULTILINE)[1].split()
                program = pathlib.Path(folder) / "program"
                built = warplens("nvcc", "--backend", "cpu", *flags, source, "-o", program)
                self.assertEqual(built.returncode, 0, built.stderr)
                done = subprocess.run([program], capture_output=True, text=True, timeout=300, check=False)
                self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)


if __name__ == "__main__":
    warplens_tool.main()
