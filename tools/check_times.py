#!/usr/bin/env python3
"""Says where the time of `./check` went: `tools/check_times.py BUILD…` prints, for each build folder, what its parts took to build (from
.ninja_log, the sum over processes that ran side by side), the slowest files, and the slowest tests (from tests.xml, which ctest writes)."""

import collections
import pathlib
import sys
import xml.etree.ElementTree

SLOWEST = 10


def build_times(folder):
    """Returns {output: seconds} of the last build of each output."""
    times = {}
    for line in (folder / ".ninja_log").read_text().splitlines():
        if not line.startswith("#"):
            begin, end, _, output, _ = line.split("\t")
            times[output] = (int(end) - int(begin)) / 1000
    return times


def part_of(output):
    """Returns the part of the tree that an output belongs to: its first folder, of tests the first two."""
    folders = output.split("/")[:-1]
    folders = folders[: folders.index("CMakeFiles")] if "CMakeFiles" in folders else folders
    return "/".join(folders[:2] if folders[:1] == ["test"] else folders[:1]) or "the rest"


def test_times(folder):
    """Returns {test: seconds}; empty if there is no tests.xml."""
    file = folder / "tests.xml"
    if not file.exists():
        return {}
    return {case.get("name"): float(case.get("time")) for case in xml.etree.ElementTree.parse(file).iter("testcase")}


def table(title, rows, total):
    """Returns the largest rows as text, each with its share of the total."""
    lines = [f"  {title}: {total:.0f} s"]
    lines += [f"    {seconds:7.1f} s {100 * seconds / total:5.1f} %  {name}" for name, seconds in rows[:SLOWEST] if total > 0]
    return "\n".join(lines) + "\n"


def report(folder):
    built = build_times(folder)
    parts = collections.Counter()
    for output, seconds in built.items():
        parts[part_of(output)] += seconds
    text = f"{folder}\n" + table("building, by part", parts.most_common(), sum(built.values()))
    text += table("building, by file", collections.Counter(built).most_common(), sum(built.values()))
    tests = test_times(folder)
    return text + (table("tests", collections.Counter(tests).most_common(), sum(tests.values())) if tests else "")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(report(pathlib.Path(name)), end="")
