"""Holds the model's changes of time against measured ones: versions of kernels before and after a change.

    python3 test/placement/pairs/pairs.py build/bin/warplens [--only WORD] [--trials N] [--folder FOLDER]

Prints for each pair the measured and the modelled speed-up and whether the signs agree; then the shares of signs that
are right, of pairs within 3 % that are called the same, and the error of the logarithm. `--folder` keeps results, so
that a second run models only what is missing.
"""
import argparse
import collections
import hashlib
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SAME_MEASURED = 0.03  # as the pairs are classed
SAME_MODELLED = 0.05  # what `warplens advise --check` calls the same
MIN_SHARE_OF_SIGNS = 0.9


def rows():
    """Returns the table as dictionaries."""
    lines = [line for line in (HERE / "pairs.tsv").read_text().splitlines() if line and not line.startswith("#")]
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"))) for line in lines[1:]]


def base_name(name):
    return re.sub(r"<.*", "", re.sub(r"\(.*", "", name)).split()[-1].split("::")[-1]


def kernels_of(warplens, gpu, program, trials, folder):
    """Returns the kernels of a run of the program, modelled on the GPU."""
    key = hashlib.sha1(f"{gpu} {program} {trials}".encode()).hexdigest()[:16]
    file = folder / f"{key}.json"
    if not file.exists():
        source, *arguments = program.split()
        command = [warplens, "profile", f"{source}.cu", "--gpu", gpu, "--trials", str(trials), "--format", "json", "-o", str(file), "--quiet",
                   "--launches", "8", "--run", *arguments]
        finished = subprocess.run(command, cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if finished.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {finished.returncode}:\n{finished.stderr[-2000:]}")
    return json.loads(file.read_text())["kernels"]


def microseconds(warplens, gpu, side, share, trials, folder):
    """Returns the modelled time of one side of a pair, for all of the measured work."""
    program, _, names = side.partition(" = ")
    kernels = kernels_of(warplens, gpu, program.strip(), trials, folder)
    if names:
        seen = collections.Counter()
        chosen = []
        for kernel in kernels:
            name = base_name(kernel["name"])
            seen[name] += 1
            chosen += [kernel for wanted in names.split("+") if wanted in (f"{name}#{seen[name]}", name if seen[name] == 1 else None)]
        kernels = chosen
    return sum(kernel["time"]["microseconds"]["mean"] for kernel in kernels) / float(share)


def kendall(steps):
    """Returns Kendall's tau of measured and modelled times, over the pairs whose measured times differ by more than
    SAME_MEASURED: 1 if all are in order, -1 if none is; none where no pair differs."""
    signs = [1 if b[1] > a[1] else -1 for i, a in enumerate(steps) for b in steps[i + 1:] if b[0] > a[0] * (1 + SAME_MEASURED)]
    return sum(signs) / len(signs) if signs else None


def verdict(speed_up, same):
    return "same" if abs(math.log(speed_up)) < math.log1p(same) else "faster" if speed_up > 1 else "slower"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("warplens")
    parser.add_argument("--only", default="")
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    temporary = tempfile.TemporaryDirectory()
    folder = options.folder or pathlib.Path(temporary.name)
    folder.mkdir(parents=True, exist_ok=True)
    warplens = str(pathlib.Path(options.warplens).resolve())

    failed, signs, same, errors, ladders = 0, [], [], [], collections.defaultdict(list)
    print(f"{'GPU':<11}{'before → after':<62}{'measured':>9}{'modelled':>9}  verdict")
    for row in rows():
        if not re.search(options.only, "\t".join(row.values())):
            continue
        gpu = row["gpu"].rstrip("*")
        try:
            before = microseconds(warplens, gpu, row["before"], row["before_share"], options.trials, folder)
            after = microseconds(warplens, gpu, row["after"], row["after_share"], options.trials, folder)
        except (KeyError, TypeError, RuntimeError) as problem:
            failed += 1
            print(f"{row['gpu']:<11}{row['before']} → {row['after']}: {problem!r}")
            continue
        measured, modelled = float(row["before_ms"]) / float(row["after_ms"]), before / after
        expected = verdict(measured, SAME_MEASURED)
        got = verdict(modelled, SAME_MODELLED)
        if expected == "same":
            same.append(got == "same")
            right = same[-1]
        else:
            signs.append((modelled > 1) == (measured > 1))
            right = signs[-1]
        if not row["gpu"].endswith("*"):
            errors.append(abs(math.log2(modelled / measured)))
        ladders[row["gpu"], row["source"]].append((float(row["before_ms"]), before))
        ladders[row["gpu"], row["source"]].append((float(row["after_ms"]), after))
        name = f"{row['before']} → {row['after']}".replace("../../accuracy/kernels/", "")
        print(f"{row['gpu']:<11}{name:<62}{measured:>9.3f}{modelled:>9.3f}  {'' if right else 'WRONG: '}{expected}, modelled {got}", flush=True)
    if signs:
        print(f"signs right: {sum(signs)} of {len(signs)} that differ by more than {SAME_MEASURED:.0%} ({sum(signs) / len(signs):.0%})")
    if same:
        print(f"called the same (within {SAME_MODELLED:.0%}): {sum(same)} of {len(same)} ({sum(same) / len(same):.0%})")
    if errors:
        print(f"median error of log2(speed-up): {statistics.median(errors):.3f} ({2 ** statistics.median(errors) - 1:.1%}), of {len(errors)} on modelled GPUs")
    for (gpu, source), steps in ladders.items():
        steps = sorted(set(steps))
        tau = kendall(steps)
        if tau is not None and len(steps) > 2:
            print(f"ladder {source} on {gpu}: Kendall's tau {tau:.2f}, of {len(steps)} versions")
    if failed:
        print(f"not modelled: {failed}")
    return 0 if failed == 0 and sum(signs) >= MIN_SHARE_OF_SIGNS * len(signs) else 1


if __name__ == "__main__":
    sys.exit(main())
