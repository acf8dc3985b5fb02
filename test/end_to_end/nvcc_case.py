"""The common parts of the tests of `warplens nvcc`."""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

import warplens_tool

KERNEL = "__global__ void twice(float* a) { a[threadIdx.x] = 2 * a[threadIdx.x]; }\n"
MAIN = """#include <cstdio>
int main() { float* a; std::puts(cudaMalloc(&a, 4) == cudaSuccess ? "GPU" : "none"); twice<<<1, 1>>>(a); }
"""
REAL = warplens_tool.real_nvcc()


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, **options)


def kernels_of(cubin):
    """Returns each kernel's name and machine code: the sections .text.NAME of an ELF file."""
    data = cubin.read_bytes()
    table, size, count, names = struct.unpack_from("<Q", data, 0x28) + struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    for name, _, _, _, offset, length in sections:
        start = sections[names][4] + name
        name = data[start:data.index(0, start)].decode()
        if name.startswith(".text."):
            yield name.removeprefix(".text."), data[offset:offset + length]


class NvccCase(unittest.TestCase):
    """Each test works in a folder of its own, and leaves no temporary file."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        # The folder is this test's alone, so that any file left there is its own.
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()
        self.environment = os.environ | {"TMPDIR": str(self.scratch)}
        for name in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "WARPLENS_STRICT", "WARPLENS_BACKEND", "WARPLENS_MEMCHECK"):
            self.environment.pop(name, None)
        self.addCleanup(lambda: self.assertEqual(list(self.scratch.iterdir()), []))
        self.wrapper = warplens_tool.tool.parent / "warplens-nvcc"

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def nvcc(self, *arguments, code=0, environment={}, program=None, folder=None):
        done = run(program or self.wrapper, *arguments, cwd=folder or self.folder, env=self.environment | environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def report(self, *files):
        return run(self.wrapper, "--report", *files, cwd=self.folder).stdout.splitlines()

    def assert_probed(self, file, *sources):
        # A source without accesses may have loops whose iterations are counted.
        lines = [line for line in self.report(file)
                 if not re.match(r" |\d+ sources, ", line) and ": 0 accesses probed" not in line]
        self.assertEqual(sorted(line.split(":")[0] for line in lines), sorted(map(str, sources)))
        for line in lines:
            self.assertRegex(line, r": [1-9]\d* accesses probed")

    def as_nvcc_does(self, *arguments, environment={}):
        """Checks that stdout, stderr, exit code and the new files are the real nvcc's."""
        def result(program):
            with tempfile.TemporaryDirectory() as folder:
                self.copy_sources_to(folder)
                done = run(program, *arguments, cwd=folder, env=self.environment | environment)
                return done.returncode, done.stdout, done.stderr, sorted(os.listdir(folder))
        self.assertEqual(result(self.wrapper), result(REAL))

    def copy_sources_to(self, folder):
        for source in self.folder.glob("*.c*"):
            shutil.copy(source, folder)
