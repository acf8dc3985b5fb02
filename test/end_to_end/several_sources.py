"""Programs of several sources on the CPU back end, with and without -rdc, and libraries that it has not."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import HERE, warplens

SEVERAL = HERE / "several"


def profile(*files, nvcc="", options=()):
    """(the finished process, the result) with probes; what the program prints is on stdout."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "result.json"
        done = warplens("profile", *[SEVERAL / file for file in files], "--backend", "cpu", "--nvcc", nvcc, "--format", "json",
                        "--trials", "2", "--launches", "9", "-o", output, *options)
        return done, json.loads(output.read_text()) if output.exists() else None


class SeveralSources(unittest.TestCase):
    def test_each_file_has_its_own_of_what_is_static(self):
        for nvcc in ("", "-rdc=true"):
            with self.subTest(nvcc=nvcc):
                done, result = profile("main.cu", "other.cu", "host.c", nvcc=nvcc)
                self.assertEqual((done.returncode, done.stdout), (0, "410 7\n"), done.stderr)
                self.assertEqual([kernel["name"] for kernel in result["kernels"]], ["add"] * len(result["kernels"]))
                files = {pathlib.Path(site["file"]).name for kernel in result["kernels"] for site in kernel["sites"]}
                self.assertEqual(files, {"main.cu", "other.cu"})

    def test_device_code_of_other_files(self):
        done, result = profile("caller.cu", "callee.cu", nvcc="-rdc=true")
        self.assertEqual((done.returncode, done.stdout), (0, "1010 8\n"), done.stderr)
        files = {pathlib.Path(site["file"]).name for kernel in result["kernels"] for site in kernel["sites"]}
        self.assertEqual(files, {"caller.cu", "callee.cu"})

    def test_device_code_of_other_files_takes_rdc(self):
        done, _ = profile("caller.cu", "callee.cu")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"caller\.cu:\d+: calls doubled_and_counted\(int\), .*-rdc=true")

    def test_a_library_that_there_is_not_is_named(self):
        for libraries in ("-lcublas", "-lcublas_static -lcublasLt_static -lculibos -lcufft_static -lnppig_static -lnvjpeg"):
            done, _ = profile("blas.cu", nvcc=libraries, options=["--no-probes"])
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"cuBLAS \(cublasCreate_v2\): the CPU back end has no such library")

    def test_openmp_in_host_code(self):
        done, _ = profile("openmp.cu", nvcc="-Xcompiler -fopenmp", options=["--no-probes"])
        self.assertEqual((done.returncode, done.stdout), (0, "256 counted, from 8 launches\n"), done.stderr)

    def test_a_whole_cmake_project(self):
        environment = {**os.environ, "WARPLENS_BACKEND": "cpu"}
        with tempfile.TemporaryDirectory() as folder:
            def run(*command):
                done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                return done.stdout

            run("cmake", "-S", SEVERAL, "-B", folder, f"-DCMAKE_CUDA_COMPILER={warplens_tool.tool.parent / 'warplens-nvcc'}")
            run("cmake", "--build", folder)
            self.assertEqual(run(f"{folder}/plain"), "410 7\n")
            self.assertEqual(run(f"{folder}/archived"), "1010 8\n")
            self.assertIn("main.cu: 2 accesses probed", run(warplens_tool.tool, "nvcc", "--report", f"{folder}/plain"))


if __name__ == "__main__":
    warplens_tool.main()
