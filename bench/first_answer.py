#!/usr/bin/env python3
"""Holds the first answer against the whole model, over the kernels of the table of errors.

    first_answer.py build/bin/warplens [--only REGEX] [--gpu NAME,...] [--trials N]

Each program is traced once. Its trace is then modelled by parts of the machine alone (`model --budget` of no time) and by all of it, with as many
trials on both. Prints the times and hit rates of each kernel, how long each answer took, and in the end the errors over all kernels.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/accuracy"))

import modelled  # noqa: E402
import run_rows  # noqa: E402
import table  # noqa: E402


def groups(only):
    """Returns one row of each program and its arguments, with all rows that have them."""
    rows = [row for row in table.read_rows() if not only or re.search(only, row.key)]
    found = {}
    for row in rows:
        found.setdefault((row.program, row.arguments), []).append(row)
    return found


def trace(warplens, rows, path):
    names = "|".join(sorted({re.escape(name) for row in rows for name in row.kernels}))
    command = ["profile", f"{rows[0].program}.cu", "--backend", "cpu", "--quiet", "--cold", "--trials", "2", "--snapshot-blocks", "1",
               "--nvcc", "-O3", "--kernel", rf"\b({names})\b", "--trace", str(path), "--stop-when-traced", "--run", *rows[0].arguments.split()]
    command[command.index("--snapshot-blocks"):command.index("--snapshot-blocks") + 2] = []
    modelled.warplens(warplens, [*command[:1], "--format", "json", "-o", "/dev/null", *command[1:]], run_rows.KERNELS)


def model(warplens, path, gpus, more):
    """Returns the kernels, and the seconds that the command took."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        begin = time.monotonic()
        subprocess.run([warplens, "model", path, "--quiet", "--cold", "--gpu", gpus, "--format", "json", "-o", result.name, *more], check=True)
        return json.load(result)["kernels"], time.monotonic() - begin


def interval(statistic):
    low, high = statistic["spread95"]
    return low, high


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warplens", type=pathlib.Path)
    parser.add_argument("--only", help="a regular expression that a row's key matches")
    parser.add_argument("--gpu", default="v100,a100,h100-sxm")
    parser.add_argument("--trials", type=int, default=4, help="of the whole model")
    options = parser.parse_args()
    warplens = options.warplens.resolve()
    errors, l1, l2, inside, waits = [], [], [], [], []
    for (program, arguments), rows in groups(options.only).items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.wlt"
            try:
                trace(warplens, rows, path)
            except modelled.Failure as failure:
                print(f"{program} {arguments}: {failure}", flush=True)
                continue
            first, wait = model(warplens, path, options.gpu, ["--budget", "0.001"])
            whole, whole_wait = model(warplens, path, options.gpu, ["--trials", str(options.trials), "--confidence", "0"])
            waits.append(wait)
            print(f"{program} {arguments}: {len(whole)} kernels, first answer {wait:.1f} s, whole {whole_wait:.1f} s", flush=True)
        for a, b in zip(first, whole):
            if modelled.microseconds_of(b) is None:
                continue
            divisor = a["trials"].get("divisor", 1)
            ratio = modelled.microseconds_of(a) / modelled.microseconds_of(b)
            low, high = interval(a["time"]["microseconds"])
            points = [100 * ((modelled.total(a, figure) or 0) - (modelled.total(b, figure) or 0)) for figure in ("l1_read_hit_rate", "l2_read_hit_rate")]
            covered = low <= modelled.microseconds_of(b) <= high
            print(f"    {modelled.base_name(b):<28} {b['gpu']:<9} 1/{divisor:<3} {modelled.microseconds_of(b):10.1f} us {100 * (ratio - 1):+6.1f} %"
                  f"  L1 {points[0]:+5.1f}  L2 {points[1]:+5.1f} points{'' if covered else '  outside'}", flush=True)
            if divisor > 1:
                errors.append(100 * abs(ratio - 1))
                l1.append(abs(points[0]))
                l2.append(abs(points[1]))
                inside.append(covered)
    if errors:
        print(f"\n{len(errors)} kernels on a part of the machine: time {statistics.mean(errors):.1f} % off in the mean, {max(errors):.1f} at worst;"
              f" L1 {statistics.mean(l1):.1f} points ({max(l1):.1f}), L2 {statistics.mean(l2):.1f} ({max(l2):.1f});"
              f" {100 * statistics.mean(inside):.0f} % inside the interval; first answers {statistics.mean(waits):.1f} s in the mean, {max(waits):.1f} at most")


main()
