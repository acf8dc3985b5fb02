#!/usr/bin/env python3
"""How the answers converge as the snapshot grows: models the first blocks of a trace, from half the blocks that are resident
at once to all that the trace has, and prints a Markdown table of the totals, and of the largest difference of a hit rate
from the last row, of any source line that has at least 1 % of its kernel's executions. All with cold caches. The row of the default says so.
docs/snapshot.md holds what it printed.

usage: study_snapshot.py WARPLENS TRIALS TRACE:GPU...
       (a trace of one kernel, kept by --trace, with many blocks: --snapshot-blocks)
"""
import json
import subprocess
import sys

DEPTHS = [0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32]  # times the resident blocks
RATES = ["l1_read_hit_rate", "l2_read_hit_rate", "l2_write_hit_rate"]


def modelled(warplens, trials, trace, gpu, options):
    command = [warplens, "model", trace, "--gpu", gpu, "--trials", trials, "--cold", "--quiet", *options]
    kernels = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["kernels"]
    if len(kernels) != 1:
        sys.exit(f"{trace}: {len(kernels)} launches instead of one")
    return kernels[0]


def sm_count(warplens, gpu):
    text = subprocess.run([warplens, "gpus", gpu], check=True, capture_output=True, text=True).stdout
    return int(next(line.split()[1] for line in text.splitlines() if line.split()[:1] == ["sm.count"]))


def largest_of_a_line(kernel, last):
    executions = sum(site["executions"] for site in last["sites"])
    there = {site["id"]: site for site in kernel["sites"]}
    largest = 0
    for reference in last["sites"]:
        site = there.get(reference["id"], {})
        for rate in ("l1_hit_rate", "l2_hit_rate"):
            if reference["executions"] >= 0.01 * executions and rate in site and rate in reference:
                largest = max(largest, abs(site[rate]["mean"] - reference[rate]["mean"]))
    return 100 * largest


def mean_latency(kernel):
    """Over all accesses, in ns."""
    timed = [site for site in kernel["sites"] if "latency_ns" in site]
    return sum(site["executions"] * site["latency_ns"]["mean"] for site in timed) / sum(site["executions"] for site in timed)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip().splitlines()[-2])
    warplens, trials, traces = sys.argv[1], sys.argv[2], sys.argv[3:]
    print("| kernel | GPU | blocks | × resident | L1 read | L2 read | L2 write | cold misses | mean latency | largest of a line |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for trace, gpu in (argument.rsplit(":", 1) for argument in traces):
        default = modelled(warplens, trials, trace, gpu, [])
        most = modelled(warplens, "2", trace, gpu, ["--snapshot-blocks", str(1 << 40)])["snapshot"]["blocks"]
        resident = default["occupancy"]["blocks_per_sm"] * sm_count(warplens, gpu)
        rows = {default["snapshot"]["blocks"]: default}
        for depth in DEPTHS:
            blocks = int(depth * resident)
            if blocks <= most and blocks not in rows:
                rows[blocks] = modelled(warplens, trials, trace, gpu, ["--snapshot-blocks", str(blocks)])
        last = rows[max(rows)]
        for blocks, kernel in sorted(rows.items()):
            totals = kernel["totals"]
            cells = [f"{100 * totals[rate]['mean']:.1f} %" if rate in totals else "–" for rate in RATES]
            cells.append(f"{100 * totals['cold_miss_share']:.0f} %" if "cold_miss_share" in totals else "–")
            cells.append(f"{mean_latency(kernel):.0f} ns")
            cells.append("" if kernel is last else f"{largest_of_a_line(kernel, last):.1f}")
            mark = " (default)" if kernel is default else ""
            print(f"| {kernel['name'].split('(')[0]} | {gpu} | {blocks} | {blocks / resident:.3g}{mark} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
