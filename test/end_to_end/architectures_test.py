"""Tests several architectures in one command, on the CPU back end: the one that the requested GPU would run is compiled, and reported to
the program. Expected values follow CUDA's rules for choosing code (CUDA Compiler Driver NVCC, "GPU Compilation")."""

import unittest

from nvcc_case import NvccCase, run
from warplens_tool import KERNELS, THOROUGH, main, warplens
import warplens_tool


def gencode(*architectures):
    return " ".join(f"-gencode arch=compute_{number},code=sm_{number}" for number in architectures)


class Architectures(NvccCase):
    def printed(self, flags, gpu, source="architectures.cu"):
        done = warplens("profile", KERNELS / source, "--backend", "cpu", "--no-probes", "--gpu", gpu, "--nvcc", flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_the_code_that_the_gpu_would_run(self):
        """Checks the architectures of kernel, attribute (PTX), attribute (machine code) and device."""
        for flags, gpu, expected in (
                ("-arch=sm_75", "a100", "75 75 80 80"),
                (gencode(75, 80), "a100", "80 80 80 80"),
                (gencode(75, 80), "rtx4090", "80 80 80 89"),
                (gencode(80, 90), "a100", "80 80 80 80"),
                (gencode(80, 90), "h100-sxm", "90 90 90 90"),
                (gencode(75, 80), "h100-sxm", "80 80 90 90"),
                (gencode(90), "a100", "90 90 90 90"),  # the device runs the only code
                (gencode(80, 90), "v100", "80 80 80 80"),
                ("-DNEEDS_WHAT_IS_NOT_THERE " + gencode(80, 90), "h100-sxm", "80 80 90 90")):  # the CPU back end supports only this one
            with self.subTest(flags, gpu=gpu):
                self.assertEqual(self.printed("-std=c++17 -DCHOOSE " + flags, gpu), [expected, "chosen"])

    @unittest.skipUnless(THOROUGH, "takes long: check --all")
    def test_scan_by_key(self):
        self.assertEqual(self.printed("-arch=sm_75", "a100", "scan_by_key.cu"), ["right"])

    def test_a_build_before_the_gpu_is_chosen(self):
        self.nvcc("--backend", "cpu", *gencode(80, 90).split(), KERNELS / "architectures.cu", "-o", "program")
        for gpu, expected in (("a100", "80 80 80 80"), ("h100-sxm", "80 80 90 90")):
            with self.subTest(gpu):
                done = run(warplens_tool.tool, "run", "--gpu", gpu, "--trials", "2", "-o", self.folder / "report", "--",
                           self.folder / "program", env=self.environment)
                self.assertEqual((done.returncode, done.stdout), (0, expected + "\n"), done.stderr)


if __name__ == "__main__":
    main()
