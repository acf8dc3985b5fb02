#!/usr/bin/env python3
"""Prints what results of Warplens predict beside what others measured, kernel by kernel.

    held_against_hardware.py --measured FILE.csv RESULT.json [RESULT.json ...]

The CSV has a header with the column `kernel` (a name without its parameters), optionally `gpu` (as in the result), and a
column for each figure that was measured, under the name that it has in results (result/metrics.h): a rate as a fraction.
A figure that was not measured is empty; columns with other names are ignored. A kernel that was launched several times is
compared by the mean over its launches. Figures of the snapshot are scaled to the launch.

    kernel,gpu,l1_read_hit_rate,l2_read_hit_rate,dram_read_bytes,microseconds
    transpose,v100,0,0.249,67108864,151.2

Rates differ in points, everything else in per cent of what was measured. Nothing is built or run: `warplens profile` and
`warplens run` make results, with --cold if the caches were flushed before each launch. test/accuracy/ holds the model against
such measurements with programs of the project's own, and is a test.
"""

import argparse
import collections
import csv
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "accuracy"))
import modelled

OF_SNAPSHOT = {"cycles", "dram_read_bytes", "dram_write_bytes", "dram_write_bytes_before"}
OF_TIME = {"cycles", "microseconds"}


def predicted(kernel, figure):
    """Returns a figure of a kernel's launch, or None if the result has none."""
    value = (kernel.get("time", {}) if figure in OF_TIME else kernel["totals"]).get(figure)
    if isinstance(value, dict):
        value = value.get("mean")
    return value * modelled.whole_launch(kernel) if value is not None and figure in OF_SNAPSHOT else value


def is_rate(figure):
    return figure.endswith(("_rate", "_share"))


def difference(figure, value, measured):
    """Returns points of a rate, else per cent of the measured value; None where that is 0."""
    if is_rate(figure):
        return 100 * (value - measured)
    return 100 * (value / measured - 1) if measured else None


def compare(rows, kernels, figures):
    """Prints a line for each measured figure that a result has; returns the differences by figure."""
    differences = collections.defaultdict(list)
    for row in rows:
        launches = [kernel for kernel in kernels if modelled.base_name(kernel) == row["kernel"] and row.get("gpu") in (None, "", kernel["gpu"])]
        if not launches:
            print(f"{row['kernel']}: no result has it")
        for figure in figures if launches else []:
            values = [value for kernel in launches if (value := predicted(kernel, figure)) is not None]
            if not row[figure] or not values:
                continue
            measured, value = float(row[figure]), sum(values) / len(values)
            off = difference(figure, value, measured)
            scale, unit = (100, "points") if is_rate(figure) else (1, "%")
            print(f"{row['kernel']:<32}{figure:<26}{scale * measured:>14.6g}{scale * value:>14.6g}" + ("" if off is None else f"{off:>+10.1f} {unit}"))
            if off is not None:
                differences[figure].append((off, row["kernel"]))
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measured", type=pathlib.Path, required=True, help="the CSV")
    parser.add_argument("results", type=pathlib.Path, nargs="+", metavar="RESULT.json")
    options = parser.parse_args()
    with open(options.measured, newline="", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    kernels = [kernel for path in options.results for kernel in json.loads(path.read_text(encoding="utf-8"))["kernels"]]
    known = OF_TIME | {figure for kernel in kernels for figure in kernel["totals"]}
    figures = [name for name in (rows[0] if rows else ()) if name in known]
    if not rows or "kernel" not in rows[0] or not figures:
        sys.exit(f"{options.measured}: no row, no column `kernel`, or no figure that the results have")
    print(f"{'kernel':<32}{'figure':<26}{'measured':>14}{'predicted':>14}{'off by':>10}")
    differences = compare(rows, kernels, figures)
    if not differences:
        sys.exit(f"{options.measured}: none of its kernels has a figure in the results")
    print()
    for figure, entries in differences.items():
        worst, kernel = max(entries, key=lambda entry: abs(entry[0]))
        mean = sum(abs(off) for off, _ in entries) / len(entries)
        unit = "points" if is_rate(figure) else "%"
        print(f"{figure}: {len(entries)} compared, off by {mean:.1f} {unit} in the mean, the worst by {worst:+.1f} ({kernel})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
