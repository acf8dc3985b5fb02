"""Between which times nine launches of ten like one lie: conformal intervals, from the errors of rows by which no figure was chosen.

The score of a row is |ln(measured time / predicted time)|. For a launch that is like n groups of rows, a group being what one program's rows
on one GPU are, the quantile of the scores at 0.9 (n + 1) / n, each group with the same weight, is exceeded once in ten times, whatever the
scores' distribution is (Vovk, Gammerman, Shafer: Algorithmic Learning in a Random World, 2005; with weights for groups, as what one program's
rows get wrong they get wrong together).

Which rows a launch is like: those of its kind (what bounds it) on its GPU; where there are too few, of its kind on GPUs of the same
generation, of all kinds on its GPU, of all kinds on that generation, and all rows.
"""

import collections
import dataclasses
import math
import tomllib

import modelled

COVERED = 0.9
GROUPS = 20  # of rows at least: with nine a quantile at 0.9 is their maximum, and with twenty there are two beyond it
KINDS = ("small", "dram", "l2", "sm", "latency")
GENERATIONS = {2.0: "Fermi", 3.5: "Kepler", 3.7: "Kepler", 6.1: "Pascal", 7.0: "Volta", 7.5: "Turing", 8.0: "GA100", 8.6: "GA10x", 8.9: "Ada",
               9.0: "Hopper", 10.0: "Blackwell", 12.0: "GeForce Blackwell"}


@dataclasses.dataclass(frozen=True)
class Score:
    gpu: str
    program: str
    kind: str
    value: float


@dataclasses.dataclass(frozen=True)
class Within:
    """How far apart predicted and measured times are in nine launches of ten: neither is more than 1 + `within` times the other."""
    within: float
    launches: int
    measured_on: str
    of_all_kinds: bool


def generation(gpu):
    text = (modelled.GPUS / f"{gpu}.toml").read_text(encoding="utf-8")
    capability = tomllib.loads(text)["sm"]["compute_capability"]["value"]
    return GENERATIONS.get(capability, f"compute capability {capability}")


def scores_of(rows, recorded, uses=("held back",)):
    """Returns the scores of the rows whose times were compared."""
    found = []
    for row in rows:
        entry = recorded.get(row.key)
        if row.use in uses and entry and "time" in entry.errors:
            found.append(Score(row.board.gpu, row.program, entry.kind, abs(math.log1p(entry.errors["time"] / 100))))
    return found


def quantile(scores):
    """Returns the score that one launch in ten exceeds, or None where too few groups of rows are there to tell."""
    rows_of = collections.Counter((score.gpu, score.program) for score in scores)
    if len(rows_of) < GROUPS:
        return None
    left = COVERED * (len(rows_of) + 1)
    for score in sorted(scores, key=lambda score: score.value):
        left -= 1 / rows_of[score.gpu, score.program]
        if left <= 1e-9:
            return score.value
    return None


def interval(gpu, kind, scores):
    """Returns the Within of a kind of launches on a GPU; None where nothing at all was measured."""
    own = generation(gpu)
    of_generation = {other for other in {score.gpu for score in scores} if generation(other) == own}
    for where, is_like, of_all_kinds in (
            (gpu, lambda score: score.gpu == gpu and score.kind == kind, False),
            (own, lambda score: score.gpu in of_generation and score.kind == kind, False),
            (gpu, lambda score: score.gpu == gpu, True),
            (own, lambda score: score.gpu in of_generation, True),
            ("all GPUs", lambda score: True, True)):
        like = [score for score in scores if is_like(score)]
        if (value := quantile(like)) is not None:
            return Within(math.expm1(value), len(like), where, of_all_kinds)
    return None


def coverage(scores):
    """Returns the scores with the intervals that the rows of other programs give them, which is how a program without measurements fares."""
    judged = []
    for score in scores:
        others = [other for other in scores if other.program != score.program]
        if found := interval(score.gpu, score.kind, others):
            judged.append((score, found))
    return judged


def print_coverage(scores):
    judged = coverage(scores)
    for title, name_of in (("all", lambda score: "all"), ("by GPU", lambda score: score.gpu), ("by kind", lambda score: score.kind)):
        print(title)
        for name in sorted({name_of(score) for score, _ in judged}):
            covered, count, width = summary([one for one in judged if name_of(one[0]) == name])
            print(f"    {name:<12}{covered:>4} of {count:>4} rows lie in their interval ({covered / count:.0%}), which reaches {width:.0%} up in the mean")


def summary(judged):
    """Returns how many of the rows lie in their intervals, how many there are, and by what share the intervals reach up in the mean."""
    covered = sum(score.value <= math.log1p(found.within) for score, found in judged)
    return covered, len(judged), sum(found.within for _, found in judged) / len(judged)
