"""What programs take from the toolkit's headers runs on the CPU back end, with probes and without."""

import unittest

from warplens_tool import KERNELS, main, warplens

EXPECTED = [f"{name}: right" for name in ("half", "groups", "cub", "wrapping", "thrust")]


class Constructs(unittest.TestCase):
    def run_with(self, *options):
        done = warplens("profile", KERNELS / "constructs.cu", "--backend", "cpu", "--nvcc", "-arch=sm_80 -std=c++17 -rdc=true",
                        *options, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), EXPECTED)

    def test_as_it_is(self):
        self.run_with("--no-probes")

    def test_textures_and_surfaces(self):
        done = warplens("profile", KERNELS / "textures.cu", "--backend", "cpu", "--no-probes", timeout=300)
        self.assertEqual((done.returncode, done.stdout), (0, "textures: right\n"), done.stderr)

    def test_with_probes(self):
        self.run_with("--trials", "2", "--launches", "1", "-o", "/dev/null")


if __name__ == "__main__":
    main()
