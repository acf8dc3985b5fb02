"""Tests the needs of a machine with a GPU and without LLVM: `run`, `model`, `report`, `diff`, `trace`, `gpus` and
`calibrate` from a folder that has `warplens` and its data, but not warplens-compile; the dynamic linker lists the libraries that each of them loads."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import PROJECT, warplens


class WithoutLlvm(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        tree = pathlib.Path(warplens_tool.tool).parent.parent
        self.away = self.folder / "away"
        for part in ("bin/warplens", "share/warplens/gpus", "share/warplens/report.html", "libexec/warplens/warplens-measure"):
            if not (tree / part).exists():
                continue  # the measuring program: without nvcc there is none
            (self.away / part).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (tree / part).is_dir() else shutil.copy)(tree / part, self.away / part)

    def there(self, *words):
        """Runs `warplens WORDS` with nothing of this machine's environment."""
        log = self.folder / "loaded"
        environment = {"PATH": "/nonexistent", "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)}
        if "LD_LIBRARY_PATH" in os.environ:
            environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
        done = subprocess.run([str(self.away / "bin/warplens"), *map(str, words)], capture_output=True, text=True, timeout=300, env=environment,
                              cwd=PROJECT)  # the folder with the sources of an annotated diff
        loaded = ""  # libraries of warplens and its children
        for path in self.folder.glob("loaded.*"):
            loaded += path.read_text(errors="replace")
            path.unlink()
        self.assertIn("libstdc++", loaded)  # it is a list of libraries
        self.assertNotRegex(loaded, "(?i)libllvm|libclang")
        return done

    def succeeds(self, *words):
        done = self.there(*words)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def test_from_program_to_report(self):
        program, trace, result = self.folder / "transpose", self.folder / "t.wlt", self.folder / "r.json"
        done = warplens("nvcc", "--backend", "cpu", "-O2", PROJECT / "examples/transpose/transpose.cu", "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.succeeds("run", "--gpu", "h100-sxm", "--trials", "4", "--trace", trace, "--format", "json", "-o", result, "--", program, 64)
        again = self.folder / "again.json"
        self.succeeds("model", trace, "--gpu", "h100-sxm", "--trials", "4", "--format", "json", "-o", again)
        of_run, of_trace = json.loads(result.read_text()), json.loads(again.read_text())
        self.assertEqual(of_run["manifest"].pop("arguments"), "64")  # which a trace does not have
        self.assertEqual(of_run, of_trace)
        for form in ("text", "json", "html", "sarif", "csv", "patch"):
            self.assertTrue(self.succeeds("report", result, "--format", form).stdout, form)
        self.assertTrue(self.succeeds("trace", "info", trace).stdout)
        self.assertIn("h100-sxm", self.succeeds("gpus").stdout)
        self.succeeds("diff", result, again)
        done = self.there("profile", PROJECT / "examples/transpose/transpose.cu")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertIn("warplens-compile", done.stderr)

    def test_calibrate(self):
        from calibrate_test import write_published_curves
        curves = write_published_curves(self.folder / "curves")
        self.succeeds("calibrate", "--from", curves, "-o", self.folder / "my.toml")
        self.succeeds("gpus", self.folder / "my.toml")


if __name__ == "__main__":
    warplens_tool.main()
