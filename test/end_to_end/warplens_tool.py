"""Runs the real command line. Each test file is started as `python3 FILE.py PATH-OF-WARPLENS [unittest's arguments]`."""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE / "kernels"
PROJECT = HERE.parent.parent

# `check --all` does all of what `check` does a part of.
THOROUGH = "WARPLENS_ALL" in os.environ

tool = None


class TimedResult(unittest.TextTestResult):
    """Prints, behind a file's tests, what processor time its slowest methods took, with all processes that they started."""

    def startTest(self, test):
        super().startTest(test)
        self.started = processor_seconds()

    def stopTest(self, test):
        super().stopTest(test)
        self.__dict__.setdefault("seconds", {})[test.id()] = processor_seconds() - self.started

    def printErrors(self):
        super().printErrors()
        for name, seconds in sorted(getattr(self, "seconds", {}).items(), key=lambda item: -item[1])[:8]:
            self.stream.writeln(f"{seconds:6.1f} s  {name}")


def processor_seconds():
    """Returns the processor time of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Shard(unittest.TestLoader):
    """Loads every COUNT-th of a file's tests, from the NUMBER-th on, so that several processes share a file."""

    def __init__(self, number, count):
        super().__init__()
        self.number, self.count = number, count

    def loadTestsFromModule(self, module, **options):
        def flat(suite):
            return [test for part in suite for test in (flat(part) if isinstance(part, unittest.TestSuite) else [part])]
        return unittest.TestSuite(flat(super().loadTestsFromModule(module, **options))[self.number::self.count])


def main():
    """Calls unittest.main() after taking the tool's path, and `--shard NUMBER/COUNT`, off the command line."""
    global tool
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} PATH-OF-WARPLENS [TEST...]")
    tool = pathlib.Path(sys.argv.pop(1)).resolve()
    # The tests import this file under its own name: there it is another module than the one that runs.
    sys.modules["warplens_tool"].tool = tool
    loader = unittest.defaultTestLoader
    if sys.argv[1:2] == ["--shard"]:
        loader = Shard(*map(int, sys.argv[2].split("/")))
        del sys.argv[1:3]
    unittest.main(module="__main__", testLoader=loader, testRunner=unittest.TextTestRunner(verbosity=2, resultclass=TimedResult))


def warplens(*arguments, timeout=300, **options):
    """Returns the finished process, with stdout and stderr as text."""
    return subprocess.run([str(tool), *map(str, arguments)], capture_output=True, text=True, timeout=timeout, **options)


def real_nvcc():
    """Returns the nvcc that Warplens finds, by its path inside its toolkit: the one in PATH may be a script that starts it."""
    for name in ("CUDA_PATH", "CUDA_HOME"):
        nvcc = pathlib.Path(os.environ.get(name) or "/nowhere", "bin/nvcc")
        if nvcc.exists():
            return nvcc
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    output = subprocess.run([nvcc, "--dryrun", "-E", "-x", "cu", "/dev/null"], capture_output=True, text=True).stderr
    return pathlib.Path(re.search(r"#\$ TOP=(.+)", output)[1]).resolve() / "bin/nvcc"


class Profile:
    """One `warplens profile` on the CPU back end that must succeed: its result, and the program's output."""

    def __init__(self, source, *options, run=()):
        self.source = pathlib.Path(source)
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "result.json"
            done = warplens("profile", source, "--backend", "cpu", "--format", "json", "-o", output, *options,
                            *(["--run", *run] if run else []))
            if done.returncode != 0:
                raise AssertionError(f"warplens profile {source} failed ({done.returncode}):\n{done.stderr}{done.stdout}")
            self.result = json.loads(output.read_text())
        self.stdout = done.stdout
        self.lines = self.source.read_text().splitlines()

    def kernel(self, name, gpu=None):
        """Returns the one entry for the kernel of this name (with template arguments, without parameters), on this GPU."""
        found = [kernel for kernel in self.result["kernels"]
                 if base_name(kernel["name"]) == name and gpu in (None, kernel["gpu"])]
        if len(found) != 1:
            there = sorted({(base_name(kernel["name"]), kernel["gpu"]) for kernel in self.result["kernels"]})
            raise AssertionError(f"{len(found)} kernels are {name} on {gpu}; there are {there}")
        return found[0]

    def line_of(self, name):
        """Returns the line that ends with `// site: NAME`."""
        return next(number for number, line in enumerate(self.lines, 1) if line.endswith("// site: " + name))

    def site(self, kernel, name, kind="load"):
        """Returns the one site of this kind on the line marked `// site: NAME`."""
        return only(site for site in kernel["sites"] if site["line"] == self.line_of(name) and site["kind"] == kind)


def base_name(kernel):
    """Shortens `void walk<4>(char const*, int, float*)` to `walk<4>`: demanglers differ in how much they print."""
    return re.sub(r"\(int\)|\([^()]*\)$|^void ", "", kernel)


def only(items):
    items = list(items)
    if len(items) != 1:
        raise AssertionError(f"expected one, found {len(items)}: {items}")
    return items[0]
