"""Tests one reference kernel: on the CPU back end its results are right, plain and traced, and every access is probed; with probes
it compiles for sm_80 and sm_90. Started as `python3 kernels.py PATH-OF-WARPLENS NAME`."""

import json
import pathlib
import subprocess
import sys
import tempfile

KERNELS = pathlib.Path(__file__).resolve().parent / "kernels"


def sizes():
    """Returns {name: (size for tests, size on a GPU)}."""
    rows = [line.split("\t") for line in (KERNELS / "kernels.tsv").read_text().splitlines() if line and not line.startswith("#")]
    return {name: (small, large) for name, small, large in rows}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def verdicts(output):
    lines = [line.split() for line in output.splitlines() if line.endswith((" PASS", " FAIL"))]
    if not lines or any(word[-1] != "PASS" for word in lines):
        sys.exit(f"not every kernel passed:\n{output}")
    return [word[0] for word in lines]


def main():
    warplens, name = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    size = sizes()[name][0]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source, program = KERNELS / f"{name}.cu", folder / name
        run(warplens, "nvcc", "--strict", "--backend", "cpu", "-O3", "-arch=sm_80", source, "-o", program)
        kernels = verdicts(run(program, size).stdout)
        done = run(warplens, "run", "--gpu", "h100-sxm", "--trials", "2", "--format", "json", "-o", folder / "r.json", "--", program, size)
        verdicts(done.stdout)
        result = json.loads((folder / "r.json").read_text())
        if result["coverage"]["executed_accesses_probed"] != 1:
            sys.exit(f"{name}: only {result['coverage']['executed_accesses_probed']} of the executed accesses are probed")
        if not all(kernel["sites"] for kernel in result["kernels"]):
            sys.exit(f"{name}: a kernel has no sites")
        print(f"{name}: {', '.join(kernels)} pass; {len(result['kernels'])} kernels traced")
        run(warplens, "nvcc", "--strict", "-O3", "-lineinfo", "-gencode", "arch=compute_80,code=sm_80", "-gencode",
            "arch=compute_90,code=sm_90", "-c", source, "-o", folder / "gpu.o")


if __name__ == "__main__":
    main()
