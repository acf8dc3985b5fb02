"""Runs the real command line on programs, and reads the kernels of its results: for whatever holds the model against measurements."""

import json
import math
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GPUS = ROOT / "model/gpu/gpus"
SECTOR = 32


class Failure(Exception):
    """A command failed, or a table is wrong: the text says what, and where."""


def warplens(program, command, folder):
    """Runs a command of warplens; raises Failure with the last lines that it printed."""
    words = [str(word) for word in [program, *command]]
    finished = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                              errors="replace", check=False)
    if finished.returncode != 0:
        raise Failure(f"{' '.join(words)} ended with {finished.returncode}:\n{finished.stdout[-2000:]}")


def kernels_of(program, command, folder):
    """Runs a command that makes a result; returns the result's kernels."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        warplens(program, [*command[:1], "--format", "json", "-o", result.name, *command[1:]], folder)
        return json.load(result)["kernels"]


def mean(statistic):
    return None if statistic is None else statistic["mean"]


def total(kernel, figure):
    return mean(kernel["totals"].get(figure))


def cycles_of(kernel):
    """Returns the cycles that the modelled blocks take."""
    return kernel["time"]["cycles"]["mean"]


def microseconds_of(kernel):
    """Returns the time of the whole launch, or None where it is not known."""
    return mean(kernel.get("time", {}).get("microseconds"))


def base_name(kernel):
    """Returns a kernel's name without return type, namespace, template arguments and parameters."""
    return re.sub(r"<.*", "", re.sub(r"\(.*", "", kernel["name"])).split()[-1].split("::")[-1]


def whole_launch(kernel):
    """Returns the factor from the modelled blocks to all of the launch."""
    return math.prod(kernel["grid"]) / kernel["snapshot"]["blocks"]


def top_stall(kernel):
    """Returns the state, other than issuing, in which the kernel's warps spend most of their time, or None."""
    states = {name: share for name, share in kernel.get("warps", {}).get("states", {}).items() if name not in ("selected", "ended")}
    return max(states, key=states.get) if states else None
