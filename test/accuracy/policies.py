#!/usr/bin/env python3
"""Repeats, with kernels of our own on a quarter of a V100 (20 SMs, and as much of L2 and memory), what chapters 7, 8 and 9 of Xu's thesis compare on a simulated GTX480.

    policies.py schedulers build/bin/warplens    instructions per cycle, and what warps wait for, by the order in which schedulers issue
    policies.py partitions build/bin/warplens    the partition of an SM's blocks that CD3 expects most of, beside trials of all
    policies.py pairs      build/bin/warplens    pairs of kernels by policies of co-scheduling, and CD3's estimate beside the trials

Both fail where a sign or an order that docs/sharing-and-power.md states of the default kernels no longer holds; `--kernels all` takes nine, and so
36 pairs. The kernels are those of ../gpu/kernels, at the sizes that its table has for a GPU. Nothing here was measured: the tables are to be compared with
the thesis by order and sign.
"""

import argparse
import itertools
import json
import pathlib
import re
import sys
import tempfile

import modelled

KERNELS = modelled.ROOT / "test/gpu/kernels"
GPU, TRIALS, BLOCKS = "v100", 2, 1024  # of each launch: some six for each place that the part of the GPU has for blocks of 256 threads
QUARTER = 4
# Counterparts of the thesis' nine kernels of Parboil, as far as there are any of which the machine code can be followed: BFS, HIS, SGE, STE; for
# the rest others.
NAMES = ("bfs", "histogram", "transpose", "dense_multiply", "gather", "stencil", "black_scholes", "fft", "reduction")
# Those of which the documentation has tables: the others take hours.
PAIRED = ("bfs", "transpose", "stencil", "black_scholes", "fft", "gather")
SCHEDULED = (*PAIRED, "reduction")
SCHEDULES = {"GTO": "greedy_then_oldest", "GTO-TAWS": "two_level_oldest", "LRR": "loose_round_robin", "GTLS": "greedy_then_least_recent",
             "GTLS-TAWS": "two_level_least_recent"}


def sizes():
    """Returns each program's size on a GPU."""
    rows = [line.split() for line in (KERNELS / "kernels.tsv").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {program: size for program, _, size in rows}


def quarter(folder):
    """Writes the file of a quarter of the GPU, in which the thesis' 15 SMs are about as many; returns its path."""
    counts = ("sm.count", "l2.bytes", "l2.slices", "dram.bytes", "dram.bus_bits", "dram.channels")
    rates = ("l2.bytes_per_ns", "l2.write_bytes_per_ns", "l2.atomics_per_ns", "dram.bytes_per_cycle")
    section, lines = "", []
    for line in (modelled.GPUS / f"{GPU}.toml").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\[(\w+)\]", line):
            section = found[1]
        key = f"{section}.{line.split(' = ')[0]}"
        if key in counts:
            line = re.sub(r"value = (\d+)", lambda value: f"value = {int(value[1]) // QUARTER}", line)
        elif key in rates:
            line = re.sub(r"(?<![\w.])\d+(\.\d+)?(?=[,\]\s])", lambda value: f"{float(value[0]) / QUARTER:g}", line.split(" #")[0])
        lines.append(line)
    path = folder / "quarter.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def record(warplens, names, folder):
    """Runs the programs of which the folder has no trace; returns all traces."""
    traces = {}
    for name in names:
        traces[name] = folder / f"{name}.trace"
        if not traces[name].exists():
            modelled.warplens(warplens, ["profile", f"{name}.cu", "--backend", "cpu", "--quiet", "--gpu", GPU, "--trials", TRIALS, "--snapshot-blocks",
                                         BLOCKS, "--nvcc", "-O3", "--trace", traces[name], "-o", folder / "result", "--format", "json", "--run",
                                         sizes()[name]], KERNELS)
    return traces


def changes(values, base):
    """Returns the mean of the relative changes, in percent, and the share of them that are losses."""
    relative = [value / before - 1 for value, before in zip(values, base)]
    return 100 * sum(relative) / len(relative), sum(one < 0 for one in relative)


def missing(claims, traces=(), kernels=()):
    """Prints the claims that do not hold, if the traces are of the kernels that they are about; returns whether there are any."""
    failures = [text for text, holds in claims if not holds] if set(traces) == set(kernels) else []
    for text in failures:
        print(f"no longer: {text}")
    return bool(failures)


def print_schedulers(warplens, traces, gpu):
    figures = {}
    for name, schedule in SCHEDULES.items():
        for program, trace in traces.items():
            kernel = modelled.kernels_of(warplens, ["model", trace, "--gpu", gpu, "--trials", TRIALS, "--snapshot-blocks", BLOCKS, "--quiet", "--schedule",
                                                      schedule], KERNELS)[0]
            states = kernel["warps"]["states"]
            cycles = modelled.cycles_of(kernel)
            instructions = sum(line["instructions"] for line in kernel["lines"])
            figures[name, program] = (instructions / cycles, states)
    means = {}
    print("order        IPC over GTO   slower   barrier + ended   data   structural   not selected (means of the shares of the warps' time)")
    for name in SCHEDULES:
        mean, slower = changes([figures[name, one][0] for one in traces], [figures["GTO", one][0] for one in traces])
        means[name] = mean

        def share(*states):
            return 100 * sum(sum(figures[name, one][1].get(state, 0) for state in states) for one in traces) / len(traces)
        print(f"{name:<12} {mean:+10.2f} %   {slower} of {len(traces)}   {share('barrier', 'ended', 'drain'):13.1f} %   "
              f"{share('long_scoreboard', 'short_scoreboard', 'wait'):4.1f} %   "
              f"{share('math_pipe_throttle', 'lg_throttle', 'mio_throttle', 'tex_throttle'):8.1f} %   {share('not_selected'):9.1f} %", flush=True)
    print("IPC over GTO by kernel, in percent: " + "; ".join(
        f"{one} " + " ".join(f"{100 * (figures[name, one][0] / figures['GTO', one][0] - 1):+.1f}" for name in SCHEDULES if name != "GTO") for one in traces))
    return missing([("GTLS-TAWS issues at least as much as GTO", means["GTLS-TAWS"] >= 0), ("GTLS-TAWS comes first", means["GTLS-TAWS"] == max(means.values())),
                    ("GTLS issues more than LRR", means["GTLS"] > means["LRR"])], traces, SCHEDULED)


def corun(warplens, folder, pair, traces, gpu, options):
    out = folder / "corun.json"
    modelled.warplens(warplens, ["corun", *(traces[name] for name in pair), "--gpu", gpu, "--trials", TRIALS, "--snapshot-blocks", BLOCKS, "--quiet",
                                 "--format", "json", "-o", out, *options], folder)
    return json.loads(out.read_text(encoding="utf-8"))


def print_partitions(warplens, folder):
    """Holds the partition of an SM's blocks that CD3 expects most of against trials of all that fill it, for kernels of which eight blocks do."""
    trace, out, blocks = folder / "trace", folder / "corun.json", 8
    modelled.warplens(warplens, ["profile", "partners.cu", "--backend", "cpu", "--quiet", "--gpu", GPU, "--trials", TRIALS, "--nvcc", "-O3", "--trace", trace,
                                 "-o", folder / "result", "--format", "json", "--run"], modelled.ROOT / "test/accuracy/kernels")
    shortfalls = []
    for pair in itertools.combinations(("copies", "products", "sums", "turns"), 2):
        def run(*options):
            modelled.warplens(warplens, ["corun", trace, trace, "--kernel", ",".join(pair), "--gpu", GPU, "--trials", TRIALS, "--quiet", "--format", "json",
                                         "-o", out, *options], folder)
            result = json.loads(out.read_text(encoding="utf-8"))
            return sum(1 / kernel["slow_down"]["mean"] for kernel in result["kernels"]), result.get("search")
        gains = {(first, blocks - first): run("--division", "blocks", "--split", f"{first},{blocks - first}")[0] for first in range(1, blocks)}
        chosen, search = run("--search")
        best = max(gains, key=gains.get)
        shortfalls.append(max(0, 1 - chosen / gains[best]))
        print(f"{pair[0] + ' + ' + pair[1]:<20} CD3 {tuple(search['blocks'])}: {chosen:.3f}, expected {search['gain']:.3f}; best {best}: {gains[best]:.3f}; "
              f"ICMT-EVEN {run('--division', 'blocks')[0]:.3f}", flush=True)
    print(f"{len(shortfalls)} pairs: the best in {sum(one < 1e-6 for one in shortfalls)}, within 5 % of it in {sum(one <= .05 for one in shortfalls)}, beyond "
          f"10 % in {sum(one > .1 for one in shortfalls)}")
    return missing([("no partition that CD3 chooses is 10 % worse than the best", max(shortfalls) <= .1)])


def print_pairs(warplens, traces, gpu, folder):
    gains, errors, agree = {}, [], 0
    for pair in itertools.combinations(traces, 2):
        line, of_pair = [], []
        for one in corun(warplens, folder, pair, traces, gpu, ["--policies", "--estimates"])["arrangements"]:
            gain = None if "impossible" in one else 100 * (one["speed_up"]["mean"] - 1)
            gains.setdefault(one["name"], []).append(gain)
            line.append("     -" if gain is None else f"{gain:+6.1f}")
            if one["name"] == "icmt_even" and gain is not None:
                estimates = [kernel["estimate"] for kernel in one["kernels"] if "estimate" in kernel]
                of_pair = [kernel["estimate"] / kernel["slow_down"]["mean"] - 1 for kernel in one["kernels"] if "estimate" in kernel]
                agree += len(estimates) == 2 and (sum(1 / estimate for estimate in estimates) > 1) == (gain > 0)
        errors += of_pair
        print(f"{pair[0] + ' + ' + pair[1]:<36}" + " ".join(line) + "   CD3 " + " ".join(f"{100 * error:+.0f} %" for error in of_pair), flush=True)
    print("\npolicy                     mean gain   lose   worst")
    for name, of_policy in gains.items():
        known = [gain for gain in of_policy if gain is not None]
        print(f"{name:<26} {sum(known) / len(known):+8.2f} %   {sum(gain < 0 for gain in known):2} of {len(known)}   {min(known):+.1f} %")
    print(f"CD3 beside trials of icmt_even: mean error {100 * sum(map(abs, errors)) / len(errors):.1f} %, within 25 %: "
          f"{sum(abs(error) <= .25 for error in errors)} of {len(errors)} slow-downs; the pair's sign is right in {agree} of {len(errors) // 2} pairs")
    means = {name: sum(gain for gain in of_policy if gain is not None) / max(1, sum(gain is not None for gain in of_policy)) for name, of_policy in gains.items()}
    return missing([("INTER gains", means["inter"] > 0), ("ICMT-EVEN gains", means["icmt_even"] > 0),
                    ("ICMT-EVEN gains more than ICMT-MAX", means["icmt_even"] > means["icmt_max"]),
                    ("a front end of 2 costs nothing", means["icmt_even, front end 2"] > means["icmt_even"] - .5)], traces, PAIRED)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("schedulers", "partitions", "pairs"))
    parser.add_argument("warplens", type=pathlib.Path, nargs="?", default=modelled.ROOT / "build/bin/warplens")
    parser.add_argument("--traces", type=pathlib.Path, help="a folder that keeps the programs' traces (default: a temporary one)")
    parser.add_argument("--kernels", help=f"the programs, or all of {', '.join(NAMES)} (default: those of the documentation)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        warplens = options.warplens.resolve()
        if options.verb == "partitions":
            return 1 if print_partitions(warplens, folder) else 0
        default = SCHEDULED if options.verb == "schedulers" else PAIRED
        names = NAMES if options.kernels == "all" else options.kernels.split(",") if options.kernels else default
        traces = record(warplens, names, (options.traces or folder).resolve())
        if options.verb == "schedulers":
            fails = print_schedulers(warplens, traces, quarter(folder))
        else:
            fails = print_pairs(warplens, traces, quarter(folder), folder)
    return 1 if fails else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except modelled.Failure as failure:
        sys.exit(f"policies: {failure}")
