"""Accesses in unrolled loops count as often as the compiler leaves them: kernels/unrolled.cu against nvcc's own PTX."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import warplens_tool
from warplens_tool import KERNELS, Profile, base_name, real_nvcc

SOURCE = KERNELS / "unrolled.cu"
EXPECTATION = re.compile(r"// expect: (\d+) (loads|stores)$")


def counted(kernel, line=None):
    """The loads and stores of one thread of the one warp."""
    sites = [site for site in kernel["sites"] if line in (None, site["line"])]
    return [sum(site["executions"] for site in sites if site["kind"] in (kind, "update")) for kind in ("load", "store")]


def in_ptx(text):
    """The same by kernel, of those without loops. (The lines that nvcc gives merged accesses are any of theirs.)"""
    counts, kernel = {}, None
    for statement in text.splitlines():
        if entry := re.search(r"\.entry (\w+)", statement):
            kernel, labels, has_loop = entry[1], set(), False
            counts[kernel] = [0, 0]
        elif label := re.match(r"(\$\w+):", statement):
            labels.add(label[1])
        elif branch := re.search(r"\bbra\S*\s+(\$\w+);", statement):
            has_loop |= branch[1] in labels
        elif access := re.match(r"\s*(?:@\S+\s+)?(ld|st)\.global\S*\s", statement):
            counts[kernel][access[1] == "st"] += 1
        elif statement.startswith("}") and kernel:
            if has_loop:
                del counts[kernel]
            kernel = None
    done = subprocess.run(["c++filt"], input="\n".join(counts), capture_output=True, text=True, check=True)
    return {base_name(name): both for name, both in zip(done.stdout.splitlines(), counts.values())}


class Unrolled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(SOURCE, "--gpu", "c2050", "--trials", "2")

    def test_the_program_runs(self):
        self.assertEqual(self.profile.stdout, "right\n")

    def test_counts_are_those_of_nvcc(self):
        with tempfile.TemporaryDirectory() as folder:
            ptx = Path(folder, "unrolled.ptx")
            subprocess.run([real_nvcc(), "-ptx", "-arch=sm_80", "-o", ptx, SOURCE], check=True)
            of_nvcc = in_ptx(ptx.read_text())
        self.assertEqual(len(of_nvcc), 11, of_nvcc.keys())
        for kernel, counts in of_nvcc.items():
            with self.subTest(kernel=kernel):
                self.assertEqual(counted(self.profile.kernel(kernel)), counts)

    def test_counts_where_loops_are_left(self):
        expectations = [(number, match) for number, line in enumerate(self.profile.lines, 1)
                        if (match := EXPECTATION.search(line))]
        self.assertEqual(len(expectations), 7)
        for number, match in expectations:
            with self.subTest(line=f"{number}: {self.profile.lines[number - 1].strip()}"):
                there = [counted(kernel, number) for kernel in self.profile.result["kernels"]]
                self.assertEqual(sum(both[match[2] == "stores"] for both in there), int(match[1]))


if __name__ == "__main__":
    warplens_tool.main()
