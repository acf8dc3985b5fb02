"""Tests local memory through the whole tool: kernels/local_memory.cu has the expected accesses, nvcc reports which kernels have any."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, Profile, base_name, only, real_nvcc, warplens

# Accesses are counted as the source has them, not as the machine code that is made of it.
os.environ["WARPLENS_EXECUTE"] = "none"
SOURCE = KERNELS / "local_memory.cu"
EXPECTATION = re.compile(r"// expect: (?:(nothing)|(no local memory)|(\w+), (\d+) executions, (\d+) sectors)$")


def report(source):
    """The report of `warplens nvcc` on one source that it has compiled."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "object.o"
        for arguments in (("--backend", "cpu", "-c", source, "-o", output), ("--report", "--format", "json", output)):
            done = warplens("nvcc", *arguments)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
    return only(only(json.loads(done.stdout)["files"])["sources"])


class LocalMemory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(SOURCE, "--gpu", "v100", "--trials", "2")

    def sites(self, line):
        return [(site, kernel) for kernel in self.profile.result["kernels"] for site in kernel["sites"]
                if site["line"] == line]

    def test_sites(self):
        expectations = [(number, match) for number, line in enumerate(self.profile.lines, 1)
                        if (match := EXPECTATION.search(line))]
        self.assertEqual(len(expectations), 30)
        for number, match in expectations:
            with self.subTest(line=f"{number}: {self.profile.lines[number - 1].strip()}"):
                there = [site for site, _ in self.sites(number)]
                if match[1]:
                    self.assertEqual(there, [])
                    continue
                local = [site for site in there if site["space"] == "local"]
                if match[2]:
                    self.assertEqual(local, [])
                    continue
                site = only(local)
                self.assertEqual((site["kind"], site["executions"], site["active_lanes"], site["sectors_per_request"]),
                                 (match[3], int(match[4]), 32, int(match[5])))

    def test_every_access_has_a_probe(self):
        self.assertEqual(self.profile.result["coverage"]["executed_accesses_probed"], 1)

    def test_nothing_is_reported_as_not_seen(self):
        self.assertEqual(report(SOURCE)["unseen"], [])

    def test_an_access_without_a_probe_counts_as_executed(self):
        source = KERNELS / "local_memory_unseen.cu"
        profile = Profile(source, "--gpu", "v100", "--trials", "2")
        self.assertEqual(profile.stdout, "28\n")
        # Each thread: one initialisation; 16 indices and 16 bins, read and written; 16 of each read; one result.
        self.assertAlmostEqual(profile.result["coverage"]["executed_accesses_probed"], 81 / 82)
        line = next(number for number, text in enumerate(profile.lines, 1) if text.endswith("// not seen"))
        unseen = only(report(source)["unseen"])
        self.assertEqual((unseen["line"], unseen["reason"]), (line, "local memory that is initialised or copied here"))

    def test_the_program_computes_the_same_without_probes(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            built = warplens("nvcc", "--backend", "cpu", SOURCE, "-o", program)
            self.assertEqual(built.returncode, 0, built.stderr)
            plain = subprocess.run([program], capture_output=True, text=True)
        self.assertEqual(self.profile.stdout, plain.stdout)

    def test_nvcc_has_local_memory_in_the_same_kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            ptx = pathlib.Path(folder) / "local_memory.ptx"
            subprocess.run([real_nvcc(), "-ptx", "-arch=sm_80", SOURCE, "-o", ptx], check=True)
            kernels = re.split(r"(?=\.visible \.entry )", ptx.read_text())[1:]
        uses = {re.match(r"\.visible \.entry _Z\d+([a-z_]+?)(?:PK|Pf|7W)", text)[1]: "local_depot" in text for text in kernels}
        ours = {base_name(kernel["name"]): any(site["space"] == "local" for site in kernel["sites"])
                for kernel in self.profile.result["kernels"]}
        self.assertEqual(ours, uses)


if __name__ == "__main__":
    warplens_tool.main()
