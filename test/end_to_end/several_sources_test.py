"""Tests programs of several sources on the CPU back end, with and without -rdc, and libraries that it lacks."""

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
    """Returns (the finished process, the result) with probes; the program's output is on stdout."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "result.json"
        done = warplens("profile", *[SEVERAL / file for file in files], "--backend", "cpu", "--nvcc", nvcc, "--format", "json",
                        "--trials", "2", "--launches", "9", "-o", output, *options)
        return done, json.loads(output.read_text()) if output.exists() else None


class SeveralSources(unittest.TestCase):
    def test_each_file_has_its_own_static_variables(self):
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

    def test_a_missing_library_is_named(self):
        for libraries in ("-lcudnn", "-lcudnn -lcublas_static -lcublasLt_static -lculibos -lcufft_static -lnppig_static -lnvjpeg"):
            done, _ = profile("dnn.cu", nvcc=libraries, options=["--no-probes"])
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"(?m)^warplens: cudnnCreate is of cuDNN: the CPU back end has no such library; ")

    def test_such_a_library_in_a_build(self):
        """The linker names the function, however it is started, and so does the program when it calls it."""
        message = "cudnnCreate is of cuDNN: the CPU back end has no such library; on a machine with a GPU --backend gpu runs it"
        wrapper = warplens_tool.tool.parent / "warplens-nvcc"
        libraries = warplens_tool.tool.parent.parent / "lib/warplens"
        with tempfile.TemporaryDirectory() as folder:
            def run(*command, code=0):
                done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                return done.stderr

            self.assertIn(message, run(wrapper, "--backend", "cpu", SEVERAL / "dnn.cu", "-o", "by_nvcc", "-lcudnn"))
            run(wrapper, "--backend", "cpu", "-c", SEVERAL / "dnn.cu", "-o", "dnn.o")
            self.assertIn(message, run("g++", "-no-pie", "dnn.o", "-o", "by_linker", f"-L{libraries}", "-lcudnn", "-lcudart_static"))
            for program in ("by_nvcc", "by_linker"):
                self.assertEqual(run(f"./{program}", code=1), f"warplens: {message}\n")
            # The linker itself must miss the functions of a library that the toolkit lacks.
            source = pathlib.Path(folder) / "npp.cu"
            source.write_text('extern "C" int nppSetStream(void*);\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); return nppSetStream(0); }\n')
            self.assertIn("warplens: error: it calls NPP (nppSetStream): the CPU back end has no such library",
                          run(wrapper, "--backend", "cpu", source, "-o", "x", "-lnppc", code=1))

    def test_nvidias_own_library_in_a_program(self):
        real = warplens_tool.real_nvcc().parent.parent / "lib64/libcublas.so"
        if not real.exists():
            self.skipTest("there is none")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            wrapper = warplens_tool.tool.parent / "warplens-nvcc"
            source = pathlib.Path(folder) / "loads.cu"
            source.write_text('#include <cublas_v2.h>\n__global__ void k() {}\n'
                              'int main() { k<<<1, 1>>>(); cublasHandle_t h; return cublasCreate(&h) == 0; }\n')
            subprocess.run([wrapper, "--backend", "cpu", source, real, "-o", program], check=True)
            environment = {**os.environ, "LD_LIBRARY_PATH": str(real.parent)}
            done = subprocess.run([program], capture_output=True, text=True, env=environment, timeout=300)
            self.assertRegex(done.stderr, r"(?m)^warplens: warning: the program brings NVIDIA's own cuBLAS along \(.*libcublas\.so")

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
            # No host code refers to the archive's object, whose sites must be in the program all the same.
            run(warplens_tool.tool, "run", "--trials", "2", "--format", "json", "-o", f"{folder}/result.json", "--", f"{folder}/archived")
            result = json.loads((pathlib.Path(folder) / "result.json").read_text())
            files = {pathlib.Path(site["file"]).name for kernel in result["kernels"] for site in kernel["sites"]}
            self.assertEqual(files, {"caller.cu", "callee.cu"})

    def test_a_file_with_nothing_but_device_code_in_an_archive(self):
        """Its only probe is the mark of a loop; the linker takes it for the device link's sake."""
        wrapper = [warplens_tool.tool.parent / "warplens-nvcc", "--backend", "cpu", "-arch=sm_80", "-std=c++17"]
        project = warplens_tool.PROJECT / "examples/cmake-project"
        with tempfile.TemporaryDirectory() as folder:
            def run(*command):
                done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                return done.stdout

            sources = [project / "kernels/saxpy.cu", project / "kernels/sum.cu", project / "kernels/combine.cu"]
            for source in sources + [project / "main.cu"]:
                run(*wrapper, "-I", project / "include", "-dc", source, "-o", f"{source.stem}.o")
            run("ar", "rcs", "libkernels.a", *(f"{source.stem}.o" for source in sources))
            run(*wrapper, "main.o", "libkernels.a", "-o", "program")
            printed = run(warplens_tool.tool, "run", "--trials", "2", "--format", "json", "-o", "result.json", "--", "./program")
            self.assertEqual(printed, "327680\n")
            result = json.loads((pathlib.Path(folder) / "result.json").read_text())
            names = {kernel["name"].rpartition("::")[2] for kernel in result["kernels"]}
            self.assertEqual(names, {"saxpy_kernel", "sum_kernel"})
            self.assertIn("combine.cu: 0 accesses probed", run(warplens_tool.tool, "nvcc", "--report", f"{folder}/program"))


if __name__ == "__main__":
    warplens_tool.main()
