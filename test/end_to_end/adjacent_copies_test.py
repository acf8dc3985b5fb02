"""Tests how many iterations' loads lie next to each other: kernels/adjacent_copies.cu against nvcc's own PTX."""

import pathlib
import re
import tempfile
import unittest

import ptx
import warplens_tool
from warplens_tool import KERNELS, warplens

SOURCE = KERNELS / "adjacent_copies.cu"
KERNEL = re.compile(r"__global__ void (\w+)\(")
KNOWN_DIFFERENCES = {"stencil": (12, 6)}  # the addresses of three rows at run time make the body too large for nvcc
SITE = re.compile(r"^site \w+ \S+?:(\d+):\d+ load .* copies (\d+) ")


def copies_of_loads():
    """Returns for each kernel the sum of its loads' copies."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace")
        done = warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "c2050", "--trials", "2", "--trace", trace,
                        "-o", pathlib.Path(folder, "report"))
        if done.returncode != 0:
            raise AssertionError(done.stderr + done.stdout)
        dump = warplens("trace", "dump", trace).stdout
    kernel_of, kernel = {}, None
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        if entry := KERNEL.match(line):
            kernel = entry[1]
        kernel_of[number] = kernel
    copies = {}
    for site in filter(None, map(SITE.match, dump.splitlines())):
        of = kernel_of[int(site[1])]
        copies[of] = copies.get(of, 0) + int(site[2])
    return copies


class AdjacentCopies(unittest.TestCase):
    def test_copies_are_those_of_nvcc(self):
        of_nvcc, ours = ptx.max_loads_in_a_block(SOURCE), copies_of_loads()
        self.assertEqual(len(ours), 35)
        for kernel, copies in ours.items():
            with self.subTest(kernel=kernel):
                self.assertEqual((copies, of_nvcc[kernel]), KNOWN_DIFFERENCES.get(kernel, (copies, copies)))


if __name__ == "__main__":
    warplens_tool.main()
