"""The table of verdicts: what reports say about classic kernels, and what they must not say.

    python3 -B test/verdicts/verdicts.py PATH-OF-WARPLENS [--only NAME[,NAME...]] [--show]

Each program in kernels/ has kernels with their verdicts in comments (kernels/kernels.h). It is profiled on the CPU back end for an A100;
of the text report, what stands above the snapshot, the findings on the kernel and those on its lines are searched. One line for each kernel,
then what was missing or too much; the exit code is 0 if nothing was.
"""

import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


class Verdict:
    """A pattern that the report of a kernel must have (says) or must not have (never), and why."""

    def __init__(self, must, pattern, why):
        self.must, self.pattern, self.why = must, pattern, why

    def holds(self, text):
        return (re.search(self.pattern, text) is not None) == self.must

    def __str__(self):
        return f"{'says' if self.must else 'never'} /{self.pattern}/: {self.why}"


def verdicts_of(source):
    """Returns the verdicts in a source by kernel, in its order. It is an error if a comment has another form, or a kernel no verdict."""
    kernels, pending = {}, []
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if comment := re.fullmatch(r"// (says|never) (.*)", line):
            found = re.fullmatch(r"/(.+)/: (\S.*)", comment[2])
            if not found:
                sys.exit(f"{source}:{number}: a verdict is `// {comment[1]} /PATTERN/: why`")
            pending.append(Verdict(comment[1] == "says", found[1], found[2]))
        elif kernel := re.search(r"__global__.*?\bvoid (\w+)\(|__global__ .*\) void (\w+)\(", line):
            if not pending:
                sys.exit(f"{source}:{number}: {kernel[1] or kernel[2]} has no verdict")
            kernels[kernel[1] or kernel[2]] = pending
            pending = []
    return kernels


def sections(report):
    """Returns what a text report says of each kernel, by its name, each paragraph as one line."""
    found = {}
    for part in re.split(r"^── ", report, flags=re.MULTILINE)[1:]:
        part = part.split("\nLegend\n")[0]
        head = re.match(r"(?:void )?(\w+)", part)[1]
        above = part.split("\nsnapshot ")[0].split("\n", 1)[1]  # without the kernel's name
        below = re.search(r"^(What to look at first|Where its time goes)$.*?(?=^Where warps spend|\Z)", part, re.MULTILINE | re.DOTALL)
        text = above + "\n" + (below[0] if below else "")
        # Further lines of a field or a clause are indented by more than the first.
        found[head] = re.sub(r"\n(?:           | {4}(?=\S)| {11,}(?=\S))", " ", text)
    return found


def profile(tool, source):
    done = subprocess.run([tool, "profile", source, "--backend", "cpu", "--gpu", "a100", "--trials", "4", "--quiet", "--width", "400"],
                          capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        sys.exit(f"warplens profile {source} failed ({done.returncode}):\n{done.stderr}{done.stdout}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", type=pathlib.Path)
    parser.add_argument("--only", default="", help="names of programs, separated by commas")
    parser.add_argument("--show", action="store_true", help="print what was searched, too")
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    sources = [source for source in sorted((HERE / "kernels").glob("*.cu")) if not only or source.stem in only]
    if len(sources) < len(only) or not sources:
        sys.exit(f"no such program; there are {', '.join(source.stem for source in sorted((HERE / 'kernels').glob('*.cu')))}")
    kernels = checked = wrong = 0
    for source in sources:
        expected = verdicts_of(source)
        said = sections(profile(options.tool.resolve(), source))
        for name, verdicts in expected.items():
            kernels += 1
            text = said.get(name, "")
            failed = [verdict for verdict in verdicts if not text or not verdict.holds(text)]
            checked += len(verdicts)
            wrong += len(failed)
            print(f"{'ok  ' if not failed else 'WRONG'} {source.stem}.{name}: {len(verdicts) - len(failed)} of {len(verdicts)}", flush=True)
            for verdict in failed:
                print(f"      {verdict}{'' if text else ' (the report does not have the kernel)'}")
            if options.show or failed:
                print("      | " + text.strip().replace("\n", "\n      | "))
    print(f"{kernels} kernels, {checked - wrong} of {checked} verdicts right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
