#!/usr/bin/env python3
"""Holds kernels beside each other against what others measured on a V100, by the real command line.

    beside.py measure build/bin/warplens    prints predicted beside measured slow-downs
    beside.py check   build/bin/warplens    fails where their mean error is above 10 %, or one above 25 %
    beside.py camp    build/bin/warplens    estimates of pairs of copies of several sizes, by the ways of CAMP and of the two proportional divisions, beside
                                            their trials; fails where the estimates' mean error is above 25 %, or CAMP's above that by accesses
    beside.py quick   build/bin/warplens    the same as check of the rows of one small program, in seconds

Each row of beside/v100.tsv is a program of kernels/beside.cu whose kernel runs beside a copy of itself.
"""

import argparse
import csv
import itertools
import json
import pathlib
import sys
import tempfile

import modelled
import run_rows

ROWS = pathlib.Path(__file__).resolve().parent / "beside/v100.tsv"
GPU, BLOCKS, TRIALS = "v100", 100000, 2
MEAN_GOAL, WORST_GOAL = 0.10, 0.25
QUICK = "pipeline_fp64"
COPIES = ("copy 40 1 10", "copy 40 2 8", "copy 40 3 6", "copy 40 5 4")  # around a part of the L2 of 6 MiB
WORST_ESTIMATE = 0.25


def read_rows():
    with open(ROWS, newline="", encoding="utf-8") as text:
        return list(csv.DictReader((line for line in text if not line.startswith("#")), delimiter="\t"))


def slow_down_of(warplens, row, folder):
    """Returns the mean slow-down of the row's kernel beside itself."""
    trace, result, out = folder / "trace", folder / "result.json", folder / "corun.json"
    modelled.warplens(warplens, ["profile", "beside.cu", "--backend", "cpu", "--quiet", "--gpu", GPU, "--trials", TRIALS, "--nvcc", "-O3",
                                 "--snapshot-blocks", BLOCKS, "--trace", trace, "--format", "json", "-o", result, "--run",
                                 *row["arguments"].split()], run_rows.KERNELS)
    modelled.warplens(warplens, ["corun", trace, trace, "--gpu", GPU, "--trials", TRIALS, "--quiet", "--snapshot-blocks", BLOCKS, "--format",
                                 "json", "-o", out, *row["options"].split()], folder)
    kernels = json.loads(out.read_text(encoding="utf-8"))["kernels"]
    return sum(kernel["slow_down"]["mean"] for kernel in kernels) / len(kernels)


def check_camp(warplens, folder):
    """Holds estimates of pairs that share the L2 and memory alone, each on SMs of its own, against trials; returns whether they are too far off."""
    for name in COPIES:
        modelled.warplens(warplens, ["profile", "beside.cu", "--backend", "cpu", "--quiet", "--gpu", GPU, "--trials", TRIALS, "--nvcc", "-O3",
                                     "--snapshot-blocks", BLOCKS, "--sharing", "--trace", folder / f"{name}.trace", "--format", "json", "-o",
                                     folder / f"{name}.json", "--run", *name.split()], run_rows.KERNELS)
    errors = {"estimate": [], "camp": [], "by_accesses": [], "by_misses": []}
    for pair in itertools.combinations(COPIES, 2):
        out = folder / "out.json"
        modelled.warplens(warplens, ["corun", *(folder / f"{name}.json" for name in pair), "--quiet", "--format", "json", "-o", out], folder)
        estimated = json.loads(out.read_text(encoding="utf-8"))["pairs"][0]
        modelled.warplens(warplens, ["corun", *(folder / f"{name}.trace" for name in pair), "--gpu", GPU, "--trials", TRIALS, "--quiet", "--snapshot-blocks",
                                     BLOCKS, "--division", "sms", "--format", "json", "-o", out], folder)
        trial = [kernel["slow_down"]["mean"] for kernel in json.loads(out.read_text(encoding="utf-8"))["kernels"]]
        for kind, of_kind in errors.items():
            slow_downs = estimated["slow_down"] if kind == "estimate" else [one["slow_down"] for one in estimated[kind]]
            of_kind.extend(one / of_trial - 1 for one, of_trial in zip(slow_downs, trial))
    means = {kind: sum(map(abs, of_kind)) / len(of_kind) for kind, of_kind in errors.items()}
    for kind, of_kind in errors.items():
        print(f"{kind:<12} mean error {100 * means[kind]:.1f} %, mean {100 * sum(of_kind) / len(of_kind):+.1f} %, more than 5 % in "
              f"{sum(abs(one) > .05 for one in of_kind)} of {len(of_kind)}", flush=True)
    return means["estimate"] > WORST_ESTIMATE or means["camp"] > means["by_accesses"]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("measure", "check", "camp", "quick"))
    parser.add_argument("warplens", type=pathlib.Path, nargs="?", default=modelled.ROOT / "build/bin/warplens")
    options = parser.parse_args(arguments)
    if options.verb == "camp":
        with tempfile.TemporaryDirectory() as folder:
            return 1 if check_camp(options.warplens.resolve(), pathlib.Path(folder)) else 0
    errors = []
    for row in read_rows():
        if options.verb == "quick" and not row["experiment"].startswith(QUICK):
            continue
        with tempfile.TemporaryDirectory() as folder:
            predicted = slow_down_of(options.warplens.resolve(), row, pathlib.Path(folder))
        errors.append(predicted / float(row["slow_down"]) - 1)
        print(f"{row['experiment']:<22} {predicted:6.3f}  measured {row['slow_down']:>6}  {100 * errors[-1]:+6.1f} %", flush=True)
    mean, worst = sum(map(abs, errors)) / len(errors), max(map(abs, errors))
    print(f"mean error {100 * mean:.1f} %, worst {100 * worst:.1f} %")
    return 1 if options.verb != "measure" and (mean > MEAN_GOAL or worst > WORST_GOAL) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except modelled.Failure as failure:
        sys.exit(f"beside: {failure}")
