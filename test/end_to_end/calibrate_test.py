"""Tests `warplens calibrate`: curves become a GPU file that `--gpu` takes; without a GPU there is one clear line."""

import pathlib
import shutil
import tempfile
import unittest

import warplens_tool
from warplens_tool import PROJECT, warplens

# CUDA's properties of an A100.
A100 = {"name": "A100, as published", "compute_capability": 80, "driver": 13000, "runtime": 13000, "clock_mhz": 1410, "sms": 108,
        "max_threads_per_sm": 2048, "max_blocks_per_sm": 32, "max_threads_per_block": 1024, "registers_per_sm": 65536,
        "registers_per_block": 65536, "shared_per_block_optin": 166912, "reserved_shared_per_block": 1024, "l2_bytes": 41943040,
        "memory_bytes": 42297786368, "memory_bus_bits": 5120}


def write_published_curves(curves):
    """Makes the folder with what was published of an A100, as `warplens calibrate` measures it, and returns it."""
    curves.mkdir()
    (curves / "device.csv").write_text("property,value\n" + "".join(f"{key},{value}\n" for key, value in A100.items()))
    chase = (PROJECT / "test/model/reference/a100.csv").read_text().splitlines()
    (curves / "chase.csv").write_text("\n".join(["kib,cycles"] + chase[1:]) + "\n")
    return curves


class Calibrate(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def published(self):
        return write_published_curves(self.folder / "curves")

    def test_published_curves_become_a_file_that_the_model_takes(self):
        curves = self.published()
        done = warplens("calibrate", "--from", curves, "-o", self.folder / "my.toml")
        self.assertEqual(done.returncode, 0, done.stderr)
        if shutil.which("gnuplot"):
            self.assertIn("</svg>", (curves / "chase.svg").read_text())
        else:
            self.assertIn("there is no gnuplot here", done.stderr)
        self.assertRegex(done.stdout, r"L1 +15\d\.\d KiB fit, 3 ways in effect, 33 cycles")
        self.assertRegex(done.stdout, r"L2, one partition +19\d\d\d\.\d KiB fit")
        done = warplens("gpus", self.folder / "my.toml")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("A100, as published", done.stdout)
        self.assertIn("[measured]", done.stdout)
        done = warplens("profile", PROJECT / "examples/transpose/transpose.cu", "--backend", "cpu", "--trials", "2", "--gpu",
                        self.folder / "my.toml", "--run", "64")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_without_a_gpu(self):
        if pathlib.Path("/dev/nvidia0").exists():
            self.skipTest("there is one")
        done = warplens("calibrate", "-o", self.folder / "my.toml")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^warplens: no NVIDIA GPU that programs may use: .*; --from FOLDER analyses .*\n$")
        self.assertEqual(list(self.folder.iterdir()), [])
        measure = pathlib.Path(warplens_tool.tool).parent.parent / "libexec/warplens/warplens-measure"
        if shutil.which("nvcc"):
            self.assertTrue(measure.exists())

    def test_errors_name_the_fault(self):
        for words, expected in ((("--from", self.folder), "no device.csv"), (("--from", self.folder, "--seconds", "0"), "--seconds")):
            done = warplens("calibrate", "-o", self.folder / "my.toml", *words)
            self.assertEqual(done.returncode, 2 if "--seconds" in words else 1)
            self.assertIn(expected, done.stderr)


if __name__ == "__main__":
    warplens_tool.main()
