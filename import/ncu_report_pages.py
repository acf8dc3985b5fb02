#!/usr/bin/env python3
"""Prints a report of Nsight Compute as its pages `raw` and `source`, by NVIDIA's module ncu_report.

usage: ncu_report_pages.py REPORT RAW.csv SOURCE.csv

The module comes with Nsight Compute, in extras/python; it is found in PYTHONPATH, or beside the ncu in PATH.
Exit code 3 where it is not installed. SOURCE.csv stays empty where the report has no counters of instructions or
no lines. (Nsight Compute, Python Report Interface.)
"""

import csv
import pathlib
import re
import shutil
import sys

WITHOUT_MODULE = 3
LAUNCH_COLUMNS = ("ID", "Kernel Name", "Block Size", "Grid Size", "Device")
# The page's columns, by the metrics that have a value for each instruction.
SOURCE_COLUMNS = {"inst_executed": "Instructions Executed", "thread_inst_executed": "Thread Instructions Executed",
                  "memory_l1_tag_requests_global": "L1 Tag Requests Global",
                  "memory_l2_theoretical_sectors_global": "L2 Theoretical Sectors Global",
                  "memory_l2_theoretical_sectors_global_ideal": "L2 Theoretical Sectors Global Ideal",
                  "memory_l1_wavefronts_shared": "L1 Wavefronts Shared",
                  "memory_l1_wavefronts_shared_ideal": "L1 Wavefronts Shared Ideal"}
# Memory instructions by their names: the space that they access, and what they do there.
ACCESSES = {"LDG": ("Global", "Load"), "STG": ("Global", "Store"), "LDS": ("Shared", "Load"), "LDSM": ("Shared", "Load"),
            "STS": ("Shared", "Store"), "LDL": ("Local", "Load"), "STL": ("Local", "Store"), "LD": ("Generic", "Load"),
            "ST": ("Generic", "Store"), "LDGSTS": ("Global", "Copy"), "ATOM": ("Generic", "Atomic"),
            "ATOMG": ("Global", "Atomic"), "RED": ("Global", "Atomic"), "ATOMS": ("Shared", "Atomic")}


def find_module():
    """Imports ncu_report; returns None where it is not installed."""
    if ncu := shutil.which("ncu"):
        installed = pathlib.Path(ncu).resolve()
        sys.path += [str(folder / "extras/python") for folder in installed.parents[:4]]
    try:
        import ncu_report
    except ImportError:
        return None
    return ncu_report


def extents(action, what):
    return "({}, {}, {})".format(*(int(action[f"launch__{what}_dim_{axis}"].as_uint64()) for axis in "xyz"))


def number(metric):
    """Returns a metric's value if it is a number, else None."""
    value = metric.value()
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def actions_of(report):
    return [action for span in report for action in span]


def name_of(module, action):
    return action.name(module.IAction.NameBase_DEMANGLED)


def write_raw(module, actions, path):
    """Writes a row per launch; a metric's unit is that of the first launch that has it."""
    units = {}
    for action in actions:
        for name in action.metric_names():
            if number(action[name]) is not None:
                units.setdefault(name, action[name].unit() or "")
    with open(path, "w", newline="") as text:
        writer = csv.writer(text, quoting=csv.QUOTE_ALL)
        writer.writerow([*LAUNCH_COLUMNS, *units])
        writer.writerow([*[""] * len(LAUNCH_COLUMNS), *units.values()])
        for index, action in enumerate(actions):
            there = set(action.metric_names())
            device = action["device__attribute_display_name"].value() if "device__attribute_display_name" in there else ""
            values = [number(action[name]) if name in there else None for name in units]
            writer.writerow([index, name_of(module, action), extents(action, "block"), extents(action, "grid"), device,
                             *["n/a" if value is None else repr(value) for value in values]])


def by_instruction(action):
    """Returns the counters of each instruction: {address: {metric: value}}."""
    counters = {}
    for name in SOURCE_COLUMNS:
        if name not in action.metric_names():
            continue
        metric = action[name]
        if not metric.has_correlation_ids():
            continue
        addresses = metric.correlation_ids()
        for index in range(metric.num_instances()):
            counters.setdefault(addresses.as_uint64(index), {})[name] = metric.as_double(index)
    return counters


def access_of(instruction):
    """Returns the space and the operation of a memory instruction: "@P0 LDG.E R2, [R4.64]" is a load of global memory."""
    opcode = re.match(r"\s*(?:@!?U?P\w+\s+)?([A-Z0-9]+)", instruction or "")
    return ACCESSES.get(opcode[1]) if opcode else None


def write_source(module, actions, path):
    with open(path, "w", newline="") as text:
        writer = csv.writer(text, quoting=csv.QUOTE_ALL)
        for action in actions:
            by_line = {}
            for address, counters in sorted(by_instruction(action).items()):
                place, access = action.source_info(address), access_of(action.sass_by_pc(address))
                if place is not None and access is not None:
                    by_line.setdefault(place.file_name(), {}).setdefault(place.line(), []).append((address, access, counters))
            for file, lines in by_line.items():
                writer.writerows([["File Path", file], ["Function Name", name_of(module, action)]])
                writer.writerow(["Line No", "Address", "Address Space", "Access Operation", *SOURCE_COLUMNS.values()])
                for line, instructions in sorted(lines.items()):
                    writer.writerow([line, "-", "-", "-", *["-"] * len(SOURCE_COLUMNS)])
                    for address, access, counters in instructions:
                        writer.writerow(["-", hex(address), *access, *[repr(counters.get(name, 0)) for name in SOURCE_COLUMNS]])


def main():
    report, raw, source = sys.argv[1:]
    module = find_module()
    if module is None:
        sys.exit(WITHOUT_MODULE)
    try:
        actions = actions_of(module.load_report(report))
        write_raw(module, actions, raw)
        write_source(module, actions, source)
    except Exception as error:  # the module's errors have no common class
        print(f"{type(error).__name__}: {error}".splitlines()[0])
        sys.exit(1)


if __name__ == "__main__":
    main()
