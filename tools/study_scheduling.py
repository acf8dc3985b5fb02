#!/usr/bin/env python3
"""How much each choice of scheduling moves the answers: models traces with the GPU file's issue policy, with each other one
and without a clock; and without a clock with each placement and start. It prints a Markdown table of the totals'
differences, and of the largest difference of any source line that has at least 1 % of its kernel's executions.
docs/scheduling.md holds what it printed for the examples.

usage: study_scheduling.py WARPLENS TRIALS TRACE:GPU...
"""
import json
import subprocess
import sys

POLICIES = ["loose_round_robin", "greedy_then_oldest", "greedy_then_youngest", "greedy_then_least_recent",
            "two_level_oldest", "two_level_least_recent", "greedy_two_level_least_recent"]
PAPER = "--schedule paper"
# The first choice of a group has its figures printed, the others their differences from it.
GROUPS = [
    ["", *(f"--schedule {policy}" for policy in POLICIES), PAPER],
    [PAPER, f"{PAPER} --placement random", f"{PAPER} --start random_delay", f"{PAPER} --start random_point"],
]
RATES = ["l1_read_hit_rate", "l2_read_hit_rate", "l2_write_hit_rate"]


def kernels(warplens, trials, trace, gpu, choice):
    command = [warplens, "model", trace, "--gpu", gpu, "--trials", trials, "--cold", "--quiet", *choice.split()]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["kernels"]


def largest_of_a_line(kernel, base):
    executions = sum(site["executions"] for site in base["sites"])
    largest = 0
    for site, reference in zip(kernel["sites"], base["sites"]):
        for rate in ("l1_hit_rate", "l2_hit_rate"):
            if reference["executions"] >= 0.01 * executions and rate in site and rate in reference:
                largest = max(largest, abs(site[rate]["mean"] - reference[rate]["mean"]))
    return largest


def print_row(kernel, reference, gpu, choice):
    """Prints the figures of a reference, or another kernel's differences from it where there are any."""
    is_reference, totals = kernel is reference, kernel["totals"]
    cells, has_moved = [], is_reference
    for rate in RATES:
        if rate not in totals:
            cells.append("–")
            continue
        mean = 100 * totals[rate]["mean"]
        difference = mean - 100 * reference["totals"][rate]["mean"]
        has_moved |= abs(difference) >= 0.1
        cells.append(f"{mean:.1f} %" if is_reference else f"{difference:+.1f}")
    if "dram_latency_ns" in totals:
        mean = totals["dram_latency_ns"]["mean"]
        percent = 100 * (mean / reference["totals"]["dram_latency_ns"]["mean"] - 1)
        has_moved |= abs(percent) >= 1
        cells.append(f"{mean:.0f} ns" if is_reference else f"{percent:+.0f} %")
    else:
        cells.append("–")
    line = 100 * largest_of_a_line(kernel, reference)
    cells.append("" if is_reference else f"{line:.1f}")
    if has_moved or line >= 0.1:
        words = f"`{choice}`" if choice else "as the file says"
        print(f"| {kernel['name'].split('(')[0]} | {gpu} | {words} | {' | '.join(cells)} |", flush=True)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip().splitlines()[-1])
    warplens, trials, traces = sys.argv[1], sys.argv[2], sys.argv[3:]
    print("| kernel | GPU | schedule | L1 read | L2 read | L2 write | DRAM latency | largest of a line |")
    print("|---|---|---|---|---|---|---|---|")
    for group in GROUPS:
        for trace, gpu in (argument.rsplit(":", 1) for argument in traces):
            modelled = [kernels(warplens, trials, trace, gpu, choice) for choice in group]
            for same in zip(*modelled):
                for choice, kernel in zip(group, same):
                    print_row(kernel, same[0], gpu, choice)


if __name__ == "__main__":
    main()
