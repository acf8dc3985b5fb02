"""Tests `--backend gpu`: the instrumented examples compile and link with nvcc for sm_80 and sm_90, the runtime included. Without a
GPU the program then ends with CUDA's own error, which the tool prints; with one, the tool prints the report."""

import pathlib
import unittest

import warplens_tool
from warplens_tool import PROJECT, warplens


class GpuBuild(unittest.TestCase):
    def test_examples(self):
        for example, architecture in (("spmv", "sm_80"), ("reduction", "sm_90")):
            with self.subTest(example=example):
                source = PROJECT / "examples" / example / f"{example}.cu"
                done = warplens("profile", source, "--backend", "gpu", "--nvcc", f"-O3 -arch={architecture}", "--trials", "2")
                self.assertIn("for the GPU, with nvcc", done.stderr)
                if pathlib.Path("/dev/nvidia0").exists():
                    self.assertEqual(done.returncode, 0, done.stderr)
                else:
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertRegex(done.stderr.splitlines()[-1], rf"{example}.cu: it needs an NVIDIA GPU, and there is none")


if __name__ == "__main__":
    warplens_tool.main()
