"""Tests what `cpack` writes: the Debian package's contents, dependencies and lintian's view of it, and the tarball, which works from
where it is unpacked.

usage: packages_test.py CPACK BUILD-FOLDER
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest


def output_of(*words, **options):
    return subprocess.run([*map(str, words)], check=True, capture_output=True, text=True, **options).stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        output_of(CPACK, "-B", cls.folder, cwd=BUILD)
        (cls.package,) = cls.folder.glob("*.deb")
        (cls.tarball,) = cls.folder.glob("*.tar.gz")

    def test_the_package_depends_on_what_compiles_programs(self):
        depends = output_of("dpkg-deb", "--field", self.package, "Depends").replace("\n", "").split(", ")
        for name in ("clang-19", "g++", "binutils", "libboost-context-dev", "libtbb-dev", "libzstd-dev", "libllvm19"):
            self.assertTrue(any(one.split()[0] == name for one in depends), f"{name} is not in {depends}")

    def test_lintian(self):
        """Lintian finds no errors; what it says of linker scripts is overridden with the reason."""
        if shutil.which("lintian") is None:
            self.skipTest("lintian is not installed")
        done = subprocess.run(["lintian", self.package], capture_output=True, text=True)
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("E:")], [])

    def test_the_tarball_works_where_it_is_unpacked(self):
        output_of("tar", "-xzf", self.tarball, "-C", self.folder)
        (root,) = [path for path in self.folder.iterdir() if path.is_dir() and path.name.startswith("warplens-")]
        source = self.folder / "kernel.cu"
        source.write_text("__global__ void k(float* a) { a[threadIdx.x] = 1; }\n"
                          "int main() { float* a; cudaMalloc(&a, 128); k<<<1, 32>>>(a); return cudaDeviceSynchronize(); }\n")
        report = output_of(root / "bin/warplens", "profile", source, "--backend", "cpu", "--format", "brief", cwd=self.folder)
        self.assertTrue(report.startswith("k(float*) on a100\n") or report.startswith("k on a100\n"), report)
        self.assertTrue((root / "share/warplens/examples/spmv/spmv.cu").exists())

    def test_no_file_names_the_build_tree(self):
        unpacked = self.folder / "unpacked"
        output_of("dpkg-deb", "-x", self.package, unpacked)
        for path in sorted(unpacked.rglob("*")):
            if path.is_file() and not path.is_symlink():
                self.assertNotIn(str(pathlib.Path(BUILD).resolve().parent).encode() + b"/", path.read_bytes(), path)


if __name__ == "__main__":
    CPACK, BUILD = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1], verbosity=2)
