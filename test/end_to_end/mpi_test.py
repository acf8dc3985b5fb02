"""Tests trials over MPI: the same result to the byte, whatever the number of processes, with machine code and without."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, THOROUGH, main, warplens

# Open MPI's refusals: to run as root, and to run more processes than there are cores.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def under_mpirun(processes, *arguments):
    return subprocess.run(["mpirun", "-n", str(processes), str(warplens_tool.tool), *map(str, arguments)],
                          capture_output=True, text=True, timeout=300, env=ENVIRONMENT)


class Mpi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.trace = pathlib.Path(cls.folder.name) / "gather.wlt"
        done = warplens("profile", KERNELS / "patterns.cu", "--backend", "cpu", "--trace", cls.trace, "--trials", "2")
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def test_same_result_for_any_number_of_processes(self):
        one_kernel = ["--kernel", "same_line", "--gpu", "a100"]  # the processes divide its trials, else the kernels
        for options in (["--gpu", "c2050,v100"], ["--gpu", "a100", "--confidence", "0", "--trials", "5", "--timeline"],
                        [*one_kernel, "--confidence", "0", "--trials", "21", "--timeline"],
                        [*one_kernel, "--schedule", "paper"]):
            alone = warplens("model", self.trace, *options)
            self.assertEqual(alone.returncode, 0, alone.stderr)
            if "--schedule" not in options and "a100" in options:  # states by instruction, which the processes exchange, come from machine code
                self.assertTrue(any(kernel.get("executed") for kernel in json.loads(alone.stdout)["kernels"]))
            for processes in (1, 2, 3) if THOROUGH else (3,):
                together = under_mpirun(processes, "model", self.trace, *options)
                self.assertEqual(together.returncode, 0, together.stderr)
                self.assertEqual(together.stdout, alone.stdout, f"{processes} processes, {options}")

    def test_a_result_in_a_file_is_written_once(self):
        result = pathlib.Path(self.folder.name) / "result.json"
        done = under_mpirun(2, "model", self.trace, "--gpu", "v100", "-o", result)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(re.findall(r"\d trials", done.stderr)), 1, done.stderr)
        self.assertEqual(result.read_text(), warplens("model", self.trace, "--gpu", "v100").stdout)

    def test_an_error_of_all_is_printed_once(self):
        done = under_mpirun(3, "model", "/nowhere/absent.wlt")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("cannot read the trace /nowhere/absent.wlt"), 1, done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    main()
