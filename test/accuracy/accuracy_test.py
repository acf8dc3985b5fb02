"""Tests what counts as worse, what a row's errors are, and what is written from them, on rows and results made by hand."""

import dataclasses
import pathlib
import random
import sys
import tempfile
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import boards
import document
import gpu_section
import intervals
import modelled
import run_rows
import table

V100 = boards.Board("v100", "v100")


def row_of(kernel="scan", board=V100, use="held back", share=1.0, top_stall="", traits=(), launch=1, **measured):
    return table.Row(board, "scans", "64", tuple(kernel.split("+")), launch, "cold", None, share, use, True, measured, top_stall, traits, "a source", "a reason")


def kernel_of(name, gpu="v100", us=10.0, l1=0.5, l2=0.25, read=1000.0, blocks=4, states=None):
    return {"name": f"void {name}<4>(float*)", "gpu": gpu, "grid": [2, 2, 1], "snapshot": {"blocks": blocks}, "time": {"microseconds": {"mean": us}},
            "totals": {"l1_read_hit_rate": {"mean": l1}, "l2_read_hit_rate": {"mean": l2}, "dram_read_bytes": read},
            "warps": {"states": states or {"selected": 0.9, "barrier": 0.02, "wait": 0.08}}}


class Predictions(unittest.TestCase):
    def test_errors_are_predicted_less_measured(self):
        row = row_of(time=8, l1=0.53, dram_read=2000, top_stall="barrier")
        outcome = table.predict(row, [kernel_of("scan")], "v100")
        self.assertAlmostEqual(outcome.errors["time"], 25)
        self.assertAlmostEqual(outcome.errors["l1"], -3)
        self.assertAlmostEqual(outcome.errors["dram_read"], -50)
        self.assertNotIn("l2", outcome.errors)  # was not measured
        self.assertEqual(outcome.top_stall, "wait")  # neither issuing nor the measured one
        self.assertFalse(table.is_right(row, outcome.top_stall))

    def test_a_part_of_the_work_stands_for_all_of_it(self):
        outcome = table.predict(row_of(time=40, dram_read=4000, share=0.25), [kernel_of("scan")], "v100")
        self.assertEqual(outcome.errors, {"time": 0, "dram_read": 0})

    def test_bytes_of_a_part_of_the_blocks_are_not_compared(self):
        self.assertNotIn("dram_read", table.predict(row_of(dram_read=1000), [kernel_of("scan", blocks=3)], "v100").errors)

    def test_times_of_several_kernels_are_added_up(self):
        kernels = [kernel_of("scan"), kernel_of("add", us=5), kernel_of("add", gpu="a100", us=99)]
        self.assertEqual(table.predict(row_of("scan+add", time=15), kernels, "v100").errors, {"time": 0})

    def test_the_nth_launch(self):
        kernels = [kernel_of("scan"), kernel_of("scan", us=20)]
        self.assertEqual(table.predict(row_of(launch=2, time=20), kernels, "v100").errors, {"time": 0})
        with self.assertRaisesRegex(modelled.Failure, "2 launches of scan on v100"):
            table.predict(row_of(launch=3, time=20), kernels, "v100")

    def test_a_time_that_is_not_known(self):
        kernel = kernel_of("scan")
        del kernel["time"]
        self.assertEqual(table.predict(row_of(time=10), [kernel], "v100").errors, {})


class Worse(unittest.TestCase):
    def worse(self, before, now, row=None, stalls=("", "")):
        return table.worse_than(row or row_of(time=1, l1=1), table.Outcome({}, now, stalls[1]), table.Recorded(before, stalls[0]))

    def test_by_more_than_is_allowed(self):
        self.assertEqual(self.worse({"time": -10.0, "l1": 2.0}, {"time": -12.9, "l1": 2.9}), [])
        self.assertRegex(self.worse({"time": -10.0}, {"time": -13.2})[0], r"time is off by -13\.2 %, recorded are -10\.0")
        self.assertRegex(self.worse({"l1": 2.0}, {"l1": -3.2})[0], "l1 is off by -3.2 points")
        self.assertEqual(self.worse({"time": -10.0}, {"time": 9.0}), [])  # of the other sign, and no larger

    def test_a_figure_that_is_gone(self):
        self.assertRegex(self.worse({"time": 1.0}, {})[0], "time is not known any more")

    def test_a_row_without_a_record(self):
        self.assertRegex(table.worse_than(row_of(time=1), table.Outcome({}, {"time": 0}, ""), None)[0], "no error is recorded")

    def test_a_stall_that_was_right(self):
        row = row_of(time=1, top_stall="barrier")
        self.assertRegex(self.worse({}, {}, row, ("barrier", "wait"))[0], "top stall is wait, measured and recorded is barrier")
        self.assertEqual(self.worse({}, {}, row, ("wait", "selected")), [])

    def test_better(self):
        better = lambda before, now: table.better_than(row_of(time=1), table.Outcome({}, now, ""), table.Recorded(before, ""))
        self.assertTrue(better({"time": -10.0}, {"time": 6.0}))
        self.assertFalse(better({"time": -10.0}, {"time": -8.0}))


class Files(unittest.TestCase):
    def test_the_table_of_the_project_can_be_read(self):
        rows = table.read_rows()
        self.assertGreaterEqual(len({(row.program, row.kernels) for row in rows if row.tested and row.use != "by hand"}), 18)
        for row in rows:
            self.assertTrue((run_rows.KERNELS / f"{row.program}.cu").exists(), row.key)
            self.assertTrue(row.measured and row.source, row.key)

    def test_every_row_is_recorded(self):
        recorded = table.read_errors()
        self.assertEqual([row.key for row in table.read_rows() if row.key not in recorded], [])

    def test_what_is_written_is_up_to_date(self):
        rows, recorded = table.read_rows(), table.read_errors()
        self.assertEqual((modelled.ROOT / "docs/accuracy.md").read_text(encoding="utf-8"), document.write(rows, recorded))
        for path in modelled.GPUS.glob("*.toml"):
            text = path.read_text(encoding="utf-8")
            lines = gpu_section.lines_of(path.stem, text, rows, recorded, tomllib.loads(text)["accuracy"].get("date", ""))
            self.assertEqual(text, gpu_section.with_section(text, lines) if lines else text, path.name)

    def test_errors_there_and_back(self):
        rows = [row_of(time=1), row_of("add", l1=1, top_stall="wait")]
        recorded = {rows[0].key: table.Recorded({"time": -12.5}, ""), rows[1].key: table.Recorded({"l1": 0.1}, "wait"),
                    "a row that is gone": table.Recorded({"time": 1.0}, "")}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "errors.tsv"
            table.write_errors(recorded, rows, path)
            del recorded["a row that is gone"]
            self.assertEqual(table.read_errors(path), recorded)


class Sections(unittest.TestCase):
    ROWS = [row_of(time=1, l1=1, traits=("atomics",)), row_of("add", time=1, use="fit"), row_of("sum", time=1, use="by hand")]
    RECORDED = {ROWS[0].key: table.Recorded({"time": -20.0, "l1": 4.0}, ""), ROWS[1].key: table.Recorded({"time": 10.0}, ""),
                ROWS[2].key: table.Recorded({"time": 500.0}, "")}

    def test_of_a_gpu(self):
        accuracy = tomllib.loads("\n".join(gpu_section.lines_of("v100", "", self.ROWS, self.RECORDED, "2026-01-02")))["accuracy"]
        self.assertNotIn("atomics", accuracy["without"])
        self.assertIn("tensor cores", accuracy.pop("without"))
        self.assertEqual(accuracy, {"gpu": "v100", "launches": 2, "kernels": 2, "time_mean_error": 0.15, "time_worst_error": 0.2,
                                    "l1_mean_error": 0.04, "l1_worst_error": 0.04, "date": "2026-01-02"})

    def test_a_gpu_without_measurements_has_none(self):
        self.assertEqual(gpu_section.lines_of("a100", "[sm]\n", self.ROWS, self.RECORDED, ""), [])

    def test_replaces_what_was_there(self):
        text = 'name = "x"\n\n[sources]\na = "b"\n\n[sm]\n'
        once = gpu_section.with_section(text, ["[accuracy]", 'gpu = "v100"'])
        self.assertEqual(once, 'name = "x"\n\n[accuracy]\ngpu = "v100"\n\n[sources]\na = "b"\n\n[sm]\n')
        self.assertEqual(gpu_section.with_section(once, ["[accuracy]", 'gpu = "v100"']), once)

    def test_summaries(self):
        page = document.write(self.ROWS, self.RECORDED)
        self.assertIn("| v100 | time | 2 | 15.0 % | 10.0 % | 20.0 % | -20.0 %: `64 scan` |".replace("`64 scan`", "`scans 64 scan`"), page)
        self.assertIn("## By hand", page)


def scores(values, gpu="v100", kind="dram", programs=None):
    return [intervals.Score(gpu, f"program {programs or ''}{index}", kind, value) for index, value in enumerate(values)]


class Intervals(unittest.TestCase):
    def test_nineteen_groups_are_too_few(self):
        self.assertIsNone(intervals.quantile(scores([0.1] * 19)))
        self.assertEqual(intervals.quantile(scores(range(20))), 18)  # the 19th of 20: 0.9 × 21 = 18.9

    def test_nine_launches_of_ten_lie_within(self):
        rng = random.Random(1)
        inside = 0
        for _ in range(2000):
            drawn = [rng.expovariate(1) for _ in range(25)]
            inside += drawn[0] <= intervals.quantile(scores(drawn[1:]))
        self.assertAlmostEqual(inside / 2000, 0.9, delta=0.03)

    def test_many_rows_of_one_program_count_as_one(self):
        few = scores([0.1] * 24) + [intervals.Score("v100", "another", "dram", 5.0)] * 100
        self.assertEqual(intervals.quantile(few), 0.1)

    def test_what_is_nearest_comes_first(self):
        of_v100 = scores([0.1] * 22)
        self.assertEqual(intervals.interval("v100", "dram", of_v100).measured_on, "v100")
        self.assertTrue(intervals.interval("v100", "l2", of_v100).of_all_kinds)
        self.assertEqual(intervals.interval("h100-pcie", "dram", scores([0.1] * 22, "h100-sxm")).measured_on, "Hopper")
        self.assertEqual(intervals.interval("a100", "dram", of_v100).measured_on, "all GPUs")
        self.assertIsNone(intervals.interval("a100", "dram", of_v100[:19]))

    def test_a_program_is_judged_by_others(self):
        judged = intervals.coverage(scores([0.1] * 21) + scores([9.0] * 21, programs="far "))
        self.assertEqual(len(judged), 42)
        self.assertEqual(intervals.summary(judged)[:2], (42, 42))

    def test_a_gpu_without_rows_has_those_of_others_beside_its_relative(self):
        rows = [dataclasses.replace(row_of(time=1), program=f"program {index}") for index in range(22)]
        recorded = {row.key: table.Recorded({"time": 10.0}, "", "dram") for row in rows}
        text = '[accuracy] # by hand\ngpu = "v100" # the nearest\n\n[sources]\n'
        accuracy = tomllib.loads("\n".join(gpu_section.lines_of("a100", text, rows, recorded, "2026-01-02")))["accuracy"]
        self.assertEqual([accuracy[key] for key in ("gpu", "dram_within", "dram_launches", "dram_measured_on", "dram_kinds", "sm_kinds")],
                         ["v100", 0.1, 22, "all GPUs", "all", "all"])


class Runs(unittest.TestCase):
    def test_what_is_executed_is_code_for_the_boards_own_gpu(self):
        self.assertEqual(run_rows.nvcc_options(V100, ("shared memory",)), "-O3")
        self.assertEqual(run_rows.nvcc_options(boards.Board("rtx4090", "rtx4090"), ("tensor cores",)), "-O3 -arch=sm_89")
        self.assertEqual(run_rows.nvcc_options(boards.Board("b200", "b200"), ("asynchronous copies",)), "-O3 -arch=sm_100")

    def test_rows_of_other_boards_have_a_run_of_their_own_where_their_code_differs(self):
        both = [row_of(board=board, traits=("tensor cores",)) for board in (V100, boards.Board("a100", "a100"))]
        self.assertEqual(len(run_rows.groups_of(both)), 2)
        self.assertEqual(len(run_rows.groups_of([dataclasses.replace(row, traits=()) for row in both])), 1)


class Boards(unittest.TestCase):
    def test_a_clock_keeps_cycles_in_front_of_memory_and_time_behind(self):
        text = boards.gpu_text("v100")
        board = boards.Board("slow", "v100", clock_mhz=690, dram_gbs=450, copies_achieved=0.75)
        before, after = tomllib.loads(text), tomllib.loads(boards.changed(text, boards.changes_of(board, text), "slow"))
        value = lambda gpu, section, key: gpu[section][key]["value"]
        self.assertEqual(value(after, "sm", "clock_mhz"), 690)
        self.assertAlmostEqual(value(after, "l1", "latency_ns"), 2 * value(before, "l1", "latency_ns"))
        self.assertAlmostEqual(value(after, "shared", "pass_ns"), 2 * value(before, "shared", "pass_ns"))
        self.assertAlmostEqual(value(after, "l2", "bytes_per_ns"), value(before, "l2", "bytes_per_ns") / 2)
        self.assertAlmostEqual(value(after, "dram", "latency_ns"), value(before, "dram", "latency_ns") + value(before, "l2", "latency_ns"), 1)
        self.assertAlmostEqual(value(after, "dram", "burst_ns"), 32 * 32 / 450, 3)
        self.assertEqual(value(after, "dram", "copies_achieved"), 0.75)
        self.assertEqual(value(after, "dram", "activate_ns"), value(before, "dram", "activate_ns"))

    def test_a_board_without_changes_is_the_gpu(self):
        self.assertEqual(boards.gpu_argument(V100, None), "v100")

    def test_a_figure_that_the_file_lacks(self):
        with self.assertRaisesRegex(modelled.Failure, "colour"):
            boards.changed(boards.gpu_text("v100"), {("l1", "colour"): lambda value: value}, "x")


if __name__ == "__main__":
    unittest.main(verbosity=2)
