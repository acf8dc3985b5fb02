"""Tests that the machine code is executed beside the program: the clock runs what warps did, and each result says whether both agree."""

import csv
import io
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

    def test_each_instruction_adds_up_to_what_the_kernel_executes(self):
        for name, kernel in self.kernels(64).items():
            with self.subTest(kernel=name):
                code, executed = kernel["code"], kernel["executed"]
                rows = code["instructions"]
                self.assertEqual(sum(row["executions"] for row in rows) + code.get("accesses_apart", 0), executed["instructions"])
                # The lines of the source have parts of the same counts and the same time.
                for line in kernel["lines"]:
                    of_line = [row for row in rows if "line" in row
                               and (code["files"][row["file"]], row["line"]) == (line["file"], line["line"])]
                    self.assertAlmostEqual(sum(row["executions"] for row in of_line), line["instructions"], delta=1e-6)
                    for state, share in line["states"].items():
                        self.assertAlmostEqual(sum(row["states"].get(state, 0) for row in of_line), share, places=9)
                for site in kernel["sites"]:
                    of_site = [row for row in rows if row.get("site") == site["id"]]
                    if of_site and site["space"] == "global" and site["kind"] in ("load", "store"):
                        self.assertEqual(sum(row["requests"] for row in of_site), site["executions"])
                        self.assertEqual(32 * sum(row.get("sectors", 0) for row in of_site), site["bytes_moved"])

    def test_lanes_of_instructions_are_those_that_were_active(self):
        kernels = self.kernels(64)
        rows = [row for row in kernels["parted"]["code"]["instructions"] if row["executions"]]
        # Each of the eight loops runs for four lanes, each step in turn.
        steps = sum(row["executions"] for row in rows if row["active_lanes"] == 4)
        self.assertGreater(steps, 1024 * 8 * 64 / 2)
        self.assertEqual(rows[0]["active_lanes"], 32)
        inferred = self.kernels(64, "none")["parted"]
        self.assertTrue(all("active_lanes" not in row for row in inferred["code"]["instructions"]))

    def test_the_machine_code_as_text_and_csv(self):
        kernel = self.kernels(64)["parted"]
        result = self.folder / "result.json"
        rows = list(csv.DictReader(io.StringIO(warplens("report", result, "--format", "sass-csv").stdout)))
        of_kernel = [row for row in rows if row["kernel"].startswith("parted")]
        self.assertEqual([row["sass"] for row in of_kernel], [row["sass"] for row in kernel["code"]["instructions"]])
        self.assertEqual([int(row["executions"]) for row in of_kernel],
                         [row["executions"] for row in kernel["code"]["instructions"]])
        shown = warplens("report", result, "--format", "sass")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertLessEqual(max(map(len, shown.stdout.splitlines())), 100)
        self.assertIn("instructions, executed beside the program", shown.stdout)
        self.assertIn(f"{kernel['executed']['instructions']} warp instructions", shown.stdout)
        # The report and `inspect` have the same names for the same cubin's instructions; the first line is that of the entry.
        self.assertRegex(shown.stdout, r"\n0x0000 +1024 +32\.0 +[0-9.]+ [a-z_]+ +- +- +\d+  \S")
        self.assertRegex(shown.stdout, r"LDG\.E R\d+, \[R\d+\.64")
        by_time = warplens("report", result, "--format", "sass-csv", "--sort", "time").stdout
        times = [float(row["time [fraction]"]) for row in csv.DictReader(io.StringIO(by_time)) if row["kernel"].startswith("parted")]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertAlmostEqual(sum(times), 1, places=6)
        refused = warplens("report", result, "--format", "sass", "--sort", "l1")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("--format sass sorts by time only", refused.stderr)
        for option in ("--columns=l1", "--no-source", "--threshold=0.5"):
            self.assertEqual(warplens("report", result, "--format", "sass", option).returncode, 2, option)
        self.assertEqual(warplens("report", result, "--format", "sass-csv", "--width", "100").returncode, 2)

    def test_without_a_clock_the_machine_code_is_not_known(self):
        done = warplens("profile", SOURCE, "--backend", "cpu", "--trials", "2", "--schedule", "paper", "--format", "sass",
                        "--run", "64")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("code       not known, because there is no clock", done.stdout)

    def test_what_is_not_executed_is_inferred_and_says_why(self):
        kernel = self.kernels(64)["refused"]
        self.assertNotIn("execution", kernel["executed"])
        self.assertRegex(kernel["executed"]["inferred"], r"block \d+: \? 0x[0-9a-f]{16} 0x[0-9a-f]+: not supported")
        self.assertIn("is inferred from the accesses: block", self.text)

    def test_virtual_functions_and_new_objects(self):
        result = self.folder / "result.json"
        done = warplens("profile", KERNELS / "virtual_calls.cu", "--backend", "cpu", "--gpu", "t4,a100,h100-sxm,b200", "--trials", "2",
                        "--kernel", "own_areas", "--format", "json", "-o", result)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split("\n")[0], "no error 16 5.5")
        kernels = json.loads(result.read_text())["kernels"]
        self.assertEqual(len(kernels), 4)
        for kernel in kernels:
            self.assertEqual(kernel["executed"]["execution"]["different_words"], 0, kernel["gpu"])
            self.assertGreater(kernel["time"]["microseconds"]["mean"], 0)

    def test_kernels_of_a_library_are_executed(self):
        """No access has a probe; the executor sees all, and a wait for other blocks does not count this machine's polls."""
        few, many = self.of_library(10), self.of_library(1000)
        self.assertIn("all accesses, as the machine code was executed; 0.0 % of the executed memory accesses have a probe", self.text)
        for kernel in many.values():
            self.assertEqual(kernel["executed"]["execution"]["different_words"], 0)
            self.assertGreater(kernel["time"]["microseconds"]["mean"], 0)
        executions = {site["line"]: site["executions"] for site in many["chained_sums::chain"]["sites"]}
        self.assertEqual(set(site["file"].split("/")[-1] for site in many["chained_sums::chain"]["sites"]), {"chained_sums.cuh"})
        polls, reads = (executions[line] for line in sorted(executions)[:2])
        self.assertEqual(reads, 511)
        self.assertLessEqual(polls, 3 * 512)
        loads = {steps: max(site["executions"] for site in kernels["chained_sums::counted"]["sites"]) for steps, kernels in
                 ((10, few), (1000, many))}
        self.assertEqual(loads, {10: 10, 1000: 1000})

    def test_blocks_that_wait_for_each_other_are_executed_together(self):
        result = self.folder / "result.json"
        done = warplens("profile", KERNELS / "grid_barrier.cu", "--backend", "cpu", "--gpu", "t4,a100,h100-sxm,b200", "--trials", "2",
                        "--format", "json", "-o", result)
        self.assertEqual(done.returncode, 0, done.stderr)
        kernels = json.loads(result.read_text())["kernels"]
        self.assertEqual({kernel["gpu"] for kernel in kernels}, {"t4", "a100", "h100-sxm", "b200"})
        for kernel in kernels:
            execution = kernel["executed"]["execution"]
            self.assertEqual(execution["different_words"], execution["different_atomics"], kernel["gpu"]) # the barrier's own word
            self.assertTrue(any(site["kind"] == "atomic" and site["executions"] > 0 for site in kernel["sites"]), "the barrier of the grid")

    def of_library(self, steps):
        result = self.folder / "result.json"
        done = warplens("profile", KERNELS / "chained_sums.cu", "--backend", "cpu", "--gpu", "a100", "--trials", "2", "--format", "json",
                        "-o", result, "--run", str(steps))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.text = " ".join(warplens("report", result).stdout.split())
        return {kernel["name"].split("(")[0]: kernel for kernel in json.loads(result.read_text())["kernels"]}


if __name__ == "__main__":
    main()
