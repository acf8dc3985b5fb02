"""Tests that each option of each command has an effect: OPTIONS has, for each of them, words of a command line in which it changes
what is printed, a file that is written, the exit code, or the number of threads. An option that OPTIONS lacks fails the test."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import warplens_tool
from calibrate_test import A100
from warplens_tool import PROJECT, warplens

# Its first word names what goes wrong in it. The checks of the CPU back end are to find that.
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void gather(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i * 37 % n] + in[i];
}
__global__ void neighbours(int* out, int fault) {
  __shared__ int values[64];
  values[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = values[threadIdx.x ^ 1]; // a race between lanes
  if (fault == 1 && threadIdx.x < 16)
    __syncwarp(0xffffffff);
}
int threads() {
  char line[100];
  int count = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status))
    if (strncmp(line, "Threads:", 8) == 0)
      count = atoi(line + 8);
  fclose(status);
  return count;
}
#ifndef SIZE
#define SIZE 8192
#endif
int main(int argc, char** argv) {
  const char* fault = argc > 1 ? argv[1] : "";
  const int n = SIZE;
  float *out, *in, *host = (float*)calloc(n, 4);
  int* ints;
  cudaMalloc(&out, n * 4);
  cudaMalloc(&in, n * 4);
  cudaMalloc(&ints, 256);
  if (strcmp(fault, "unwritten"))
    cudaMemcpy(in, host, n * 4, cudaMemcpyHostToDevice);
  for (int size = n / 2; size <= n; size += n / 4)
    gather<<<size / 256, 256>>>(out, in, size);
  if (!strcmp(fault, "outside"))
    gather<<<n / 256 + 1, 256>>>(out, in, n + 64);
  neighbours<<<1, 64>>>(ints, !strcmp(fault, "barrier"));
  int result[64] = {};
  cudaMemcpy(result, ints, 256, cudaMemcpyDeviceToHost);
  printf("%d %d, %d threads\n", result[0], result[1], threads() > 2);
  return 0;
}
"""

# Its time grows with its argument, so that `explain` has something to explain.
GROWING = r"""
#include <cstdlib>
__global__ void scale(float* out, const float* in, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = 2 * in[i];
}
__global__ void strided(float* out, const float* in, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = in[i * 32 % n];
}
int main(int, char** argv) {
  const int n = 32 * atoi(argv[1]);
  float *out, *in;
  cudaMalloc(&out, n * 4);
  cudaMalloc(&in, n * 4);
  scale<<<1, 64>>>(out, in, n);
  strided<<<1, 64>>>(out, in, n);
  return cudaDeviceSynchronize();
}
"""

# Rows of options: their names; further words of the command line, with the option and without it; what is added with the
# option. A first word !NAME is the program's argument.
GPU = """
--gpu            |                              | --gpu v100
"""
ON_A_CLOCK = """
--sm-clock       |                              | --sm-clock 700
--schedule       | --gpu v100                   | --schedule greedy_then_youngest
"""
TRIALS = """
--trials         |                              | --trials 3
--seed           |                              | --seed 2
--threads        | --threads 1                  | = --threads 4
--snapshot-blocks |                             | --snapshot-blocks 4
"""
COLD = """
--cold           |                              | --cold
--warm           |                              | --warm
"""
TIMELINE = """
--timeline       |                              | --timeline
--timeline-bins  | --timeline                   | --timeline-bins 8
"""
ENDS_EARLY = """
--budget         | --trials 400 --confidence 0  | --budget 0.01
--confidence     | --trials 6                   | --confidence 0
"""
SIMULATED = GPU + ON_A_CLOCK + TRIALS + COLD + TIMELINE + ENDS_EARLY + """
--placement      | --schedule paper             | --placement random
--start          | --schedule paper             | --start mid_launch
--sharing        |                              | --sharing
"""
REGISTERS = """
--registers      | --gpu c2050                  | --registers 63
"""
PRINTED = """
--format         |                              | --format csv
-o --output      |                              | -o out
--open           | --format html                | --open
--columns        | --format text                | --columns l1
--sort           | --format text                | --sort l1
--sort           | --format sass                | --sort time
--sort           | --format sass-csv            | --sort time
--no-source      | --format text                | --no-source
--width          | --format text                | --width 250
--width          | --format sass                | --width 250
--threshold      | --format sarif               | --threshold 1
"""
REPORT = """
--format         | --format json                | = --format text
-o --output      |                              | -o out
"""
DOCUMENT = """
--format         | --format text                | = --format markdown
--format         | --format text                | = --format csv
"""
QUIET = """
--quiet          | LOUD                         | --quiet
"""
KERNEL = """
--kernel         |                              | --kernel gather
"""
TRACED = KERNEL + """
--launches       |                              | --launches 1
--trace          |                              | --trace kept
--stop-when-traced |                            | --stop-when-traced
--deterministic  |                              | --deterministic
"""
BUILT = """
--backend        | --deterministic              | --backend gpu
--nvcc           |                              | --nvcc -DSIZE=4096
"""
CHECKS = """
--memcheck       | !outside                     | --memcheck
--initcheck      | !unwritten                   | --initcheck
--synccheck      | !barrier                     | --synccheck
--racecheck      |                              | --racecheck
--lockstep       |                              | --lockstep
"""

# A command that is given a trace refuses these.
OF_A_PROGRAM = """
--backend        |                              | --backend cpu
--nvcc           |                              | --nvcc -O3
--launches       |                              | --launches 1
--trace          |                              | --trace kept
--stop-when-traced |                            | --stop-when-traced
--deterministic  |                              | --deterministic
--memcheck       |                              | --memcheck
--initcheck      |                              | --initcheck
--synccheck      |                              | --synccheck
--racecheck      |                              | --racecheck
--lockstep       |                              | --lockstep
"""

# For each command: a command line, and rows. {} stands for a row's words, {argument} for the program's; what is in brackets is left
# out where the row says it otherwise.
COMMANDS = {
    "profile": ("profile program.cu [--trials 2] [--format json] [--quiet] {} --run {argument}", BUILT + QUIET + """
--memcheck       | !outside                     | --memcheck
--trials         |                              | --trials 3
--trace          |                              | --trace kept
--registers      | --gpu c2050                  | --registers 63
--no-probes      |                              | --no-probes
--keep           | LOUD                         | --keep
--page           |                              | --page page.html
"""),
    "run": ("run [--trials 2] [--format json] [--quiet] {} -- ./program {argument}", TRACED + CHECKS + QUIET),
    "model": ("model trace [--trials 2] [--format json] [--quiet] {}", SIMULATED + REGISTERS + KERNEL + PRINTED + QUIET),
    "report": ("report result.json {}", PRINTED + """
--advice         | --format brief               | --advice advice.json
"""),
    "view": ("view result.json {}", """
-o --output      |                              | -o out
"""),
    "placement": ("placement trace [--kernel neighbours] [--trials 2] [--format json] [--quiet] {}", GPU + REPORT + DOCUMENT + QUIET + OF_A_PROGRAM + """
--kernel         | --kernel gather              | = --kernel neighbours
--sm-clock       |                              | --sm-clock 700
--trials         |                              | --trials 3
--seed           |                              | --seed 2
--threads        | --threads 1                  | = --threads 4
--schedule       | --kernel gather --gpu v100   | --schedule greedy_then_youngest
--cold           | --kernel gather              | --cold
--warm           | --kernel gather              | --warm
--snapshot-blocks | --kernel gather             | --snapshot-blocks 4
--search         |                              | --search
--time           |                              | --time porple
--without        | --kernel gather --time paper | --without queue
--measured-ns    | --time paper                 | --measured-ns 5
--fail-if        |                              | --fail-if total.microseconds>-99%
"""),
    "corun": ("corun trace trace [--kernel neighbours,gather] [--trials 2] [--format json] [--quiet] {}", GPU + ON_A_CLOCK + TRIALS + TIMELINE + REPORT + DOCUMENT + QUIET + """
--kernel         | --kernel gather              | = --kernel neighbours
--division       |                              | --division sms
--split          | --division sms               | --split 25,75
--policy         |                              | --policy intra
--policies       |                              | --policies
--front-end      | --division blocks            | --front-end 2
--own-queues     | --division blocks            | --own-queues
--estimates      | --division blocks            | --estimates
--search         |                              | --search
--one-program    |                              | --one-program
"""),
    "clocks": ("clocks trace [--gpu v100] [--clocks 700,1400] [--trials 2] [--format json] [--quiet] {}", TRIALS + COLD + ENDS_EARLY + REPORT + DOCUMENT + QUIET + """
--gpu            | --gpu v100                   | = --gpu a100
--schedule       |                              | --schedule greedy_then_youngest
--clocks         |                              | --clocks 700,1000
--slow-down      |                              | --slow-down 50
"""),
    "diff": ("diff result.json slower.json {}", REPORT + DOCUMENT + """
--kernel         |                              | --kernel gather
--fail-if        |                              | --fail-if total.microseconds>0.01%
--fail-if-slower |                              | --fail-if-slower
--exit-code      |                              | --exit-code verdict
--same-within    |                              | --same-within 1
--min-share      |                              | --min-share 0.5
"""),
    "doctor": ("doctor {}", REPORT),
    "dram-map": ("dram-map {}", """
--gpu            | --pairs                      | = --gpu a100
--pairs          | --gpu a100                   | = --pairs
--latencies      | --gpu a100                   | = --latencies none.csv
--kernel         | --gpu a100                   | = --kernel
--lowest-bit     | --pairs                      | --lowest-bit 8
--highest-bit    | --pairs                      | --highest-bit 25
--random-pairs   | --pairs                      | --random-pairs 4096
--seed           | --pairs                      | --seed 2
"""),
    "gpus": ("gpus {}", """
--keys           |                              | --keys
--format         |                              | --format markdown
--format         |                              | --format csv
-o --output      |                              | -o out
"""),
    "help": ("help {}", """
--format         |                              | --format man
-o --output      |                              | -o out
"""),
    "patch": ("patch program.cu {}", """
--nvcc           |                              | --nvcc -Dn=1
-o --output      |                              | -o out
"""),
}

COMMANDS |= {
    "advise": ("advise trace [--kernel neighbours] [--trials 2] [--format json] [--quiet] {}", GPU + REPORT + DOCUMENT + QUIET + OF_A_PROGRAM + """
--kernel         | --kernel gather              | = --kernel neighbours
--sm-clock       |                              | --sm-clock 700
--trials         |                              | --trials 3
--seed           | --kernel gather              | --seed 2
--threads        | --threads 1                  | = --threads 4
--schedule       | --kernel gather --gpu v100   | --schedule greedy_then_youngest
--cold           | --kernel gather              | --cold
--warm           | --kernel gather              | --warm
--snapshot-blocks | --kernel gather             | --snapshot-blocks 4
--check          |                              | --check changed
--kernel         | --check changed --kernel .   | = --check changed --kernel gather
--fail-if-slower | --kernel gather --check changed | --fail-if-slower
"""),
    "sweep": ("sweep growing.cu --backend cpu [--run {n}] [--vary n=8,16] [--trials 2] [-o out] [--quiet] {}", """
-q --quiet       | LOUD                         | --quiet
--run            |                              | --run 1{n}
--vary           |                              | --vary n=8
-o --output      |                              | -o other
"""),
    "ab": ("ab growing.cu growing.cu --backend cpu [--trials 2] [--quiet] {} --run 8", REPORT + DOCUMENT + QUIET),
    "baseline": ("baseline growing.cu --backend cpu [--trials 2] [--quiet] {} --run 8", QUIET + """
--baseline       |                              | --baseline other.txt
"""),
    "gate": ("gate growing.cu --backend cpu [--trials 2] [--baseline kept.txt] [--quiet] {} --run 8", REPORT + DOCUMENT + QUIET + """
--baseline       |                              | --baseline none.txt
--sarif          |                              | --sarif out.sarif
--picture        |                              | --picture out.svg
--picture-url    | --format markdown --picture out.svg | --picture-url https://example.org/out.svg
--badge          |                              | --badge out.svg
"""),
    "compare": ("compare result.json measured.csv [--units base] [--format json] {}", REPORT + DOCUMENT + KERNEL + """
--units          | --units auto                 | = --units base
--gpu            |                              | --gpu v100
--add-to         |                              | --add-to table
--board          | --add-to table               | --board mine
--source         | --add-to table               | --source here
"""),
    "counters": ("counters measured.csv [--units base] [--format json] {}", REPORT + DOCUMENT + """
--units          | --units auto                 | = --units base
"""),
    "explain": ("explain runs --threads 1 [--draws 50] [--format json] {}", REPORT + DOCUMENT + KERNEL + """
--measured       | --key measured_{n}.csv --units base | --measured measured_8.csv measured_16.csv measured_24.csv measured_32.csv
--key            | --units base --measured measured_8.csv measured_16.csv measured_24.csv measured_32.csv | --key measured_{n}.csv
--units          | --key measured_{n}.csv --measured measured_8.csv measured_16.csv measured_24.csv measured_32.csv | --units base
--each-launch    | --key measured_{n}.csv --measured measured_8.csv measured_16.csv measured_24.csv measured_32.csv --units base | --each-launch
--target         |                              | --target latency
--scale-by       | --target effloss             | --scale-by n
--by             |                              | --by line
--compare        |                              | --compare scale,strided
--workload       |                              | --workload n
--groups         |                              | --groups groups.toml
--as             |                              | --as paper
--sparsity       |                              | --sparsity 1
--candidates     |                              | --candidates 1
--draws          |                              | --draws 20
--measure        |                              | --measure belief
--no-intercept   |                              | --no-intercept
--signed         |                              | --signed
--seed           |                              | --seed 2
"""),
    "power": ("power v100.json {}", DOCUMENT + """
--gpu            |                              | --gpu a100
--format         |                              | --format json
-o --output      |                              | -o out
--train          |                              | --train powers.csv
--prior          | --train powers.csv           | --prior prior.csv
--source         | --train powers.csv --prior prior.csv | --source here
"""),
    "calibrate": ("calibrate [--from curves] [--quiet] {}", QUIET + DOCUMENT + """
-o --output      |                              | -o other.toml
--from           |                              | --from nowhere
"""),
}

# These commands hand the options that they have no row for to the stages that the others call, through the same functions.
AS_OTHERS = {"ab": ["model", "run", "profile", "diff"], "baseline": ["model", "run", "profile"], "gate": ["model", "run", "profile"], "run": ["model"], "profile": ["model", "run"], "sweep": ["model", "run", "profile"]}
# Options whose effect these programs do not show, and why.
UNSEEN = {
    ("ab", "--at"): "ab_test.py has a repository",
    ("ab", "-P"): "ab_test.py scans macros and arguments",
    ("ab", "--parameter-scan"): "likewise",
    ("ab", "-L"): "likewise",
    ("ab", "--parameter-list"): "likewise",
    ("gate", "--ratchet"): "gate_test.py changes the program",
    ("gate", "--same-within"): "likewise",
    ("report", "--advice"): "needs what `advise` found to pay",
    ("clocks", "--seed"): "plans have no figure in which trials of so small a kernel differ",
    ("clocks", "--trials"): "likewise",
    ("clocks", "--confidence"): "likewise",
    ("model", "--start"): "one SM has no second wave of blocks here",
    ("placement", "--move"): "placement_test.py moves arrays",
    ("placement", "--check"): "placement_test.py compiles changed sources",
    ("corun", "--seed"): "as of clocks",
    ("run", "--lockstep"): "lockstep_test.py has programs that need it",
    ("run", "--whole-loops"): "long_loops_test.py has long loops",
    ("profile", "--launch"): "modules_test.py launches modules",
    ("placement", "--train"): "needs measured placements",
    ("calibrate", "--curves"): "needs a GPU",
    ("calibrate", "--device"): "likewise",
    ("calibrate", "--seconds"): "likewise",
    ("explain", "--threads"): "it takes as many as it is given, but for moments",
}
# Commands without rows: their own tests give them their options.
OTHER_COMMANDS = {"", "nvcc", "compile-commands", "trace", "trace info", "trace counts", "trace dump", "trace check", "trace accel-sim", "inspect",
                  "mcp", "lsp"}


def rows_of(table):
    """Returns (names, words without the option, words that are added with it)."""
    for line in filter(None, table.splitlines()):
        names, without, added = (cell.split() for cell in line.split("|"))
        yield names, without, added


def tree():
    """Returns the options of each command, by the script that completes command lines."""
    script = warplens("help", "--format", "bash").stdout
    found = re.findall(r"^    '([^']*)'\)\n      options='([^']*)'", script, re.MULTILINE)
    return {command: set(options.split()) for command, options in found}


class Options(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        (cls.folder / "program.cu").write_text(PROGRAM)
        (cls.folder / "browser").write_text("#!/bin/sh\necho opened > opened\n")
        (cls.folder / "browser").chmod(0o755)
        cls.outcomes = {}
        cls.environment = {**os.environ, "BROWSER": str(cls.folder / "browser")}
        done = cls.warplens("profile program.cu --backend cpu --keep --trace trace --memcheck --racecheck --initcheck --synccheck --trials 2 --format json -o result.json --run none")
        assert done.returncode in (0, 1), done.stderr
        kept = pathlib.Path(re.search(r"intermediate files stay in (\S+)", done.stderr)[1])
        shutil.rmtree(kept)
        done = cls.warplens("profile program.cu --backend cpu --keep --trials 2 -o report --run none")
        assert done.returncode == 0, done.stderr
        kept = pathlib.Path(re.search(r"intermediate files stay in (\S+)", done.stderr)[1])
        (kept / "program").rename(cls.folder / "program")
        shutil.rmtree(kept)
        (cls.folder / "growing.cu").write_text(GROWING)
        for command in ("model trace --trials 2 --quiet -o slower.json --sm-clock 700",
                        "model trace --trials 2 --quiet --format json -o v100.json --gpu v100",
                        "profile program.cu --backend cpu --trace changed --nvcc -DSIZE=131072 --trials 2 -o report --run none",
                        "baseline growing.cu --backend cpu --trials 2 --baseline kept.txt --run 8",
                        "sweep growing.cu --backend cpu --trials 2 --run {n} --vary n=8:32:8 -o runs"):
            done = cls.warplens(command)
            assert done.returncode == 0, done.stderr
        cls.write_measurements()

    @classmethod
    def write_measurements(cls):
        """Writes what profilers and meters would have measured of the programs."""
        heading = "ID,Kernel Name,Block Size,Grid Size,Device,gpu__time_duration.sum,dram__sectors_read.sum\n"

        def launch(kernel, block, grid, time, sectors):
            return f'0,"{kernel}","({block}, 1, 1)","({grid}, 1, 1)",0,{time},{sectors}\n'
        kernel = json.loads((cls.folder / "result.json").read_text())["kernels"][0]
        (cls.folder / "measured.csv").write_text(heading + launch(kernel["name"], kernel["block"][0], kernel["grid"][0], 5000, 700))
        for size in (8, 16, 24, 32):
            (cls.folder / f"measured_{size}.csv").write_text(heading + "".join(
                launch(f"{name}(float *, const float *, int)", 64, 1, 1000 + 10 * size * factor, 4 * size * factor)
                for name, factor in (("scale", 1), ("strided", 8), ("strided", 9))))
        (cls.folder / "groups.toml").write_text('[[rule]]\npattern = ".*"\nresource = "MINE"\n')
        (cls.folder / "powers.csv").write_text("kernel,watts\ngather,150\nneighbours,90\n")
        energies = re.findall(r"^(\w+_(?:w|pj)) = { value = ([0-9.e-]+)", (PROJECT / "model/gpu/gpus/v100.toml").read_text(), re.MULTILINE)
        (cls.folder / "prior.csv").write_text("term,value,deviation\n" + "".join(f"{term},{value},{float(value) / 10}\n" for term, value in energies))
        (cls.folder / "curves").mkdir()
        (cls.folder / "curves/device.csv").write_text("property,value\n" + "".join(f"{key},{value}\n" for key, value in A100.items()))
        chase = (PROJECT / "test/model/reference/a100.csv").read_text().splitlines()
        (cls.folder / "curves/chase.csv").write_text("\n".join(["kib,cycles"] + chase[1:]) + "\n")

    def test_each_option_has_a_row(self):
        known = tree()
        self.assertEqual(set(known), set(COMMANDS) | OTHER_COMMANDS)
        for command, (_, table) in COMMANDS.items():
            sources = [command, *AS_OTHERS.get(command, [])]
            rows = {name for source in sources for names, _, _ in rows_of(COMMANDS[source][1]) for name in names}
            unseen = {option for one, option in UNSEEN if one in sources}
            with self.subTest(command):
                self.assertEqual(known[command] - {"-h", "--help", "--help-all"}, (rows | unseen) & known[command])
                self.assertEqual({name for names, _, _ in rows_of(table) for name in names} - known[command], set())

    @classmethod
    def warplens(cls, line):
        return warplens(*shlex.split(line), cwd=cls.folder, env=cls.environment)

    def outcome(self, template, words):
        """Returns all that can be seen of a run."""
        argument = "none"
        if words and words[0].startswith("!"):
            argument, words = words[0][1:], words[1:]
        is_loud = "LOUD" in words
        words = [word for word in words if word != "LOUD"]
        line = re.sub(r"\[(\S+)([^]]*)\]", lambda match: "" if match[1] in words or (match[1] == "--quiet" and is_loud) else match[1] + match[2], template)
        line = line.replace("{}", shlex.join(words)).replace("{argument}", argument)
        if line not in self.outcomes:
            self.outcomes[line] = line, self.run_once(line, "--threads" in words)
        return self.outcomes[line]

    def run_once(self, line, counts_threads):
        before = set(self.folder.iterdir())
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.Popen([str(warplens_tool.tool), *shlex.split(line)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, env=self.environment)
            threads = 0
            while counts_threads and process.poll() is None:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                threads = max(threads, int((re.search(r"Threads:\s*(\d+)", status) or [0, 0])[1]))
            process.wait(timeout=100)
            printed = [stream.seek(0) or stream.read() for stream in (out, err)]
        files = {}
        for path in set(self.folder.iterdir()) - before:
            files |= {str(file): file.read_bytes() for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()}
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return process.returncode, *printed, files, threads


def add_test(command, template, names, without, added):
    def test(self):
        line, before = self.outcome(template, without)
        with_option, after = self.outcome(template, added[1:] if added[:1] == ["="] else [*without, *added])
        self.assertNotIn(2, (before[0], after[0]), f"{line}: {before[2]}{with_option}: {after[2]}")
        if before == after:
            self.fail(f"{with_option}: does the same as {line}: {before[0]} {before[2]}")
    name = f"test_{command}_{names[-1].strip('-')}"
    while hasattr(Options, name):  # an option may have several rows
        name += "_too"
    setattr(Options, name, test)


for command, (template, table) in COMMANDS.items():
    for names, without, added in rows_of(table):
        if (command, names[-1]) not in UNSEEN:
            add_test(command, template, names, without, added)

if __name__ == "__main__":
    warplens_tool.main()
