"""Runs the programs of the table's rows: once for all rows that have a program, its arguments and its snapshot in common."""

import concurrent.futures
import os
import pathlib
import re
import tempfile
import tomllib

import boards
import modelled
import table

KERNELS = pathlib.Path(__file__).resolve().parent / "kernels"
TRIALS = 2  # on the machine that the GPU's file states; the order of warps hardly moves a kernel's sums


def groups_of(rows):
    """Returns lists of rows that one run serves."""
    groups = {}
    for row in rows:
        options = nvcc_options(row.board, row.traits)
        key = row.program, row.arguments, row.begins, row.blocks, options, row.board.name if row.blocks else ""
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def nvcc_options(board, traits):
    """Returns the compiler's options. What only machine code knows is there for no other GPU than the board's own."""
    if not {"tensor cores", "asynchronous copies"} & set(traits):
        return "-O3"
    capability = tomllib.loads(boards.gpu_text(board.gpu))["sm"]["compute_capability"]["value"]
    return f"-O3 -arch=sm_{round(10 * capability)}"


def command_of(rows, threads, gpus):
    """Returns the command that models the kernels of rows which one run serves; `gpus`: what --gpu takes."""
    first = rows[0]
    names = "|".join(sorted({re.escape(name) for row in rows for name in row.kernels}))
    return ["profile", f"{first.program}.cu", "--backend", "cpu", "--quiet", f"--{first.begins}", "--stop-when-traced", "--gpu", ",".join(gpus), "--trials", TRIALS,
            "--threads", threads, "--nvcc", nvcc_options(first.board, first.traits), "--kernel", rf"\b({names})\b", "--launches", max(row.launch for row in rows),
            *(["--snapshot-blocks", first.blocks] if first.blocks else []), "--run", *first.arguments.split()]


def write_result(warplens, rows, threads, path, folder):
    """Writes the result of one run, on the board of its first row."""
    command = command_of(rows, threads, [boards.gpu_argument(rows[0].board, folder)])
    modelled.warplens(warplens, [*command[:1], "--format", "json", "-o", path, *command[1:]], KERNELS)


def run_group(warplens, rows, threads):
    """Returns the outcomes of the rows of one run, by key."""
    with tempfile.TemporaryDirectory() as folder:
        gpus = {row.board.name: boards.gpu_argument(row.board, pathlib.Path(folder)) for row in rows}
        kernels = modelled.kernels_of(warplens, command_of(rows, threads, gpus.values()), KERNELS)
        return {row.key: table.predict(row, kernels, pathlib.Path(gpus[row.board.name]).stem) for row in rows}


def run(warplens, rows, jobs=None):
    """Yields a row and its outcome for all rows. Groups run side by side, each on one core; the outcomes do not depend on that."""
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        running = [(group, pool.submit(run_group, warplens, group, 1)) for group in groups_of(rows)]
        for group, outcome in running:
            found = outcome.result()
            yield from ((row, found[row.key]) for row in group)
