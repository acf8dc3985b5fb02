"""Tests code that nvcc accepts and Clang alone refuses: each file of constructs/compatibility is compiled with probes and runs.

The first lines of a file describe it: `// probes: N` (accesses with a probe), `// flags: …` (nvcc's; else -arch=sm_80) and
`// runs on the GPU only` if the CPU back end lacks a feature that it needs."""

import pathlib
import re
import tempfile
import unittest

import warplens_tool
from warplens_tool import HERE, warplens

FILES = sorted((HERE / "constructs/compatibility").glob("*.cu"))


def described(text, key, default=""):
    found = re.search(f"^// {key}: (.*)$", text, re.MULTILINE)
    return found[1] if found else default


class Compatibility(unittest.TestCase):
    def test_each_has_probes(self):
        for file in FILES:
            text = file.read_text()
            with self.subTest(file.name), tempfile.TemporaryDirectory() as folder:
                made = pathlib.Path(folder) / "x.o"
                done = warplens("nvcc", "--strict", *described(text, "flags", "-arch=sm_80").split(), "-c", file, "-o", made)
                self.assertEqual(done.returncode, 0, done.stderr)
                report = warplens("nvcc", "--report", made).stdout
                self.assertRegex(report, f": {described(text, 'probes')} accesses probed, .* {described(text, 'unseen', '0')} not seen\n")

    def test_each_runs(self):
        for file in FILES:
            text = file.read_text()
            if "// runs on the GPU only" in text:
                continue
            with self.subTest(file.name):
                done = warplens("profile", file, "--backend", "cpu", "--nvcc", described(text, "flags", "-arch=sm_80"), "--trials", "2",
                                "--launches", "1", "-o", "/dev/null")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, "right\n")


if __name__ == "__main__":
    warplens_tool.main()
