#!/usr/bin/env python3
"""Copies the counters that test/gpu/run recorded into the project: test/gpu/reference/NAME/.

usage: record.py RESULTS NAME MODEL [WARPLENS]     MODEL: the GPU in model/gpu/gpus/ (or a file) that stands for this one
"""

import json
import pathlib
import shutil
import sys

import counters
import executed
import programs

HERE = pathlib.Path(__file__).resolve().parent


def large_sizes():
    rows = [line.split("\t") for line in (HERE / "kernels/kernels.tsv").read_text().splitlines() if line and line[0] != "#"]
    return {name: int(large) for name, _, large in rows}


def kernels(warplens, path):
    """Returns the first launch of each kernel, with its counters and, if they were printed, those of its source lines."""
    by_line = path.with_suffix(".source.csv")
    files = [path, by_line] if by_line.exists() and by_line.stat().st_size else [path]
    return counters.first_of_each(counters.read(warplens, *files))


def record(warplens, results, target, model):
    """Writes counters.json, versions.txt and the files beside them; the error names a missing one."""
    entries = []
    for name, size in large_sizes().items():
        path = results / "counters" / f"{name}.csv"
        if path.exists():
            entries.append({"program": name, "size": size, "kernels": kernels(warplens, path)})
    if not entries and not (target / "counters.json").exists():  # an earlier run's are kept
        raise counters.Damaged(f"{results}: no counters/*.csv: did the step 'counters' of test/gpu/run succeed?")
    target.mkdir(parents=True, exist_ok=True)
    if entries:
        (target / "counters.json").write_text(json.dumps({"model": model, "programs": entries}, indent=1) + "\n")
    versions = (results / "versions.log").read_text()
    if (ncu := results / "counters/ncu-version.txt").exists():
        versions += ncu.read_text()
    (target / "versions.txt").write_text(versions)
    for path in [results / "results/times.csv", results / "cost/cost.csv",
                 results / "tracing/sites.csv", results / "calibrate/gpu.toml", results / "hangs/cases.txt"]:
        if path.exists():
            shutil.copy(path, target / path.name)
    if (step := results / "programs").is_dir():
        programs.write(warplens, step, target / "programs.tsv")
    if (step := results / "instructions").is_dir():
        executed.write_instructions(step, target)
    if (step := results / "pairs").is_dir():
        executed.write_pairs(warplens, step, target / "pairs.tsv")
    for path in (results / "microbenchmarks").glob("*.csv"):
        (target / "microbenchmarks").mkdir(exist_ok=True)
        shutil.copy(path, target / "microbenchmarks" / path.name)
    if (curves := results / "calibrate/curves").is_dir():
        shutil.copytree(curves, target / "curves", dirs_exist_ok=True)
    return len(entries)


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__.strip().splitlines()[2])
    try:
        count = record(sys.argv[4] if len(sys.argv) > 4 else counters.BUILT, pathlib.Path(sys.argv[1]), HERE / "reference" / sys.argv[2], sys.argv[3])
    except (counters.Damaged, OSError) as error:
        sys.exit(f"record.py: {error}")
    print(f"test/gpu/reference/{sys.argv[2]}: counters of {count} programs")


if __name__ == "__main__":
    main()
