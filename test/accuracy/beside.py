#!/usr/bin/env python3
"""Holds kernels beside each other against what others measured on a V100, by the real command line.

    beside.py measure build/bin/warplens    prints predicted beside measured slow-downs
    beside.py check   build/bin/warplens    fails where their mean error is above 10 %, or one above 25 %
    beside.py quick   build/bin/warplens    the same of the rows of one small program, in seconds

Each row of beside/v100.tsv is a program of kernels/beside.cu whose kernel runs beside a copy of itself.
"""

import argparse
import csv
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


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("measure", "check", "quick"))
    parser.add_argument("warplens", type=pathlib.Path, nargs="?", default=modelled.ROOT / "build/bin/warplens")
    options = parser.parse_args(arguments)
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
