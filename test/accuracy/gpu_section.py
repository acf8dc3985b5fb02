"""Writes the table [accuracy] of a GPU file: how far off the model was on the rows that were measured on this GPU."""

import datetime
import re

import table

HEADING = "[accuracy] # written by test/accuracy/accuracy.py"


def quoted(text):
    return f'"{text}"'


def lines_of(gpu, rows, recorded, date):
    """Returns the table's lines, or none if no row of the GPU has been recorded."""
    rows = [row for row in table.measured_on(rows, gpu) if row.key in recorded]
    if not rows:
        return []
    lines = [HEADING, f"gpu = {quoted(gpu)}", f"launches = {len(rows)}", f"kernels = {len({(row.program, row.kernels) for row in rows})}"]
    for figure in ("time", "l1", "l2"):
        if summary := table.summary_of(rows, recorded, figure):
            lines += [f"{figure}_mean_error = {summary.mean / 100:.3f}", f"{figure}_worst_error = {abs(summary.worst) / 100:.3f}"]
    there = {trait for row in rows for trait in row.traits}
    lines.append(f"without = [{', '.join(quoted(trait) for trait in table.TRAITS if trait not in there)}]")
    return [*lines, f"date = {quoted(date)}"]


def with_section(text, lines):
    """Returns a GPU file's text with these lines as its table [accuracy], which stands before [sources]."""
    text = re.sub(r"^\[accuracy\].*\n(?:(?!\[).*\n)*", "", text, flags=re.MULTILINE)
    return re.sub(r"^(?=\[sources\])", lambda _: "\n".join(lines) + "\n\n", text, count=1, flags=re.MULTILINE)


def without_date(lines):
    return [line for line in lines if not line.startswith("date = ")]


def update(path, rows, recorded):
    """Rewrites a GPU file's table if its errors have changed. A file of a GPU without measurements names its nearest relative by hand."""
    lines = lines_of(path.stem, rows, recorded, datetime.date.today().isoformat())
    text = path.read_text(encoding="utf-8")
    if lines and without_date(with_section(text, lines).splitlines()) != without_date(text.splitlines()):
        path.write_text(with_section(text, lines), encoding="utf-8")
