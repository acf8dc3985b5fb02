"""Tests that the model executes the instructions of a kernel's machine code, counted in the code itself."""

import json
import re
import subprocess
import unittest
from collections import Counter

from nvcc_case import REAL, NvccCase
from warplens_tool import KERNELS, main, warplens

SOURCE = KERNELS / "executed.cu"
WARPS = 32


class Executed(NvccCase):
    def blocks(self, architecture):
        """Returns, per kernel, its blocks in order: how many instructions each has of each line, whether it loads and branches to itself, and
        whether it ends with an exit."""
        cubin = self.folder / "executed.cubin"
        subprocess.run([REAL, f"-arch={architecture}", "-lineinfo", "-cubin", SOURCE, "-o", cubin], check=True)
        done = warplens("inspect", cubin)
        self.assertEqual(done.returncode, 0, done.stderr)
        kernels = {}
        for text in re.split(r"^kernel ", done.stdout, flags=re.MULTILINE)[1:]:
            name = re.search(r"straight|updated|exchanged|looped|counted", text)[0]
            kernels[name] = [(Counter(int(line) for line in re.findall(r"^    [0-9a-f]{4} .*executed\.cu:(\d+)", block, re.MULTILINE)),
                              re.match(r"(\d+) .*-> .*\b\1\b", block) is not None and "load_global" in block,
                              "exits" in block.splitlines()[0])
                             for block in re.split(r"^  block ", text, flags=re.MULTILINE)[1:]]
        return kernels

    def executed(self, gpu, iterations):
        done = warplens("profile", SOURCE, "--backend", "cpu", "--gpu", gpu, "--trials", "2", "--format", "json", "-o",
                        self.folder / "result.json", "--run", str(iterations))
        self.assertEqual(done.returncode, 0, done.stderr)
        return {kernel["name"]: kernel for kernel in json.loads((self.folder / "result.json").read_text())["kernels"]}

    def test_counts_are_those_of_the_code(self):
        for gpu, architecture in (("a100", "sm_80"), ("v100", "sm_75"), ("h100-sxm", "sm_90")):
            with self.subTest(gpu):
                blocks = self.blocks(architecture)
                kernels = {iterations: self.executed(gpu, iterations) for iterations in (5, 17)}
                for name in ("straight", "updated", "exchanged"):
                    executed = kernels[5][name]["executed"]
                    self.assertEqual(executed["architecture"], architecture)
                    size, _, exits = blocks[name][0]
                    self.assertTrue(exits)
                    self.assertEqual(executed["instructions"], WARPS * size.total(), name)
                    self.assertEqual({line["line"]: line["instructions"] for line in kernels[5][name]["lines"]},
                                     {line: WARPS * count for line, count in size.items()}, name)
                counts = [kernels[iterations]["looped"]["executed"]["instructions"] for iterations in (5, 17)]
                body = [size for size, repeats, _ in blocks["looped"] if repeats]
                self.assertEqual(len(body), 1)
                self.assertEqual(counts[1] - counts[0], WARPS * 12 * body[0].total())

    def test_lanes_are_counted_at_once_where_the_code_says_so(self):
        for gpu, conflicts in (("v100", 31), ("a100", 0)):
            (counts,) = [site for site in self.executed(gpu, 1)["counted"]["sites"] if site["kind"] == "atomic"]
            self.assertEqual((counts["active_lanes"], counts["bank_conflicts"]), (32, conflicts), gpu)

    def test_the_listing_has_operands(self):
        cubin = self.folder / "executed.cubin"
        for architecture in ("sm_75", "sm_90", "sm_120"):
            with self.subTest(architecture):
                subprocess.run([REAL, f"-arch={architecture}", "-cubin", SOURCE, "-o", cubin], check=True)
                done = warplens("inspect", "--operands", cubin)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(set(re.findall(r"(\d+) of them not known whole", done.stdout)), {"0"})
                self.assertRegex(done.stdout, r"(?m)^    [0-9a-f]{4} (@!?U?P\d )?LDG\S* R\d+")
                self.assertRegex(done.stdout, r"(?m)^    [0-9a-f]{4} EXIT")
        damaged = self.folder / "damaged.cubin"
        damaged.write_bytes(cubin.read_bytes()[:200])
        done = warplens("inspect", "--operands", damaged)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_states_add_up_to_the_time_of_all_warps(self):
        for name, kernel in self.executed("a100", 5).items():
            with self.subTest(name):
                self.assertAlmostEqual(sum(kernel["warps"]["states"].values()), 1)
                self.assertAlmostEqual(sum(sum(line["states"].values()) for line in kernel["lines"]), 1)
                self.assertEqual(sum(line["instructions"] for line in kernel["lines"]), kernel["executed"]["instructions"])
                if name != "exchanged":
                    states = kernel["warps"]["states"]
                    self.assertGreater(states["long_scoreboard"], 0.5)  # for loads; blocks do not wait for their stores
                    continue
                lines = {line["line"]: line for line in kernel["lines"]}
                place = 1 + next(number for number, text in enumerate(SOURCE.read_text().splitlines()) if "__syncthreads" in text)
                self.assertEqual([line for line in lines if "barrier" in lines[line]["states"]], [place])
                self.assertEqual(lines[place]["awaited"], lines[place]["states"]["barrier"])
                self.assertIn("long_scoreboard", lines[place - 1]["states"])
                self.assertIn("short_scoreboard", lines[place + 1]["states"])

    def test_a_gpu_without_such_code_says_so(self):
        kernel = self.executed("k40", 5)["straight"]
        self.assertNotIn("executed", kernel)
        self.assertEqual(kernel["code_unknown"], "the GPU's file has no [pipes]")


if __name__ == "__main__":
    main()
