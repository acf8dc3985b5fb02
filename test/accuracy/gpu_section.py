"""Writes the table [accuracy] of a GPU file: how far off the model was on the rows that were measured on this GPU."""

import datetime
import re

import intervals
import table

HEADING = "[accuracy] # written by test/accuracy/accuracy.py"


def quoted(text):
    return f'"{text}"'


def measured_lines(gpu, rows, recorded):
    """Returns what is said of the rows that were measured on the GPU, and have been recorded; nothing if there are none."""
    rows = [row for row in table.measured_on(rows, gpu) if row.key in recorded]
    if not rows:
        return []
    lines = [f"gpu = {quoted(gpu)}", f"launches = {len(rows)}", f"kernels = {len({(row.program, row.kernels) for row in rows})}"]
    for figure in ("time", "l1", "l2"):
        if summary := table.summary_of(rows, recorded, figure):
            lines += [f"{figure}_mean_error = {summary.mean / 100:.3f}", f"{figure}_worst_error = {abs(summary.worst) / 100:.3f}"]
    there = {trait for row in rows for trait in row.traits}
    return [*lines, f"without = [{', '.join(quoted(trait) for trait in table.TRAITS if trait not in there)}]"]


def interval_lines(gpu, scores):
    """Returns how far off times are by kind of launches, where that is known."""
    lines = []
    for kind in intervals.KINDS:
        if found := intervals.interval(gpu, kind, scores):
            lines += [f"{kind}_within = {found.within:.3f}", f"{kind}_launches = {found.launches}",
                      f"{kind}_measured_on = {quoted(found.measured_on)}", f'{kind}_kinds = "{"all" if found.of_all_kinds else "its"}"']
    return lines


def relative_line(text):
    """Returns the line by which a file names the GPU's nearest relative, which is chosen by hand; None if it has none."""
    found = re.search(r"^\[accuracy\].*\n(?:(?!\[).*\n)*?(gpu = .*)\n", text, flags=re.MULTILINE)
    return found and found[1]


def lines_of(gpu, text, rows, recorded, date):
    """Returns the table's lines for a GPU file of this text; none if nothing was measured on it or a relative."""
    lines = measured_lines(gpu, rows, recorded)
    if not lines and (relative := relative_line(text)):
        lines = [relative]
    if not lines:
        return []
    return [HEADING, *lines, *interval_lines(gpu, intervals.scores_of(rows, recorded)), f"date = {quoted(date)}"]


def with_section(text, lines):
    """Returns a GPU file's text with these lines as its table [accuracy], which stands before [sources]."""
    text = re.sub(r"^\[accuracy\].*\n(?:(?!\[).*\n)*", "", text, flags=re.MULTILINE)
    return re.sub(r"^(?=\[sources\])", lambda _: "\n".join(lines) + "\n\n", text, count=1, flags=re.MULTILINE)


def without_date(lines):
    return [line for line in lines if not line.startswith("date = ")]


def update(path, rows, recorded):
    """Rewrites a GPU file's table if its errors have changed."""
    text = path.read_text(encoding="utf-8")
    lines = lines_of(path.stem, text, rows, recorded, datetime.date.today().isoformat())
    if lines and without_date(with_section(text, lines).splitlines()) != without_date(text.splitlines()):
        path.write_text(with_section(text, lines), encoding="utf-8")
