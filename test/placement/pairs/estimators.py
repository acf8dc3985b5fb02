#!/usr/bin/env python3
"""Repeats the evaluation of Huang and Li's paper on a K80, with the model in the place of the GPU that they measured.

    python3 test/placement/pairs/estimators.py build/bin/warplens [--traces FOLDER] [--programs NAME,NAME]

Each of the eight programs of placements.cu has one kernel with an array in each place that it can have. The kernels with the array elsewhere, traced and
modelled by themselves, are what is predicted; the predictions are made from the trace of the kernel with the array in plain global memory: by the model on the
moved trace, and by the paper's estimators, whole and with parts left out. Prints the change of each placement, and of each estimator the mean error, how
many signs are right, and Kendall's tau. Fails where the moved traces' mean error is above 15 %, or fewer than nine of ten of their signs are right.
"""

import argparse
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GPU, TRIALS, BLOCKS = "k80", 2, 832  # of a launch: four rounds of what 13 SMs hold
# Each program has one array to move, by the name that its accesses give it.
PROGRAMS = {"convolution": "data", "product": "data", "sparse": "data", "forces": "data", "histogram": "bins", "layer": "data", "sum": "partial",
            "stencil": "data"}
PLACES = {1: "ldg", 2: "texture", 3: "constant", 4: "shared"}  # placements.cu numbers them so
ESTIMATORS = {"the model, moved trace": (), "paper": ("--time", "paper"), "paper-literal": ("--time", "paper-literal")} | {
    f"paper without {part}": ("--time", "paper", "--without", part) for part in ("banks", "queue", "replays", "addresses")}
TIE = 0.03


def run(words):
    done = subprocess.run([str(word) for word in words], cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr[-2000:]}")
    return done.stdout


def compiled(warplens, program, folder):
    """Traces all kernels of a program; returns the trace and the times of the other places over that of the plain one."""
    trace = folder / f"{program}.trace"
    if not trace.exists():
        run([warplens, "profile", "placements.cu", "--backend", "cpu", "--quiet", "--gpu", GPU, "--trials", 2, "--nvcc", "-O3", "--trace", trace, "-o",
             folder / "result", "--format", "json", "--run", program])
    out = folder / "result.json"
    run([warplens, "model", trace, "--gpu", GPU, "--trials", TRIALS, "--snapshot-blocks", BLOCKS, "--quiet", "--format", "json", "-o", out])
    times = {int(re.search(r"\(Place\)(\d)", kernel["name"])[1]): kernel["time"]["microseconds"]["mean"] for kernel in json.loads(out.read_text())["kernels"]}
    return trace, times[0], {PLACES[place]: time / times[0] for place, time in times.items() if place != 0}


def predicted(warplens, trace, array, options):
    """Returns the predicted times of the places over that of the plain one, of those that are not refused."""
    report = json.loads(run([warplens, "placement", trace, "--gpu", GPU, "--kernel", r"<\(Place\)0>", "--trials", TRIALS, "--snapshot-blocks", BLOCKS, "--quiet", "--format", "json", *options]))
    return {one["moves"][0]["to"]: 1 + one["delta"]["share"] for one in report["kernels"][0]["candidates"]
            if one["legal"] and len(one["moves"]) == 1 and one["moves"][0]["array"] == array}


def sign(ratio):
    return 0 if abs(ratio - 1) < TIE else 1 if ratio > 1 else -1


def tau(pairs):
    """Returns Kendall's tau of (compiled, predicted) ratios, over pairs of placements whose compiled times differ; None if there are none."""
    score = count = 0
    for (true, one), (other_true, other) in itertools.combinations(pairs, 2):
        if abs(true / other_true - 1) >= TIE:
            count += 1
            score += 0 if abs(one / other - 1) < TIE else 1 if (true > other_true) == (one > other) else -1
    return score / count if count else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warplens", type=pathlib.Path)
    parser.add_argument("--traces", type=pathlib.Path, help="a folder that keeps the programs' traces (default: a temporary one)")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="(default: all)")
    options = parser.parse_args()
    warplens = options.warplens.resolve()
    figures = {name: ([], [], []) for name in ESTIMATORS}  # errors, right signs, taus
    with tempfile.TemporaryDirectory() as name:
        folder = (options.traces or pathlib.Path(name)).resolve()
        for program in options.programs.split(","):
            array = PROGRAMS[program]
            trace, plain, true = compiled(warplens, program, folder)
            print(f"{program}: {plain:.0f} µs with plain loads; compiled: " + ", ".join(f"{place} {100 * (one - 1):+.0f} %" for place, one in true.items()),
                  flush=True)
            for estimator, words in ESTIMATORS.items():
                found = predicted(warplens, trace, array, words)
                places = [place for place in true if place in found]
                errors, signs, taus = figures[estimator]
                errors += [abs(found[place] / true[place] - 1) for place in places]
                signs += [sign(found[place]) == sign(true[place]) for place in places]
                order = tau([(1, 1)] + [(true[place], found[place]) for place in places])
                taus += [] if order is None else [order]
                print(f"  {estimator:<24} " + (", ".join(f"{place} {100 * (found[place] - 1):+.0f} %" for place in places) or "refused"), flush=True)
    print("\nestimator                 mean error   signs right   Kendall's tau, mean over programs")
    for estimator, (errors, signs, taus) in figures.items():
        print(f"{estimator:<24} {100 * sum(errors) / len(errors):10.1f} %   {sum(signs):3} of {len(signs)}      {sum(taus) / len(taus):+.2f}")
    errors, signs, _ = figures["the model, moved trace"]
    return 1 if sum(errors) / len(errors) > 0.15 or sum(signs) < 0.9 * len(signs) else 0


if __name__ == "__main__":
    sys.exit(main())
