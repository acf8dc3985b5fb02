"""Reads Nsight Compute's output with --csv: `--page raw` (a row per kernel, a column per metric, units in the second row) and
`--page details` (a row per kernel and metric). Values come in bytes and nanoseconds; percentages stay what they are."""

import csv

PREFIXES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
SECONDS = {"second": 1e9, "msecond": 1e6, "usecond": 1e3, "nsecond": 1, "s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}
KERNEL, GRID, BLOCK = "Kernel Name", "Grid Size", "Block Size"


class Damaged(Exception):
    """An error in the file, with its place."""


def scale(unit):
    """Returns the factor for a value in this unit."""
    unit = unit.strip()
    if unit in SECONDS:
        return SECONDS[unit]
    head = unit.split("/")[0]
    if head.endswith("byte") and head[:-4] in PREFIXES:
        return PREFIXES[head[:-4]]
    return 1


def number(text, unit=""):
    """Parses a value that ncu printed: with thousands' commas, "n/a" or nothing if it could not be collected."""
    text = text.strip().replace(",", "")
    if text.lower() in ("", "n/a", "nan", "-nan", "inf"):
        return None
    try:
        return float(text) * scale(unit)
    except ValueError:
        return None


def table(path):
    """Returns the heading and the rows after it, without ncu's own messages before it."""
    with open(path, newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    for start, row in enumerate(rows):
        if KERNEL in row:
            break
    else:
        raise Damaged(f"{path}: no row with a column '{KERNEL}': is this ncu's --csv output?")
    heading = rows[start]
    body = rows[start + 1:]
    for at, row in enumerate(body, start + 2):
        if len(row) != len(heading):
            raise Damaged(f"{path}: row {at} has {len(row)} columns, the heading {len(heading)}")
    if not body:
        raise Damaged(f"{path}: a heading and nothing behind it")
    return heading, body


def read_raw(heading, body):
    fixed = {name: heading.index(name) for name in (KERNEL, GRID, BLOCK)}
    units = [""] * len(heading)
    if not body[0][fixed[KERNEL]]:  # the row of units names no kernel
        units, body = body[0], body[1:]
    metrics = [(place, name) for place, name in enumerate(heading) if "__" in name]
    return [{"kernel": row[fixed[KERNEL]], "grid": row[fixed[GRID]], "block": row[fixed[BLOCK]],
             "metrics": {name: value for place, name in metrics if (value := number(row[place], units[place])) is not None}}
            for row in body]


def read_details(heading, body):
    place = {name: heading.index(name) for name in ("ID", KERNEL, GRID, BLOCK, "Metric Name", "Metric Unit", "Metric Value")}
    kernels = {}
    for row in body:
        kernel = kernels.setdefault(row[place["ID"]], {"kernel": row[place[KERNEL]], "grid": row[place[GRID]],
                                                       "block": row[place[BLOCK]], "metrics": {}})
        value = number(row[place["Metric Value"]], row[place["Metric Unit"]])
        if value is not None:
            kernel["metrics"][row[place["Metric Name"]]] = value
    return list(kernels.values())


def read(path):
    """Returns one entry per profiled launch, in order: {"kernel", "grid", "block", "metrics": {name: value}}."""
    heading, body = table(path)
    for needed in (GRID, BLOCK):
        if needed not in heading:
            raise Damaged(f"{path}: no column '{needed}'")
    if "Metric Name" in heading:
        if missing := [name for name in ("ID", "Metric Unit", "Metric Value") if name not in heading]:
            raise Damaged(f"{path}: no column '{missing[0]}'")
        return read_details(heading, body)
    return read_raw(heading, body)


def base_name(kernel):
    """Returns the base name: `gather` for both `void gather<(unsigned int)0>(const unsigned int *)` and `gather<0u>`."""
    return kernel.removeprefix("void ").split("<")[0].split("(")[0].split("::")[-1].strip()


def first_of_each(launches):
    """Returns the first launch of each kernel, as in a trace; instances of one template are distinguished by their full names."""
    seen = {}
    for launch in launches:
        seen.setdefault(launch["kernel"], launch)
    return list(seen.values())


def ratio(metrics, hits, all_of_them):
    return metrics[hits] / metrics[all_of_them] if hits in metrics and metrics.get(all_of_them) else None


def hit_rates(metrics):
    """Returns the fractions to compare with the model's totals; None if the kernel had no such access or it was not collected.

    For the L2 they are the SMs' own requests if ncu counts them separately, else all."""
    l1_sectors = metrics.get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
    l1 = metrics.get("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct")
    rates = {"l1_read_hit_rate": l1 / 100 if l1 is not None and l1_sectors != 0 else None}
    for way in ("read", "write"):
        own = ratio(metrics, f"lts__t_sectors_srcunit_tex_op_{way}_lookup_hit.sum", f"lts__t_sectors_srcunit_tex_op_{way}.sum")
        percent = metrics.get(f"lts__t_sector_op_{way}_hit_rate.pct")
        rates[f"l2_{way}_hit_rate"] = own if own is not None else percent / 100 if percent is not None else None
    return rates
