"""gdb in kernels of the CPU back end: programs that warplens-nvcc compiled with -g -G stop at the user's lines, with variables."""

import re
import shutil
import subprocess
import unittest

import nvcc_case
import warplens_tool

SOURCE = warplens_tool.KERNELS / "debugged.cu"


def line_of(name):
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.endswith("// line: " + name))


@unittest.skipUnless(shutil.which("gdb"), "needs gdb")
class Gdb(nvcc_case.NvccCase):
    def build(self, *options, source=SOURCE):
        shutil.copy(source, self.folder / "debugged.cu")
        self.nvcc("-g", "-G", *options, "debugged.cu", "-o", "program", environment={"WARPLENS_BACKEND": "cpu"})

    def gdb(self, *commands):
        """Returns what gdb prints while it executes the commands, with the program's output."""
        words = [word for command in commands for word in ("-ex", command)]
        done = subprocess.run(["gdb", "-batch", "-nx", *words, "./program"], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300)
        return done.stdout + done.stderr

    def values(self, output):
        """Returns the values that `print` printed, in order."""
        return re.findall(r"^\$\d+ = (.*)$", output, re.M)

    def test_a_kernel_by_name(self):
        self.build()
        output = self.gdb("break blend", "run", "print threadIdx", "print blockDim", "print gridDim.x", "print count", "print pair", "print *in@3", "backtrace 1")
        self.assertRegex(output, rf"Breakpoint 1, blend \(.*count=256.*\) at .*debugged\.cu:{line_of('first')}")
        thread, dimension, grid, *others = self.values(output)
        self.assertRegex(thread, r"\{x = \d+, y = 0, z = 0\}")
        self.assertEqual(dimension, "{x = 64, y = 1, z = 1}")
        self.assertEqual(grid, "4")
        self.assertEqual(others, ["256", "{first = 7, second = 0.5}", "{0, 1, 2}"])
        self.assertIn("#0  blend (", output)

    def test_a_line_of_one_thread_and_its_locals(self):
        self.build()
        output = self.gdb(f"break debugged.cu:{line_of('store')} if blockIdx.x == 1 && threadIdx.x == 5", "run", "print index", "print unused", "print sum", "print threadIdx.x",
                          "next", "next", "print tile[5]", "print tile[6]", "print calls", "info locals", "continue")
        # The threads of a block run one after the other, each up to the barrier: thread 6 has stored nothing yet.
        *values, calls = self.values(output)
        self.assertEqual(values, ["69", "345", "310.5", "5", "310.5", "0"])
        self.assertIn(calls, ("0", "1"))  # block 0 has run or has not
        self.assertIn("index = 69", output)
        self.assertNotIn("warplens_", output)
        self.assertIn("out[0] 290.5", output)

    def test_steps_through_the_users_lines_only(self):
        self.build()
        output = self.gdb("break blend if threadIdx.x == 2 && blockIdx.x == 0", "run", "set scheduler-locking on", "delete", *["step"] * 5,
                          "print index", "print values[index]", "up", "print step")
        self.assertEqual(self.values(output), ["2", "2", "0"], output)
        visited = [int(line) for line in re.findall(r"^(\d+)\t", output, re.M)]
        self.assertEqual(visited[:2], [line_of("first"), line_of("unused")])
        self.assertIn(line_of("callee"), visited)
        self.assertTrue(set(visited) <= set(range(line_of("callee"), line_of("last") + 1)), visited)

    def test_host_code(self):
        self.build()
        output = self.gdb(f"break debugged.cu:{line_of('launch')}", "run", "print count", "print host[3]")
        self.assertEqual(self.values(output), ["256", "3"])

    def test_after_a_barrier_each_thread_has_its_own_values(self):
        self.build()
        output = self.gdb(f"break debugged.cu:{line_of('last')} if blockIdx.x == 0 && (threadIdx.x == 0 || threadIdx.x == 63)", "run", "print index", "print sum", "continue", "print index", "print sum")
        self.assertEqual(sorted(self.values(output)), sorted(["0", "0", "63", "283.5"]))

    def test_relocatable_device_code(self):
        text = SOURCE.read_text()
        begin = text.index("__device__ float scaled")
        end = text.index("__global__")
        self.write("callee.cu", text[:begin].replace("__device__ int calls = 0;", "").replace("#include <cstdio>", "") + text[begin:end])
        self.write("caller.cu", text[:begin] + "__device__ float scaled(const float* values, int index, float factor);\n" + text[end:])
        self.nvcc("-g", "-G", "-rdc=true", "callee.cu", "caller.cu", "-o", "program", environment={"WARPLENS_BACKEND": "cpu"})
        output = self.gdb("break scaled if threadIdx.x == 3 && blockIdx.x == 2", "run", "print index", "up", "print sum")
        self.assertEqual(self.values(output), ["131", "0"])

    def test_traces_as_without_debug_information(self):
        """A traced launch runs the optimised variant: what is recorded does not depend on -G."""
        counts = []
        for options in ((), ("-g", "-G")):
            shutil.copy(SOURCE, self.folder / "debugged.cu")
            self.nvcc(*options, "debugged.cu", "-o", "program", environment={"WARPLENS_BACKEND": "cpu"})
            done = nvcc_case.run(warplens_tool.tool, "run", "--trace", "program.trace", "--", "./program", cwd=self.folder, env=self.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            counts.append(nvcc_case.run(warplens_tool.tool, "trace", "counts", self.folder / "program.trace").stdout)
        self.assertEqual(counts[0], counts[1])
        self.assertIn("blend", counts[0])

    def test_not_asked_for_nothing_is_kept(self):
        descriptions = []
        for options in (("-g",), ("-g", "-G")):
            shutil.copy(SOURCE, self.folder / "debugged.cu")
            self.nvcc(*options, "-c", "debugged.cu", "-o", "program.o", environment={"WARPLENS_BACKEND": "cpu"})
            described = nvcc_case.run("readelf", "--wide", "--debug-dump=info", "program.o", cwd=self.folder).stdout
            descriptions.append("threadIdx" in described)
        self.assertEqual(descriptions, [False, True])


if __name__ == "__main__":
    warplens_tool.main()
