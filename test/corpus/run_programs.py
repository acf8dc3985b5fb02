#!/usr/bin/env python3
"""Builds other people's CUDA programs by their own Makefile or CMakeLists.txt through warplens-nvcc, as a user would, runs
them on the CPU back end and prints the outcome of each.

    run_programs.py --warplens build/bin/warplens FOLDER [--run "ARGS"] [--pass REGEX] [--exit CODE]
    run_programs.py --warplens build/bin/warplens --list programs.tsv SUITE=PATH [SUITE=PATH ...] [--only REGEX]
    run_programs.py --warplens build/bin/warplens --list test/corpus/projects.tsv FOLDER

The programs are not part of this project. A list is tab-separated, with a header: suite, name, dir (below the suite),
run_args, and optionally pass_regex (searched in stdout), expected_exit (0 without one), feature_tags, program (the file
that the build makes, where it makes several), build_args (of make, or of cmake as it configures), repository and commit;
other columns are ignored. With one FOLDER, suites are the folders in it with the names of their repositories; those that
are not there are named, and where to get them. The checkouts stay as they are: each program is built and run in a
temporary tree that looks like its suite.

In the build, `nvcc` in PATH is warplens-nvcc, as are CUDACXX and make's NVCC, and WARPLENS_BACKEND is cpu. --make and --cmake add
arguments, such as --make ARCH=sm_80. With --probed programs run under `warplens run`.

    right     ran to its end with the expected output and exit code
    refused   Warplens names what it does not support, in the build or when the program calls it
    WRONG     ran to its end with another output or exit code
    failed    anything else: no way to build it, an error of the build, a crash, a deadlock
    too slow  not built and run within --timeout seconds

Ends with 1 if a program is wrong or failed.
"""

import argparse
import collections
import contextlib
import csv
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

OUTCOMES = ["right", "refused", "WRONG", "failed", "too slow"]
REFUSAL = re.compile(r"warplens: .*(?:not support|the CPU back end has no|is defined neither|understands|undefined)|warplens: .*nvcc takes this, Clang \d+ does not: ")
MAKEFILES = ["GNUmakefile", "makefile", "Makefile"]


@dataclasses.dataclass
class Program:
    suite: pathlib.Path
    folder: str  # below the suite
    name: str
    arguments: list
    pass_regex: str = ""
    expected_exit: int = 0
    program: str = ""  # below the folder; empty: the only one that the build makes, or the one with the folder's name
    build_arguments: list = dataclasses.field(default_factory=list)


class Outcome(Exception):
    """Ends a program's examination: the outcome, and why."""


def tree_like(suite, folder, root):
    """Makes `root` look like the suite: the folder is a copy, everything beside it and its parents a link. Returns the copy."""
    here, there = root, suite
    for part in pathlib.PurePath(folder).parts:
        here.mkdir(exist_ok=True)
        for entry in there.iterdir():
            if entry.name != part:
                (here / entry.name).symlink_to(entry)
        here, there = here / part, there / part
    shutil.copytree(there, here, symlinks=True)
    return here


def toolkit():
    """Returns the folder of the CUDA Toolkit, which warplens no longer finds by an nvcc in PATH that is itself."""
    if os.environ.get("CUDA_PATH"):
        return os.environ["CUDA_PATH"]
    with contextlib.suppress(FileNotFoundError):
        output = subprocess.run(["nvcc", "--dryrun", "-E", "-x", "cu", os.devnull], capture_output=True, text=True, check=False).stderr
        if top := re.search(r"^#\$ TOP=(.+)$", output, re.MULTILINE):
            return str(pathlib.Path(top[1]).resolve())
    return "/usr/local/cuda"


class Runner:
    def __init__(self, arguments):
        self.arguments, self.warplens = arguments, arguments.warplens.resolve()

    def examine(self, program):
        """Returns (outcome, reason)."""
        self.end = time.monotonic() + self.arguments.timeout
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch).resolve()
            try:
                if not (program.suite / program.folder).is_dir():
                    raise Outcome("failed", f"there is no folder {program.folder}")
                folder = tree_like(program.suite, program.folder, scratch / "tree")
                return self.run(program, self.build(program, folder, scratch), folder)
            except subprocess.TimeoutExpired:
                return "too slow", f"not done after {self.arguments.timeout:g} s"
            except Outcome as outcome:
                return outcome.args

    def command(self, words, folder, environment=None):
        """Returns the finished process. When the time is over, all that it started ends with it."""
        with subprocess.Popen(list(map(str, words)), cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as process:
            try:
                stdout, stderr = process.communicate(timeout=max(0, self.end - time.monotonic()))
                return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def environment(self, scratch):
        """Returns an environment whose nvcc is warplens-nvcc."""
        tools = scratch / "tools"
        tools.mkdir()
        nvcc = tools / "nvcc"
        nvcc.symlink_to(self.warplens.parent / "warplens-nvcc")
        return {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "WARPLENS_BACKEND": "cpu", "CUDACXX": str(nvcc),
                "CUDA_PATH": toolkit()}

    def build(self, program, folder, scratch):
        """Returns the program's file."""
        environment = self.environment(scratch)
        before = executables(folder)
        if any((folder / name).exists() for name in MAKEFILES):
            # Objects that came with the checkout may be of another compiler.
            steps = [["make", "-B", f"NVCC={environment['CUDACXX']}", *self.arguments.make, *program.build_arguments]]
        elif (folder / "CMakeLists.txt").exists():
            steps = [["cmake", "-S", ".", "-B", "build", *self.arguments.cmake, *program.build_arguments], ["cmake", "--build", "build"]]
        else:
            raise Outcome("failed", "it has no Makefile and no CMakeLists.txt")
        for step in steps:
            finished = self.command(step, folder, environment)
            if finished.returncode:
                raise Outcome(*refusal_or(finished, "failed", f"{step[0]}: {first_error(finished)}"))
        if program.program:
            file = folder / program.program
            if not file.is_file():
                raise Outcome("failed", f"the build made no {program.program}")
            return file
        made = sorted(set(executables(folder)) - set(before)) or executables(folder)
        named = [file for file in made if file.name == folder.name]
        if len(made) != 1 and len(named) != 1:
            raise Outcome("failed", f"the build made {len(made)} programs ({', '.join(file.name for file in made[:4])}): name one")
        return made[0] if len(made) == 1 else named[0]

    def run(self, program, file, folder):
        probed = [self.warplens, "run", "--trials", "2", "--format", "json", "-o", os.devnull, "--"] if self.arguments.probed else []
        finished = self.command([*probed, file, *program.arguments], folder)
        complaints = [line for line in finished.stderr.splitlines() if line.startswith("warplens: ")]
        ended = re.search(r"exited with code (\d+)", complaints[-1]) if probed and complaints else None
        # A kernel may fail where the program expects that and ends with code 0, which is not that of `warplens run`.
        expected = bool(probed and complaints) and "ended with code 0 all the same" in complaints[-1]
        code = int(ended[1]) if ended else 0 if expected else finished.returncode
        matches = re.search(program.pass_regex, finished.stdout) is not None
        if matches and code == program.expected_exit:
            return "right", ""
        if code < 0:
            outcome, reason = "failed", f"ended by signal {-code}"
        elif probed and code and not ended:  # the code is of `warplens run`
            outcome, reason = "failed", f"warplens run ended with {code}"
        else:
            outcome, reason = "WRONG", f"exit code {code}, output {'matches' if matches else 'does not match'}"
        return refusal_or(finished, outcome, "; ".join([reason, *complaints[-1:]]))


def refusal_or(finished, outcome, reason):
    """Returns the refusal that a process printed, or else the outcome and its reason."""
    lines = (finished.stderr + finished.stdout).splitlines()
    refusal = next((line for line in lines if REFUSAL.search(line)), None)
    return ("refused", refusal.split("warplens: ", 1)[-1]) if refusal else (outcome, reason)


def first_error(finished):
    lines = [line for line in (finished.stderr + finished.stdout).splitlines() if line.strip()]
    return next((line for line in lines if re.search(r"\berror\b|undefined|No rule|warplens: ", line)), lines[-1] if lines else f"exit code {finished.returncode}")


def executables(folder):
    """Returns the programs below a folder, without those that CMake makes to try the compiler."""
    def is_program(file):
        if not file.is_file() or file.is_symlink() or not os.access(file, os.X_OK) or "CMakeFiles" in file.parts or ".so" in file.suffixes:
            return False
        with open(file, "rb") as binary:
            return binary.read(4) == b"\x7fELF"
    return sorted(file for file in folder.rglob("*") if is_program(file))


def programs_of(arguments, parser):
    if arguments.list is None:
        if len(arguments.places) != 1:
            parser.error("one FOLDER, or --list and the suites that it names")
        folder = pathlib.Path(arguments.places[0]).resolve()
        return [Program(folder.parent, folder.name, folder.name, shlex.split(arguments.run), arguments.pass_regex, arguments.exit)]
    with open(arguments.list, newline="", encoding="utf-8") as text:
        rows = list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))
    suites = {name: pathlib.Path(path).resolve() for name, _, path in (place.partition("=") for place in arguments.places)}
    if len(arguments.places) == 1 and "=" not in arguments.places[0]:
        folder = pathlib.Path(arguments.places[0]).resolve()
        suites = {row["suite"]: folder / row["suite"] for row in rows if (folder / row["suite"]).is_dir()}
        for row in rows:
            if row["suite"] not in suites and re.search(arguments.only, row["name"]):
                print(f"{row['name']:<28} not there: {row.get('repository')} at {row.get('commit')}")
    return [Program(suites[row["suite"]], row["dir"], row["name"], shlex.split(row.get("run_args") or ""), row.get("pass_regex") or "",
                    int(row.get("expected_exit") or 0), row.get("program") or "",
                    shlex.split(row.get("build_args") or ""))
            for row in rows
            if row["suite"] in suites and re.search(arguments.only, row["name"]) and arguments.without not in (row.get("feature_tags") or "").split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].replace("\n", " "))
    parser.add_argument("--warplens", type=pathlib.Path, required=True)
    parser.add_argument("--list", type=pathlib.Path, help="programs of suites; else one FOLDER")
    parser.add_argument("--run", default="", metavar="ARGS", help="of one folder: the program's arguments")
    parser.add_argument("--pass", dest="pass_regex", default="", metavar="REGEX", help="of one folder: what its output has to match")
    parser.add_argument("--exit", type=int, default=0, metavar="CODE", help="of one folder: the exit code that it should have (default: 0)")
    parser.add_argument("--make", action="append", default=[], metavar="ARG", help="a further argument of make, such as ARCH=sm_80")
    parser.add_argument("--cmake", action="append", default=[], metavar="ARG", help="a further argument of cmake, such as -DCMAKE_CUDA_ARCHITECTURES=80")
    parser.add_argument("--probed", action="store_true", help="run the programs under `warplens run`, with probes")
    parser.add_argument("--only", default="", help="a regular expression that a program's name has to match")
    parser.add_argument("--without", metavar="TAG", help="leave out programs with this word in feature_tags")
    parser.add_argument("--timeout", type=float, default=240, help="seconds for each program, with its build (default: %(default)s)")
    parser.add_argument("places", nargs="+", metavar="FOLDER|SUITE=PATH")
    arguments = parser.parse_intermixed_args()

    runner, tally = Runner(arguments), collections.Counter()
    for program in programs_of(arguments, parser):
        start = time.monotonic()
        outcome, reason = runner.examine(program)
        tally[outcome] += 1
        print(f"{program.name:<28} {outcome:<9} {time.monotonic() - start:6.1f} s  {reason}".rstrip(), flush=True)
    total = sum(tally.values())
    print(f"{total} programs: " + ", ".join(f"{tally[outcome]} {outcome}" for outcome in OUTCOMES))
    return 1 if tally["WRONG"] or tally["failed"] or not total else 0


if __name__ == "__main__":
    sys.exit(main())
