"""Tests find_package(warplens) and warplens_instrument() on a small project that is configured from an install prefix.

usage: find_package_test.py CMAKE BUILD-FOLDER
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parent / "project"


class FindPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.prefix = cls.folder / "a prefix"
        cls.warplens = cls.prefix / "bin/warplens"
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", cls.prefix], check=True, stdout=subprocess.DEVNULL)

    def run_cmake(self, *words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
        return subprocess.run([CMAKE, *map(str, words)], capture_output=True, text=True, cwd=self.folder, env=environment)

    def configure(self, source, *options):
        return self.run_cmake("-S", source, "-B", self.folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                              "-DCMAKE_CUDA_ARCHITECTURES=80", "-G", "Ninja", *options)

    def test_a_project(self):
        configured = self.configure(PROJECT)
        self.assertEqual(configured.returncode, 0, configured.stderr)
        built = self.run_cmake("--build", self.folder / "build")
        self.assertEqual(built.returncode, 0, built.stdout)

        result = self.folder / "result.json"
        run = subprocess.run([self.warplens, "run", "--format", "json", "-o", result, "--", self.folder / "build/on_cpu"],
                             capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (0, "no error\n"), run.stderr)
        (kernel,) = json.loads(result.read_text())["kernels"]
        self.assertEqual({site["kind"]: site["executions"] for site in kernel["sites"]}, {"update": 2})

        def report(program):
            return subprocess.run([self.warplens, "nvcc", "--report", self.folder / "build" / program], capture_output=True,
                                  text=True).stdout
        self.assertIn("kernel.cu: 1 accesses probed", report("on_gpu"))
        self.assertNotIn("probed", report("plain"))

    def test_mistakes(self):
        for index, (call, message) in enumerate((
                ("warplens_instrument(nothing)", "there is no such target"),
                ("warplens_instrument(program BACKEND fpga)", "BACKEND is cpu or gpu, not 'fpga'"),
                ("set_target_properties(program PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\nwarplens_instrument(program BACKEND cpu)",
                 "-DCMAKE_CUDA_COMPILER="))):
            source = self.folder / f"mistake{index}"
            source.mkdir()
            (source / "main.cu").write_text("int main() {}\n")
            # Without enabling CUDA, which takes seconds: the function looks at no more than its compiler's name.
            (source / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(mistake LANGUAGES NONE)\nset(CMAKE_CUDA_COMPILER_ID NVIDIA)\n"
                f"find_package(warplens REQUIRED)\nadd_library(program INTERFACE)\n{call}\n")
            done = self.run_cmake("-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-G", "Ninja")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, " ".join(done.stderr.split()))


if __name__ == "__main__":
    CMAKE, BUILD = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1], verbosity=2)
