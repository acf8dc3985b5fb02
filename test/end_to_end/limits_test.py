"""Tests that programs at CUDA's limits run on the CPU back end, in the memory that they request and 300 MB; plain and traced."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from warplens_tool import KERNELS, main, warplens

SPARE = 300 * 1000**2
# Threads of a cooperative launch all exist at the same time, each with the pages of its stack that it touches.
COOPERATIVE_SPARE = SPARE + 108 * 2048 * 2 * 4096
# The CPU back end's device has 227 KiB of shared memory per block, as an H100 has it.
DEVICE = "shared_per_block_optin=232448;shared_per_sm=233472"


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.programs = {}
        for name, options in (("plain", ["--no-probes"]), ("traced", ["--gpu", "c2050", "--trials", "2", "-o", cls.folder / "report"])):
            done = warplens("profile", KERNELS / "limits.cu", "--backend", "cpu", "--keep", *options, "--run", "bad_configurations")
            if done.returncode != 0:
                raise AssertionError(done.stderr)
            kept = pathlib.Path(re.search(r"intermediate files stay in (\S+)", done.stderr)[1])
            cls.programs[name] = cls.folder / name
            shutil.move(kept / "program", cls.programs[name])
            shutil.rmtree(kept)

    def run_both(self, limit, spare=SPARE):
        for name, program in self.programs.items():
            with self.subTest(program=name):
                environment = {**os.environ, "WARPLENS_DEVICE": DEVICE}
                if name == "traced":
                    environment["WARPLENS_TRACE"] = str(self.folder / "trace.wlt")
                process = subprocess.Popen([program, limit], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                output = process.stdout.read()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                errors = process.stderr.read()
                process.stdout.close()
                process.stderr.close()
                self.assertEqual(process.returncode, 0, errors + output)
                self.assertEqual(errors, "")
                requested = int(re.fullmatch(limit + r": right, (\d+) bytes requested\n", output)[1])
                used = usage.ru_maxrss * 1024
                if name == "traced":
                    self.assertGreater((self.folder / "trace.wlt").stat().st_size, 1000)
                print(f"{limit}, {name}: {requested / 1e6:.1f} MB requested, {used / 1e6:.0f} MB used at most", flush=True)
                self.assertLess(used, requested + spare)

    def test_blocks_of_1024_threads(self):
        self.run_both("large_blocks")

    def test_100000_blocks(self):
        self.run_both("many_blocks")

    def test_grids_of_three_dimensions(self):
        self.run_both("deep_grids")

    def test_200_kb_of_dynamic_shared_memory(self):
        self.run_both("large_shared")

    def test_64_streams(self):
        self.run_both("many_streams")

    def test_kernels_from_8_host_threads(self):
        self.run_both("many_host_threads")

    def test_cooperative_launches_of_221184_threads(self):
        self.run_both("large_cooperative", COOPERATIVE_SPARE)
        self.run_both("many_cooperative", COOPERATIVE_SPARE)

    def test_configurations_that_no_gpu_takes(self):
        self.run_both("bad_configurations")


if __name__ == "__main__":
    main()
