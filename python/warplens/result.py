"""A result, its kernels and their accesses."""

from __future__ import annotations

import html
import json
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple, Union

from .facts import SiteFacts, TotalFacts
from .nsight import METRICS
from .statistic import Statistic

if TYPE_CHECKING:
    import pandas

SCHEMA = "warplens-result/1"


class ResultError(ValueError):
    """A file that is no result of Warplens, or a result in which nothing was profiled."""


class Site(SiteFacts):
    """An access of a kernel: an expression on a line of its source."""

    def __init__(self, data: Dict[str, Any]) -> None:
        super().__init__(data)
        self.data = data
        self.id: str = data["id"]
        self.file: str = data["file"]
        self.line: int = data["line"]
        self.column: int = data["column"]
        self.expression: str = data["expression"]
        self.kind: str = data["kind"]
        self.space: str = data["space"]
        self.array: Optional[str] = data.get("object")
        time = data.get("time")
        self.time_share = Statistic.read(time["share"]) if time else None
        self.waited_cycles = Statistic.read(time["waited_cycles"]) if time else None

    @property
    def place(self) -> str:
        """FILE:LINE, the file without its folders."""
        return f"{os.path.basename(self.file)}:{self.line}"

    def __repr__(self) -> str:
        return f"<Site {self.place} {self.expression}>"


class Kernel:
    """A launch of a kernel on a GPU. Indexed by a name of Nsight Compute, it gives that metric, or None."""

    def __init__(self, data: Dict[str, Any]) -> None:
        self.data = data
        self.name: str = data["name"]
        self.gpu: str = data["gpu"]
        #: The launches of the kernel for which this one stands, itself included; and of the kernel in the whole run.
        self.launches: Optional[int] = data.get("launches")
        self.launches_of_kernel: Optional[int] = data.get("launches_of_kernel")
        #: How many times the time of this launch those take for which it stands.
        self.times_this_launch: Optional[float] = data.get("times_this_launch")
        time = data.get("time")
        self.time = Statistic.read(time["microseconds"]) if time else None  #: µs of a launch
        #: Why the launch's time is not known, although the trials had a clock.
        self.time_unknown: Optional[str] = data.get("time_unknown")
        self.bound: Optional[str] = time["bound"] if time else None
        self.busy: Dict[str, float] = dict(time["busy"]) if time else {}
        self.stalls: Dict[str, float] = dict((data.get("warps") or {}).get("states", {}))
        #: The figures of the whole kernel.
        self.totals = TotalFacts(data["totals"])
        self.sites: List[Site] = [Site(site) for site in data["sites"]]

    @property
    def metrics(self) -> Dict[str, Optional[float]]:
        """All figures that Nsight Compute has a name for."""
        return {name: value(self) for name, value in METRICS.items()}

    def __getitem__(self, name: str) -> Optional[float]:
        return METRICS[name](self)

    @property
    def time_error(self) -> Optional[float]:
        """How far off times of this GPU's model were in the mean, as a share, where it was measured."""
        accuracy = self.data.get("accuracy") or {}
        error = accuracy.get("time")
        return error["mean_error"] if error else None

    @property
    def likely(self) -> Optional[Tuple[float, float]]:
        """The times in µs between which nine of ten launches like it lie on hardware, where such were measured."""
        likely = (self.data.get("time") or {}).get("likely")
        return (likely["low"], likely["high"]) if likely else None

    def costliest(self, count: int = 3) -> List[Site]:
        """Returns the accesses with the largest shares of the time, or of the latency where there is no time."""
        def cost(site: Site) -> float:
            return site.time_share.mean if site.time_share else site.latency_share or 0.0
        return sorted(self.sites, key=cost, reverse=True)[:count]

    def __repr__(self) -> str:
        return f"<Kernel {self.name} on {self.gpu}, {self.time} µs>" if self.time else f"<Kernel {self.name} on {self.gpu}>"

    def _repr_html_(self) -> str:
        return _table([self])


class Result:
    """What `warplens profile` found: kernels, each on each GPU that was modelled."""

    def __init__(self, data: Dict[str, Any]) -> None:
        self.data = data
        self.program: str = data["program"]
        self.seed: int = data["seed"]
        self.coverage: Optional[float] = data["coverage"].get("executed_accesses_probed")
        self.kernels: List[Kernel] = [Kernel(kernel) for kernel in data["kernels"]]

    def kernel(self, name: str, gpu: Optional[str] = None) -> Kernel:
        """Returns the first kernel of that name, with or without its parameters."""
        for kernel in self.kernels:
            if name in (kernel.name, kernel.name.split("(")[0]) and gpu in (None, kernel.gpu):
                return kernel
        names = sorted({f"{kernel.name} on {kernel.gpu}" for kernel in self.kernels})
        raise KeyError(f"there is no kernel {name!r}{f' on {gpu}' if gpu else ''}; there are {', '.join(names)}")

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def kernels_frame(self) -> pandas.DataFrame:
        """Returns a row per kernel and GPU, the columns by Nsight Compute's names; the index is (kernel, gpu)."""
        import pandas
        rows = [{"kernel": kernel.name, "gpu": kernel.gpu, "bound": kernel.bound, **kernel.metrics} for kernel in self.kernels]
        return pandas.DataFrame(rows).set_index(["kernel", "gpu"])

    def sites_frame(self) -> pandas.DataFrame:
        """Returns a row per access, kernel and GPU, the columns by the result's names; of a statistic the mean and `…_std`."""
        import pandas
        rows = []
        for kernel in self.kernels:
            for site in kernel.sites:
                row: Dict[str, Any] = {"kernel": kernel.name, "gpu": kernel.gpu}
                for name in ("file", "line", "column", "expression", "kind", "space", "array", "executions", "active_lanes",
                             "sectors_per_request", "bank_conflicts", "bytes_used", "bytes_moved", "latency_share"):
                    row[name] = getattr(site, name)
                for name in ("time_share", "waited_cycles", "l1_hit_rate", "l2_hit_rate", "constant_hit_rate", "latency_ns"):
                    statistic = getattr(site, name)
                    row[name] = statistic.mean if statistic else None
                    row[f"{name}_std"] = statistic.std if statistic else None
                rows.append(row)
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        return f"<Result of {self.program}: {len(self.kernels)} kernels>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.program)}</p>{_table(self.kernels)}"


def _table(kernels: List[Kernel]) -> str:
    """Returns a table with a row per kernel: its time, what bounds it, its costliest lines."""
    rows = []
    for kernel in kernels:
        error = f" ({100 * kernel.time_error:.0f} % off in the mean)" if kernel.time_error is not None else ""
        lines = "<br>".join(f"{html.escape(site.place)} <code>{html.escape(site.expression)}</code>"
                            + (f" {100 * site.time_share.mean:.0f} %" if site.time_share else "") for site in kernel.costliest())
        cells = (html.escape(kernel.name), html.escape(kernel.gpu), f"{kernel.time} µs{error}" if kernel.time else "not known",
                 html.escape(kernel.bound or "not known"), lines)
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{name}</th>" for name in ("kernel", "GPU", "time", "bound by", "costliest accesses"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def loads(text: Union[str, bytes]) -> Result:
    """Reads a result from its text."""
    return _read(text, "the text")


def load(path: Union[str, "os.PathLike[str]"]) -> Result:
    """Reads a result that `warplens profile --format json` wrote."""
    with open(path, "rb") as file:
        return _read(file.read(), os.fspath(path))


def _read(text: Union[str, bytes], name: str) -> Result:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ResultError(f"{name}: not JSON: {error}") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise ResultError(f"{name}: not a {SCHEMA} document: the schema is {schema!r}")
    if not data.get("kernels"):
        raise ResultError(f"{name}: nothing was profiled: the result has no kernel")
    try:
        return Result(data)
    except (KeyError, TypeError, IndexError) as error:
        raise ResultError(f"{name}: not a {SCHEMA} document: {type(error).__name__}: {error}") from None
