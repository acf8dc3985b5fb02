"""Builds the programs of random_build.py through warplens-nvcc and compares what they print with what they print under nvcc.

WARPLENS_BUILDS=COUNT chooses how many (by default 6 of two sources each, else of up to four), WARPLENS_SEED=NUMBER with which seed
they begin (1). With WARPLENS_BUILDS_NVCC=1
the real nvcc builds each as well. A failure names its seed and the folder, which is kept.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import warplens_tool
from nvcc_case import REAL, run
from random_build import Build

FIRST, COUNT = (int(os.environ.get(name) or usual) for name, usual in (("WARPLENS_SEED", 1), ("WARPLENS_BUILDS", 6)))

UNITS = 4 if "WARPLENS_BUILDS" in os.environ else 2


class RandomBuilds(unittest.TestCase):
    def make(self, folder, *words):
        done = run("make", "-s", *words, cwd=folder, env=self.environment)
        self.assertEqual(done.returncode, 0, f"{self.where(folder)}\n{done.stdout}{done.stderr}")

    def where(self, folder):
        return f"{folder}, made by random_build.py {self.seed} {UNITS} FOLDER"

    def check(self, seed):
        self.seed = seed
        self.environment = {name: text for name, text in os.environ.items() if not name.startswith(("WARPLENS_", "NVCC_", "MAKE"))}
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"warplens-build-{seed}-"))
        build = Build(seed, UNITS)
        build.write(folder)
        if "WARPLENS_BUILDS_NVCC" in os.environ:
            self.make(folder, f"NVCC={REAL}")
            self.make(folder, "clean")
        self.environment["WARPLENS_BACKEND"] = "cpu"
        self.make(folder, f"NVCC={warplens_tool.tool.parent / 'warplens-nvcc'}", "ARCH=--strict -arch=sm_80")
        try:
            done = subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            self.fail(f"{self.where(folder)}: no end within a minute")
        self.assertEqual((done.returncode, done.stdout.splitlines()), (0, build.expected), f"{self.where(folder)}\n{done.stderr}")
        shutil.rmtree(folder)


for seed in range(FIRST, FIRST + COUNT):
    setattr(RandomBuilds, f"test_seed_{seed}", lambda self, seed=seed: self.check(seed))

if __name__ == "__main__":
    warplens_tool.main()
