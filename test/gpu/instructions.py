#!/usr/bin/env python3
"""Compares the warp instructions that the executor of machine code executes with those that a GPU counted, for the first launch of each kernel of
the recorded programs (reference/NAME/programs.tsv). A launch of which the model takes a part is compared by its blocks' share of the grid.

usage: instructions.py WARPLENS REFERENCE GPU [REGEX]     e.g. instructions.py build/bin/warplens h100-sxm h100-sxm 'accuracy|verdicts'
Exit code: 1 if a whole launch that was executed differs by over 0.1 %.
"""

import math
import pathlib
import re
import sys
import tempfile

import measured

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "accuracy"))
TOLERANCE = 0.001


def counted(reference):
    """Returns the instructions by folder, program, arguments and kernel, of first launches."""
    import table
    rows = table.read_tsv(HERE / "reference" / reference / "programs.tsv")
    return {(row["folder"], row["program"], row["arguments"], row["kernel"]): float(row["instructions"]) for row in rows if row["launch"] == "1"}


def main():
    import modelled
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    warplens, reference, gpu = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    known, wanted = counted(reference), re.compile(sys.argv[4] if len(sys.argv) == 5 else "")
    outcomes = {"equal": 0, "within 0.1 %": 0, "other": 0, "part of a launch": 0, "not executed": 0}
    for program, arguments in measured.rows():
        folder = program.relative_to(HERE.parent).parts[0]
        if not wanted.search(f"{folder} {program.name}"):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                kernels = modelled.kernels_of(warplens, ["profile", program.with_suffix(".cu"), "--backend", "cpu", "--gpu", gpu, "--trials", "2",
                                                         *(["--run", *arguments.split()] if arguments else [])], scratch)
            except modelled.Failure as failure:
                print(f"{folder} {program.name} {arguments}: {str(failure).splitlines()[-1]}")
                continue
        seen = set()
        for kernel in kernels:
            name = re.sub(r"[<(].*", "", kernel["name"].removeprefix("void ")).split("::")[-1]
            key = (folder, program.name, arguments, name)
            if key not in known or name in seen or not kernel.get("executed"):
                continue
            seen.add(name)
            share = kernel["snapshot"]["blocks"] / math.prod(kernel["grid"])
            executed = kernel["executed"]["instructions"] / share
            error = executed / known[key] - 1
            outcome = ("not executed" if "execution" not in kernel["executed"] else "part of a launch" if share < 1 else
                       "equal" if executed == known[key] else "within 0.1 %" if abs(error) <= TOLERANCE else "other")
            outcomes[outcome] += 1
            print(f"{folder:<10} {program.name:<22} {arguments:<22} {name:<28} {executed:>14,.0f} {known[key]:>14,.0f}  {100 * error:+8.3f} %  {outcome}"
                  f" {kernel['executed'].get('inferred', '')}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))
    return outcomes["other"] != 0


if __name__ == "__main__":
    sys.exit(main())
