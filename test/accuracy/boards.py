"""GPU files of the boards on which others measured, where they differ from those of the project: another clock, another memory."""

import dataclasses
import re
import tomllib

import modelled


@dataclasses.dataclass(frozen=True)
class Board:
    """A GPU on which something was measured. Figures that are None are those of the GPU's file."""
    name: str
    gpu: str
    clock_mhz: float | None = None
    dram_gbs: float | None = None
    copies_achieved: float | None = None
    l1_has_global_loads: bool | None = None
    note: str = ""

    @property
    def cycles_per_us(self):
        """Returns the SM clock, in MHz."""
        return self.clock_mhz or tomllib.loads(gpu_text(self.gpu))["sm"]["clock_mhz"]["value"]


def gpu_text(gpu):
    return (modelled.GPUS / f"{gpu}.toml").read_text(encoding="utf-8")


def changed(text, changes, name):
    """Returns a GPU file's text under another name, with other values. `changes` gives for (section, key) a function of the value."""
    section, lines, missed = "", [], set(changes)
    for line in text.splitlines():
        if heading := re.fullmatch(r"\[(\w+)\].*", line):
            section = heading[1]
        key = line.partition(" ")[0]
        if (section, key) in changes:
            missed.discard((section, key))
            line = re.sub(r"(?<=value = )[\w.]+", lambda value, change=changes[section, key]: change(value[0]), line, count=1)
        lines.append(f'name = "{name}"' if line.startswith("name = ") else line)
    if missed:
        raise modelled.Failure(f"the GPU file that {name} changes has no {sorted(missed)}")
    return "\n".join(lines) + "\n"


def slower_clock(text, clock_mhz):
    """Returns the changes to a GPU file for another SM clock. What lies on the SM's side of the memory, the L2 with the way between its
    partitions included, keeps its figures in cycles; memory behind the L2 keeps its own in time."""
    gpu = tomllib.loads(text)
    slower = gpu["sm"]["clock_mhz"]["value"] / clock_mhz
    l2_ns = gpu["l2"]["latency_ns"]["value"]
    changes = {("sm", "clock_mhz"): lambda _: f"{clock_mhz:g}",
               ("dram", "latency_ns"): lambda value: f"{float(value) + l2_ns * (slower - 1):.1f}"}
    for section in ("shared", "constant", "l1", "read_only", "texture", "l2"):
        for key in gpu[section]:
            if key.endswith("bytes_per_ns") or key.endswith("atomics_per_ns"):
                changes[section, key] = lambda value: f"{float(value) / slower:.1f}"
            elif key.endswith("_ns"):
                changes[section, key] = lambda value: f"{float(value) * slower:.3f}"
    return changes


def changes_of(board, text):
    changes = slower_clock(text, board.clock_mhz) if board.clock_mhz is not None else {}
    if board.dram_gbs is not None:
        channels = tomllib.loads(text)["dram"]["channels"]["value"]
        changes["dram", "burst_ns"] = lambda _: f"{modelled.SECTOR * channels / board.dram_gbs:.4f}"
    if board.copies_achieved is not None:
        changes["dram", "copies_achieved"] = lambda _: f"{board.copies_achieved:g}"
    if board.l1_has_global_loads is not None:
        changes["l1", "global_loads"] = lambda _: str(board.l1_has_global_loads).lower()
    return changes


def gpu_argument(board, folder):
    """Returns what --gpu takes for a board: a GPU's name, or the file in the folder that is written for it."""
    text = gpu_text(board.gpu)
    changes = changes_of(board, text)
    if not changes:
        return board.gpu
    path = folder / f"{board.name}.toml"
    path.write_text(changed(text, changes, board.name), encoding="utf-8")
    return str(path)
