"""Tests what is written from the command tree: docs/commands.md, the manual page, and completion in the shells that are here."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import PROJECT, warplens


def described(form):
    done = warplens("help", "--format", form)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def commands_in_help():
    """Returns the names in the second column-less part of `warplens --help`: lines that begin with two blanks and a word."""
    text = warplens("--help").stdout.split("Subcommands:\n")[1]
    return [line.split()[0] for line in text.splitlines() if line.startswith("  ") and line[2] != " "]


class CommandTree(unittest.TestCase):
    def test_the_documentation_is_what_the_program_says(self):
        self.assertEqual((PROJECT / "docs/commands.md").read_text(), described("markdown"),
                         "run: warplens help --format markdown -o docs/commands.md")

    def test_help_of_a_command(self):
        self.assertEqual(warplens("help", "trace", "dump").stdout, warplens("trace", "dump", "--help").stdout)
        self.assertEqual(warplens("help").stdout, warplens("--help").stdout)
        self.assertEqual(warplens("help", "nothing").returncode, 1)

    def test_the_manual_page(self):
        page = described("man")
        for name in commands_in_help():
            self.assertIn(f"\n.SS {name.replace('-', chr(92) + '-')}\n", page)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-K", "utf8", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True)
            self.assertEqual(done.stderr, "")

    def complete_in_bash(self, *words):
        """Returns what bash offers for the last word."""
        script = described("bash") + f"""
COMP_WORDS=({' '.join("'" + word + "'" for word in words)})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_warplens
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        done = subprocess.run(["bash", "-u"], input=script, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(set(self.complete_in_bash("warplens", "")), set(commands_in_help()))
        self.assertEqual(self.complete_in_bash("warplens", "dif"), ["diff"])
        self.assertEqual(self.complete_in_bash("warplens", "diff", "--fail-if-"), ["--fail-if-slower"])
        self.assertEqual(self.complete_in_bash("warplens", "diff", "a.json", "--exit-code", ""), ["failure", "verdict"])
        self.assertIn("dump", self.complete_in_bash("warplens", "trace", ""))
        self.assertIn("--schedule", self.complete_in_bash("warplens", "profile", "a.cu", "--s"))

    def test_zsh(self):
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "_warplens").write_text(described("zsh"))
            self.assertEqual(subprocess.run(["zsh", "-n", pathlib.Path(folder, "_warplens")], capture_output=True, text=True).stderr, "")
            # Completion runs in a terminal only: a pseudo-terminal types TAB and shows what is listed.
            script = f"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; PS1=; stty -echo; LISTMAX=1000; print READY'
zpty -r shell line '*READY*READY*' 2>/dev/null || zpty -r shell line '*READY*'
zpty -n -w shell $'warplens diff --exit-\\t'
sleep 1
zpty -n -w shell $'v\\t\\n'
sleep 1
zpty -r -t shell line; while zpty -r -t shell more; do line+=$more; done
print -r -- $line
"""
            done = subprocess.run(["zsh", "-f"], input=script, capture_output=True, text=True, timeout=60)
            self.assertIn("--exit-code", done.stdout)
            self.assertIn("verdict", done.stdout)

    def test_fish(self):
        if shutil.which("fish") is None:
            self.skipTest("fish is not installed")

        def complete(line):
            script = described("fish") + f"\ncomplete -C'{line}'\n"
            done = subprocess.run(["fish", "--no-config"], input=script, capture_output=True, text=True)
            self.assertEqual(done.stderr, "")
            return [offer.split("\t")[0] for offer in done.stdout.splitlines()]
        self.assertEqual(set(complete("warplens ")), set(commands_in_help()))
        self.assertEqual(complete("warplens diff a --fail-if-"), ["--fail-if-slower"])
        self.assertEqual(complete("warplens diff a --exit-code "), ["failure", "verdict"])
        self.assertIn("dump", complete("warplens trace "))


if __name__ == "__main__":
    warplens_tool.main()
