#!/usr/bin/env python3
"""Holds the model against what others measured of kernels whose counterparts lie in kernels/, by the real command line.

    accuracy.py measure build/bin/warplens [--only REGEX]    prints predicted beside measured
    accuracy.py check   build/bin/warplens [--all]           fails where a row of the table got worse than recorded
    accuracy.py record  build/bin/warplens [--only REGEX]    records the errors, writes docs/accuracy.md and [accuracy] of the GPU files
    accuracy.py coverage                                     how many rows lie in the interval that other programs' rows give them
    accuracy.py write                                        writes these from what is recorded

`check` takes the rows of measurements.tsv that are marked for it, and `--all`, or WARPLENS_ALL in the environment, all of them. README.md
explains the files.
"""

import argparse
import os
import pathlib
import re
import sys
import time

import document
import gpu_section
import intervals
import modelled
import run_rows
import table


def chosen_rows(rows, options):
    """Returns the rows that the command line names."""
    if options.verb == "check" and not options.all and not options.only and "WARPLENS_ALL" not in os.environ:
        rows = [row for row in rows if row.tested]
    return [row for row in rows if not options.only or re.search(options.only, row.key)]


def print_row(row, outcome, before):
    """Prints a row's figures: predicted, measured and the error, with the recorded error where it differs."""
    print(row.key)
    for figure, predicted in outcome.predicted.items():
        unit, _ = table.FIGURES[figure]
        recorded = before.errors.get(figure) if before else None
        moved = f" (recorded: {recorded:+.1f})" if recorded is not None and abs(recorded - outcome.errors[figure]) >= 0.1 else ""
        print(f"    {figure:<11}{document.amount(figure, predicted):>12}  measured {document.amount(figure, row.measured[figure]):>12}"
              f"  {outcome.errors[figure]:+7.1f} {unit}{moved}")
    if row.top_stall:
        print(f"    {'top stall':<11}{outcome.top_stall:>12}  measured {row.top_stall:>12}")
    sys.stdout.flush()


def run_all(options, rows, all_rows, recorded):
    """Returns the outcomes of the rows, by key; prints, and for `record` saves, each as it comes: hours of work end with a key."""
    outcomes = {}
    saved = dict(recorded)
    for row, outcome in run_rows.run(options.warplens.resolve(), rows, options.jobs):
        outcomes[row.key] = outcome
        print_row(row, outcome, recorded.get(row.key))
        if options.verb == "record":
            saved[row.key] = table.recorded_of(outcome)
            table.write_errors(saved, all_rows)
    return outcomes


def check(rows, outcomes, recorded):
    """Prints which rows got worse, and which better; returns the exit code."""
    worse = [text for row in rows for text in table.worse_than(row, outcomes[row.key], recorded.get(row.key))]
    better = [row.key for row in rows if table.better_than(row, outcomes[row.key], recorded.get(row.key))]
    if better:
        print(f"\n{len(better)} rows got better; `accuracy.py record` records that: {'; '.join(better)}")
    print(f"\n{len(worse)} figures of {len(rows)} rows got worse" + "".join(f"\n    {text}" for text in worse))
    return 1 if worse else 0


def write_all(rows, recorded):
    """Writes what follows from the recorded errors: the document and the GPU files' sections."""
    (modelled.ROOT / "docs/accuracy.md").write_text(document.write(rows, recorded), encoding="utf-8")
    for path in sorted(modelled.GPUS.glob("*.toml")):
        gpu_section.update(path, rows, recorded)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("measure", "check", "record", "coverage", "write"))
    parser.add_argument("warplens", type=pathlib.Path, nargs="?", default=modelled.ROOT / "build/bin/warplens")
    parser.add_argument("--only", metavar="REGEX", help="the rows whose keys match: board, program, arguments, kernel")
    parser.add_argument("--all", action="store_true", help="check: all rows")
    parser.add_argument("--jobs", type=int, help="programs that run side by side (default: one per core)")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    all_rows, recorded = table.read_rows(), table.read_errors()
    if options.verb == "write":
        write_all(all_rows, recorded)
        return 0
    if options.verb == "coverage":
        intervals.print_coverage(intervals.scores_of(all_rows, recorded))
        return 0
    rows = chosen_rows(all_rows, options)
    if not rows:
        raise modelled.Failure(f"no row matches {options.only}")
    start = time.monotonic()
    outcomes = run_all(options, rows, all_rows, recorded)
    print(f"\n{len(rows)} rows, {time.monotonic() - start:.0f} s")
    if options.verb == "record":
        write_all(all_rows, table.read_errors())
    return check(rows, outcomes, recorded) if options.verb == "check" else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except modelled.Failure as failure:
        sys.exit(f"accuracy: {failure}")
