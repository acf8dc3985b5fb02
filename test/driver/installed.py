"""Tests that an installed tree works from wherever it was installed to.

usage: installed.py CMAKE BUILD-FOLDER
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = """
#include <cstdio>
__global__ void twice(float* a) { a[threadIdx.x] = 2 * a[threadIdx.x]; }
int main() {
  float* a;
  cudaMalloc(&a, 64 * sizeof(float));
  cudaMemset(a, 0, 64 * sizeof(float));
  twice<<<1, 64>>>(a);
  printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
"""


def main():
    cmake, build = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder, "a prefix")
        subprocess.run([cmake, "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        warplens = prefix / "bin/warplens"

        version = subprocess.run([warplens, "--version"], check=True, capture_output=True, text=True).stdout
        assert [line.split()[0] for line in version.splitlines()] == ["warplens", "LLVM", "CUDA"], version
        assert "unknown" not in version, version

        source = pathlib.Path(folder, "twice.cu")
        source.write_text(SOURCE)
        result = pathlib.Path(folder, "result.json")
        run = subprocess.run(
            [warplens, "profile", source, "--backend", "cpu", "--format", "json", "-o", result],
            capture_output=True, text=True, cwd=folder)
        assert run.returncode == 0, run.stderr
        assert run.stdout == "no error\n", run.stdout
        (kernel,) = json.loads(result.read_text())["kernels"]
        assert kernel["name"] == "twice", kernel["name"]
        executions = {(site["kind"]): site["executions"] for site in kernel["sites"]}
        assert executions == {"load": 2, "store": 2}, executions

        nvcc = prefix / "bin/warplens-nvcc"
        built = subprocess.run([nvcc, "--strict", source, "-o", "twice"], capture_output=True, text=True, cwd=folder)
        assert built.returncode == 0, built.stderr
        report = subprocess.run([nvcc, "--report", "twice"], capture_output=True, text=True, cwd=folder).stdout
        assert report.endswith("twice.cu: 2 accesses probed, 0 removed by the compiler, 0 not seen\n"), report
        subprocess.run([warplens, "run", "--trace", "twice.wlt", "--", "./twice"], capture_output=True, cwd=folder)
        assert pathlib.Path(folder, "twice.wlt").exists(), "the program did not find the runtime"


main()
