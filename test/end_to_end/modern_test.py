"""Tests features of today's CUDA on the CPU back end: libraries that programs link, the driver API, tensor maps."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

import warplens_tool
from warplens_tool import HERE, warplens

MODERN = HERE / "modern"


class Modern(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_program(self, source, *options, code=0):
        """Builds and runs a program, which prints what is wrong; returns the finished process."""
        wrapper = warplens_tool.tool.parent / "warplens-nvcc"
        program = self.folder / "program"
        (self.folder / "cache").mkdir(exist_ok=True)
        built = subprocess.run([wrapper, "--backend", "cpu", *options, MODERN / source, "-o", program], cwd=self.folder, capture_output=True,
                               text=True, timeout=300)
        self.assertEqual(built.returncode, 0, built.stderr)
        done = subprocess.run([program], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_cublas(self):
        done = self.run_program("cublas.cu", "-lcublas", "-lcublasLt")
        self.assertEqual(done.stdout, "all right\n")

    def test_cusparse_and_nccl(self):
        done = self.run_program("cusparse.cu", "-lcusparse", "-lnccl")
        self.assertEqual(done.stdout, "all right\n")

    def test_virtual_memory(self):
        done = self.run_program("virtual_memory.cu", "-lcuda")
        self.assertEqual(done.stdout, "all right\n")

    def test_cufft(self):
        done = self.run_program("cufft.cu", "-lcufft")
        self.assertEqual(done.stdout, "all right\n")

    def test_curand(self):
        done = self.run_program("curand.cu", "-lcurand")
        self.assertEqual(done.stdout, "all right\n")

    def test_tensor_maps(self):
        done = self.run_program("tensor_maps.cu", "-arch=sm_90", "-lcuda")
        self.assertEqual(done.stdout, "all right\n")

    def test_tensor_copies_are_profiled(self):
        done = warplens("profile", MODERN / "tensor_maps.cu", "--backend", "cpu", "--gpu", "h100-sxm", "--nvcc", "-arch=sm_90 -lcuda", "--quiet",
                        "--trials", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("UTMALDG", done.stdout)
        self.assertIn("wrote the same 2,048 bytes as the program", done.stdout)

    def test_modules(self):
        done = self.run_program("modules.cu", "-lcuda", "-lnvrtc")
        self.assertEqual(done.stdout, "all right\n")
        self.assertRegex(done.stderr, r"\Awarplens: a module cannot be loaded: the module is neither a cubin, nor a fatbin, nor PTX\n"
                                      r"warplens: a module cannot be loaded: .*Parsing error near 'nothing'.*\n\Z")

    def test_conditional_nodes(self):
        done = self.run_program("conditions.cu", "-arch=sm_90")
        self.assertEqual(done.stdout, "10 102\n11 102\ncudaSuccess\n")

    def test_deduction_in_device_code(self):
        """Three times: first without precompiled headers, behind which Clang crashes in this one's."""
        with unittest.mock.patch.dict(os.environ, {"WARPLENS_CACHE": str(self.folder / "cache")}):
            for _ in range(3):
                done = self.run_program("unexpected.cu", "-std=c++20", "--expt-relaxed-constexpr")
                self.assertEqual(done.stdout, "0 -0.5 1 -1.5\n")

    def test_a_function_that_a_library_lacks_is_named(self):
        done = self.run_program("refused.cu", "-lcufft", "-lcublas", "-lcurand", "-lcusolver")
        self.assertEqual(done.stdout, "9 15\n")
        self.assertEqual(done.stderr, "warplens: cusolverDnIRSParamsCreate is not supported by the CPU back end: on a machine with a GPU --backend gpu runs it\n"
                                      "warplens: cublasSspmv_v2 is not supported by the CPU back end: on a machine with a GPU --backend gpu runs it\n")


if __name__ == "__main__":
    warplens_tool.main()
