#!/usr/bin/env python3
"""Runs Warplens on programs whose hardware counters others published, and prints what it predicts beside what they measured.

    held_against_hardware.py build/bin/warplens --reference PATH [--only streams|chases|counters] [SUITE=PATH ...]

The measurements and the programs are not part of this project. --reference is a folder with `streams/` (two programs, and their
hit rates by size), `chase/` and `counters/` (of kernels of public programs). The suites are where those programs are checked out,
and what is not there is left out with a line that says so:

    rodinia         Rodinia 3.1
    parboil         Parboil, as in accel-sim/gpu-app-collection
    samples         NVIDIA's cuda-samples
    gpuperfpredict  marcosamaris/gpuperfpredict
    gpu-perf-model  vaughaningram/gpu-perf-model

Programs run on the CPU back end. Their traces stay in --cache, so that a second run only models. Launches begin with an empty L2,
as under a profiler that flushes the caches. Nothing in the model was fitted to these figures; where a curve has many sizes, every
second one is marked as `fit` all the same, and is what a later fit may use, and the others are `held back` from it.

test/accuracy/ holds the model against such measurements with programs of the project's own, and is a test.
"""

import argparse
import concurrent.futures
import csv
import dataclasses
import itertools
import os
import pathlib
import random
import re
import resource
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "accuracy"))
import boards
import modelled
import table
from modelled import SECTOR, base_name, cycles_of, mean, microseconds_of, total, whole_launch

ALL_BLOCKS = 10**8
BOARDS = table.read_boards()


def average(values):
    """Returns the mean of the values that are present, or None."""
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None


def global_load_bytes(kernel, weight=lambda site: 1.0):
    """Returns the bytes of all sectors that loads from global memory touch, each site's times its weight."""
    return sum(site["bytes_moved"] * weight(site) for site in kernel["sites"] if site["kind"] in ("load", "update") and site["space"] == "global")


class Tool:
    """Builds programs for the CPU back end, records their traces and models them."""

    def __init__(self, options):
        self.warplens, self.cache, self.options = options.warplens.resolve(), options.cache.resolve(), options
        for folder in ("bin", "traces", "run", "gpus", "data"):
            (self.cache / folder).mkdir(parents=True, exist_ok=True)

    def run(self, command, folder):
        """Runs warplens; an error ends this script."""
        try:
            modelled.warplens(self.warplens, command, folder)
        except modelled.Failure as failure:
            sys.exit(str(failure))

    def build(self, name, folder, arguments):
        """Returns the program, which is built unless it is in the cache."""
        program = self.cache / "bin" / name
        if not program.exists():
            self.run(["nvcc", "--strict", "--backend", "cpu", *arguments, "-o", program], folder)
        return program

    def record(self, name, gpu, program, arguments=(), blocks=None, kernel=None, launches=1, folder=None):
        """Returns the trace of a run, which is recorded unless it is in the cache. `blocks`: of a launch; None: as many as the GPU requires."""
        trace = self.cache / "traces" / f"{name}.wlt"
        if not trace.exists():
            unfinished = trace.with_suffix(".unfinished")
            # `run` models, too; that result is not read, so it is the one that takes the least time.
            self.run(["run", "--quiet", "--schedule", "paper", "--trials", 2, "--threads", 1, "--gpu", gpu, "--launches", launches,
                      "--trace", unfinished, "--format", "csv", "-o", os.devnull, *(["--snapshot-blocks", blocks] if blocks else []),
                      *(["--kernel", kernel] if kernel else []), "--", program, *arguments], folder or self.cache / "run")
            unfinished.rename(trace)
        return trace

    def model(self, trace, gpu, blocks=None):
        """Returns the kernels of the result."""
        command = ["model", trace, "--quiet", "--cold", "--gpu", gpu, "--threads", 1, "--trials", self.options.trials, "--seed", self.options.seed,
                   *(["--snapshot-blocks", blocks] if blocks else [])]
        try:
            return modelled.kernels_of(self.warplens, command, self.cache)
        except modelled.Failure as failure:
            sys.exit(str(failure))

    def each(self, work, points):
        """Yields work(point) for each point, in order; --jobs of them run at a time."""
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            yield from pool.map(work, points)

    def rows(self, path):
        with open(self.options.reference / path, newline="", encoding="utf-8") as text:
            return list(csv.DictReader(text))

    def gpu_of(self, board):
        """Returns what --gpu takes for a board."""
        return boards.gpu_argument(board, self.cache / "gpus")


class Differences:
    """Predicted less measured, of one figure; prints mean and worst."""

    def __init__(self, what, unit="points", aim=""):
        self.what, self.unit, self.aim, self.entries = what, unit, aim, []

    def add(self, name, predicted, measured, group=""):
        """Keeps and returns a difference: of rates in points, of anything else in per cent of the measured figure."""
        if predicted is None or measured is None:
            return None
        difference = 100 * (predicted - measured if self.unit == "points" else predicted / measured - 1)
        self.entries.append((name, difference, group))
        return difference

    def print(self):
        for group in ["all", *sorted({group for _, _, group in self.entries} - {""})]:
            chosen = [(name, difference) for name, difference, of in self.entries if group in ("all", of)]
            if chosen:
                name, worst = max(chosen, key=lambda entry: abs(entry[1]))
                error = sum(abs(difference) for _, difference in chosen) / len(chosen)
                print(f"  {self.what:<56} {group:<9} {len(chosen):>3} of them: mean {error:6.1f} {self.unit}, worst {worst:+7.1f} ({name})"
                      + (f"; wanted: {self.aim}" if self.aim and group == "all" else ""))


def percent(rate, width=7):
    return f"{'-':>{width}}" if rate is None else f"{100 * rate:{width}.1f}"


def number(value, width=11, digits=0):
    return f"{'-':>{width}}" if value is None else f"{value:{width}.{digits}f}"


def signed(value, width=7):
    return f"{'-':>{width}}" if value is None else f"{value:+{width}.1f}"


# Cyclic streams through a cache by many warps, by the size of the set

@dataclasses.dataclass
class Size:
    """A size of a stream's set, with what was measured of it."""
    row: dict
    group: str

    @property
    def kb(self):
        return int(self.row["set_kb"])


def sizes_between(rows, low, high):
    chosen = [row for row in rows if low <= int(row["set_kb"]) <= high]
    return [Size(row, group) for row, group in zip(chosen, itertools.cycle(("fit", "held back")))]


def print_stream(heading):
    print(f"\n{heading}\n{'':<10}{'set KB':>8}{'measured':>9}{'predicted':>10}{'points':>7}{'cycles m':>13}{'p':>11}{'p/m':>6}{'bound':>16}")


def print_size(size, measured, predicted, difference, cycles_measured, kernel):
    predicted_cycles = cycles_of(kernel)
    print(f"{size.group:<10}{size.kb:>8}{percent(measured, 9)}{percent(predicted, 10)}{signed(difference)}{number(cycles_measured, 13)}"
          f"{number(predicted_cycles)}{number(predicted_cycles / cycles_measured, 6, 2)}{kernel['time']['bound']:>16}", flush=True)


def l1_stream(tool):
    """Compares the laps of a block per SM through a set. The first lap, which cannot hit, does not count: the measured laps were many."""
    blocks, laps, clock_ghz = 80, 12, 1.380
    print_stream("V100, L1 hit rate of loads; 80 blocks, 12 laps")
    differences = Differences("V100 L1 stream", aim="mean 8, worst 35")
    sizes = sizes_between(tool.rows("streams/l1_v100.csv"), 64, 256)

    def model(size):
        program = tool.build(f"l1_{size.kb}", tool.cache, ["-O3", f"-DKB={size.kb}", tool.options.reference / "streams/l1.cu"])
        return tool.model(tool.record(f"l1_v100_{size.kb}", "v100", program, [blocks], blocks), "v100", blocks)

    for size, [kernel] in zip(sizes, tool.each(model, sizes)):
        set_bytes = size.kb * 1024 // 4096 * 4096
        measured, predicted = float(size.row["l1_hit_rate"]), total(kernel, "l1_read_hit_rate") * laps / (laps - 1)
        print_size(size, measured, predicted, differences.add(f"{size.kb} KB", predicted, measured, size.group),
                   laps * set_bytes * blocks / float(size.row["eff_gbs"]) * clock_ghz, kernel)
    return differences


def predictions(tool):
    """Prints what is predicted of L1s that nothing here was compared with: the same laps, of half to twice each L1's size."""
    laps = 12
    for gpu, l1_kb, blocks in (("a100", 192, 108), ("h100-pcie", 256, 114)):
        print(f"\n{gpu}, L1 hit rate of loads; {blocks} blocks, {laps} laps\n{'set KB':>8}{'predicted':>10}{'+-':>7}")
        sizes = [l1_kb * eighths // 8 for eighths in (4, 6, 7, 8, 9, 10, 11, 12, 14, 16)]

        def model(kb, gpu=gpu, blocks=blocks):
            program = tool.build(f"l1_{kb}", tool.cache, ["-O3", f"-DKB={kb}", tool.options.reference / "streams/l1.cu"])
            return tool.model(tool.record(f"l1_{gpu}_{kb}", gpu, program, [blocks], blocks), gpu, blocks)

        for kb, [kernel] in zip(sizes, tool.each(model, sizes)):
            rate = kernel["totals"]["l1_read_hit_rate"]
            print(f"{kb:>8}{percent(rate['mean'] * laps / (laps - 1), 10)}{percent(2 * rate['std'] * laps / (laps - 1))}", flush=True)
    return []


def l2_stream(tool, name, heading, gpu, sms, sizes, cycles_measured):
    """Compares a part of a long launch whose blocks read the set's parts in turn. A sector's first read, which cannot hit, does not count."""
    launch, blocks, block_bytes = 100000, 24 * 2 * sms, 262144  # each SM holds two blocks, and 24 of such rounds are modelled
    print_stream(f"{heading}, L2 hit rate of reads; {blocks} blocks of a launch of {launch}")
    differences = Differences(f"{heading} L2 stream", aim="mean 5, worst 15")
    program = tool.build("l2", tool.cache, ["-O3", tool.options.reference / "streams/l2.cu"])

    def model(size):
        trace = tool.record(f"l2_{name}_{size.kb}", gpu, program, [size.kb * 1024 // block_bytes, launch, 32], blocks)
        return tool.model(trace, gpu, blocks)

    for size, [kernel] in zip(sizes, tool.each(model, sizes)):
        requested = global_load_bytes(kernel, lambda site: 1 - mean(site["l1_hit_rate"])) - size.kb * 1024
        read = kernel["totals"]["dram_read_bytes"] - size.kb * 1024
        measured, predicted = float(size.row["l2_hit_rate"]), 1 - read / requested
        print_size(size, measured, predicted, differences.add(f"{size.kb} KB", predicted, measured, size.group),
                   cycles_measured(size.row) * blocks / launch, kernel)
        for column, figure, text in (("l2_near_hit_rate", "l2_near_hit_rate", "hits in the SM's partition"),
                                     ("fabric_sectors_per_read", "l2_crossing_share", "sectors that cross, per read")):
            if column in size.row:
                of_totals = kernel["totals"][figure]["mean"]
                print(f"    {text}: measured {100 * float(size.row[column]):.1f} %, predicted {100 * of_totals:.1f} %")
    return differences


def streams(tool):
    a100 = sizes_between(tool.rows("streams/l2_a100_80.csv"), 0.4 * 40960, 1.6 * 40960)
    h100 = sizes_between(tool.rows("streams/l2_h100_pcie_even.csv"), 0.4 * 51200, 1.6 * 51200)
    differences = [
        l2_stream(tool, "a100", "A100", "a100", 108, a100, lambda row: 100000 * 262144 / float(row["eff_gbs"]) * 1.410),
        l2_stream(tool, "h100-pcie", "H100 PCIe at 1090 MHz", tool.gpu_of(boards.Board("h100-pcie-at-1090-mhz", "h100-pcie", 1090)), 114, h100, lambda row: float(row["sm_cycles"])),
        l1_stream(tool)]
    return differences


# Pointer chases

def chases(tool):
    del tool
    print("\nChases: the model's unit tests hold every size of these curves to 10 %, without a program: ctest -R test_model_chase")
    return []


# Counters of kernels

@dataclasses.dataclass
class Program:
    """A program of a suite: how it is built and run, and the kernels of which it has counters."""
    suite: str
    folder: str
    build: list
    kernels: str
    arguments: object = list  # a function that writes the input and returns the arguments
    launches: int = 1
    prepare: object = None  # a function of (tool, the program's folder) that returns the folder to build in
    runs_in: str = "run"  # a folder of the cache


def write_numbers(path, heading, numbers):
    """Writes a text of numbers, one a line. No address of these programs depends on their values."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(heading + "".join(f"{number}\n" for number in numbers), encoding="ascii")
    return path


def rename_cuda_header(tool, folder):
    """Returns a copy of b+tree whose util/cuda/cuda.h has another name, as it hides CUDA's own."""
    copy = tool.cache / "run/b+tree"
    if not copy.exists():
        shutil.copytree(folder, copy)
        (copy / "util/cuda/cuda.h").rename(copy / "util/cuda/cuda_util.h")
        for source in [*copy.glob("kernel/*.cu"), copy / "util/cuda/cuda.cu"]:
            source.write_text(source.read_text(encoding="latin-1").replace('cuda.h"', 'cuda_util.h"'), encoding="latin-1")
    return copy


def return_from_read(tool, folder):
    """Returns a copy of Parboil's sgemm whose function that reads a matrix returns what it says."""
    copy = tool.cache / "run/sgemm"
    if not copy.exists():
        shutil.copytree(folder, copy)
        source = copy / "io.cc"
        source.write_text(source.read_text(encoding="latin-1").replace("v.pop_back();", "v.pop_back(); return true;"), encoding="latin-1")
    return copy


def copy_folder(tool, folder):
    """Returns a copy of a program that reads and writes files in the folder it runs in."""
    copy = tool.cache / "run" / folder.name
    if not copy.exists():
        shutil.copytree(folder, copy)
    return copy


def programs_of_v100(tool):
    """Returns the programs of counters/v100.csv, by the name there."""
    data, numbers = tool.cache / "data", random.Random(1)
    threads = "-DcudaThreadSynchronize=cudaDeviceSynchronize"  # CUDA 13 has only the latter
    parboil = tool.options.suites.get("parboil", pathlib.Path()) / "common"
    samples = tool.options.suites.get("samples", pathlib.Path())

    def of_hotspot():
        ranges = {"temp_1024": (320, 340), "power_1024": (0, 0.01)}
        return [1024, 2, 2, *(write_numbers(data / name, "", (f"{numbers.uniform(*of):f}" for _ in range(1 << 20))) for name, of in ranges.items()),
                "hotspot.out"]

    def of_tree():
        (data / "command.txt").write_text("j 6000 3000\nk 10000\n\n\n", encoding="ascii")
        return ["cores", 1, "file", write_numbers(data / "mil.txt", "1000000\n", range(1000000)), "command", data / "command.txt"]

    def of_srad():  # reads ../../../data/srad/image.pgm
        write_numbers(data / "srad/image.pgm", "P2\n458 502\n255\n", (numbers.randrange(1, 255) for _ in range(458 * 502)))
        return [100, 0.5, 502, 458]

    def of_sgemm():  # Parboil's medium sizes
        first, second = (write_numbers(data / name, f"{rows} 992\n", (f"{numbers.random():.3f}" for _ in range(rows * 992)))
                         for name, rows in (("matrix1.txt", 1024), ("matrix2t.txt", 1056)))
        return ["-i", f"{first},{first},{second}"]

    def sample(folder, kernels, sources, **others):
        return Program("samples", f"Samples/{folder}", ["-O3", "-std=c++17", f"-I{samples}/Common", *sources.split()], kernels, **others)

    return {
        "b+tree-rodinia-3.1": Program(
            "rodinia", "cuda/b+tree", ["-O3", threads, "main.c", "kernel/kernel_gpu_cuda_wrapper.cu", "kernel/kernel_gpu_cuda_wrapper_2.cu",
                                       "util/timer/timer.c", "util/num/num.c", "util/cuda/cuda.cu"],
            "findK|findRangeK", of_tree, prepare=rename_cuda_header),
        "backprop-rodinia-3.1": Program(
            "rodinia", "cuda/backprop", ["-O2", threads, "backprop.c", "facetrain.c", "imagenet.c", "backprop_cuda.cu"],
            "layerforward|adjust", lambda: [65536]),
        "hotspot-rodinia-3.1": Program("rodinia", "cuda/hotspot", ["-O2", threads, "hotspot.cu"], "calculate_temp", of_hotspot),
        "srad_v1-rodinia-3.1": Program(
            "rodinia", "cuda/srad/srad_v1", ["-O3", threads, "main.cu"], r"^srad\b", of_srad, launches=2, runs_in="run/srad/srad_v1"),
        "parboil-sgemm": Program(
            "parboil", "benchmarks/sgemm/src/cuda", ["-O3", f"-I{parboil}/include", "main.cu", "io.cc", parboil / "src/parboil.c"],
            "mysgemm", of_sgemm, prepare=return_from_read),
        "dct8x8": sample("2_Concepts_and_Techniques/dct8x8", "CUDAkernel[12]DCT", "dct8x8.cu BmpUtil.cpp DCT8x8_Gold.cpp",
                         prepare=copy_folder, runs_in="run/dct8x8"),
        "binomialOptions": sample("5_Domain_Specific/binomialOptions", "binomial",
                                  "binomialOptions.cpp binomialOptions_gold.cpp binomialOptions_kernel.cu"),
        "fastWalshTransform": sample("5_Domain_Specific/fastWalshTransform", "fwtBatch[12]Kernel",
                                     "fastWalshTransform.cu fastWalshTransform_gold.cpp", launches=6),
        "quasirandomGenerator": sample("5_Domain_Specific/quasirandomGenerator", "quasirandomGeneratorKernel|inverseCND",
                                       "quasirandomGenerator.cpp quasirandomGenerator_gold.cpp quasirandomGenerator_kernel.cu"),
    }


class Counted:
    """A table of kernels whose counters are known, and the differences by level."""

    def __init__(self, gpu, clock_mhz):
        self.clock_mhz = clock_mhz
        self.l1 = Differences(f"{gpu}: L1 load hits")
        self.l2 = Differences(f"{gpu}: L2 read hits")
        self.dram = Differences(f"{gpu}: sectors read from DRAM", "%")
        self.cycles = Differences(f"{gpu}: cycles", "%")
        print(f"\n{gpu}\n{'':<50}{'L1 m':>7}{'p':>7}{'diff':>7}{'L2 m':>9}{'p':>7}{'diff':>7}"
              f"{'DRAM m':>10}{'p/m':>6}{'cycles m':>11}{'p':>11}{'p/m':>6}{'bound':>16}")

    def add(self, name, launches, l1=None, l2=None, dram=None, cycles=None):
        """Prints the averages over a kernel's launches beside what was measured."""
        found_l1, found_l2 = (average(total(kernel, rate) for kernel in launches) for rate in ("l1_read_hit_rate", "l2_read_hit_rate"))
        found_dram = average(kernel["totals"].get("dram_read_bytes", 0) / SECTOR for kernel in launches)
        found_cycles = average(microseconds_of(kernel) * self.clock_mhz for kernel in launches)  # of the whole launch
        # The little that is read is not the kernel's own; and a part of the blocks does not tell what all of them share.
        if dram is not None and (dram < 1000 or whole_launch(launches[0]) > 1):
            dram = None
        l1_difference, l2_difference = self.l1.add(name, found_l1, l1), self.l2.add(name, found_l2, l2)
        self.dram.add(name, found_dram, dram)
        self.cycles.add(name, found_cycles, cycles)
        print(f"{name:<50}{percent(l1)}{percent(found_l1)}{signed(l1_difference)}{percent(l2, 9)}{percent(found_l2)}{signed(l2_difference)}"
              f"{number(dram, 10)}{number(dram and found_dram / dram, 6, 2)}{number(cycles)}{number(found_cycles)}"
              f"{number(cycles and found_cycles / cycles, 6, 2)}{launches[0]['time']['bound']:>16}", flush=True)

    def differences(self):
        return [self.l1, self.l2, self.dram, self.cycles]


def suite_folder(tool, suite):
    """Returns where a suite is checked out, or None after a line that says that it is not there."""
    folder = tool.options.suites.get(suite)
    if folder is None:
        print(f"{suite} is left out: give {suite}=PATH")
    return folder


def rate(hits, misses):
    return hits / (hits + misses) if hits + misses else None


def counters_of_v100(tool):
    there = {suite for suite in ("rodinia", "parboil", "samples") if suite_folder(tool, suite)}
    if not there:
        return []
    board = BOARDS["quadro-gv100"]
    counted = Counted("V100", board.cycles_per_us)
    measured = {}
    for row in tool.rows("counters/v100.csv"):
        measured.setdefault(row["program"], []).append(row)
    programs = programs_of_v100(tool)

    def model(name):
        program = programs[name]
        folder = tool.options.suites[program.suite] / program.folder
        if program.prepare:
            folder = program.prepare(tool, folder)
        runs_in = tool.cache / program.runs_in
        runs_in.mkdir(parents=True, exist_ok=True)
        built = tool.build(name, folder, program.build)
        trace = tool.record(f"v100_{name}", "v100", built, program.arguments(), ALL_BLOCKS, program.kernels, program.launches, runs_in)
        return tool.model(trace, tool.gpu_of(board), ALL_BLOCKS)

    chosen = []
    for name in measured:
        program = programs[name]
        if program.suite in there and not (tool.options.suites[program.suite] / program.folder).is_dir():
            print(f"{name} is left out: {program.suite} has no {program.folder}")
        elif program.suite in there:
            chosen.append(name)
    for name, kernels in zip(chosen, tool.each(model, chosen)):
        for row in measured[name]:
            mangled = re.match(r"_Z(\d+)(.*)", row["kernel"])
            wanted = mangled[2][:int(mangled[1])] if mangled else row["kernel"]
            launches = [kernel for kernel in kernels if base_name(kernel) == wanted]
            count = {key: float(value) for key, value in row.items() if key not in ("program", "kernel", "arguments")}
            counted.add(f"{name} {wanted}", launches, rate(count["l1_load_hits"], count["l1_load_misses"]),
                        rate(count["l2_read_hits"], count["l2_read_misses"]), count["dram_read_sectors"], count["sm_cycles"])
    return counted.differences()


def counters_of_k40(tool):
    """The same programs without an L1 for global loads, as the K40's compiler has it, and with it."""
    suite = suite_folder(tool, "gpuperfpredict")
    if suite is None:
        return []
    with_l1 = tool.gpu_of(BOARDS["k40-with-l1"])
    rows = [row for row in tool.rows("counters/k40.csv") if int(row["n"]) <= tool.options.largest]

    def record(row):
        program = tool.build(row["program"], suite / "src/matMul", ["-DTile_Width=16", "-DTILE_WIDTH=16", f"{row['program']}.cu"])
        return tool.record(f"k40_{row['program']}_{row['n']}", "k40", program, [row["n"], 0], ALL_BLOCKS)

    def model(row):
        return tool.model(record(row), with_l1 if row["gpu"].endswith("UsingL1") else "k40", ALL_BLOCKS)

    for row in rows:
        record(row)
    tables = {}
    for row, kernels in zip(rows, tool.each(model, rows)):
        l1_on = row["gpu"].endswith("UsingL1")
        if l1_on not in tables:
            tables[l1_on] = Counted(f"K40, global loads {'' if l1_on else 'not '}in the L1", 745)
        tables[l1_on].add(f"{row['program']} {row['n']}", kernels, float(row["l1_global_hit_rate"]) / 100 if l1_on else None,
                          float(row["l2_hit_rate_l1_reads"]) / 100, float(row["device_memory_read_transactions"]), float(row["seconds"]) * 745e6)
    return [difference for counted in tables.values() for difference in counted.differences()]


def counters_of_a100(tool):
    suite = suite_folder(tool, "gpu-perf-model")
    if suite is None:
        return []
    counted = Counted("A100", 1410)
    rows = tool.rows("counters/a100_sgemm.csv")
    program = tool.build("sgemm", HERE / "micro", ["-O3", "-std=c++20", f"-I{suite}", f"-I{suite}/include", "sgemm.cu"])

    def model(row):
        # The tool chooses a part of the large products.
        blocks = ALL_BLOCKS if int(row["n"]) <= 512 else None
        return tool.model(tool.record(f"a100_{row['kernel']}_{row['n']}", "a100", program, [row["kernel"], row["n"]], blocks), "a100", blocks)

    for row, kernels in zip(rows, tool.each(model, rows)):
        profiled = float(row["ncu_ms"]) * 1e-3 if row["ncu_ms"] else None
        counted.add(f"{row['kernel']} {row['n']}", kernels, float(row["l1_hit_rate"]) if row["l1_hit_rate"] else None,
                    float(row["l2_hit_rate"]) if row["l2_hit_rate"] else None, float(row["dram_gbs"]) * 1e9 * profiled / SECTOR if profiled else None,
                    float(row["event_ms"]) * 1.410e6)
    return counted.differences()


def counters(tool):
    return [*counters_of_v100(tool), *counters_of_k40(tool), *counters_of_a100(tool)]


TABLES = {"streams": streams, "chases": chases, "counters": counters, "predictions": predictions}


def processor_seconds():
    """Returns the processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warplens", type=pathlib.Path)
    parser.add_argument("--reference", type=pathlib.Path, required=True, help="the folder with the measurements")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("held_against_hardware"),
                        help="where programs and traces are kept (default: %(default)s)")
    parser.add_argument("--only", choices=TABLES, help="one of the tables")
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="how many results are modelled at a time, each on one core")
    parser.add_argument("--largest", type=int, default=512, help="of the K40's matrix products, up to 1024, the largest (default: %(default)s)")
    parser.add_argument("suites", nargs="*", metavar="SUITE=PATH")
    options = parser.parse_intermixed_args()
    options.reference = options.reference.resolve()
    options.suites = {name: pathlib.Path(path).resolve() for name, path in (suite.split("=", 1) for suite in options.suites)}
    tool = Tool(options)
    summary = []
    for name, compare in TABLES.items():
        if options.only in (None, name):
            start, used = time.monotonic(), processor_seconds()
            differences = compare(tool)
            summary += [*differences]
            print(f"{name}: {time.monotonic() - start:.0f} s, {processor_seconds() - used:.0f} s of processor time")
    print("\nPredicted against measured, mean of the absolute differences and the worst one:")
    for differences in summary:
        differences.print()


if __name__ == "__main__":
    main()
