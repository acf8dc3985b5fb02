#!/usr/bin/env python3
"""Runs other people's CUDA programs on the CPU back end and prints the outcome of each.

The programs are not part of this project: give a list of them and where each suite it names is checked out.

    run_cpu.py --warplens build/bin/warplens --list cpu.tsv hecbench=PATH samples=PATH rodinia=PATH [--only REGEX]

The list is tab-separated, with a header: suite, name, dir (below the suite), sources, compile_flags, run_args,
pass_regex (searched in stdout), expected_exit and feature_tags. Each program is built and run as it is and with probes, in its own
folder, where some write files.

    right     ran to its end with the expected output
    refused   Warplens names what it does not support, before the program runs or when it calls it
    WRONG     ran to its end with another output
    failed    anything else: a crash, a deadlock, a source that Clang does not take
    too slow  not done within --timeout seconds in total

further.tsv, beside this script, lists programs that were chosen by a rule (docs/cpu-back-end.md). Those whose size is fixed for a GPU
have the tag fixed-size.
"""

import argparse
import collections
import contextlib
import csv
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

MODES = {"plain": ["--no-probes"], "probed": ["--trials", "2", "--launches", "2", "--format", "json"]}
OUTCOMES = ["right", "refused", "WRONG", "failed", "too slow"]
REFUSAL = re.compile(r"warplens: .*(?:not support|the CPU back end has no|is defined neither|understands|undefined)|warplens: .*nvcc takes this, Clang \d+ does not: ")


def verdict(row, finished):
    """Returns (outcome, reason) of a finished process."""
    complaints = [line for line in finished.stderr.splitlines() if line.startswith("warplens: ")]
    last = complaints[-1].removeprefix("warplens: ") if complaints else ""
    built = any(line.startswith("build ") for line in finished.stderr.splitlines())
    ended = re.search(r"exited with code (\d+)", last)
    # Some programs have a kernel fail, expect that, and end with code 0, which is not the run's.
    code = int(ended.group(1)) if ended else 0 if last.count("ended with code 0 all the same") else finished.returncode
    matches = re.search(row["pass_regex"], finished.stdout) is not None
    if built and matches and code == int(row["expected_exit"]):
        return "right", ""
    refusal = next((line for line in complaints if REFUSAL.match(line)), None)
    if refusal:
        return "refused", refusal.removeprefix("warplens: ")
    if not built or "ended by signal" in last or finished.returncode < 0:
        return "failed", last or "no message"
    if finished.returncode and not ended:
        return "failed", last
    return "WRONG", f"exit code {code}, output {'matches' if matches else 'does not match'}; {last}"


def communicate(command, folder, timeout):
    """Returns the finished process. When its time is over, the program that it runs ends with it."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          start_new_session=True) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
            return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def run(warplens, row, folder, mode, timeout):
    """Returns (outcome, reason, seconds) of one program built in one way."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [warplens, "profile", *row["sources"].split(), "--backend", "cpu", "--nvcc", row["compile_flags"], *MODES[mode],
                   "-o", f"{scratch}/result", "--run", *row["run_args"].split()]
        start = time.monotonic()
        try:
            outcome, reason = verdict(row, communicate(command, folder, timeout))
        except subprocess.TimeoutExpired:
            outcome, reason = "too slow", f"not done after {timeout:g} s"
    return outcome, reason, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warplens", type=pathlib.Path, required=True)
    parser.add_argument("--list", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="a regular expression that the name has to match")
    parser.add_argument("--without", metavar="TAG", help="leave out programs with this word in feature_tags")
    parser.add_argument("--mode", choices=MODES, help="one of the two ways; default: both")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("suites", nargs="+", metavar="SUITE=PATH")
    arguments = parser.parse_args()
    suites = dict(suite.split("=", 1) for suite in arguments.suites)

    tally = collections.Counter()
    with open(arguments.list, newline="", encoding="utf-8") as text:
        rows = list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        if row["suite"] not in suites or not re.search(arguments.only, row["name"]) or arguments.without in (row.get("feature_tags") or "").split():
            continue
        for mode in [arguments.mode] if arguments.mode else MODES:
            folder = pathlib.Path(suites[row["suite"]]) / row["dir"]
            outcome, reason, seconds = run(arguments.warplens.resolve(), row, folder, mode, arguments.timeout)
            tally[mode, outcome] += 1
            print(f"{row['suite']:<9} {row['name']:<26} {mode:<7} {outcome:<16} {seconds:6.1f} s  {reason}", flush=True)
    for mode in dict.fromkeys(mode for mode, _ in tally):
        counts = {outcome: tally[mode, outcome] for outcome in OUTCOMES}
        total = sum(counts.values())
        print(f"{mode:<7} {total} programs: " + ", ".join(f"{count} {outcome} ({100 * count / total:.1f} %)" for outcome, count in counts.items()))
    return 1 if any(outcome in ("WRONG", "failed") for _, outcome in tally) else 0


if __name__ == "__main__":
    sys.exit(main())
