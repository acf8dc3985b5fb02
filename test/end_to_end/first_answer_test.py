"""Tests answers before their time: a budget, Ctrl-C, figures that are refined on a terminal, and programs that end when they are traced."""

import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
import unittest

import warplens_tool
from warplens_tool import KERNELS

SOURCE = KERNELS / "long_run.cu"


class FirstAnswer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = pathlib.Path(cls.folder.name) / "trace.wlt"
        cls.profiled = cls.run_warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "a100", "--trials", "2", "--stop-when-traced",
                                        "--trace", cls.trace, "--format", "json", "-o", cls.file("whole.json"))
        cls.whole = cls.result("whole.json")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def file(cls, name):
        return pathlib.Path(cls.folder.name) / name

    @classmethod
    def result(cls, name):
        return json.loads(cls.file(name).read_text(encoding="utf-8"))

    @staticmethod
    def run_warplens(*arguments):
        return subprocess.run([warplens_tool.tool, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)

    def model(self, name, *options):
        self.run_warplens("model", self.trace, "--gpu", "a100", "--format", "json", "-o", self.file(name), *options)
        return self.result(name)

    def test_a_program_ends_when_its_kernels_are_traced(self):
        self.assertNotIn("step 0", self.profiled.stdout)  # the second kernel's snapshot is complete before the first step is
        self.assertIn("its output is incomplete", self.profiled.stderr)
        self.assertEqual([kernel["name"].split("(")[0] for kernel in self.whole["kernels"]], ["scale", "add"])
        for kernel in self.whole["kernels"]:
            self.assertTrue(kernel["snapshot"]["complete"])
            self.assertNotIn("launches", kernel)  # it is not known how many there would have been

    def test_it_runs_on_where_a_kernel_is_left(self):
        """Three launches of `scale` are wanted, and there are more of them before the program ends."""
        ran = self.run_warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "a100", "--trials", "2", "--stop-when-traced", "--kernel",
                                "scale", "--launches", "3", "--budget", "0.01", "--format", "json", "-o", self.file("three.json"))
        self.assertIn("step 1", ran.stdout)
        self.assertNotIn("step 2", ran.stdout)
        self.assertEqual(len(self.result("three.json")["kernels"]), 3)

    def test_a_budget_ends_with_a_part_of_the_machine(self):
        first = self.model("first.json", "--budget", "0.001s")
        for part, whole in zip(first["kernels"], self.whole["kernels"], strict=True):
            self.assertEqual(part["trials"]["stopped_by"], "limit")
            self.assertGreater(part["trials"]["divisor"], 1)
            time_of_part, time_of_whole = (kernel["time"]["microseconds"] for kernel in (part, whole))
            self.assertLess(abs(time_of_part["mean"] / time_of_whole["mean"] - 1), 0.15)
            self.assertLessEqual(time_of_part["spread95"][0], time_of_whole["mean"])
            self.assertGreaterEqual(time_of_part["spread95"][1], time_of_whole["mean"])

    def test_without_a_budget_the_result_is_that_of_all_trials(self):
        once, again = (self.model(name, "--trials", "2") for name in ("once.json", "again.json"))
        self.assertEqual(once, again)
        self.assertNotIn("divisor", once["kernels"][0]["trials"])

    def test_a_wrong_budget_is_refused(self):
        refused = subprocess.run([warplens_tool.tool, "model", self.trace, "--budget", "soon"], stderr=subprocess.PIPE, text=True, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("'soon' is not like 10s or 2m", refused.stderr)

    def on_a_terminal(self, interrupt):
        """Models on a terminal; returns all that was drawn there, and the exit code. Interrupts once the first answer is there."""
        process, terminal = pty.fork()
        if process == 0:
            os.execv(warplens_tool.tool, [str(word) for word in (
                warplens_tool.tool, "model", self.trace, "--gpu", "a100", "--trials", "400", "--confidence", "0", "--format", "json", "-o",
                self.file("interrupted.json"))])
        drawn, deadline = "", time.monotonic() + 120
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 1)[0]:
                try:
                    read = os.read(terminal, 65536)
                except OSError:
                    break
                drawn += read.decode(errors="replace")
                if interrupt and re.search(r"scale\S* on a100 .*trial 3 of", drawn):
                    os.kill(process, signal.SIGINT)
                    interrupt = False
        return drawn, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def test_ctrl_c_leaves_the_best_answer_so_far(self):
        drawn, code = self.on_a_terminal(interrupt=True)
        self.assertEqual(code, 0, drawn[-2000:])
        self.assertRegex(drawn, r"scale\S* on a100 +\S+ ± \S+ µs.*first answer, by 1/\d+ of the GPU")
        kernels = self.result("interrupted.json")["kernels"]
        self.assertEqual([kernel["trials"].get("divisor", 1) > 1 for kernel in kernels], [False, True])
        self.assertEqual(kernels[0]["trials"]["stopped_by"], "request")
        self.assertGreaterEqual(kernels[0]["trials"]["run"], 2)


warplens_tool.main()
