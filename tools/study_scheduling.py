#!/usr/bin/env python3
"""How much each choice of scheduling moves the answers: models traces with the GPU file's choices and with each
other one, and prints a Markdown table of the totals' differences, and of the largest difference of any source line that
has at least 1 % of its kernel's executions. docs/scheduling.md holds what it printed for the examples.

usage: study_scheduling.py WARPLENS TRIALS TRACE:GPU...
"""
import json
import subprocess
import sys

CHOICES = [
    ("as the file says", []),
    ("`loose_round_robin`", ["--schedule", "loose_round_robin"]),
    ("`greedy_then_oldest`", ["--schedule", "greedy_then_oldest"]),
    ("`--placement random`", ["--placement", "random"]),
    ("`--start random_point`", ["--start", "random_point"]),
]
RATES = ["l1_read_hit_rate", "l2_read_hit_rate", "l2_write_hit_rate"]


def kernels(warplens, trials, trace, gpu, options):
    command = [warplens, "model", trace, "--gpu", gpu, "--trials", trials, "--cold", "--quiet", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["kernels"]


def largest_of_a_line(kernel, base):
    executions = sum(site["executions"] for site in base["sites"])
    largest = 0
    for site, reference in zip(kernel["sites"], base["sites"]):
        for rate in ("l1_hit_rate", "l2_hit_rate"):
            if reference["executions"] >= 0.01 * executions and rate in site and rate in reference:
                largest = max(largest, abs(site[rate]["mean"] - reference[rate]["mean"]))
    return largest


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip().splitlines()[-1])
    warplens, trials, traces = sys.argv[1], sys.argv[2], sys.argv[3:]
    print("| kernel | GPU | schedule | L1 read | L2 read | L2 write | DRAM latency | largest of a line |")
    print("|---|---|---|---|---|---|---|---|")
    for trace, gpu in (argument.rsplit(":", 1) for argument in traces):
        base = None
        for name, options in CHOICES:
            modelled = kernels(warplens, trials, trace, gpu, options)
            base = base or modelled
            for kernel, reference in zip(modelled, base):
                first, totals = kernel is reference, kernel["totals"]
                cells, moved = [], first
                for rate in RATES:
                    if rate not in totals:
                        cells.append("–")
                        continue
                    mean = 100 * totals[rate]["mean"]
                    difference = mean - 100 * reference["totals"][rate]["mean"]
                    moved |= abs(difference) >= 0.1
                    cells.append(f"{mean:.1f} %" if first else f"{difference:+.1f}")
                if "dram_latency_ns" in totals:
                    mean = totals["dram_latency_ns"]["mean"]
                    percent = 100 * (mean / reference["totals"]["dram_latency_ns"]["mean"] - 1)
                    moved |= abs(percent) >= 1
                    cells.append(f"{mean:.0f} ns" if first else f"{percent:+.0f} %")
                else:
                    cells.append("–")
                line = 100 * largest_of_a_line(kernel, reference)
                cells.append("" if first else f"{line:.1f}")
                if not moved and line < 0.1:
                    continue
                print(f"| {kernel['name'].split('(')[0]} | {gpu} | {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
