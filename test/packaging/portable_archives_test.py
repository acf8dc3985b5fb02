"""Tests packaging/portable/write_archives.py on a folder that a script stands in for the program of: the tarball, and the wheel with its
console entries. The real folder is made in minutes, by build_portable, and tried by clean_portable.

usage: portable_archives_test.py
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

WRITE = pathlib.Path(__file__).resolve().parent.parent.parent / "packaging/portable/write_archives.py"
PROGRAM = """#!/bin/bash
[[ $1 == --version ]] && { echo "warplens 1.2.3"; echo "LLVM 19"; exit; }
echo "$0 CUDA_PATH=${CUDA_PATH:-}" "$@"
"""


class PortableArchives(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.installed, self.headers, self.output = self.folder / "installed", self.folder / "headers", self.folder / "output"
        for one in (self.installed / "bin", self.installed / "libexec/warplens", self.headers / "inner", self.output):
            one.mkdir(parents=True)
        (self.installed / "bin/warplens").write_text(PROGRAM)
        (self.installed / "bin/warplens").chmod(0o755)
        (self.installed / "bin/warplens-nvcc").symlink_to("warplens")
        (self.installed / "libexec/warplens/warplens-measure").write_text("nvcc made it")
        (self.headers / "inner/stddef.h").write_text("// Clang's\n")

    def write(self):
        return subprocess.run([sys.executable, "-B", WRITE, self.installed, self.headers, self.output], capture_output=True, text=True)

    def archives(self):
        done = self.write()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.output / "warplens-1.2.3-linux-x86_64.tar.gz", self.output / "warplens-1.2.3-py3-none-manylinux_2_31_x86_64.whl"

    def test_the_tarball(self):
        tarball, _ = self.archives()
        with tarfile.open(tarball) as archive:
            entries = {entry.name: entry for entry in archive}
        self.assertEqual(set(entries), {"warplens-1.2.3/bin/warplens", "warplens-1.2.3/bin/warplens-nvcc",
                                        "warplens-1.2.3/lib/warplens/clang/lib/clang/19/include/inner/stddef.h"})
        self.assertTrue(entries["warplens-1.2.3/bin/warplens-nvcc"].issym())
        self.assertEqual(entries["warplens-1.2.3/bin/warplens"].mode & 0o111, 0o111)

    def test_equal_folders_give_equal_bytes(self):
        first = [hashlib.sha256(path.read_bytes()).digest() for path in self.archives()]
        os.utime(self.installed / "bin/warplens", (1, 1))
        self.assertEqual([hashlib.sha256(path.read_bytes()).digest() for path in self.archives()], first)

    def test_the_wheel(self):
        _, wheel = self.archives()
        packages = self.folder / "packages"
        with zipfile.ZipFile(wheel) as archive:
            self.assertIsNone(archive.testzip())
            records = [line.split(",")[0] for line in archive.read("warplens-1.2.3.dist-info/RECORD").decode().splitlines()]
            self.assertEqual(sorted(records), sorted(archive.namelist()))
            self.assertIn("warplens = warplens:main\n", archive.read("warplens-1.2.3.dist-info/entry_points.txt").decode())
            for entry in archive.infolist():  # as pip unpacks it
                path = pathlib.Path(archive.extract(entry, packages))
                path.chmod(entry.external_attr >> 16 & 0o777 or 0o644)
        toolkit = packages / "nvidia/cu13"
        without = {name: value for name, value in os.environ.items() if name not in ("CUDA_PATH", "CUDA_HOME")}

        def started(entry, environment):
            return subprocess.run([sys.executable, "-B", "-c", f"import warplens; warplens.{entry}()", "gpus", "--all"], capture_output=True, text=True,
                                  env={**environment, "PYTHONPATH": str(packages)}, check=True).stdout
        program = packages / "warplens/portable/bin/warplens"
        self.assertEqual(started("main", without), f"{program} CUDA_PATH= gpus --all\n")
        for file in ("bin/nvcc", "include/cuda_runtime.h"):
            (toolkit / file).parent.mkdir(parents=True)
            (toolkit / file).write_text("")
        self.assertEqual(started("nvcc", without), f"{program} CUDA_PATH={toolkit} gpus --all\n")
        self.assertEqual(started("main", {**without, "CUDA_PATH": "/mine"}), f"{program} CUDA_PATH=/mine gpus --all\n")

    def test_what_does_not_run_everywhere_is_refused(self):
        program = self.installed / "libexec/warplens/other"
        subprocess.run(["c++", "-x", "c++", "-", "-o", program], input="#include <string>\nint main(int n, char** v) { return std::string(v[0]).size() + n; }",
                       text=True, check=True)
        done = self.write()
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"libexec/warplens/other: needs (glibc \(2, \d+\), beyond \(2, 31\)|libstdc\+\+\.so\.6, which not every machine has)")
        self.assertEqual(list(self.output.iterdir()), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
