"""Tests that registers, stack and spills of each kernel are those of nvcc's own ptxas, in the result and in the program's queries; and
that occupancy follows from them, by the rules of CUDA's calculator."""

import json
import re
import subprocess
import unittest

from nvcc_case import REAL, NvccCase, run
from warplens_tool import KERNELS, main, warplens
import warplens_tool

SOURCE = KERNELS / "registers.cu"
NAMES = ("demanding", "bounded", "modest", "hidden")


def blocks(registers, threads=256, warps_of_sm=64, blocks_of_sm=32):
    """Returns the occupancy of an SM with 4 register files of 16384, allocated to warps by 256."""
    warps = threads // 32
    of_warp = -(-32 * registers // 256) * 256
    return min(warps_of_sm // warps, blocks_of_sm, 4 * (16384 // of_warp) // warps)


class Registers(NvccCase):
    def ptxas(self, flags, code):
        """Returns per kernel registers, stack, spill stores and loads, as nvcc -Xptxas -v prints them."""
        log = subprocess.run([REAL, *flags.split(), "-gencode", code, "-cubin", "-Xptxas", "-v", SOURCE, "-o", self.folder / "x.cubin"],
                              capture_output=True, text=True, check=True).stderr
        found = re.findall(r"Compiling entry function '(\S+)'.*\n.*\n +(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
                           r".*Used (\d+) registers", log)
        return {next(name for name in NAMES if name in symbol): [int(number) for number in (registers, stack, stores, loads)]
                for symbol, stack, stores, loads, registers in found}

    def check(self, result, printed, expected, gpu, architecture, assumed=False, reported=True, **sm):
        for name in NAMES:
            with self.subTest(name, gpu=gpu):
                registers, stack, stores, loads = expected[name]
                kernel = next(kernel for kernel in result["kernels"] if name in kernel["name"] and kernel["gpu"] == gpu)
                self.assertEqual(kernel["compiled"], {
                    "architecture": architecture, "assumed": assumed, "registers": registers, "stack_bytes": stack,
                    "spill_store_bytes": stores, "spill_load_bytes": loads, "shared_bytes": 0})
                self.assertEqual(kernel["occupancy"]["blocks_per_sm"], blocks(registers, **sm))
                if reported:
                    self.assertIn(f"{name} {registers} {stack} {blocks(registers, **sm)}", printed.splitlines())

    def profile(self, flags, gpus):
        done = warplens("profile", SOURCE, "--backend", "cpu", "--nvcc", flags, "--gpu", gpus, "--trials", "2", "--format", "json", "-o",
                        self.folder / "result.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "result.json").read_text()), done.stdout

    def test_figures_equal_those_of_ptxas(self):
        for flags in ("-arch=sm_80", "-arch=sm_80 -maxrregcount=40 -rdc=true"):
            with self.subTest(flags):
                expected = self.ptxas(flags.replace("-arch=sm_80", ""), "arch=compute_80,code=sm_80")
                result, printed = self.profile(flags, "a100,h100-sxm")
                self.check(result, printed, expected, "a100", "sm_80")
                # The driver would compile this for a GPU of another major number.
                newer = self.ptxas(flags.replace("-arch=sm_80", ""), "arch=compute_80,code=sm_90")
                self.check(result, printed, newer, "h100-sxm", "sm_90", reported=False)
                if "maxrregcount" not in flags:
                    self.assertGreater(expected["demanding"][0], 64)  # else the test would notice nothing
                    self.assertLess(blocks(expected["demanding"][0]), 4)
                else:
                    self.assertGreater(expected["demanding"][2], 0)

    def test_gpus_without_a_compiler(self):
        """Volta gets the figures of 7.5, which is close; Fermi, whose threads have 63 registers at most, none."""
        result, printed = self.profile("-arch=sm_75", "v100,c2050")
        self.check(result, printed, self.ptxas("", "arch=compute_75,code=sm_75"), "v100", "sm_75", assumed=True)
        for kernel in result["kernels"]:
            self.assertEqual("compiled" in kernel, kernel["gpu"] == "v100")

    def test_in_place_of_nvcc(self):
        """A program that is built before the GPU is chosen knows them for each GPU; so does its report."""
        self.nvcc("--backend", "cpu", "-arch=sm_80", SOURCE, "-o", "program")
        for gpu, architecture, sm in (("a100", "sm_80", {}), ("rtx4090", "sm_80", {"warps_of_sm": 48, "blocks_of_sm": 24}), ("h100-sxm", "sm_90", {})):
            expected = self.ptxas("", f"arch=compute_80,code={architecture}")
            done = run(warplens_tool.tool, "run", "--gpu", gpu, "--trials", "2", "--format", "json", "-o", self.folder / "result.json", "--",
                       self.folder / "program", env=self.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check(json.loads((self.folder / "result.json").read_text()), done.stdout, expected, gpu, architecture, **sm)

    def test_other_gpus_get_theirs_when_they_are_asked_for(self):
        """The object has machine code for the GPU that programs see by default; `run` has the rest made, also of a library that a script's
        program opens, and for all GPUs where the trace is kept."""
        self.nvcc("--backend", "cpu", "-arch=sm_80", "-c", SOURCE, "-o", "object.o")
        content = (self.folder / "object.o").read_bytes()
        cuda = (190).to_bytes(2, "little")  # e_machine of a cubin
        cubins = [found.start() for found in re.finditer(re.escape(b"\x7fELF\x02"), content) if content[found.start() + 18:][:2] == cuda]
        self.assertEqual(len(cubins), 1)

        self.nvcc("--backend", "cpu", "-arch=sm_80", "-shared", "-Xcompiler", "-fPIC", "-Dmain=library_main", SOURCE, "-o", "library.so")
        self.write("opens.c", '#include <dlfcn.h>\nint main(void) { int (*f)(void) = dlsym(dlopen("./library.so", RTLD_NOW), "_Z12library_mainv");\n'
                   'return f ? f() : 77; }\n')
        self.write("script", "#!/bin/sh\n./opens\n")
        (self.folder / "script").chmod(0o755)
        subprocess.run(["gcc", "opens.c", "-o", "opens", "-ldl"], cwd=self.folder, check=True)
        by_hand = run(self.folder / "script", env=self.environment, cwd=self.folder)
        expected = {architecture: self.ptxas("", f"arch=compute_80,code={architecture}") for architecture in ("sm_80", "sm_90", "sm_120")}
        for name, (registers, stack, *_) in expected["sm_80"].items():
            self.assertIn(f"{name} {registers} {stack} {blocks(registers)}", by_hand.stdout.splitlines())
        done = run(warplens_tool.tool, "run", "--gpu", "h100-sxm", "--trace", "kept.wlt", "--trials", "2", "--format", "json", "-o", "result.json", "--",
                   "./script", env=self.environment, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(json.loads((self.folder / "result.json").read_text()), done.stdout, expected["sm_90"], "h100-sxm", "sm_90")
        done = warplens("model", "kept.wlt", "--gpu", "rtx5090", "--trials", "2", "-o", "other.json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(json.loads((self.folder / "other.json").read_text()), "", expected["sm_120"], "rtx5090", "sm_120", reported=False,
                   warps_of_sm=48, blocks_of_sm=24)

    def test_figures_that_the_device_link_decides_are_not_known(self):
        self.write("a.cu", "__device__ float other(float);\n__global__ void k(float* a) { a[threadIdx.x] = other(a[threadIdx.x]); }\n"
                   "int main() { float* a; cudaMalloc(&a, 128); k<<<1, 32>>>(a); return cudaDeviceSynchronize() != cudaSuccess; }\n")
        self.write("b.cu", "__device__ float other(float a) { return 2 * a; }\n")
        done = warplens("profile", "a.cu", "b.cu", "--backend", "cpu", "--nvcc", "-rdc=true", "--trials", "2", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^registers +not known$")


if __name__ == "__main__":
    main()
