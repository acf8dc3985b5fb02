"""Reads what Nsight Compute wrote, by `warplens counters`. Values come in bytes and seconds; percentages stay what they are."""

import json
import pathlib
import subprocess

BUILT = pathlib.Path(__file__).resolve().parents[2] / "build/bin/warplens"


class Damaged(Exception):
    """An error in a file, with its place."""


def read(warplens, *paths):
    """Returns one entry per profiled launch, in order: {"kernel", "grid", "block", "counters": {name: value}, "lines": […]}."""
    done = subprocess.run([warplens, "counters", "--format", "json", *paths], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise Damaged(done.stderr.strip())
    return json.loads(done.stdout)["launches"]


def base_name(kernel):
    """Returns the base name: `gather` for both `void gather<(unsigned int)0>(const unsigned int *)` and `gather<0u>`."""
    return kernel.removeprefix("void ").split("<")[0].split("(")[0].split("::")[-1].strip()


def first_of_each(launches):
    """Returns the first launch of each kernel, as in a trace; instances of one template are distinguished by their full names."""
    seen = {}
    for launch in launches:
        seen.setdefault(launch["kernel"], launch)
    return list(seen.values())


def ratio(counters, hits, all_of_them):
    return counters[hits] / counters[all_of_them] if hits in counters and counters.get(all_of_them) else None


def hit_rates(counters):
    """Returns the fractions to compare with the model's totals; None if the kernel had no such access or it was not collected.

    For the L2 they are the SMs' own requests if ncu counts them separately, else all."""
    l1_sectors = counters.get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
    l1 = counters.get("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct")
    rates = {"l1_read_hit_rate": l1 / 100 if l1 is not None and l1_sectors != 0 else None}
    for way in ("read", "write"):
        own = ratio(counters, f"lts__t_sectors_srcunit_tex_op_{way}_lookup_hit.sum", f"lts__t_sectors_srcunit_tex_op_{way}.sum")
        percent = counters.get(f"lts__t_sector_op_{way}_hit_rate.pct")
        rates[f"l2_{way}_hit_rate"] = own if own is not None else percent / 100 if percent is not None else None
    return rates
