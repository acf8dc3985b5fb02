#!/usr/bin/env python3
"""Builds other people's CUDA programs with plain nvcc and with warplens-nvcc, and prints the outcome for each source.

The programs are not part of this project: give lists of them and where each suite they name is checked out.

    build_nvcc.py --warplens build/bin/warplens --list dev.tsv --list cpu.tsv --results FILE hecbench=PATH samples=PATH rodinia=PATH

A list is tab-separated, with a header: suite, name, dir (below the suite), sources, compile_flags; other columns are
ignored. The checkouts stay as they are: each program is built in a temporary tree that looks like its suite. RESULTS
(tab-separated, one line per source) is added to; what it holds already is not built again.

    probed       compiled with probes
    no accesses  nothing in it to put a probe on: plain nvcc compiled it
    fell back    compiled by plain nvcc, with a warning that gives the reason
    FAILED       warplens-nvcc does not build what nvcc builds
    not nvcc's   plain nvcc does not build it either: it does not count

Times are those of one source after the other, plain and probed in alternation; the median ratios at the end are over the
sources with probes, and over those of them that take plain nvcc 1 to 3 s (--between), where nvcc's own start counts least.
With --patch the script runs `warplens patch` on every CUDA source instead: the patch applies to the original, and plain nvcc
compiles the result with the flags that the patch's header names.
"""

import argparse
import collections
import csv
import os
import pathlib
import re
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import run_programs

COLUMNS = ["suite", "name", "source", "outcome", "probed", "removed", "unseen", "plain_wall", "probed_wall", "plain_cpu",
           "probed_cpu", "reason"]
# Names that CUDA 13 dropped, and their replacements.
EDITS = {"rodinia": [(r"\bcudaThreadSynchronize\b", "cudaDeviceSynchronize"), (r".*\bdeviceOverlap\b.*", ""), (r".*\bclockRate\b.*", "")]}
SUFFIXES = {".cu", ".cuh", ".c", ".cpp", ".h", ".hpp"}


def edit(folder, edits):
    for file in folder.rglob("*"):
        if edits and file.suffix in SUFFIXES and file.is_file():
            before = text = file.read_text(encoding="latin-1")
            for old, new in edits:
                text = re.sub(old, new, text)
            if text != before:
                file.write_text(text, encoding="latin-1")


def measured(command, folder):
    """Returns the finished process, its wall time and its CPU time with that of its children, in seconds."""
    def cpu():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime
    wall, before = time.monotonic(), cpu()
    finished = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    return finished, time.monotonic() - wall, cpu() - before


def first_complaint(finished):
    lines = (finished.stderr + finished.stdout).splitlines()
    return next((line for line in lines if "error" in line or "undefined" in line), lines[0] if lines else "it printed nothing")


class Program:
    def __init__(self, row, suite, arguments, scratch):
        self.row, self.suite, self.arguments, self.scratch = row, suite, arguments, scratch.resolve()
        self.folder = run_programs.tree_like(suite, row["dir"], self.scratch / "tree")
        edit(self.folder, EDITS.get(row["suite"], []))
        self.flags = row["compile_flags"].split()
        self.sources = row["sources"].split()

    def nvcc(self, kind):
        return [self.arguments.nvcc] if kind == "plain" else [self.arguments.warplens, "nvcc"]

    def compile(self, source, number):
        """Returns the outcome for one source: the columns from `outcome` on."""
        walls, cpus, finished = collections.defaultdict(list), collections.defaultdict(list), {}
        for _ in range(self.arguments.rounds):
            for kind in ("plain", "probed"):
                made = self.scratch / f"{kind}{number}.o"
                finished[kind], wall, cpu = measured([*self.nvcc(kind), *self.flags, "-c", source, "-o", made], self.folder)
                walls[kind].append(wall)
                cpus[kind].append(cpu)
                if finished[kind].returncode:
                    break
        columns = {"plain_wall": min(walls["plain"]), "plain_cpu": min(cpus["plain"])}
        if finished["plain"].returncode:
            return columns | {"outcome": "not nvcc's", "reason": first_complaint(finished["plain"])}
        columns |= {"probed_wall": min(walls["probed"]), "probed_cpu": min(cpus["probed"])}
        if finished["probed"].returncode:
            return columns | {"outcome": "FAILED", "reason": first_complaint(finished["probed"])}
        return columns | self.report(self.scratch / f"probed{number}.o")

    def report(self, made):
        report = subprocess.run([self.arguments.warplens, "nvcc", "--report", made], capture_output=True, text=True, check=True).stdout
        if fell_back := re.search(r": compiled without probes: (.*)", report):
            return {"outcome": "fell back", "reason": fell_back[1]}
        counts = re.search(r": (\d+) accesses probed, (\d+) removed by the compiler, (\d+) not seen(.*)", report)
        if not counts:
            return {"outcome": "no accesses"}
        return {"outcome": "probed", **dict(zip(("probed", "removed", "unseen"), map(int, counts.groups()[:3]))),
                "reason": counts[4].strip(" :()")}

    def link(self, kind):
        """Returns the reason of the failure, or an empty string."""
        objects = [self.scratch / f"{kind}{number}.o" for number in range(len(self.sources))]
        finished, _, _ = measured([*self.nvcc(kind), *self.flags, *objects, "-o", self.scratch / kind], self.folder)
        return first_complaint(finished) if finished.returncode else ""

    def build(self):
        results = [{"source": source, **self.compile(source, number)} for number, source in enumerate(self.sources)]
        if all(result["outcome"] not in ("not nvcc's", "FAILED") for result in results) and not self.link("plain"):
            if reason := self.link("probed"):
                results[0] |= {"outcome": "FAILED", "reason": "linking: " + reason}
        return results

    def own(self, file):
        """Replaces a file of the tree, and the folders on the way to it, by copies if they are links into the suite."""
        here = self.scratch
        for part in file.relative_to(self.scratch).parts:
            here /= part
            if here.is_symlink():
                target = here.resolve()
                here.unlink()
                if target.is_dir():
                    shutil.copytree(target, here, symlinks=True)
                else:
                    shutil.copy(target, here)

    def print_patch(self, source):
        """Returns the finished process, the command that applies its output, the flags that its head names, and the files it changes."""
        printed = subprocess.run([self.arguments.warplens, "patch", source, "--nvcc", self.row["compile_flags"]], cwd=self.folder,
                                 capture_output=True, check=False)
        if printed.returncode:
            return printed, [], [], []
        diff = printed.stdout.decode("latin-1")
        apply, flags = (shlex.split(re.search(f"^#   ({start}.+)$", diff, re.MULTILINE)[1]) for start in ("patch ", "-I "))
        files = [(self.folder / apply[-1] / name).resolve() for name in re.findall(r"^\+\+\+ ([^\t\n]*)", diff, re.MULTILINE)]
        return printed, apply, flags, files

    def patch(self, source):
        """Returns the outcome for one source's patch: `outcome` and `reason`."""
        _, _, _, files = self.print_patch(source)
        for file in files:
            if file.is_relative_to(self.suite):
                self.own(self.scratch / "tree" / file.relative_to(self.suite))
        printed, apply, flags, files = self.print_patch(source)
        if printed.returncode:
            return {"outcome": "fell back", "reason": printed.stderr.decode(errors="replace").splitlines()[-1].removeprefix("warplens: ")}
        if outside := [file for file in files if not file.is_relative_to(self.scratch)]:
            return {"outcome": "FAILED", "reason": f"patch: {outside[0]} is not in the tree"}
        before = {file: file.read_bytes() for file in files}
        try:
            return self.apply_and_compile(source, [*apply, "--fuzz=0", "--binary"], printed.stdout, flags)
        finally:
            for file, text in before.items():
                file.write_bytes(text)

    def apply_and_compile(self, source, apply, diff, flags):
        applied = subprocess.run(apply, cwd=self.folder, input=diff, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if applied.returncode:
            return {"outcome": "FAILED", "reason": "patch: " + applied.stdout.decode(errors="replace").replace("\n", " | ")}
        finished, _, _ = measured([*self.nvcc("plain"), *self.flags, *flags, "-c", source, "-o", self.scratch / "patched.o"], self.folder)
        if finished.returncode:
            return {"outcome": "FAILED", "reason": first_complaint(finished)}
        return {"outcome": "applies" if b"::warplens::" in diff else "no accesses"}

    def patch_all(self):
        return [{"source": source, **self.patch(source)} for source in self.sources if source.endswith(".cu")]


def key_of(row):
    return row["suite"], row["name"], row["source"]


def rows_of(arguments):
    """Returns each program once, though several lists may name it."""
    rows = {}
    for path in arguments.list:
        with open(path, newline="", encoding="utf-8") as text:
            for row in csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE):
                rows.setdefault((row["suite"], row["name"], row["compile_flags"]), row)
    return [row for row in rows.values() if re.search(arguments.k, row["name"])]


def known_results(path):
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))


def print_summary(results, between):
    outcomes = collections.Counter(result["outcome"] for result in results)
    print("\n" + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    with_probes = [result for result in results if result["outcome"] == "probed"]
    if not with_probes:
        return
    probed, removed, unseen = (sum(int(result[name]) for result in with_probes) for name in ("probed", "removed", "unseen"))
    print(f"accesses: {probed} probed, {removed} removed by the compiler, {unseen} not seen; "
          f"{(probed + removed) / (probed + removed + unseen):.1%} of them dealt with, {probed / (probed + unseen):.1%} of the rest probed")
    least, most = between
    for name, some in (("", with_probes),
                       (f" of those that take nvcc {least:g} to {most:g} s", [one for one in with_probes if least <= float(one["plain_wall"]) <= most])):
        for what in ("wall", "cpu") if some else ():
            ratios = [float(result[f"probed_{what}"]) / float(result[f"plain_{what}"]) for result in some]
            print(f"{what} time{name}: {statistics.median(ratios):.2f} times plain nvcc's (median of {len(ratios)}; worst {max(ratios):.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warplens", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--list", action="append", required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=1, help="how often each source is compiled in each way; the least time counts")
    parser.add_argument("--between", type=float, nargs=2, default=(1, 3), metavar=("LEAST", "MOST"),
                        help="seconds that plain nvcc takes: the ratios are printed for such sources alone, too (default: 1 3)")
    parser.add_argument("--patch", action="store_true", help="check patches instead")
    parser.add_argument("-k", default="", help="a regular expression that a program's name has to match")
    parser.add_argument("suites", nargs="+", metavar="SUITE=PATH")
    arguments = parser.parse_args()
    suites = {name: pathlib.Path(path).resolve() for name, path in (suite.split("=", 1) for suite in arguments.suites)}

    results = known_results(arguments.results)
    known = {key_of(result) for result in results}
    with open(arguments.results, "a", newline="", encoding="utf-8") as table:
        writer = csv.DictWriter(table, COLUMNS, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, restval="", lineterminator="\n")
        if not results:
            writer.writeheader()
        for row in rows_of(arguments):
            if row["suite"] not in suites or all((row["suite"], row["name"], source) in known for source in row["sources"].split()):
                continue
            with tempfile.TemporaryDirectory() as scratch:
                program = Program(row, suites[row["suite"]], arguments, pathlib.Path(scratch))
                for result in program.patch_all() if arguments.patch else program.build():
                    result = {name: re.sub(r"[\t\n]", " ", f"{value:.2f}" if isinstance(value, float) else str(value))
                              for name, value in {"suite": row["suite"], "name": row["name"], **result}.items()}
                    results.append(result)
                    writer.writerow(result)
                    table.flush()
                    print(f"{row['suite']:<9} {row['name']:<28} {result['source']:<28} {result['outcome']:<12} "
                          f"{' '.join(result.get(name, '') for name in COLUMNS[4:])}", flush=True)
    print_summary(results, arguments.between)
    return 1 if any(result["outcome"] == "FAILED" for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
