#!/usr/bin/env python3
"""Prints what was recorded of the programs as rows of the table of errors, or of the table of pairs. They are appended to these tables by hand,
after a look; a row of the table of errors has the traits and the reason of the rows of the same launch on other boards.

usage: rows.py measurements|pairs REFERENCE BOARD SOURCE      e.g. rows.py measurements h100-sxm h100-own "measured by this project: …"
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "accuracy"), str(HERE.parent / "placement/pairs")]


def recorded(reference, folder):
    import table
    path = HERE / "reference" / reference / "programs.tsv"
    return [row for row in table.read_tsv(path) if row["folder"] == folder]


def whole_amount(row):
    """Returns whether what memory wrote is known: what a launch leaves in the L2 is written after it, and not counted."""
    return float(row["dram_write"]) > 4 * 50e6


def measurements(reference, board, source):
    """Yields a row for each recorded launch of the programs of the table of errors: by turns to fit by and held back."""
    import table
    traits, columns = {}, None
    for row in table.read_tsv(table.HERE / "measurements.tsv"):
        columns = columns or list(row)
        for kernel in row["kernel"].split("+"):
            traits.setdefault((row["program"], kernel), row["traits"])
    for number, row in enumerate(recorded(reference, "accuracy")):
        known = dict.fromkeys(columns, "")
        known.update(board=board, program=row["program"], arguments=row["arguments"], kernel=row["kernel"],
                     launch=row["launch"] if row["launch"] != "1" else "", use="held back" if number % 2 else "fit", test="no", us=row["us"],
                     l1=row["l1"], l2=row["l2"], dram_read=row["dram_read"] if float(row["dram_read"]) > 1e5 else "",
                     dram_write=row["dram_write"] if whole_amount(row) else "", top_stall=row["top_stall"],
                     traits=traits.get((row["program"], row["kernel"]), ""), source=source)
        yield [known[column] for column in columns]


def time_of(times, side):
    """Returns the ms of one side of a pair: of its program's kernels all, or those that it names."""
    program, _, names = side.partition(" = ")
    path, *arguments = program.split()
    launches = times.get((pathlib.PurePath(path).name, " ".join(arguments)))
    if launches is None:
        return None
    if not names:
        return sum(launches.values()) / 1000
    wanted = [(name.partition("#")[0], name.partition("#")[2] or "1") for name in names.split("+")]
    return sum(launches[key] for key in wanted) / 1000 if all(key in launches for key in wanted) else None


def pair_rows(reference, board, source):
    """Yields a row for each different pair of programs of which both were recorded."""
    import pairs
    times = {}
    for folder in ("placement", "accuracy"):
        for row in recorded(reference, folder):
            times.setdefault((row["program"], row["arguments"]), {})[row["kernel"], row["launch"]] = float(row["us"])
    seen = set()
    for row in pairs.rows():
        sides = row["before"], row["after"]
        found = [time_of(times, side) for side in sides]
        if sides not in seen and None not in found:
            seen.add(sides)
            yield [board, *sides, *(f"{time:.6g}" for time in found), row["change"], "1", "1", source]


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("measurements", "pairs"):
        sys.exit(__doc__.strip().splitlines()[-1])
    for row in {"measurements": measurements, "pairs": pair_rows}[sys.argv[1]](*sys.argv[2:]):
        print("\t".join(row))


if __name__ == "__main__":
    main()
