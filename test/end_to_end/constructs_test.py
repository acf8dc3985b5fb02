"""Tests that constructs from the toolkit's headers run on the CPU back end, with probes and without."""

import os
import unittest

from warplens_tool import KERNELS, THOROUGH, main, warplens

EXPECTED = [f"{name}: right" for name in ("half", "groups", "cub", "wrapping", "thrust")]


class Constructs(unittest.TestCase):
    def run_with(self, *options):
        done = warplens("profile", KERNELS / "constructs.cu", "--backend", "cpu", "--nvcc", "-arch=sm_80 -std=c++17 -rdc=true",
                        *options, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), EXPECTED)

    @unittest.skipUnless(THOROUGH, "takes long: check --all")
    def test_as_it_is(self):
        self.run_with("--no-probes")

    def ends_with_a_failed_kernel(self, done, output, kernel):
        """The program has a kernel fail, finds what it expects, and ends with code 0; the run reports it, and does not pass."""
        self.assertEqual((done.returncode, done.stdout), (1, output), done.stderr)
        self.assertRegex(done.stderr, rf"kernel {kernel}\(.*\) failed: .* and the program ended with code 0 all the same")

    def test_macros_of_one_letter(self):
        """Clang's wrapper reads headers with parameters of such names, which nvcc does not read."""
        done = warplens("profile", KERNELS / "letters.cu", "--backend", "cpu", "--nvcc", "-DN=256 -DX -DY=2", "--quiet", "--trials", "2",
                        "-o", os.devnull, timeout=300)
        self.assertEqual((done.returncode, done.stdout), (0, "letters: right\n"), done.stderr)

    def test_textures_and_surfaces(self):
        for options in (["--no-probes"], ["--quiet", "--trials", "2", "-o", os.devnull]):
            done = warplens("profile", KERNELS / "textures.cu", "--backend", "cpu", *options, timeout=300)
            self.ends_with_a_failed_kernel(done, "textures: right\n", "leave_surface")

    def test_cooperative_launch(self):
        """The failed kernel has no recorded block: its model must not take minutes."""
        for options in (["--no-probes"], ["--trials", "2", "-o", "/dev/null"]):
            done = warplens("profile", KERNELS / "cooperative.cu", "--backend", "cpu", *options, timeout=120)
            self.ends_with_a_failed_kernel(done, "cooperative launch: right\n", "fail_alone")

    @unittest.skipUnless(THOROUGH, "the programs of kernels/device/ have the same headers with probes: check --all")
    def test_with_probes(self):
        self.run_with("--trials", "2", "--launches", "1", "-o", "/dev/null")


if __name__ == "__main__":
    main()
