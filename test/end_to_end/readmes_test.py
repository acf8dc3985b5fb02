"""Tests that the examples' READMEs show what the tool prints: each line of the report in them, in its order."""

import shlex
import unittest

import warplens_tool
from warplens_tool import PROJECT, warplens

COMMAND = "    build/bin/warplens profile "
CUT = "…"


def shown(readme):
    """Returns the arguments of the README's first `profile`, and the lines of the report behind it."""
    lines = readme.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(COMMAND))
    begin = lines.index("```", at) + 1
    return shlex.split(lines[at].removeprefix(COMMAND)), lines[begin:lines.index("```", begin)]


def missing_line(wanted, printed):
    """Returns the first line that is not printed behind those before it; none if all are."""
    rest = iter(line.rstrip() for line in printed)
    return next((line for line in wanted if line != CUT and line not in rest), None)


class Readmes(unittest.TestCase):
    def test_reports(self):
        readmes = [readme for readme in sorted((PROJECT / "examples").glob("*/README.md")) if COMMAND in readme.read_text()]
        self.assertGreaterEqual(len(readmes), 5)
        for readme in readmes:
            with self.subTest(example=readme.parent.name):
                (source, *options), report = shown(readme)
                split = options.index("--run") if "--run" in options else len(options)
                done = warplens("profile", source, *options[:split], "--backend", "cpu", "--quiet", "--width", "100", *options[split:], cwd=PROJECT)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIsNone(missing_line(report, done.stdout.splitlines()))


if __name__ == "__main__":
    warplens_tool.main()
