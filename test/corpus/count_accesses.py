#!/usr/bin/env python3
"""Compares the loads and stores that Warplens collects with numbers worked out by hand from the source.

    count_accesses.py --warplens build/bin/warplens --list cpu.tsv hecbench=PATH samples=PATH [--only REGEX]

counts.tsv beside this file has the numbers: of a kernel's first launch, by single threads, in global memory. How the
programs are built and run is in the list (see run_cpu.py). A row whose numbers differ fails.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))


def profile(warplens, row, folder):
    """Returns the kernels of the result, or why there are none."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [warplens, "profile", *row["sources"].split(), "--backend", "cpu", "--nvcc", row["compile_flags"], "--trials", "2",
                   "--gpu", "a100", "--snapshot-blocks", "100000000", "--format", "json", "-o", f"{scratch}/result",
                   "--run", *row["run_args"].split()]
        finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        try:
            return json.loads(pathlib.Path(scratch, "result").read_text())["kernels"], ""
        except (OSError, ValueError):
            return [], (finished.stderr.strip().splitlines() or ["no message"])[-1]


def counted(kernel, kind):
    """Counts accesses by single threads. An update, such as ++ of an element, is a load and a store."""
    return sum(round(site["executions"] * site["active_lanes"]) for site in kernel["sites"]
               if site["kind"] in (kind, "update") and site["space"] == "global")


def base_name(kernel):
    return re.sub(r"^void |\(.*", "", kernel["name"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warplens", type=pathlib.Path, required=True)
    parser.add_argument("--list", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="a regular expression that the name has to match")
    parser.add_argument("suites", nargs="+", metavar="SUITE=PATH")
    arguments = parser.parse_args()
    suites = dict(suite.split("=", 1) for suite in arguments.suites)
    programs = {(row["suite"], row["name"]): row for row in rows_of(arguments.list)}

    results, right, all_rows = {}, 0, 0
    for row in rows_of(HERE / "counts.tsv"):
        program = row["suite"], row["name"]
        if row["suite"] not in suites or not re.search(arguments.only, row["name"]):
            continue
        if program not in results:
            folder = pathlib.Path(suites[row["suite"]], programs[program]["dir"])
            results[program] = profile(arguments.warplens.resolve(), programs[program], folder)
        kernels, problem = results[program]
        found = [kernel for kernel in kernels if re.fullmatch(row["kernel"], base_name(kernel))]
        same = bool(found) and all((counted(kernel, "load"), counted(kernel, "store")) == (int(row["loads"]), int(row["stores"]))
                                   for kernel in found)
        all_rows += 1
        right += same
        print(f"{'equal' if same else 'DIFFERS':<8} {row['name']:<26} {row['kernel']:<36} {row['loads']:>9} loads {row['stores']:>8} stores  "
              f"{row['remark']}", flush=True)
        for kernel in found if not same else []:
            print(f"         counted: {counted(kernel, 'load')} loads, {counted(kernel, 'store')} stores in {kernel['name']}")
        if not found:
            print(f"         no such kernel; there are {sorted({base_name(kernel) for kernel in kernels})} {problem}")
    print(f"{right} of {all_rows} are equal")
    return 0 if right == all_rows else 1


if __name__ == "__main__":
    sys.exit(main())
