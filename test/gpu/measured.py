#!/usr/bin/env python3
"""Prints the programs that test/gpu/run profiles beside the reference kernels: those that the table of errors, the pairs, the sample of
changes and the verdicts know, as lines "NAME\tSOURCE\tARGUMENTS". SOURCE is a path from this folder; a program's lines have numbers behind its name."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PLACEMENTS = ("convolution", "product", "sparse", "forces", "histogram", "layer", "sum", "stencil")  # what placements.cu has
sys.path += [str(HERE.parent / "accuracy"), str(HERE.parent / "placement/pairs")]


def rows():
    """Returns (folder, program, arguments) once each, those of the table of errors first."""
    import pairs
    import table
    kernels = HERE.parent / "accuracy/kernels"
    found = {(kernels / row.program, row.arguments): None for row in table.read_rows()}
    for row in pairs.rows():
        for side in (row["before"], row["after"]):
            program, *arguments = side.partition(" = ")[0].split()
            found[(pairs.HERE / program).resolve(), " ".join(arguments)] = None
    placement = HERE.parent / "placement"
    for program, arguments in [*((placement / "pairs/placements", kernel) for kernel in PLACEMENTS), (placement / "sample/sample", "")]:
        found[program, arguments] = None
    for source in sorted((HERE.parent / "verdicts/kernels").glob("*.cu")):
        found[source.with_suffix(""), ""] = None
    return list(found)


def lines():
    counts = {}
    for program, arguments in rows():
        base = f"{program.relative_to(HERE.parent).parts[0]}_{program.name}"
        counts[base] = counts.get(base, 0) + 1
        yield f"{base}_{counts[base]}", f"../{program.relative_to(HERE.parent)}.cu", arguments


def main():
    for line in lines():
        print(*line, sep="\t")


if __name__ == "__main__":
    main()
