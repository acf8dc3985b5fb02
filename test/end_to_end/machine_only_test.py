"""Tests kernels that the CPU back end has no code for: their machine code is executed in place of the program's own, and is traced."""

import json
import re
import subprocess

from nvcc_case import NvccCase
from warplens_tool import KERNELS, main, warplens

SOURCE = KERNELS / "machine_only.cu"
PRINTED = ["thread 31: -8.0 of the last row", "no error, 0 wrong, clusters checked"]


class MachineOnly(NvccCase):
    def test_they_run_in_a_build_without_a_gpu(self):
        program = self.folder / "program"
        done = warplens("nvcc", "--backend", "cpu", "-arch=sm_90", SOURCE, "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout.splitlines()), (0, PRINTED), done.stderr)

    def test_they_are_profiled(self):
        result = self.folder / "result.json"
        done = warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "h100-sxm,b200", "--trials", "2", "--nvcc", "-arch=sm_90", "--format", "json",
                        "-o", result)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[:2], PRINTED)
        kernels = json.loads(result.read_text())["kernels"]
        self.assertEqual({(kernel["name"].split("(")[0], kernel["gpu"]) for kernel in kernels},
                         {(name, gpu) for name in ("multiply", "fixed", "chosen") for gpu in ("h100-sxm", "b200")})
        for kernel in kernels:
            with self.subTest(kernel["name"], gpu=kernel["gpu"]):
                self.assertGreater(kernel["time"]["microseconds"]["mean"], 0)
                self.assertEqual(kernel["executed"]["execution"]["different_words"], 0)
                expressions = {site["expression"] for site in kernel["sites"]}
                self.assertLessEqual({"multiply": {"c[row * 8 + pair]"}, "fixed": {"out[blockIdx.x]"}, "chosen": {"out[blockIdx.x]"}}[
                    kernel["name"].split("(")[0]], expressions)

    def test_the_architecture_to_compile_for_is_named(self):
        source = self.folder / "fence.cu"
        source.write_text('__global__ void fence(int* out) { asm volatile("wgmma.fence.sync.aligned;"); *out = 1; }\n'
                          "int main() { int* out; cudaMalloc(&out, 4); fence<<<1, 128>>>(out); return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1; }\n")
        done = warplens("profile", source, "--backend", "cpu", "--gpu", "h100-sxm", "--trials", "2")
        self.assertIn('name what to compile for, as with --nvcc "-arch=sm_90a"', done.stderr)
        done = warplens("profile", source, "--backend", "cpu", "--gpu", "h100-sxm", "--trials", "2", "--nvcc", "-arch=sm_90a")
        self.assertEqual((done.returncode, "name what to compile for" in done.stderr + done.stdout), (0, False), done.stderr)

    def test_instructions_by_their_results(self):
        """Products of tensor cores, accesses of 32 bytes: each line of a program is one that it checks."""
        for source in sorted((KERNELS / "instructions").glob("*.cu")):
            with self.subTest(source.name):
                program = self.folder / source.stem
                flags = re.search("^// flags: (.*)$", source.read_text(), re.MULTILINE)[1].split()
                done = warplens("nvcc", "--backend", "cpu", *flags, source, "-o", program)
                self.assertEqual(done.returncode, 0, done.stderr)
                done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=300)
                self.assertGreater(len(done.stdout.splitlines()), 2, done.stderr)
                self.assertEqual([line for line in done.stdout.splitlines() if not line.endswith(": right")], [], done.stderr)

    def test_they_share_the_program(self):
        """Its tables of functions, its memory, its output and its other threads; each fault ends the kernel, not the program."""
        program = self.folder / "program"
        done = warplens("nvcc", "--backend", "cpu", "-arch=sm_80", "-Xcompiler", "-pthread", KERNELS / "machine_only_edges.cu", "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        for case, printed, said in (("table", "no error, 6", ""),
                                    ("text", "local0 shared. global 0\nno error, 1651469415", ""),
                                    ("free", "unspecified launch failure, 0", "free of a pointer that malloc did not return"),
                                    ("constant", "an illegal memory access was encountered, 0", "access outside of memory"),
                                    ("threads", "no error, 51200", ""),
                                    ("together", "no error, 512", "")):
            with self.subTest(case):
                done = subprocess.run([program, case], capture_output=True, text=True, check=False, timeout=300)
                self.assertEqual((done.returncode, done.stdout), (0, printed + "\n"), done.stderr)
                self.assertIn(said, done.stderr)

    def test_checks_do_not_pass_over_them(self):
        program = self.folder / "program"
        done = warplens("nvcc", "--backend", "cpu", "--memcheck", "-arch=sm_80", KERNELS / "machine_only_edges.cu", "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = warplens("run", "--memcheck", "--", program, "text")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("it is executed as machine code, which --memcheck does not check", done.stderr)

    def test_what_the_executor_does_not_know_either_ends_the_kernel(self):
        source = self.folder / "unknown.cu"
        source.write_text('#include <cstdio>\n__global__ void unknown(unsigned* out) {\n  asm volatile("txq.width.b32 %0, [%1];" : "=r"(*out) '
                          ': "l"(1ull));\n}\nint main() {\n  unsigned* out;\n  cudaMalloc(&out, 4);\n  unknown<<<1, 1>>>(out);\n'
                          '  std::printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));\n}\n')
        program = self.folder / "program"
        done = warplens("nvcc", "--backend", "cpu", "-arch=sm_80", source, "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "unspecified launch failure\n")
        self.assertIn("unknown.cu:3: inline PTX is not supported on the CPU back end: txq.width.b32", done.stderr)
        self.assertIn("and its machine code cannot be executed instead:", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    main()
