"""Holds suggestions against changes that were made by hand: each kernel of sample.cu and its changed version.

    python3 test/placement/sample/sample.py build/bin/warplens [--gpu GPU,GPU] [--trials N] [--trace FILE]

Prints for each kernel the suggestion that its change follows, what the model predicts of it from the trace of the
kernel as it was, and what it says of the changed kernel's own trace and machine code. Changes that others measured as
slower must not be suggested, nor be modelled as faster. Fails if a sign is wrong.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Of each kernel: the suggestion that its changed version follows, by the words of `advise --format json`.
FOLLOWED = {
    "transpose": "out->shared=padded",
    "banks": "tile padded",
    "masses": "particles split",
    "count": "counters privatised",
    "scale": "threads swapped",
    "sum_rows": "rows->shared=tile",
    "small_blocks": "threads regrouped",
    "needless_shared": "mine->global",
    "window": "in->shared",
    "polynomial": "table->constant",
    "gather": "table->ldg",
    "copy_each": "threads vectorised",
    "read_columns": "in->shared=padded",
    "sum_all": "sum privatised",
    "charge_all": "particles split",
    "turn": "tile padded",
    "stream": "in narrowed",
    "add_rows": "threads swapped",
}
# Kernels whose changed version others measured as slower on an A100, and the suggestion that there must not be; none for
# one that is not tried.
SLOWER = {
    "convolve": "in->shared",
    "multiply": None,
}
TIE = 0.03


def name_of(kernel):
    return kernel.split("(")[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("warplens")
    parser.add_argument("--gpu", default="k80,v100,a100")
    parser.add_argument("--trials", default="4")
    parser.add_argument("--trace", type=pathlib.Path, help="a trace of sample.cu, which is kept there")
    options = parser.parse_args()
    warplens = str(pathlib.Path(options.warplens).resolve())
    with tempfile.TemporaryDirectory() as folder:
        trace = options.trace or pathlib.Path(folder, "trace")
        if not trace.exists():
            subprocess.run([warplens, "profile", HERE / "sample.cu", "--backend", "cpu", "--gpu", options.gpu, "--trace", trace, "--trials", "2",
                            "--quiet"], check=True, stdout=subprocess.DEVNULL)
        common = ["--gpu", options.gpu, "--trials", options.trials, "--cold", "--format", "json", "--quiet"]

        def run(*command):
            return json.loads(subprocess.run([warplens, *command, *common], check=True, capture_output=True, text=True).stdout)

        kernels = {(name_of(one["kernel"]), one["gpu"]): one
                   for name in [*FOLLOWED, *SLOWER] for one in run("advise", trace, "--kernel", f"^{name}$")["kernels"]}
        times = {(name_of(one["name"]), one["gpu"]): one["time"]["microseconds"]["mean"] for one in run("model", trace)["kernels"]}
    applied, right, slower, negatives, others = 0, 0, 0, 0, []
    print(f"{'GPU':<6}{'suggestion':<34}{'predicted':>10}{'changed source':>16}")
    for (name, gpu), kernel in kernels.items():
        changed = times[f"{name}_changed", gpu] / times[name, gpu] - 1
        if name in SLOWER:
            if gpu == "a100":
                negatives += 1
                what = SLOWER[name]
                tried = what is None or any(one["what"].startswith(what) for one in kernel["without_gain"])
                suggested = what is not None and any(one["what"].startswith(what) for one in kernel["suggestions"])
                is_right = tried and not suggested and changed > -TIE
                slower += is_right
                others.append(f"{gpu} {name}: measured as slower; changed source {changed:+.0%}"
                              f"{f'; {what} is suggested' if suggested else ''}{'' if is_right else '  WRONG'}")
            continue
        tried = [(one, True) for one in kernel["suggestions"]] + [(one, False) for one in kernel["without_gain"]]
        followed = [(one, suggested) for one, suggested in tried if one["what"].startswith(FOLLOWED[name])]
        for one, suggested in followed:
            if not suggested:
                others.append(f"{gpu} {name}: {one['what']} is not suggested ({one['share']:+.0%}); changed source {changed:+.0%}")
                continue
            applied += 1
            right += changed < 0
            print(f"{gpu:<6}{name + ': ' + one['what']:<34}{one['share']:>+10.0%}{changed:>+16.0%}{'' if changed < 0 else '  WRONG'}")
        if not followed:
            others.append(f"{gpu} {name}: {FOLLOWED[name]} is not suggested; changed source {changed:+.0%}")
    print(f"signs right: {right} of {applied}")
    for other in others:
        print(other)
    print(f"changes that were measured as slower, and are not suggested: {slower} of {negatives}")
    return 0 if right == applied and slower == negatives else 1


if __name__ == "__main__":
    sys.exit(main())
