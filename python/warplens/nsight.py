"""Kernels' figures under the names of Nsight Compute's metrics.

docs/what-is-a-hit.md defines each figure and says how it differs from the counter of that name. Rates are in percent here, as Nsight
Compute has them, and times in nanoseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Dict, Optional

if TYPE_CHECKING:
    from .result import Kernel

Value = Optional[float]


def _mean(kernel: Kernel, group: str, name: str, scale: float = 1) -> Value:
    """Returns the mean of a member of the kernel's `time` or `totals`, or the number that it is."""
    value = (kernel.data.get(group) or {}).get(name)
    if isinstance(value, dict):
        value = value["mean"]
    return None if value is None else scale * value


def _total(name: str, scale: float = 1) -> Callable[[Kernel], Value]:
    return lambda kernel: _mean(kernel, "totals", name, scale)


def _product(name: str) -> Callable[[Kernel], Value]:
    def value(kernel: Kernel) -> Value:
        x, y, z = kernel.data[name]
        return float(x * y * z)
    return value


def _stall(state: str) -> Callable[[Kernel], Value]:
    """Returns warps in the state per issued instruction: the ratio of the shares of all warps' time."""
    def value(kernel: Kernel) -> Value:
        states = (kernel.data.get("warps") or {}).get("states")
        if not states or not states.get("selected"):
            return None
        return states.get(state, 0.0) / states["selected"]
    return value


def _member(group: str, name: str) -> Callable[[Kernel], Value]:
    return lambda kernel: _mean(kernel, group, name)


STALLS = ("barrier", "branch_resolving", "drain", "lg_throttle", "long_scoreboard", "math_pipe_throttle", "mio_throttle", "not_selected",
          "selected", "short_scoreboard", "tex_throttle", "wait")

METRICS: Dict[str, Callable[["Kernel"], Value]] = {
    "gpu__time_duration.sum": lambda kernel: _mean(kernel, "time", "microseconds", 1000),
    "launch__grid_size": _product("grid"),
    "launch__block_size": _product("block"),
    "launch__registers_per_thread": _member("compiled", "registers"),
    "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct": _total("l1_read_hit_rate", 100),
    "lts__t_sector_op_read_hit_rate.pct": _total("l2_read_hit_rate", 100),
    "lts__t_sector_op_write_hit_rate.pct": _total("l2_write_hit_rate", 100),
    "dram__bytes_read.sum": _total("dram_read_bytes"),
    "dram__bytes_write.sum": _total("dram_write_bytes"),
    "smsp__inst_executed.sum": _member("executed", "instructions"),
    "sm__inst_executed.avg.per_cycle_elapsed": _member("executed", "per_cycle"),
    "sm__warps_active.avg.per_cycle_active": _member("warps", "resident"),
    **{f"smsp__average_warps_issue_stalled_{state}_per_issue_active.ratio": _stall(state) for state in STALLS},
}
