"""Reads Nsight Compute's output with `--csv --page source --print-source cuda,sass`, and adds up the memory instructions of each
source line.

Per launch and source file there are rows "File Path" and "Function Name", then a heading, then for each line of source a row with the
sums over its instructions, and behind it a row per instruction (SASS) with an address in place of a line number. Columns without a
value for a row hold "-", left-out instructions "...". Two columns are called "Source": the line's and the instruction's text. (Nsight
Compute CLI 2025.4, "Console Output": `print-source`; Profiling Guide, "Source Metrics".)

Hit rates are missing: the hardware counts them per kernel only."""

import csv

from counters import Damaged, base_name, number

# The counters to add up, by the name of their column.
COLUMNS = {"Instructions Executed": "executed", "Thread Instructions Executed": "lanes", "L1 Tag Requests Global": "tag_requests",
           "L2 Theoretical Sectors Global": "sectors", "L2 Theoretical Sectors Global Ideal": "sectors_ideal",
           "L1 Wavefronts Shared": "wavefronts", "L1 Wavefronts Shared Ideal": "wavefronts_ideal"}
NEEDED = ("Line No", "Address", "Address Space", "Access Operation", "Instructions Executed")


class Block:
    """The instructions that a launch executed of one file."""

    def __init__(self, file, function):
        self.file, self.function = file, function
        self.lines = {}  # by (line, space, operation)

    def add(self, line, row, place):
        """Adds one instruction. Only the first of several columns of one name counts."""
        space, operation = row[place["Address Space"]].strip().lower(), row[place["Access Operation"]].strip().lower()
        if space in ("", "-"):
            return
        entry = self.lines.setdefault((line, space, operation), {"line": line, "space": space, "operation": operation})
        for column, name in COLUMNS.items():
            value = number(row[place[column]]) if column in place else None
            if value is not None:
                entry[name] = entry.get(name, 0) + value


def blocks(path):
    file = function = place = block = line = None
    found = []
    with open(path, newline="") as text:
        for at, row in enumerate(csv.reader(text), 1):
            if len(row) == 2 and row[0] == "File Path":
                file, place = row[1], None
            elif len(row) == 2 and row[0] in ("Function Name", "Kernel Name"):
                function, place = row[1], None
            elif "Line No" in row and "Address" in row:
                if missing := [name for name in NEEDED if name not in row]:
                    raise Damaged(f"{path}: row {at} has no column '{missing[0]}'")
                if file is None or function is None:
                    raise Damaged(f"{path}: row {at} begins a table, but of no file and function")
                width, place = len(row), {name: row.index(name) for name in row}
                block, line = Block(file, function), None
                found.append(block)
            elif place is not None and row:
                if len(row) != width:
                    raise Damaged(f"{path}: row {at} has {len(row)} columns, the heading {width}")
                if row[place["Line No"]].strip().isdigit():
                    line = int(row[place["Line No"]])
                elif row[place["Address"]].strip() not in ("", "-", "...") and line is not None:
                    block.add(line, row, place)
    if not found:
        raise Damaged(f"{path}: no table with columns 'Line No' and 'Address': is this --page source --print-source cuda,sass?")
    return found


def read(path, launches):
    """Returns per launch, in the order of `launches` (their kernels' names): [{"file", "line", "space", "operation", "executed", …}].

    A launch has a block per file; the next one begins where a file is repeated or another kernel's name appears."""
    result = [[] for _ in launches]
    current, seen = 0, set()
    for block in blocks(path):
        while current < len(launches) and (block.file in seen or base_name(launches[current]) not in block.function):
            current, seen = current + 1, set()
        if current == len(launches):
            raise Damaged(f"{path}: {block.function} in {block.file} belongs to none of the launches {launches}")
        seen.add(block.file)
        result[current] += [{"file": block.file.rsplit("/", 1)[-1], **entry} for entry in block.lines.values()]
    return result
