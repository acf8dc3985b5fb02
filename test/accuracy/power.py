#!/usr/bin/env python3
"""Holds the power of kernels against what others measured on a board, by the real command line.

    power.py measure build/bin/warplens    fits energies to half of the kernels, and prints the errors of both halves: from predicted events
                                           and times, and from measured ones
    power.py check   build/bin/warplens    fails where the mean error of the held-back half is above 12 %, or too few intervals cover
    power.py clocks  build/bin/warplens    prints powers at three SM clocks beside those of power/clocks.csv, and what an idle GPU and a lone
                                           warp take; fails where the mean error of the held-back rows is above 30 %, or above
                                           12 % where events have the measured times to happen in
    power.py record  build/bin/warplens    writes [power] of the GPU's file from the predicted events

The kernels are those of the table of errors on the same board; power/v100.csv has what was measured, power/prior.csv what was known before.
Energies that are fitted to predicted times make up for these where they are too short or too long in the mean: `record` belongs after every
change of the model that moves times.
"""

import argparse
import csv
import json
import pathlib
import re
import sys
import tempfile

import modelled
import run_rows
import table

HERE = pathlib.Path(__file__).resolve().parent
MEASURED, PRIOR, CLOCKS = HERE / "power/v100.csv", HERE / "power/prior.csv", HERE / "power/clocks.csv"
BOARD, GPU = "quadro-gv100", "v100"
MEASURED_FIGURES = 4  # the columns before those that take the place of predicted ones
GOAL, GOAL_AT_CLOCKS = 0.12, 0.30
MIN_COVERED = 0.85  # of 95 % intervals, over few kernels


def results_of(warplens, folder):
    """Models the counterparts of the board's kernels; returns the results' files."""
    rows = [row for row in table.read_rows() if row.board.name == BOARD]
    files = []
    for group in run_rows.groups_of(rows):
        files.append(folder / f"{group[0].program}.json")
        run_rows.write_result(warplens, group, 1, files[-1], folder)
    return files


def predicted_table(folder):
    """Returns a table without what was measured of events and times."""
    path = folder / "predicted.csv"
    lines = [line for line in MEASURED.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    with open(path, "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows(row[:MEASURED_FIGURES] for row in csv.reader(lines))
    return path


def train(warplens, files, rows, folder):
    """Returns what `warplens power --train` prints."""
    out = folder / "trained.txt"
    modelled.warplens(warplens, ["power", *files, "--train", rows, "--prior", PRIOR, "--source", "power_fit", "-o", out], folder)
    return out.read_text(encoding="utf-8")


def mean_error_held_back(text):
    return float(re.search(r"held back: ([\d.]+) %", text)[1]) / 100


def covered(text):
    """Returns the share of the held-back kernels whose measured power lies in the interval that the fit's error gives."""
    error = float(re.search(r"error = { value = ([\d.]+)", text)[1])
    errors = [float(found) / 100 for found in re.findall(r"([+-][\d.]+) %  held back", text)]
    return sum(abs(one) <= 1.96 * error for one in errors) / len(errors)


def powers_of(warplens, program, kernel, mhz, folder, arguments=()):
    """Returns what `warplens power` says of a program's first kernel that matches, at a clock, and its time in µs."""
    result, out = folder / "result.json", folder / "power.json"
    modelled.warplens(warplens, ["profile", f"{program}.cu", "--backend", "cpu", "--quiet", "--gpu", GPU, "--sm-clock", mhz, "--trials", 2, "--nvcc", "-O3",
                                 "--kernel", kernel, "--launches", 1, "--format", "json", "-o", result, "--run", *arguments], run_rows.KERNELS)
    modelled.warplens(warplens, ["power", result, "--format", "json", "-o", out], folder)
    microseconds = modelled.microseconds_of(json.loads(result.read_text(encoding="utf-8"))["kernels"][0])
    return json.loads(out.read_text(encoding="utf-8"))["kernels"][0], microseconds


def watts_in(power, microseconds, measured):
    """Returns the power if the same events happened in the measured time."""
    constant = sum(power["parts"][part] for part in ("board", "SMs", "idle SMs"))
    return constant + (power["watts"]["value"] - constant) * microseconds / measured


def check_clocks(warplens, folder):
    """Prints predicted beside measured powers at several clocks; returns what is wrong."""
    lines = [line for line in CLOCKS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    errors, in_measured_time = {"fit": [], "held back": []}, []
    for row in csv.DictReader(lines):
        power, microseconds = powers_of(warplens, row["program"], row["kernel"], row["mhz"], folder)
        watts = power["watts"]["value"]
        errors[row["use"]].append(watts / float(row["watts"]) - 1)
        line = f"{row['measured as']:<12} {row['mhz']:>5} MHz  {watts:6.1f} W, measured {row['watts']:>4}  {100 * errors[row['use']][-1]:+6.1f} %  {row['use']}"
        if row["microseconds"]:
            watts = watts_in(power, microseconds, float(row["microseconds"]))
            line += f"; {microseconds:.1f} µs, measured {row['microseconds']}: in that time {watts:.1f} W, {100 * (watts / float(row['watts']) - 1):+.1f} %"
        if row["use"] == "held back":
            in_measured_time.append(watts / float(row["watts"]) - 1)
        print(line, flush=True)
    lone, _ = powers_of(warplens, "beside", r"\bproducts<1>", 1380, folder, ("products", "1", "2000", "1", "32"))
    idle = lone["parts"]["board"] + lone["parts"]["idle SMs"]
    print(f"one warp on the whole GPU: {lone['watts']['value']:.1f} W, of which the board and idle SMs {idle:.1f} W")
    means = {use: sum(map(abs, of_use)) / len(of_use) for use, of_use in errors.items()}
    of_measured = sum(map(abs, in_measured_time)) / len(in_measured_time)
    print("; ".join(f"{use}: mean error {100 * mean:.1f} %" for use, mean in means.items()) + f", in measured times {100 * of_measured:.1f} %")
    failures = []
    if of_measured > GOAL:
        failures.append(f"the mean error at other clocks is {100 * of_measured:.1f} % in measured times")
    if means["held back"] > GOAL_AT_CLOCKS:
        failures.append(f"the mean error at other clocks is {100 * means['held back']:.1f} %")
    if not lone["parts"]["idle SMs"] > 10:
        failures.append("idle SMs take no power beside a lone warp")
    return failures


def section_of(text):
    return "\n".join(line for line in text.splitlines() if not line.startswith("# ")) + "\n"


def record(text):
    """Replaces the energies in the GPU's file; what it says of voltages stays."""
    path = modelled.GPUS / f"{GPU}.toml"
    before = path.read_text(encoding="utf-8")
    begin = before.index("[power]\n")
    voltages = "".join(line + "\n" for line in before[begin:].splitlines() if line.startswith(("clocks_mhz", "relative_voltage")))
    path.write_text(before[:begin] + section_of(text) + voltages, encoding="utf-8")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("measure", "check", "clocks", "record"))
    parser.add_argument("warplens", type=pathlib.Path, nargs="?", default=modelled.ROOT / "build/bin/warplens")
    options = parser.parse_args(arguments)
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        warplens = options.warplens.resolve()
        if options.verb == "clocks":
            failures = check_clocks(warplens, folder)
            print("; ".join(failures))
            return 1 if failures else 0
        files = results_of(warplens, folder)
        for kind, rows in (("predicted", predicted_table(folder)), ("measured", MEASURED)):
            text = train(warplens, files, rows, folder)
            print(f"From {kind} events and times:\n{text}")
            if options.verb == "record" and kind == "predicted":
                record(text)
            if mean_error_held_back(text) > GOAL:
                failures.append(f"the mean error from {kind} events is {100 * mean_error_held_back(text):.1f} %")
            if covered(text) < MIN_COVERED:
                failures.append(f"{100 * covered(text):.0f} % of the intervals cover, from {kind} events")
    if options.verb == "check" and failures:
        print("; ".join(failures))
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except modelled.Failure as failure:
        sys.exit(f"power: {failure}")
