#!/usr/bin/env python3
"""Fits a GPU file's caches to a measured pointer chase and writes the figures into the file.

Fits on every second working-set size, and on all of a further run's if there is one, and prints the errors on these and
on the others. Figures in the file that name another source stay as they are. With a set index that spreads a contiguous working set evenly and LRU in each set, the share of misses of
the measured program (test/model/chase.h) has a closed form, Level.misses and Partitions.shares below;
test/model/chase_test.cpp runs the program itself through the model's caches. With --even the L1 gets no early part.

usage: fit_chase.py GPU.toml CHASE.csv [FURTHER.csv] [--even] [--dry-run]
"""
import csv
import functools
import math
import re
import sys
import tomllib

LINES_PER_KIB = 8
EARLY_WAYS, LINES_PER_EARLY_SET = 8, 32  # as in model/cache/uneven_cache.h
USABLE = range(600, 1001, 2)  # what is tried, in thousandths
GOAL = 0.1  # no size further away than that
SECTOR_LAPS = 4  # laps that stay in the same sector of each line
SOURCE = "chase"


def launch(lines):
    """Loads of a launch, the whole laps in them, and the loads of the lap that was cut short."""
    loads = max(1_000_000, lines)
    return loads, *divmod(loads, lines)


def at_most(ways, lines, share):
    """The probability that of a set's lines, each with this share, no more than `ways` are meant."""
    return sum(math.comb(lines, k) * share**k * (1 - share) ** (lines - k) for k in range(min(ways, lines) + 1))


class Level:
    """What is fitted of it: its ways, the share of its size that is usable, the latency of what misses in it and,
    if it has an early part (model/cache/uneven_cache.h), the share of its size from which that overflows, otherwise 0."""

    def __init__(self, name, size_kib, min_ways, flushed, fetch_bytes, may_be_uneven=False):
        self.name, self.size_kib, self.min_ways = name, size_kib, min_ways
        self.flushed, self.fetch_bytes, self.may_be_uneven = flushed, fetch_bytes, may_be_uneven
        self.early_sets = 1 << int(size_kib * LINES_PER_KIB / LINES_PER_EARLY_SET).bit_length() - 1

    def sets(self, ways, usable):
        return max(1, int(int(self.size_kib * LINES_PER_KIB) * usable + 0.5) // ways)

    def uneven_sets(self, ways, usable, early_usable):
        """The period of the early lines, and the sets of the others."""
        period = max(2 * self.early_sets, self.sets(EARLY_WAYS, early_usable)) | 1
        return period, self.sets(ways, usable * (period - self.early_sets) / period) | 1

    @functools.lru_cache(None)
    def misses_in(self, of_part, lines, sets, ways):
        """Of the loads of a launch that come this far for any of `lines` lines, those that miss in a part of the
        level, which `of_part` of the lines belong to. Sets with more lines than ways miss always, the others
        never: but for the first touches where the launch begins with an empty cache, and otherwise for what the
        launch before it loaded last, which is what this one begins with."""
        full, fuller_sets = divmod(of_part, sets)
        loads, laps, rest = launch(lines)
        missing = 0.0
        for count, share in ((full + 1, fuller_sets * (full + 1) / lines), (full, (sets - fuller_sets) * full / lines)):
            if count > ways:
                missing += share
                last_sector = laps % 16 // SECTOR_LAPS
                if not self.flushed and last_sector * 32 < self.fetch_bytes:
                    missing -= share * rest / loads * at_most(ways, count, rest / lines)
            elif self.flushed:
                missing += share * lines * min(4, math.ceil(loads / lines / SECTOR_LAPS)) / loads
        return missing

    def misses(self, lines, ways, usable, early_usable):
        if early_usable == 0:
            return self.misses_in(lines, lines, self.sets(ways, usable), ways)
        period, others = self.uneven_sets(ways, usable, early_usable)
        early = lines // period * self.early_sets + min(lines % period, self.early_sets)
        return (self.misses_in(early, lines, self.early_sets, EARLY_WAYS) +
                self.misses_in(lines - early, lines, others, ways))

    def even_shapes(self):
        for ways in range(self.min_ways, 25):
            for usable in USABLE:
                yield ways, usable / 1000, 0

    def uneven_shapes(self):
        seen = set()
        for ways in range(self.min_ways, 9):
            for usable in USABLE:
                for early_usable in range(USABLE.start, usable + 1, USABLE.step):
                    shape = ways, usable / 1000, early_usable / 1000
                    sets = ways, self.uneven_sets(*shape)
                    if sets not in seen:
                        seen.add(sets)
                        yield shape

    def best(self, shapes, points, hit_latency):
        """Of the shapes that leave no fitted size further away than the goal, or of all if there are none, that of the
        least third powers of the relative errors, which shun large ones; for a given shape the latency beyond this level
        is that of least squares, which has a closed form."""
        fits = []
        for shape in shapes:
            ratios = [(self.misses(int(kib * LINES_PER_KIB), *shape), measured) for kib, measured in points]
            a = sum((ratio / measured) ** 2 for ratio, measured in ratios)
            b = sum(ratio / measured * (1 - hit_latency * (1 - ratio) / measured) for ratio, measured in ratios)
            if a == 0:
                continue
            beyond = b / a
            errors = [abs((hit_latency * (1 - ratio) + beyond * ratio) / measured - 1) for ratio, measured in ratios]
            fits.append((max(errors) > GOAL, sum(error**3 for error in errors), shape, beyond))
        return min(fits)

    def fit(self, points, hit_latency):
        """An early part only where sets that are all alike miss the goal."""
        if not self.flushed:  # what fits any shape hits in all of them
            points = [point for point in points if point[0] > USABLE.start / 1000 * self.size_kib]
        missed, _, shape, beyond = self.best(self.even_shapes(), points, hit_latency)
        if missed and self.may_be_uneven:
            _, _, shape, beyond = self.best(self.uneven_shapes(), points, hit_latency)
        self.ways, self.usable, self.early_usable = shape
        self.hit_latency, self.beyond = hit_latency, beyond

    def fitted_misses(self, kib):
        return self.misses(int(kib * LINES_PER_KIB), self.ways, self.usable, self.early_usable)

    def latency(self, kib):
        """The latency of what gets this far."""
        return self.hit_latency + self.fitted_misses(kib) * (self.beyond - self.hit_latency)


def predict(levels, hit_latency, kib):
    l1, l2 = levels
    return hit_latency + l1.fitted_misses(kib) * (l2.latency(kib) - hit_latency)


class Partitions:
    """An L2 of two partitions, of which one is the loading SM's: each keeps what its SMs read, and of each pair of lines
    one belongs to either, so that a load which misses in its SM's partition goes to memory or to the other one first.
    What is fitted: the ways and the usable share of a partition, and the latency of memory that belongs to its own."""

    def __init__(self, size_kib, fetch_bytes, hop):
        self.size_kib, self.fetch_bytes, self.hop = size_kib / 2, fetch_bytes, hop

    @functools.lru_cache(None)
    def shares(self, lines, sets, ways):
        """Of the loads, those that hit in the SM's partition, those that hit in the other one, and those that go to
        memory there."""
        loads, laps, rest = launch(lines)
        near = far = remote = 0.0
        last_lap_helps = laps % 16 // SECTOR_LAPS * 32 < self.fetch_bytes
        pairs, fuller = divmod((lines + 1) // 2, sets)
        for in_set, share in ((pairs + 1, fuller * 2 * (pairs + 1) / lines), (pairs, (sets - fuller) * 2 * pairs / lines)):
            if 2 * in_set <= ways:
                near += share
                continue
            again = share * rest / loads if last_lap_helps else 0  # of loads of what the launch before loaded last
            found_near = at_most(ways, 2 * in_set, rest / lines)
            near += again * found_near
            others = (share - again * found_near) / 2
            if in_set <= ways:
                far += others
            else:
                found_far = again / 2 * (at_most(ways, in_set, rest / lines) - found_near)
                far += found_far
                remote += others - found_far
        return near, far, remote

    def fixed(self, kib, shape, hit_latency):
        """The part of the latency that is known, and the share of loads that go to memory besides."""
        ways, usable = shape
        sets = max(1, int(int(self.size_kib * LINES_PER_KIB) * usable + 0.5) // ways)
        near, far, remote = self.shares(int(kib * LINES_PER_KIB), sets, ways)
        return hit_latency * near + (hit_latency + self.hop) * far + self.hop * remote, 1 - near - far

    def fit(self, points, hit_latency):
        points = [point for point in points if point[0] > USABLE.start / 1000 * self.size_kib]
        fits = []
        for shape in ((ways, usable / 1000) for ways in range(4, 25) for usable in USABLE):
            parts = [(*self.fixed(kib, shape, hit_latency), measured) for kib, measured in points]
            weight = sum((share / measured) ** 2 for _, share, measured in parts)
            if weight == 0:
                continue
            memory = sum(share * (measured - known) / measured**2 for known, share, measured in parts) / weight
            errors = [abs((known + share * memory) / measured - 1) for known, share, measured in parts]
            fits.append((max(errors) > GOAL, sum(error**3 for error in errors), shape, memory))
        _, _, (self.ways, self.usable), self.beyond = min(fits)
        self.hit_latency = hit_latency

    def latency(self, kib):
        """The latency of what misses in the L1."""
        known, share = self.fixed(kib, (self.ways, self.usable), self.hit_latency)
        return known + share * self.beyond


def write(path, figures):
    text = open(path).read()
    for key, value in figures.items():
        table, name = key.split(".")
        head, body = text.split(f"[{table}]\n", 1)
        line = re.search(rf"^{name} = {{.*$", body, flags=re.M)
        if not line:
            sys.exit(f"{path}: no figure {key}")
        if f'source = "{SOURCE}"' not in line[0]:
            print(f"{key} stays as it is: it has another source")
            continue
        body = body[:line.start()] + f'{name} = {{ value = {value}, source = "{SOURCE}" }}' + body[line.end():]
        text = head + f"[{table}]\n" + body
    open(path, "w").write(text)


def read(curve):
    with open(curve) as lines:
        return [(float(kib), float(cycles)) for kib, cycles in list(csv.reader(lines))[1:]]


def main():
    arguments = [a for a in sys.argv[1:] if a not in ("--even", "--dry-run")]
    if len(arguments) not in (2, 3):
        sys.exit(__doc__.strip().splitlines()[-1])
    gpu_file, *curves = arguments
    gpu = tomllib.load(open(gpu_file, "rb"))
    value = lambda table, name: gpu[table][name]["value"]
    points, *further = [read(curve) for curve in curves]
    every_second, held_out = points[::2], points[1::2]
    fitted = sum(further, every_second)

    l1_kib = (value("l1", "with_shared_bytes") - value("shared", "carveout_bytes")[0]) / 1024
    l2_kib = value("l2", "bytes") / 1024
    fetch = value("l2", "fetch_bytes") if "fetch_bytes" in gpu["l2"] else 32
    # The least ways keep noise from making a cache direct-mapped, which no published structure is.
    may_be_uneven = "--even" not in sys.argv
    l1 = Level("l1", l1_kib, 2, True, fetch, may_be_uneven)
    if value("l2", "partitions") > 1:
        l2 = Partitions(l2_kib, fetch, value("l2", "hop_ns") * value("sm", "clock_mhz") / 1000)
    else:
        l2 = Level("l2", l2_kib, 4, False, fetch)

    # The smallest working sets hardly see the cold misses of a launch.
    flat = [cycles for kib, cycles in every_second if kib < 0.1 * l1_kib]
    hit_latency = sum(flat) / len(flat)
    # A range begins where the level before has long overflown and ends where the next one begins to.
    l1.fit([p for p in fitted if p[0] < 0.75 * l2.size_kib], hit_latency)
    l2.fit([p for p in fitted if p[0] > 2 * l1_kib], l1.beyond)
    levels = [l1, l2]

    of_further = [("further run", run) for run in further]
    for name, some in [("fitted", every_second), ("held out", held_out), ("all", points), *of_further]:
        errors = sorted(((abs(predict(levels, hit_latency, kib) / cycles - 1), kib) for kib, cycles in some))
        within = sum(e <= 0.05 for e, _ in errors) / len(errors)
        worst = ", ".join(f"{e:.1%} at {kib:g} KiB" for e, kib in errors[:-8:-1])
        print(f"{name}: {len(some)} sizes, {within:.1%} of them within 5 %; worst: {worst}")

    ns = lambda cycles: f"{cycles * 1000 / value('sm', 'clock_mhz'):.1f}"
    figures = {"l1.ways": l1.ways, "l1.usable": l1.usable, "l1.early_usable": l1.early_usable,
               "l1.latency_ns": ns(hit_latency), "l1.index": '"modulo"', "l1.replacement": '"lru"',
               "l2.ways": l2.ways, "l2.usable": l2.usable, "l2.latency_ns": ns(l1.beyond),
               "l2.index": '"modulo"', "l2.replacement": '"lru"'}
    # A random chase finds another row open; the file's figure is that of a bank without an open row.
    dram_ns = l2.beyond * 1000 / value("sm", "clock_mhz") - value("dram", "precharge_ns")
    figures["dram.latency_ns"] = f"{dram_ns:.1f}"
    for key, figure in figures.items():
        print(f"{key} = {figure}")
    if "--dry-run" not in sys.argv:
        write(gpu_file, figures)


if __name__ == "__main__":
    main()
