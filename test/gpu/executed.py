"""Turns what test/gpu/run recorded by instruction, and of versions of kernels, into tables."""

import collections
import csv
import lzma
import pathlib
import re
import statistics

import counters

INSTRUCTION_BYTES = 16  # since Volta
ADDRESS, TEXT = "Address", "Source"
# Columns of Nsight Compute's page, by those of the table; some versions print metrics by their names.
COUNTS = {
    "warps": ("Instructions Executed", "inst_executed"),
    "threads": ("Thread Instructions Executed", "thread_inst_executed"),
    "threads_on": ("Predicated-On Thread Instructions Executed", "thread_inst_executed_true"),
    "requests": ("L1 Tag Requests Global", "memory_l1_tag_requests_global"),
    "sectors": ("L2 Theoretical Sectors Global", "memory_l2_theoretical_sectors_global"),
    "sectors_ideal": ("L2 Theoretical Sectors Global Ideal", "memory_l2_theoretical_sectors_global_ideal"),
    "passes": ("L1 Wavefronts Shared", "memory_l1_wavefronts_shared"),
    "passes_ideal": ("L1 Wavefronts Shared Ideal", "memory_l1_wavefronts_shared_ideal"),
}
MEMORY = ("requests", "sectors", "sectors_ideal", "passes", "passes_ideal")  # empty where they are 0
COLUMNS = ("program", "arguments", "kernel", "launch", "index", "opcode", *COUNTS)
PAIR_COLUMNS = ("program", "arguments", "kernel", "launch", "cold_us", "warm_us", "min_us", "max_us", "together_us")
COLD_LAUNCHES = 5  # of each one of the program's, as test/gpu/run has RELAUNCHES=2: itself, 2, and 2 more


def opcode(text):
    """Returns the opcode with its modifiers: LDG.E.CONSTANT of `@P0 LDG.E.CONSTANT R2, desc[UR4][R2.64]`."""
    words = [word for word in text.replace(";", " ").split() if not word.startswith("@") and word != "{"]
    return words[0].rstrip(",") if words else ""


def number(text):
    """Returns the whole number in a cell of ncu's, without its commas; none for `n/a`, `-` and nothing."""
    digits = text.replace(",", "")
    return int(float(digits)) if re.fullmatch(r"\d+(\.\d+)?", digits) else None


def places(heading):
    """Returns the index of each count's column; a heading may name one twice."""
    return {name: next((heading.index(title) for title in titles if title in heading), None) for name, titles in COUNTS.items()}


def kernels(lines):
    """Yields (kernel's name, [(index, opcode, {count: number})]) for each launch on the page `source` of machine code."""
    name, heading, columns, rows, begin = None, None, {}, [], 0
    for cells in csv.reader(line for line in lines if not line.startswith("==")):
        while cells and not cells[-1]:
            cells.pop()  # some versions end a line with a comma
        if cells[:1] in (["Kernel Name"], ["Function Name"]):
            if heading:
                yield name, rows
            name, heading, rows = ", ".join(cells[1:]), None, []
        elif ADDRESS in cells and TEXT in cells:
            heading, columns = cells, places(cells)
        elif heading and len(cells) > heading.index(TEXT):
            address = int(cells[heading.index(ADDRESS)], 0)
            begin = begin if rows else address
            counts = {count: number(cells[at]) if at is not None and at < len(cells) else None for count, at in columns.items()}
            rows.append(((address - begin) // INSTRUCTION_BYTES, opcode(cells[heading.index(TEXT)]), counts))
    if heading:
        yield name, rows


def listed(path):
    """Yields (name, program, arguments) of the programs that a step ran."""
    for line in path.read_text().splitlines():
        name, program, arguments = line.split("\t")
        yield name, (pathlib.PurePath(program).name if not name.startswith("reference_") else name), arguments


def instruction_rows(step):
    """Yields the table's lines: each kernel's first launch."""
    for name, program, arguments in listed(step / "executed.tsv"):
        path = step / f"{name}.csv"
        if not path.exists():
            continue
        seen = set()
        with path.open(newline="") as page:
            for kernel, rows in kernels(page):
                if kernel in seen:
                    continue
                seen.add(kernel)
                for index, code, counts in rows:
                    shown = ["" if counts[count] is None or (count in MEMORY and not counts[count]) else str(counts[count]) for count in COUNTS]
                    yield [program, arguments, kernel, "1", str(index), code, *shown]


def write_instructions(step, target):
    """Writes instructions.tsv.xz, and cubins.tsv: which machine code it is. Returns the number of lines."""
    rows = list(instruction_rows(step))
    with lzma.open(target / "instructions.tsv.xz", "wt", preset=9) as table:
        for row in [COLUMNS, *rows]:
            table.write("\t".join(row) + "\n")
    (target / "cubins.tsv").write_text((step / "cubins.tsv").read_text())
    return len(rows)


def warm_times(path):
    """Returns [(kernel, [median, least, most, together])] of a program's launches, in order."""
    found = []
    for line in path.read_text(errors="replace").splitlines():
        if match := re.fullmatch(r"relaunched ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) (.+)", line):
            found.append((match[5], list(match.groups()[:4])))
    return found


def cold_times(warplens, path):
    """Returns [(kernel, median in microseconds)] of a program's launches, each of which was profiled several times."""
    launches = counters.read(warplens, path)
    found = []
    for first in range(0, len(launches) - COLD_LAUNCHES + 1, COLD_LAUNCHES):
        group = launches[first:first + COLD_LAUNCHES]
        if len({launch["kernel"] for launch in group}) != 1:
            raise counters.Damaged(f"{path}: launch {first + 1} was not followed by {COLD_LAUNCHES - 1} of its kind")
        found.append((group[0]["kernel"], statistics.median(launch["counters"]["gpu__time_duration.sum"] for launch in group) * 1e6))
    return found


def pair_rows(warplens, step):
    """Yields a line for each launch of each program, with the times that there are."""
    for name, program, arguments in listed(step / "programs.tsv"):
        text, table = step / f"{name}.txt", step / f"{name}.csv"
        warm = warm_times(text) if text.exists() else []
        cold = cold_times(warplens, table) if table.exists() else []
        seen = collections.Counter()
        for i in range(max(len(warm), len(cold))):
            kernel = counters.base_name(cold[i][0] if i < len(cold) else warm[i][0])
            seen[kernel] += 1
            yield [program, arguments, kernel, str(seen[kernel]), f"{cold[i][1]:.3f}" if i < len(cold) else "",
                   *(warm[i][1] if i < len(warm) else [""] * 4)]


def write_pairs(warplens, step, path):
    """Writes pairs.tsv; returns the number of lines."""
    rows = list(pair_rows(warplens, step))
    path.write_text("\n".join("\t".join(row) for row in [PAIR_COLUMNS, *rows]) + "\n")
    return len(rows)
