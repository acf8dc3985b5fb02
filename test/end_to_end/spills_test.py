"""Tests accesses to spilled registers, through the whole tool: the machine code has them, and no trace."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, Profile, real_nvcc, warplens

WARPS = 8 * 8


def instructions_in_code(source):
    """Returns how many loads and stores of the stack frame the kernel's code has."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder) / "code.cubin"
        subprocess.run([real_nvcc(), "-arch=sm_80", "-lineinfo", "-cubin", "-o", cubin, source], check=True)
        text = warplens("inspect", cubin).stdout
    return len(re.findall(r"load_local LDL .*<- R1 ", text)), len(re.findall(r"store_local STL .*<- R1[, ]", text))


class Spills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(KERNELS / "spills.cu", "--gpu", "a100", "--trials", "2", "--cold", "--launches", "2", "--nvcc", "-arch=sm_80")
        cls.launches = cls.profile.result["kernels"]

    def spills(self, kernel, kind):
        return [site for site in kernel["sites"] if site["expression"] == "spilled registers" and site["kind"] == kind]

    def executions(self, kernel, kind):
        return sum(site["executions"] for site in self.spills(kernel, kind))

    def test_each_instruction_is_executed_as_often_as_its_loop_turns(self):
        """Of one instruction outside of the loop and one inside, 16 rounds execute 17, and 32 rounds 33."""
        loads, stores = instructions_in_code(KERNELS / "spills.cu")
        self.assertGreater(min(loads, stores), 20)
        for kind, in_code in (("load", loads), ("store", stores)):
            short, long = (self.executions(kernel, kind) / WARPS for kernel in self.launches)
            inside = (long - short) / 16
            self.assertEqual(inside, int(inside))
            self.assertGreater(inside, 10)
            self.assertEqual(short - 16 * inside + inside, in_code)

    def test_a_word_of_all_lanes_is_a_line(self):
        for kernel in self.launches:
            for site in self.spills(kernel, "load") + self.spills(kernel, "store"):
                self.assertEqual((site["space"], site["active_lanes"]), ("local", 32))
                self.assertEqual(site["sectors_per_request"], site["element_bytes"])

    def test_what_is_stored_is_read_again_from_the_caches(self):
        """Frames of 8 blocks fit into the L2: memory reads the input, and the word that ptxas 13.0 reads before it stores it."""
        input_bytes, word_of_warps = 8 * 256 * 48 * 4, WARPS * 128
        for kernel in self.launches:
            self.assertIn(kernel["totals"]["dram_read_bytes"] - input_bytes, (0, word_of_warps))

    def test_the_report_names_the_cause(self):
        with tempfile.TemporaryDirectory() as folder:
            result = pathlib.Path(folder, "result.json")
            result.write_text(json.dumps(self.profile.result))
            text = warplens("report", result).stdout
        self.assertIn("spilled registers (local load)", text)
        self.assertRegex(text.replace("\n          ", ""), r"spills: the \d+ registers of a thread do not suffice: *raise the register limit")


if __name__ == "__main__":
    warplens_tool.main()
