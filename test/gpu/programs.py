"""Turns Nsight Compute's counters of the programs that test/gpu/run profiled into a table: one line per launch, and for the pairs one per pair."""

import collections
import pathlib
import re

import counters

STALLS = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
COLUMNS = ("folder", "program", "arguments", "kernel", "launch", "us", "cycles", "clock_mhz", "instructions", "l1_sectors", "l1", "l2_sectors", "l2",
           "fabric_sectors", "dram_read", "dram_write", "top_stall", "stalls")


def listed(path):
    """Yields (name, folder, program, arguments) of the profiled programs, from the list that measured.py printed."""
    for line in path.read_text().splitlines():
        name, source, arguments = line.split("\t")
        source = pathlib.PurePath(source)
        yield name, source.parts[1], source.stem, arguments


def stalls_of(figures):
    """Returns the warps that wait, by reason, per issued instruction; `selected` is not among them."""
    found = {STALLS.fullmatch(name)[1]: value for name, value in figures.items() if STALLS.fullmatch(name)}
    found.pop("selected", None)
    return found


def row_of(folder, program, arguments, kernel, number, figures):
    """Returns a launch's line of the table. Hit rates are of loads, in the L2 of those that come from SMs."""
    stalls = stalls_of(figures)
    get = figures.get
    l1_sectors = get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 0)
    l2_sectors = get("lts__t_sectors_srcunit_tex_op_read.sum", 0)
    values = {
        "folder": folder, "program": program, "arguments": arguments, "kernel": kernel, "launch": str(number),
        "us": f"{get('gpu__time_duration.sum') * 1e6:.3f}", "cycles": f"{get('sm__cycles_elapsed.max'):.0f}",
        "clock_mhz": f"{get('sm__cycles_elapsed.avg.per_second') / 1e6:.1f}", "instructions": f"{get('smsp__inst_executed.sum'):.0f}",
        "l1_sectors": f"{l1_sectors:.0f}", "l1": f"{get('l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct', 0) / 100:.4f}" if l1_sectors else "",
        "l2_sectors": f"{l2_sectors:.0f}", "l2": f"{get('lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum', 0) / l2_sectors:.4f}" if l2_sectors else "",
        "fabric_sectors": f"{get('lts__t_sectors_srcunit_ltcfabric.sum', 0):.0f}",
        "dram_read": f"{get('dram__bytes_read.sum', 0):.0f}", "dram_write": f"{get('dram__bytes_write.sum', 0):.0f}",
        "top_stall": max(stalls, key=stalls.get) if stalls else "",
        "stalls": " ".join(f"{name}={value:.3f}" for name, value in sorted(stalls.items(), key=lambda item: -item[1]) if value >= 0.005),
    }
    return [values[column] for column in COLUMNS]


def table(warplens, results):
    """Returns the lines of all launches of the programs whose counters the folder has."""
    rows = []
    for name, folder, program, arguments in listed(results / "measured.tsv"):
        path = results / f"{name}.csv"
        if not path.exists():
            continue
        seen = collections.Counter()
        for launch in counters.read(warplens, path):
            kernel = counters.base_name(launch["kernel"])
            seen[kernel] += 1
            rows.append(row_of(folder, program, arguments, kernel, seen[kernel], launch["counters"]))
    return rows


def write(warplens, results, path):
    """Writes the table of a step's results; returns how many launches it has."""
    rows = table(warplens, results)
    path.write_text("\n".join("\t".join(row) for row in [COLUMNS, *rows]) + "\n")
    return len(rows)
