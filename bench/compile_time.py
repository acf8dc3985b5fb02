#!/usr/bin/env python3
"""Measures the time to compile for the CPU back end, relative to nvcc's CPU time in the same run.

    bench/compile_time.py [--build build] [--arch sm_80] [SOURCE.cu...]

Each source (those in bench/compile_time/, if none is named) is compiled to an object by nvcc and by `warplens nvcc
--backend cpu`, in alternation, the better of two rounds each: without the cache of compiled kernels, and with it filled.
CPU seconds are those of all processes together; wall seconds depend on what else the machine does.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def cpu_and_wall(command, environment):
    """Runs the command and returns the CPU seconds of its processes and the wall-clock seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip().splitlines()[:1]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="Warplens' build folder")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="sm_80")
    parser.add_argument("--options", default="-O3 -std=c++17", help="further options of nvcc, in one word")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("sources", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    sources = options.sources or sorted((ROOT / "bench" / "compile_time").glob("*.cu"))
    flags = [f"-arch={options.arch}", *options.options.split()]
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder, "cache")
        ways = {
            "nvcc": ([options.nvcc], {}),
            "ours": ([str(options.build / "bin/warplens"), "nvcc", "--backend", "cpu"], {"WARPLENS_CACHE": "off"}),
            "cached": ([str(options.build / "bin/warplens"), "nvcc", "--backend", "cpu"], {"WARPLENS_CACHE": str(cache)}),
        }
        print(f"{'':24} {'nvcc':>13} {'ours':>13} {'ratio':>5} {'cached':>13} {'ratio':>5}   CPU s (wall s)")
        for source in sources:
            best = {}
            subprocess.run(ways["cached"][0] + flags + ["-c", str(source), "-o", f"{folder}/object.o"],
                           env={**os.environ, **ways["cached"][1]}, capture_output=True)
            for _ in range(options.rounds):
                for way, (command, environment) in ways.items():
                    took = cpu_and_wall(command + flags + ["-c", str(source), "-o", f"{folder}/object.o"],
                                        {**os.environ, **environment})
                    best[way] = min(best.get(way, took), took)
            shown = {way: f"{cpu:6.1f} ({wall:4.1f})" for way, (cpu, wall) in best.items()}
            print(f"{source.name:24} {shown['nvcc']:>13} {shown['ours']:>13} {best['ours'][0] / best['nvcc'][0]:5.1f} "
                  f"{shown['cached']:>13} {best['cached'][0] / best['nvcc'][0]:5.1f}", flush=True)


if __name__ == "__main__":
    main()
