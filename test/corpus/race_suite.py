#!/usr/bin/env python3
"""Holds --racecheck against Indigo's kernels as the artifact of HiRace has them: 346 of 590 are racy, by their names.

usage: race_suite.py WARPLENS ARTIFACT [--every N] [--only REGEX] [--jobs N]

ARTIFACT is a checkout of JohnJacobsonIII/HiRace-Artifact-SC24, of which nothing belongs into this project. Each kernel is compiled
with --racecheck and run on the artifact's graphs, up to the first race. Kernels that read or write out of bounds besides (boundsBug)
count only where they are racy as well, as in the artifact's own table. Exits with 1 if a kernel cannot be built.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RACY = re.compile(r"atomicBug|guardBug|raceBug|syncBug")
THREADS, BLOCKS = "64", "256"  # enough for the kernels that take a warp, or a block, for each of 200 vertices
SECONDS = 120


def kernels(artifact, every, only):
    files = sorted((artifact / "indigo/indigo_sources").glob("*/*.cu"))
    if not files:
        sys.exit(f"{artifact}: no indigo/indigo_sources/*/*.cu: is this HiRace's artifact?")
    return [file for file in files if re.search(only, file.stem) and (RACY.search(file.stem) or "boundsBug" not in file.stem)][::every]


def outcome(warplens, artifact, source):
    """Returns "race", "nothing", or the error of the build or of a run."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program")
        built = subprocess.run([warplens, "nvcc", "--backend", "cpu", "--racecheck", "-arch=sm_80", "-I", artifact / "indigo/indigo_include",
                                source, "-o", program], capture_output=True, text=True)
        if built.returncode != 0:
            return "not built: " + (built.stderr.strip().splitlines() or ["?"])[0]
        for graph in sorted((artifact / "indigo/input").glob("*.egr")):
            try:
                done = subprocess.run([program, graph, THREADS, BLOCKS], capture_output=True, text=True, timeout=SECONDS, cwd=folder,
                                      env={**os.environ, "WARPLENS_CPU_THREADS": "2"})
            except subprocess.TimeoutExpired:
                return f"did not end in {SECONDS} s"
            if "racecheck: found nothing" not in done.stderr and "racecheck: found" in done.stderr:
                return "race"
            if "racecheck: found nothing" not in done.stderr:
                return "no summary: " + (done.stderr.strip().splitlines() or ["?"])[-1]
        return "nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warplens", type=pathlib.Path)
    parser.add_argument("artifact", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1, help="takes every Nth kernel")
    parser.add_argument("--only", default="", help="takes kernels whose name matches")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warplens, artifact = options.warplens.resolve(), options.artifact.resolve()
    sources = kernels(artifact, options.every, options.only)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(lambda source: outcome(warplens, artifact, source), sources))
    counts = {}
    for source, found in zip(sources, outcomes):
        racy = bool(RACY.search(source.stem))
        counts[racy, found if found in ("race", "nothing") else "failed"] = counts.get((racy, found if found in ("race", "nothing") else "failed"), 0) + 1
        if found != ("race" if racy else "nothing"):
            print(f"{source.stem}: {'racy' if racy else 'free of races'}, and --racecheck: {found}")
    count = lambda racy, found: counts.get((racy, found), 0)
    print(f"racy kernels: {count(True, 'race')} found, {count(True, 'nothing')} missed, {count(True, 'failed')} failed; "
          f"free of races: {count(False, 'nothing')} passed, {count(False, 'race')} reported, {count(False, 'failed')} failed")
    sys.exit(1 if any(found.startswith("not built") for found in outcomes) else 0)


if __name__ == "__main__":
    main()
