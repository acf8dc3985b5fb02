#!/usr/bin/env python3
"""Repeats, with kernels of our own, what chapters 7, 8 and 9 of Xu's thesis compare on a simulated GTX480: on the figures of one, or on a quarter of a V100
(20 SMs, and as much of L2 and memory).

    policies.py schedulers build/bin/warplens    instructions per cycle, and what warps wait for, by the order in which schedulers issue
    policies.py barriers   build/bin/warplens    the same of kernels whose warps meet at barriers, with as much work between them or not
    policies.py partitions build/bin/warplens    the partition of an SM's blocks that CD3 expects most of, beside trials of all
    policies.py pairs      build/bin/warplens    pairs of kernels by policies of co-scheduling, and CD3's estimate beside the trials

Each fails where a sign or an order that docs/sharing-and-power.md states no longer holds. The kernels are those of ../gpu/kernels: on the GTX480 all nine, and so
36 pairs, in minutes. Nothing here was measured: the tables are to be compared with the thesis by order and sign.
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
GPU, TRIALS = "v100", 2  # whose machine code the kernels have
QUARTER = 4
# A snapshot has at most as many blocks of a launch: on the quarter some six blocks for each place that it has for blocks of 256 threads, on the GTX480 all.
BLOCKS = {"gtx480": 1100, "v100": 1024}
# Counterparts of the thesis' nine kernels of Parboil, as far as there are any of which the machine code can be followed: BFS, HIS, SGE, STE; for
# the rest others.
NAMES = ("bfs", "histogram", "transpose", "dense_multiply", "gather", "stencil", "black_scholes", "fft", "reduction")
# Those that run in minutes on the quarter of a V100, at the sizes that ../gpu/kernels/kernels.tsv has for a GPU: the others take hours.
PAIRED = {"gtx480": NAMES, "v100": ("bfs", "transpose", "stencil", "black_scholes", "fft", "gather")}
SCHEDULED = {"gtx480": NAMES, "v100": (*PAIRED["v100"], "reduction")}
# The sizes on the GTX480, which has room for 90 blocks of 256 threads: most launches have three times as many.
SIZES = {"bfs": 65536, "histogram": 262144, "transpose": 544, "dense_multiply": 256, "gather": 65536, "stencil": 64, "black_scholes": 65536, "fft": 131072,
         "reduction": 262144}
# The file of a GTX480 lacks pipes, in lanes per cycle, as no compiler makes the machine code any more that they execute.
PIPES = """[pipes]
fp32 = { value = 64, source = "gpgpusim" } # two units of 32 lanes, which also take integers
fp64 = { value = 4, source = "gpgpusim" } # on the unit for special functions, every 8 cycles
fp16 = { value = 64, source = "assumed" }
integer = { value = 64, source = "gpgpusim" }
multiply_add = { value = 64, source = "gpgpusim" }
multiply_add_in_fp32 = { value = true, source = "gpgpusim" }
special_function = { value = 8, source = "gpgpusim" } # 4 units at the processor clock
fp64_cycles = { value = 8, source = "gpgpusim" }
special_function_cycles = { value = 20, source = "assumed" }
tensor_cycles = { value = 4, source = "assumed" } # not used

"""
SCHEDULES = {"GTO": "greedy_then_oldest", "GTO-TAWS": "two_level_oldest", "LRR": "loose_round_robin", "GTLS": "greedy_then_least_recent",
             "GTLS-TAWS": "two_level_least_recent"}


def sizes(machine):
    """Returns each program's size."""
    if machine == "gtx480":
        return SIZES
    rows = [line.split() for line in (KERNELS / "kernels.tsv").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {program: size for program, _, size in rows}


def simulated(folder):
    """Writes the file of a GTX480 that executes Volta's machine code, as the thesis' simulator executes PTX; returns its path."""
    text = (modelled.GPUS / "gtx480.toml").read_text(encoding="utf-8")
    for key, of_volta in (("compute_capability", "7.0"), ("max_per_thread", "255")):
        text, count = re.subn(rf"(?m)^({key} = {{ value = )[\d.]+", rf"\g<1>{of_volta}", text)
        assert count == 1, key
    path = folder / "gtx480.toml"
    path.write_text(text.replace("[lsu]\n", PIPES + "[lsu]\n"), encoding="utf-8")
    return path


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


def record(warplens, names, machine, folder):
    """Runs the programs of which the folder has no trace; returns all traces."""
    traces = {}
    for name in names:
        traces[name] = folder / f"{name}.trace"
        if not traces[name].exists():
            modelled.warplens(warplens, ["profile", f"{name}.cu", "--backend", "cpu", "--quiet", "--gpu", GPU, "--trials", TRIALS, "--snapshot-blocks",
                                         BLOCKS[machine], "--nvcc", "-O3", "--trace", traces[name], "-o", folder / "result", "--format", "json", "--run",
                                         sizes(machine)[name]], KERNELS)
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


def figures_by_order(warplens, traces, machine, gpu):
    """Returns instructions per cycle and the shares of the warps' states of the first kernel of each trace, or of all of one trace, by the order of issue."""
    figures = {}
    for name, schedule in SCHEDULES.items():
        for program, trace in traces.items():
            kernels = modelled.kernels_of(warplens, ["model", trace, "--gpu", gpu, "--trials", TRIALS, "--snapshot-blocks", BLOCKS[machine], "--quiet",
                                                       "--schedule", schedule], KERNELS)
            for kernel in kernels if len(traces) == 1 else kernels[:1]:
                instructions = sum(line["instructions"] for line in kernel["lines"])
                label = modelled.base_name(kernel) if len(traces) == 1 else program
                figures[name, label] = (instructions / modelled.cycles_of(kernel), kernel["warps"]["states"])
    return figures


def print_by_order(figures):
    """Prints the means over kernels, and of each kernel the change and the cycles per instruction of a warp; returns the mean changes."""
    kernels = list(dict.fromkeys(kernel for _, kernel in figures))
    means = {}
    print("order        IPC over GTO   slower   barrier + ended   data   structural   not selected (means of the shares of the warps' time)")
    for name in SCHEDULES:
        means[name], slower = changes([figures[name, one][0] for one in kernels], [figures["GTO", one][0] for one in kernels])

        def share(*states):
            return 100 * sum(sum(figures[name, one][1].get(state, 0) for state in states) for one in kernels) / len(kernels)
        print(f"{name:<12} {means[name]:+10.2f} %   {slower} of {len(kernels)}   {share('barrier', 'ended', 'drain'):13.1f} %   "
              f"{share('long_scoreboard', 'short_scoreboard', 'wait'):4.1f} %   "
              f"{share('math_pipe_throttle', 'lg_throttle', 'mio_throttle', 'tex_throttle'):8.1f} %   {share('not_selected'):9.1f} %", flush=True)
    print("\nkernel             cycles of a warp per instruction (at barriers) by " + ", ".join(SCHEDULES) + "; IPC over GTO, in percent")
    for one in kernels:
        cycles = []
        for name in SCHEDULES:
            states = figures[name, one][1]  # a warp is selected for a cycle for each of its instructions
            cycles.append(f"{1 / states['selected']:5.1f} ({states.get('barrier', 0) / states['selected']:4.1f})")
        print(f"{one:<18} {' '.join(cycles)};   " + " ".join(f"{change_over_gto(figures, name, one):+.1f}" for name in SCHEDULES if name != "GTO"), flush=True)
    return means


def change_over_gto(figures, name, kernel):
    return 100 * (figures[name, kernel][0] / figures["GTO", kernel][0] - 1)


def print_schedulers(warplens, traces, machine, gpu):
    means = print_by_order(figures_by_order(warplens, traces, machine, gpu))
    claims = [("GTO-TAWS issues at least as much as GTO", means["GTO-TAWS"] >= 0), ("GTLS-TAWS issues at least as much as GTO", means["GTLS-TAWS"] >= 0)]
    if machine == "v100":
        claims += [("GTLS-TAWS comes first", means["GTLS-TAWS"] == max(means.values())), ("GTLS issues more than LRR", means["GTLS"] > means["LRR"])]
    return missing(claims, traces, SCHEDULED[machine])


def print_barriers(warplens, machine, gpu, folder):
    """Compares the orders for kernels that differ in how evenly the work between their barriers is divided alone."""
    trace = folder / "phases.trace"
    modelled.warplens(warplens, ["profile", "phases.cu", "--backend", "cpu", "--quiet", "--gpu", GPU, "--trials", TRIALS, "--nvcc", "-O3", "--trace", trace, "-o",
                                 folder / "result", "--format", "json", "--run"], modelled.ROOT / "test/accuracy/kernels")
    figures = figures_by_order(warplens, {"phases": trace}, machine, gpu)
    print_by_order(figures)
    gains = {one: change_over_gto(figures, "GTO-TAWS", one) for one in ("even", "drawn", "first_is_last", "last_is_last")}
    return missing([("GTO-TAWS gains where a block waits for one warp", min(gains["first_is_last"], gains["last_is_last"]) > 5),
                    ("GTO-TAWS gains most where that is its last one", gains["last_is_last"] == max(gains.values())),
                    ("it changes little where the warps have as much work, or an amount by chance", max(abs(gains["even"]), abs(gains["drawn"])) < 5)])


def corun(warplens, folder, pair, traces, machine, gpu, options):
    out = folder / "corun.json"
    modelled.warplens(warplens, ["corun", *(traces[name] for name in pair), "--gpu", gpu, "--trials", TRIALS, "--snapshot-blocks", BLOCKS[machine], "--quiet",
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


def print_pairs(warplens, traces, machine, gpu, folder):
    gains, errors, agree = {}, [], 0
    for pair in itertools.combinations(traces, 2):
        line, of_pair = [], []
        for one in corun(warplens, folder, pair, traces, machine, gpu, ["--policies", "--estimates"])["arrangements"]:
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
    claims = [("INTER gains", means["inter"] > 0), ("ICMT-EVEN gains", means["icmt_even"] > 0),
              ("ICMT-EVEN gains more than ICMT-MAX", means["icmt_even"] > means["icmt_max"]),
              ("a front end of 2 costs nothing", means["icmt_even, front end 2"] > means["icmt_even"] - .5)]
    if machine == "gtx480":
        claims += [("ICMT-MAX gains more than INTER", means["icmt_max"] > means["inter"]),
                   ("a front end of 2 gains", means["icmt_even, front end 2"] > means["icmt_even"] + 3)]
    return missing(claims, traces, PAIRED[machine])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("schedulers", "barriers", "partitions", "pairs"))
    parser.add_argument("warplens", type=pathlib.Path, nargs="?", default=modelled.ROOT / "build/bin/warplens")
    parser.add_argument("--machine", choices=BLOCKS, default="gtx480", help="a simulated GTX480 (default), or a quarter of a V100; partitions take a V100")
    parser.add_argument("--traces", type=pathlib.Path, help="a folder that keeps the programs' traces (default: a temporary one)")
    parser.add_argument("--kernels", help=f"of {', '.join(NAMES)} (default: those of the documentation)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        warplens, machine = options.warplens.resolve(), options.machine
        if options.verb == "partitions":
            return 1 if print_partitions(warplens, folder) else 0
        gpu = simulated(folder) if machine == "gtx480" else quarter(folder)
        if options.verb == "barriers":
            return 1 if print_barriers(warplens, machine, gpu, folder) else 0
        default = (SCHEDULED if options.verb == "schedulers" else PAIRED)[machine]
        traces = record(warplens, options.kernels.split(",") if options.kernels else default, machine, (options.traces or folder).resolve())
        if options.verb == "schedulers":
            fails = print_schedulers(warplens, traces, machine, gpu)
        else:
            fails = print_pairs(warplens, traces, machine, gpu, folder)
    return 1 if fails else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except modelled.Failure as failure:
        sys.exit(f"policies: {failure}")
