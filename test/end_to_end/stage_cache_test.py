"""Stages that are kept by content: the same source has the same result, a changed header another, and nothing is compiled twice."""

import os
import pathlib
import tempfile
import time
import unittest

import warplens_tool
from warplens_tool import warplens

SOURCE = """
#include "scale.h"
__global__ void scale(float* p) { p[blockIdx.x * blockDim.x + threadIdx.x] *= SCALE; }
int main() {
  float* p;
  cudaMalloc(&p, 4 << 16);
  scale<<<256, 256>>>(p);
  return cudaDeviceSynchronize();
}
"""


class StageCache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache"
        self.write("a.cu", SOURCE)
        self.write_header("2.0f")

    def write(self, name, text):
        """A file that changed just now may have changed while the compilers ran, so that the run is not kept."""
        path = self.folder / name
        path.write_text(text)
        long_ago = time.time() - 60
        os.utime(path, (long_ago, long_ago))

    def write_header(self, scale):
        self.write("scale.h", f"#define SCALE {scale}\n")

    def result(self, *options):
        output = self.folder / "result.csv"
        done = warplens("profile", "a.cu", "--backend", "cpu", "--gpu", "a100", "--trials", "2", "--format", "csv", "-o", output, *options,
                        cwd=self.folder, env={**os.environ, "WARPLENS_CACHE": str(self.cache)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return output.read_text()

    def kept(self):
        return {path for path in self.cache.rglob("*") if path.is_file()}

    def test_the_second_run_compiles_nothing(self):
        first, kept = self.result(), self.kept()
        self.assertGreater(len(kept), 3)
        self.assertEqual(self.result(), first)
        self.assertEqual(self.kept(), kept)

    def test_a_changed_header_is_compiled(self):
        single = self.result()
        self.write_header("p[0]")  # another load
        other = self.result()
        self.assertNotEqual(other, single)
        self.write_header("2.0f")
        self.assertEqual(self.result(), single)

    def test_options_that_change_the_code_are_compiled(self):
        self.result()
        kept = self.kept()
        self.result("--memcheck")
        self.assertNotEqual(self.kept(), kept)

    def test_a_cache_that_cannot_be_written_is_no_error(self):
        self.cache.write_text("not a folder")
        self.result()


if __name__ == "__main__":
    warplens_tool.main()
