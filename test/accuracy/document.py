"""Writes docs/accuracy.md from the table and the recorded errors."""

import intervals
import modelled
import table

INTRODUCTION = """# How far off the model is

<!-- Written by test/accuracy/accuracy.py from measurements.tsv and errors.tsv beside it: change these, not this page. -->

Others measured kernels on real GPUs, and `test/accuracy/kernels/` has counterparts of our own writing that equal them in launch and accesses.
`accuracy.py` runs these on the CPU back end through the command line, models the GPU on which each was measured, and compares.
[How it works, and how to add a row](../test/accuracy/README.md).

An error is what was predicted less what was measured: of times and bytes in % of the measured, of hit rates in points.
Means and worst errors are of absolute values.
Figures of a GPU file may be chosen by rows marked *fit*; nothing may be chosen by those *held back*.
Rows *by hand* were not measured: their time follows from published rates, and they count for no GPU.
Launches begin with an empty L2, as under a profiler that flushes the caches, and two trials are run, on the machine that the GPU file states.
"""

NAMES = {"time": "time", "l1": "L1 load hits", "l2": "L2 read hits", "dram_read": "bytes read from DRAM", "dram_write": "bytes written to DRAM"}


def amount(figure, value):
    """Returns a figure's value as text: rates in %, times in µs, bytes in MB."""
    if figure in ("l1", "l2"):
        return f"{100 * value:.1f} %"
    if figure == "time":
        return f"{value:,.1f} µs"
    return f"{value / 1e6:,.2f} MB"


def signed(figure, error):
    """Returns an error with its sign: in %, or in points."""
    return f"{error:+.1f} %" if table.FIGURES[figure][0] == "%" else f"{error:+.1f}"


def plain(figure, error):
    return signed(figure, abs(error))[1:]


def summary_row(gpu, figure, rows, recorded):
    """Returns a line of the table of means, or nothing if no row has the figure."""
    all_rows = table.summary_of(rows, recorded, figure)
    if all_rows is None:
        return []
    parts = [table.summary_of([row for row in rows if row.use == use], recorded, figure) for use in ("fit", "held back")]
    unit = "" if table.FIGURES[figure][0] == "%" else " points"
    cells = [plain(figure, part.mean) + unit if part else "–" for part in (all_rows, *parts)]
    worst = f"{signed(figure, all_rows.worst)}{unit}: `{all_rows.worst_row.key.partition(' ')[2]}`"
    return [f"| {gpu} | {NAMES[figure]} | {all_rows.count} | {' | '.join(cells)} | {worst} |"]


def stall_row(gpu, rows, recorded):
    judged = [table.is_right(row, recorded[row.key].top_stall) for row in rows if row.key in recorded]
    judged = [right for right in judged if right is not None]
    return [f"| {gpu} | top stall | {len(judged)} | {judged.count(True)} right | | | |"] if judged else []


def summary(gpus, rows, recorded):
    lines = ["## By GPU", "", "| GPU | figure | launches | mean error | of those to fit by | of those held back | worst |", "|---|---|---|---|---|---|---|"]
    for gpu in gpus:
        measured = table.measured_on(rows, gpu)
        for figure in table.FIGURES:
            lines += summary_row(gpu, figure, measured, recorded)
        lines += stall_row(gpu, measured, recorded)
    return lines


KINDS = {"small": "short launches", "dram": "bound by DRAM", "l2": "bound by the L2", "sm": "bound by the SMs", "latency": "bound by latency"}


def interval_table(rows, recorded):
    """Returns the section on single times; nothing if too little is recorded for intervals."""
    scores = intervals.scores_of(rows, recorded)
    judged = intervals.coverage(scores)
    if not judged:
        return []
    covered, count, width = intervals.summary(judged)
    of_kinds = []
    for kind, name in KINDS.items():
        if of_kind := [one for one in judged if one[0].kind == kind]:
            inside, rows_of_kind, _ = intervals.summary(of_kind)
            of_kinds.append(f"{name} {inside} of {rows_of_kind}")
    lines = ["", "## How far off one time is", "",
             "Beside a time stands where it lies on hardware in nine cases of ten: by this factor it may be shorter, or longer.",
             "It follows from rows held back: of its kind on its GPU, or where there are fewer than twenty programs, of the next that are like it.",
             f"Where the interval of each row is formed by other programs' rows alone, {covered} of {count} rows lie in theirs ({covered / count:.0%}; 90 % are aimed at), "
             f"which reach {width:.0%} up in the mean: `accuracy.py coverage`.",
             f"By what bounds them: {', '.join(of_kinds)}.", "",
             "| GPU | kind | nine of ten within | by |", "|---|---|---|---|"]
    for gpu in sorted(path.stem for path in modelled.GPUS.glob("*.toml")):
        found = {kind: intervals.interval(gpu, kind, scores) for kind in KINDS}
        for within in dict.fromkeys(filter(None, found.values())):
            kinds = ", ".join(name for kind, name in KINDS.items() if found[kind] == within)
            lines.append(f"| {gpu} | {'all' if within.of_all_kinds else kinds} | {1 + within.within:.2f} × | {within.launches} launches on {within.measured_on} |")
    return lines


def figure_cells(row, recorded):
    """Returns a row's figures as text: measured and error of each."""
    cells = []
    for figure, measured in row.measured.items():
        error = recorded.errors.get(figure)
        if error is not None:
            cells.append(f"{NAMES[figure]} {amount(figure, measured)}: {signed(figure, error)}")
    if row.top_stall and recorded.top_stall:
        right = "right" if table.is_right(row, recorded.top_stall) else f"predicted is {recorded.top_stall}"
        cells.append(f"top stall {row.top_stall}: {right}")
    return "<br>".join(cells)


def rows_of(heading, rows, recorded):
    """Returns a section with a line for each row, the largest error of time first."""
    there = [row for row in rows if row.key in recorded]
    there.sort(key=lambda row: -abs(recorded[row.key].errors.get("time", 0)))
    lines = ["", f"## {heading}", "", "| kernel | use | measured: error | source | why |", "|---|---|---|---|---|"]
    for row in there:
        name = row.key if row.board.name != row.board.gpu else row.key.partition(" ")[2]
        test = ", in the test" if row.tested else ""
        lines.append(f"| `{name}` | {row.use}{test} | {figure_cells(row, recorded[row.key])} | {row.source} | {row.reason} |")
    if missing := [row.key for row in rows if row.key not in recorded]:
        lines += ["", f"Not recorded yet: {', '.join(f'`{key}`' for key in missing)}."]
    return lines


def write(rows, recorded):
    """Returns the page."""
    gpus = [gpu for gpu in sorted(path.stem for path in modelled.GPUS.glob("*.toml")) if table.measured_on(rows, gpu)]
    lines = summary(gpus, rows, recorded) + interval_table(rows, recorded)
    for gpu in gpus:
        lines += rows_of(gpu, table.measured_on(rows, gpu), recorded)
    lines += rows_of("By hand", [row for row in rows if row.use == "by hand"], recorded)
    return INTRODUCTION + "\n" + "\n".join(lines) + "\n"
