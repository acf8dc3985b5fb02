#!/usr/bin/env python3
"""Times an application of some two thousand launches, and holds its totals against the model of every launch.

    whole_application.py build/bin/warplens [--gpu NAME] [--every] [--run ARGUMENT...]

The program is bench/applications/multigrid.cu. `profile` traces the launches that differ and lets each stand for the others like it; `model` of the
same trace says how long modelling takes without compiling and running. `--every` traces and models all launches as well, by two trials each, which
takes many minutes, and prints how far the totals of the kernels and of the application are off. Needs no GPU.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(__file__).resolve().parent / "applications/multigrid.cu"


def timed(command):
    """Runs the command; returns its seconds."""
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def profile(options, trace, more):
    """Traces the program, with nothing but a short first answer; returns the seconds of the command."""
    return timed([options.warplens, "profile", PROGRAM, "--backend", "cpu", "--gpu", options.gpu, "--quiet", "--budget", "0.001",
                  "--trace", trace, "-o", "/dev/null", *more, "--run", *options.run])


def model(options, trace, result, more):
    """Models the trace; returns the kernels of the result, and the seconds of the command."""
    seconds = timed([options.warplens, "model", trace, "--gpu", options.gpu, "--quiet", "--format", "json", "-o", result, *more])
    return json.loads(result.read_text())["kernels"], seconds


def totals(kernels):
    """Returns each kernel's microseconds over all of its launches."""
    found = {}
    for kernel in kernels:
        microseconds = kernel["time"]["microseconds"]["mean"] * kernel.get("times_this_launch", kernel.get("launches", 1))
        found[kernel["name"]] = found.get(kernel["name"], 0) + microseconds
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warplens", type=pathlib.Path)
    parser.add_argument("--gpu", default="a100", help="the GPU to model (a100)")
    parser.add_argument("--every", action="store_true", help="trace and model every launch, too")
    parser.add_argument("--run", nargs=argparse.REMAINDER, default=[], help="the program's arguments: cells a side and cycles (512 45)")
    options = parser.parse_args()
    options.warplens = options.warplens.resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        seconds = profile(options, folder / "chosen.wlt", [])
        chosen, modelling = model(options, folder / "chosen.wlt", folder / "chosen.json", [])
        counts = {kernel["name"]: kernel.get("launches_of_kernel", kernel.get("launches", 1)) for kernel in chosen}
        of_chosen = totals(chosen)
        print(f"{len(chosen)} launches of {sum(counts.values())} stand for all: compiled and run in {seconds:.1f} s, modelled in {modelling:.1f} s; "
              f"{sum(of_chosen.values()) / 1e3:.2f} ms on {options.gpu}", flush=True)
        if not options.every:
            return 0
        profile(options, folder / "every.wlt", ["--launches", "1000000"])
        every, modelling = model(options, folder / "every.wlt", folder / "every.json", ["--trials", "2"])
    of_every = totals(every)
    print(f"every launch, {len(every)}: modelled in {modelling:.1f} s")
    for name, microseconds in sorted(of_every.items(), key=lambda item: -item[1]):
        print(f"    {name:<24} {counts[name]:6} launches {microseconds / 1e3:9.2f} ms {100 * (of_chosen[name] / microseconds - 1):+6.1f} %")
    difference = sum(of_chosen.values()) / sum(of_every.values()) - 1
    print(f"    {'all':<24} {sum(counts.values()):6} launches {sum(of_every.values()) / 1e3:9.2f} ms {100 * difference:+6.1f} %")
    return 0 if abs(difference) <= 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
