#!/usr/bin/env python3
"""Holds kernels whose loops leave out iterations against the same kernels whole.

    sampled_loops.py build/bin/warplens [--only NAME,...] [--gpu NAME] [--trials N]

Each kernel of test/end_to_end/kernels/long_loops.cu is run and modelled twice: whole, and with a limit of accesses that lets its blocks leave out
iterations. Prints time, hit rates, how much is replayed, and seconds and memory of the program and of the model.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "test/end_to_end/kernels/long_loops.cu"
# name: kernel, arguments, and the GPU, if it is not that of --gpu: launches of several waves need a small one
CASES = {
    "tiles": ("tiles", "256 4096", None),
    "rows": ("rows", "512", None),
    "planes": ("planes", "1024", None),
    "running_sums": ("running_sums", "80 512", None),
    "queries": ("queries", "16384", None),
    "sparse": ("sparse", "4096", None),
    "collatz": ("collatz", "16384", None),
    "two_phases": ("two_phases", "160 1024", None),
    "tiles_in_waves": ("tiles", "384 8192", "t4"),
    "rows_in_waves": ("rows", "384 2048", "t4"),
}


def measured(command, environment=None):
    """Runs a command; returns its seconds and its memory in MB."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **(environment or {})}, text=True)
    error = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: {error}")
    return time.monotonic() - begin, used.ru_maxrss / 1024


def model(warplens, kernel, arguments, gpu, trials, limit, folder):
    """Returns the kernel's result, and the seconds and MB of its model."""
    trace, result = pathlib.Path(folder) / f"{limit}.wlt", pathlib.Path(folder) / "result.json"
    environment = {"WARPLENS_SNAPSHOT_WHOLE": str(limit)} if limit else {}
    run, _ = measured([warplens, "profile", SOURCE, "--backend", "cpu", "--quiet", "--nvcc", "-O3", "--gpu", gpu, "--budget", "0.001", "--trace", trace,
                       "--format", "json", "-o", result, *([] if limit else ["--whole-loops"]), "--run", kernel, *arguments.split()], environment)
    seconds, megabytes = measured([warplens, "model", trace, "--quiet", "--gpu", gpu, "--trials", str(trials), "--confidence", "0", "--format", "json",
                                   "-o", result])
    (modelled,) = json.loads(result.read_text())["kernels"]
    return modelled, run, seconds, megabytes, trace.stat().st_size / 1e6


def limit_for(kernel):
    """Returns a limit of accesses that a wave of whole blocks does not keep."""
    wave = min(math.prod(kernel["grid"]), kernel["occupancy"]["sms"] * kernel["occupancy"]["blocks_per_sm"])
    records = sum(site["executions"] for site in kernel["sites"]) / kernel["snapshot"]["blocks"]
    return int(0.9 * wave * records)


def mean(kernel, figure):
    return 100 * (kernel["totals"].get(figure) or {"mean": 0})["mean"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warplens", type=pathlib.Path)
    parser.add_argument("--only", help="names of kernels, with commas")
    parser.add_argument("--gpu", default="v100")
    parser.add_argument("--trials", type=int, default=2)
    options = parser.parse_args()
    errors, points, inside = [], [], []
    for name, (kernel, arguments, gpu) in CASES.items():
        if options.only and name not in options.only.split(","):
            continue
        with tempfile.TemporaryDirectory() as folder:
            whole = model(options.warplens, kernel, arguments, gpu or options.gpu, options.trials, 0, folder)
            limit = limit_for(whole[0])
            sampled = model(options.warplens, kernel, arguments, gpu or options.gpu, options.trials, limit, folder)
        for label, (modelled, run, seconds, megabytes, trace) in (("whole", whole), ("sampled", sampled)):
            time_of = modelled.get("time")
            microseconds = f"{time_of['microseconds']['mean']:10.1f} us" if time_of else f"not known, because {modelled['time_unknown']}"
            print(f"{name:<14} {label:<8} {microseconds}  L1 {mean(modelled, 'l1_read_hit_rate'):5.1f} %  L2 {mean(modelled, 'l2_read_hit_rate'):5.1f} %"
                  f"  run {run:5.1f} s {trace:6.1f} MB  model {seconds:6.1f} s {megabytes:6.0f} MB  {modelled['snapshot']['limit']}", flush=True)
        if "time" not in whole[0] or "time" not in sampled[0] or "replayed" not in sampled[0]["snapshot"]["limit"]:
            continue
        truth = whole[0]["time"]["microseconds"]["mean"]
        of_sample = sampled[0]["time"]["microseconds"]
        errors.append(100 * (of_sample["mean"] / truth - 1))
        points.append([mean(sampled[0], rate) - mean(whole[0], rate) for rate in ("l1_read_hit_rate", "l2_read_hit_rate")])
        inside.append(of_sample["spread95"][0] <= truth <= of_sample["spread95"][1])
        print(f"{'':<14} time {errors[-1]:+.1f} %, L1 {points[-1][0]:+.1f} points, L2 {points[-1][1]:+.1f}{'' if inside[-1] else ', outside its interval'}", flush=True)
    if errors:
        print(f"\n{len(errors)} kernels: time {statistics.mean(map(abs, errors)):.1f} % off in the mean, {max(map(abs, errors)):.1f} at worst;"
              f" L1 {max(abs(one[0]) for one in points):.1f} points at worst, L2 {max(abs(one[1]) for one in points):.1f};"
              f" {sum(inside)} inside their intervals")


main()
