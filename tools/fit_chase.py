#!/usr/bin/env python3
"""Fits a GPU file's caches to a measured pointer chase and writes the figures into the file.

Fits on every second working-set size and prints the error on the others. A level of the hierarchy has three
fitted figures: its ways, the share of its size that is usable, and the latency of what misses in it. With a
set index that spreads a contiguous working set evenly and LRU in each set, the share of misses has a closed
form (miss_ratio below); test/model/test_chase.cpp compares the same curves with the model's own caches.

usage: fit_chase.py GPU.toml CHASE.csv [--dry-run]
"""
import csv
import re
import sys
import tomllib

LINE_KIB = 1 / 8
SOURCE = "chase"


def miss_ratio(lines, sets, ways):
    """Of loads in cyclic order: sets with more lines than ways miss always, the others never."""
    full, fuller_sets = divmod(lines, sets)
    missing = fuller_sets * (full + 1) if full + 1 > ways else 0
    missing += (sets - fuller_sets) * full if full > ways else 0
    return missing / lines


def sets_in(size_kib, usable, ways):
    return max(1, int(size_kib / LINE_KIB * usable + 0.5) // ways)


class Level:
    def __init__(self, name, size_kib, least_ways):
        self.name, self.size_kib, self.least_ways = name, size_kib, least_ways

    def fit(self, points, hit_latency):
        """Least fourth powers of the relative error, which shun large ones; for given sets and ways the latency
        beyond this level is that of least squares, which has a closed form."""
        best = None
        for ways in range(self.least_ways, 25):
            for thousandths in range(700, 1001, 2):
                sets = sets_in(self.size_kib, thousandths / 1000, ways)
                a = b = 0.0
                ratios = [miss_ratio(int(kib / LINE_KIB), sets, ways) for kib, _ in points]
                for ratio, (_, measured) in zip(ratios, points):
                    a += (ratio / measured) ** 2
                    b += ratio / measured * (1 - hit_latency * (1 - ratio) / measured)
                if a == 0:
                    continue
                beyond = b / a
                error = sum(((hit_latency * (1 - r) + beyond * r) / m - 1) ** 4
                            for r, (_, m) in zip(ratios, points))
                if best is None or error < best[0]:
                    best = (error, ways, thousandths / 1000, beyond)
        _, self.ways, self.usable, self.beyond = best
        return self.beyond

    def misses(self, kib):
        return miss_ratio(int(kib / LINE_KIB), sets_in(self.size_kib, self.usable, self.ways), self.ways)


def predict(levels, hit_latency, kib):
    latency = levels[-1].beyond
    for level, inside in reversed(list(zip(levels, [hit_latency] + [l.beyond for l in levels]))):
        latency = inside + level.misses(kib) * (latency - inside)
    return latency


def write(path, figures):
    text = open(path).read()
    for key, value in figures.items():
        table, name = key.split(".")
        head, body = text.split(f"[{table}]\n", 1)
        body, count = re.subn(rf"^{name} = {{.*$", f'{name} = {{ value = {value}, source = "{SOURCE}" }}', body, count=1,
                              flags=re.M)
        if not count:
            sys.exit(f"{path}: no figure {key}")
        text = head + f"[{table}]\n" + body
    open(path, "w").write(text)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--dry-run"]
    if len(arguments) != 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    gpu_file, curve = arguments
    gpu = tomllib.load(open(gpu_file, "rb"))
    value = lambda table, name: gpu[table][name]["value"]
    with open(curve) as lines:
        points = [(float(kib), float(cycles)) for kib, cycles in list(csv.reader(lines))[1:]]
    fitted, held_out = points[::2], points[1::2]

    l1_kib = (value("l1", "with_shared_bytes") - value("shared", "carveout_bytes")[0]) / 1024
    l2_kib = value("l2", "bytes") / 1024
    # The least ways keep noise from making a cache direct-mapped, which no published structure is.
    levels = [Level("l1", l1_kib, 2)]
    if value("l2", "partitions") > 1:
        levels.append(Level("copies", l2_kib / value("l2", "partitions"), 2))
    levels.append(Level("l2", l2_kib, 4))

    flat = [cycles for kib, cycles in fitted if kib < 0.7 * l1_kib]
    hit_latency = latency = sum(flat) / len(flat)
    for i, level in enumerate(levels):
        # From where the level before has long overflown to where the next one begins to.
        low = 2 * levels[i - 1].size_kib if i == 1 else 1.5 * levels[i - 1].size_kib if i else 0
        high = 0.75 * levels[i + 1].size_kib if i + 1 < len(levels) else float("inf")
        latency = level.fit([p for p in fitted if low < p[0] < high], latency)

    for name, some in (("fitted", fitted), ("held out", held_out), ("all", points)):
        errors = sorted(((abs(predict(levels, hit_latency, kib) / cycles - 1), kib) for kib, cycles in some))
        within = sum(e <= 0.05 for e, _ in errors) / len(errors)
        worst = ", ".join(f"{e:.1%} at {kib:g} KiB" for e, kib in errors[:-6:-1])
        print(f"{name}: {len(some)} sizes, {within:.1%} of them within 5 %; worst: {worst}")

    ns = lambda cycles: f"{cycles * 1000 / value('sm', 'clock_mhz'):.1f}"
    beyond = {level.name: level.beyond for level in levels}
    figures = {"l1.ways": levels[0].ways, "l1.usable": levels[0].usable, "l1.latency_ns": ns(hit_latency),
               "l1.index": '"modulo"', "l1.replacement": '"lru"',
               "l2.ways": levels[-1].ways, "l2.usable": levels[-1].usable, "l2.latency_ns": ns(beyond["l1"]),
               "l2.index": '"modulo"', "l2.replacement": '"lru"'}
    if "copies" in beyond:
        figures |= {"l2.copies_ways": levels[1].ways, "l2.copies_usable": levels[1].usable,
                    "l2.far_latency_ns": ns(beyond["copies"])}
    # A random chase finds another row open; the file's figure is that of a bank without an open row.
    dram_ns = beyond["l2"] * 1000 / value("sm", "clock_mhz") - value("dram", "precharge_ns")
    figures["dram.latency_ns"] = f"{dram_ns:.1f}"
    for key, figure in figures.items():
        print(f"{key} = {figure}")
    if "--dry-run" not in sys.argv:
        write(gpu_file, figures)


if __name__ == "__main__":
    main()
