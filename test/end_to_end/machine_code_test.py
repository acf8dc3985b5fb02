"""Tests that the machine code is executed beside the program: the clock runs what warps did, and each result says whether both agree."""

import json
import os
import unittest

from nvcc_case import NvccCase
from warplens_tool import KERNELS, main, warplens

SOURCE = KERNELS / "divergent_loops.cu"


class MachineCode(NvccCase):
    def kernels(self, steps, execute=None):
        result = self.folder / "result.json"
        environment = dict(os.environ) if execute is None else {**os.environ, "WARPLENS_EXECUTE": execute}
        done = warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "a100", "--trials", "2", "--format", "json", "-o", result,
                        "--run", str(steps), env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.text = " ".join(warplens("report", result).stdout.split())
        return {kernel["name"].split("(")[0]: kernel for kernel in json.loads(result.read_text())["kernels"]}

    def test_loops_of_other_lanes_take_their_time(self):
        few, many = self.kernels(64)["parted"], self.kernels(128)["parted"]
        inferred = self.kernels(128, "none")["parted"]
        warps = 1024
        # Each of eight loops runs alone, with at least three instructions a step, unrolled or not.
        added = (many["executed"]["instructions"] - few["executed"]["instructions"]) / warps
        self.assertGreater(added, 8 * 64)
        self.assertLess(added, 8 * 64 * 8)
        self.assertLess(inferred["executed"]["instructions"] / warps, 100)
        self.assertGreater(many["time"]["microseconds"]["mean"], 2 * inferred["time"]["microseconds"]["mean"])

    def test_a_result_says_whether_both_wrote_the_same(self):
        kernels = self.kernels(64)
        same = kernels["parted"]["executed"]["execution"]
        self.assertEqual(same["blocks"], 128)
        self.assertEqual(same["words"], 32768)
        self.assertEqual(same["different_words"], 0)
        self.assertIn("wrote the same 131,072 bytes as the program", self.text)
        other = kernels["timed"]["executed"]["execution"] # as the clock does for a wrong bit of the executor
        self.assertGreater(other["different_words"], 0)
        self.assertIn("words otherwise than the program", self.text)

    def test_what_is_not_executed_is_inferred_and_says_why(self):
        executed = self.kernels(64)["sampled"]["executed"]
        self.assertNotIn("execution", executed)
        self.assertIn("TLD", executed["inferred"])
        self.assertIn("is inferred from the accesses: block", self.text)


if __name__ == "__main__":
    main()
