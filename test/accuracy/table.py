"""The table of measurements, what the model predicts for its rows, and how far off that is."""

import csv
import dataclasses
import pathlib

import boards
import modelled

HERE = pathlib.Path(__file__).resolve().parent

# By figure: the unit of its errors, and by how much the error of a row may grow before it counts as worse.
FIGURES = {"time": ("%", 3.0), "l1": ("points", 1.0), "l2": ("points", 1.0), "dram_read": ("%", 3.0), "dram_write": ("%", 3.0)}

# Traits of kernels, each of which a model can get wrong on its own. A GPU's file names those that no kernel measured on it has.
TRAITS = ("shared memory", "constant memory", "textures", "local memory", "atomics", "double precision", "special functions",
          "tensor cores", "asynchronous copies", "scattered loads", "strided stores")


def read_tsv(path):
    with open(path, newline="", encoding="utf-8") as text:
        return list(csv.DictReader((line for line in text if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE))


def number(text):
    return float(text) if text else None


def read_boards(path=HERE / "boards.tsv"):
    """Returns the boards by their names."""
    found = {}
    for row in read_tsv(path):
        l1 = {"": None, "true": True, "false": False}[row["l1_global_loads"]]
        figures = [number(row[column]) for column in ("clock_mhz", "dram_gbs", "copies_achieved")]
        found[row["board"]] = boards.Board(row["board"], row["gpu"], *figures, l1, row["note"])
    return found


@dataclasses.dataclass(frozen=True)
class Row:
    """A kernel that was measured on a board, with its counterpart among the kernels of this folder."""
    board: boards.Board
    program: str    # kernels/PROGRAM.cu
    arguments: str
    kernels: tuple  # whose times are added up; usually one
    launch: int     # which launch of the kernel in the program, from 1 on
    begins: str     # "cold" or "warm", the L2 of the launch
    blocks: int | None  # of the snapshot; None: as many as the GPU requires
    share: float    # of the measured work that the program's launch does
    use: str        # "fit": figures of the GPU's file may be chosen by it; "held back"; "by hand": calculated, not measured
    tested: bool    # by `check` without further options
    measured: dict  # by figure; the time in microseconds
    top_stall: str
    traits: tuple
    source: str
    reason: str     # why the model is off, where that is understood

    @property
    def key(self):
        """Returns what identifies the row in the file of errors."""
        launch = f"#{self.launch}" if self.launch > 1 else ""
        return " ".join(filter(None, (self.board.name, self.program, self.arguments, "+".join(self.kernels) + launch)))


def measured_figures(row, board):
    """Returns what was measured, by figure."""
    figures = {figure: number(row[figure]) for figure in ("l1", "l2", "dram_read", "dram_write") if row[figure]}
    if row["cycles"]:
        figures["time"] = float(row["cycles"]) / board.cycles_per_us
    elif row["us"]:
        figures["time"] = float(row["us"])
    return figures


def read_row(row, known_boards):
    board = known_boards[row["board"]]
    if row["use"] not in ("fit", "held back", "by hand"):
        raise modelled.Failure(f"a row of {row['program']} has an unknown use: {row['use']}")
    traits = tuple(filter(None, row["traits"].split(", ")))
    if unknown := set(traits) - set(TRAITS):
        raise modelled.Failure(f"a row of {row['program']} has unknown traits: {', '.join(sorted(unknown))}")
    if row["begins"] not in ("", "warm"):
        raise modelled.Failure(f"a row of {row['program']} begins neither warm nor as others do: {row['begins']}")
    return Row(board, row["program"], row["arguments"], tuple(row["kernel"].split("+")), int(row["launch"] or 1), row["begins"] or "cold",
               int(row["blocks"]) if row["blocks"] else None, float(row["share"] or 1), row["use"], row["test"] == "yes",
               measured_figures(row, board), row["top_stall"], traits, row["source"], row["reason"])


def read_rows(path=HERE / "measurements.tsv", known_boards=None):
    known_boards = known_boards or read_boards()
    rows = [read_row(row, known_boards) for row in read_tsv(path)]
    keys = [row.key for row in rows]
    if twice := {key for key in keys if keys.count(key) > 1}:
        raise modelled.Failure(f"rows that are there twice: {', '.join(sorted(twice))}")
    return rows


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What was predicted for a row, and its errors by figure: predicted less measured, in % of the measured or in points."""
    predicted: dict
    errors: dict
    top_stall: str
    kind: str = ""  # of launches, by which intervals are formed (intervals.py)


def nth_launch(kernels, name, gpu, launch):
    """Returns a launch of a kernel on a GPU, of a result's kernels."""
    launches = [kernel for kernel in kernels if modelled.base_name(kernel) == name and kernel["gpu"] == gpu]
    if len(launches) < launch:
        there = sorted({modelled.base_name(kernel) for kernel in kernels})
        raise modelled.Failure(f"the result has {len(launches)} launches of {name} on {gpu}; it has kernels {', '.join(there)}")
    return launches[launch - 1]


def predict(row, kernels, gpu):
    """Returns a row's outcome, from the kernels of a result on the GPU of this name."""
    found = [nth_launch(kernels, name, gpu, row.launch) for name in row.kernels]
    first = found[0]
    predicted = {"l1": modelled.total(first, "l1_read_hit_rate"), "l2": modelled.total(first, "l2_read_hit_rate")}
    times = [modelled.microseconds_of(kernel) for kernel in found]
    predicted["time"] = None if None in times else sum(times) / row.share
    for figure in ("dram_read", "dram_write"):
        amount = first["totals"].get(f"{figure}_bytes")
        # A part of the blocks does not tell what all of them share.
        predicted[figure] = amount / row.share if amount is not None and modelled.whole_launch(first) == 1 else None
    predicted = {figure: value for figure, value in predicted.items() if value is not None and figure in row.measured}
    errors = {figure: error_of(figure, value, row.measured[figure]) for figure, value in predicted.items()}
    return Outcome(predicted, errors, modelled.top_stall(first) or "", first.get("time", {}).get("kind", ""))


def error_of(figure, predicted, measured):
    return 100 * (predicted - measured if FIGURES[figure][0] == "points" else predicted / measured - 1)


def is_right(row, top_stall):
    """Returns whether the top stall is that of hardware; None where either is not known."""
    return top_stall == row.top_stall if row.top_stall and top_stall else None


# The recorded errors

@dataclasses.dataclass(frozen=True)
class Recorded:
    errors: dict
    top_stall: str
    kind: str = ""


def recorded_of(outcome):
    """Returns what is recorded of an outcome."""
    return Recorded(outcome.errors, outcome.top_stall, outcome.kind)


def read_errors(path=HERE / "errors.tsv"):
    """Returns what was recorded, by the rows' keys."""
    if not path.exists():
        return {}
    return {row["row"]: Recorded({figure: float(row[figure]) for figure in FIGURES if row[figure]}, row["top_stall"], row["kind"]) for row in read_tsv(path)}


def write_errors(recorded, rows, path=HERE / "errors.tsv"):
    """Writes the errors of the rows that the table has, in its order."""
    lines = ["# Written by `accuracy.py record`: predicted less measured, of times and bytes in % of the measured, of hit rates in points.",
             "\t".join(("row", *FIGURES, "top_stall", "kind"))]
    for row in rows:
        if entry := recorded.get(row.key):
            figures = (f"{entry.errors[figure]:.1f}" if figure in entry.errors else "" for figure in FIGURES)
            lines.append("\t".join((row.key, *figures, entry.top_stall, entry.kind)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def worse_than(row, outcome, recorded):
    """Returns a text for each figure of the row that got worse than what was recorded."""
    if recorded is None:
        return [f"{row.key}: no error is recorded"]
    texts = []
    for figure, (unit, allowed) in FIGURES.items():
        before, now = recorded.errors.get(figure), outcome.errors.get(figure)
        if before is not None and now is None:
            texts.append(f"{row.key}: {figure} is not known any more; its error was {before:+.1f} {unit}")
        elif before is not None and abs(now) > abs(before) + allowed:
            texts.append(f"{row.key}: {figure} is off by {now:+.1f} {unit}, recorded are {before:+.1f}")
    if is_right(row, recorded.top_stall) and not is_right(row, outcome.top_stall):
        texts.append(f"{row.key}: the top stall is {outcome.top_stall or 'not known'}, measured and recorded is {row.top_stall}")
    return texts


def better_than(row, outcome, recorded):
    """Returns whether a figure got better by as much as would count as worse the other way round."""
    return recorded is not None and any(
        figure in outcome.errors and figure in recorded.errors and abs(outcome.errors[figure]) < abs(recorded.errors[figure]) - allowed
        for figure, (_, allowed) in FIGURES.items())


# Summaries

@dataclasses.dataclass(frozen=True)
class Summary:
    count: int
    mean: float
    worst: float  # signed
    worst_row: Row


def summary_of(rows, recorded, figure):
    """Returns the mean and the worst of a figure's errors over the rows that have it; None if none do."""
    errors = [(recorded[row.key].errors[figure], row) for row in rows if row.key in recorded and figure in recorded[row.key].errors]
    if not errors:
        return None
    worst, worst_row = max(errors, key=lambda entry: abs(entry[0]))
    return Summary(len(errors), sum(abs(error) for error, _ in errors) / len(errors), worst, worst_row)


def measured_on(rows, gpu):
    """Returns the rows that were measured on a GPU, on whatever board."""
    return [row for row in rows if row.board.gpu == gpu and row.use != "by hand"]
