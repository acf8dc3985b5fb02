"""Tests the steps of test/gpu/run without a GPU: programs for the CPU back end replace those for GPUs (they take the same
environment and leave the same traces), scripts replace the profiler and the query of CUDA. No result here is about a GPU.
Started as `python3 run_test.py PATH-OF-WARPLENS`."""

import lzma
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import executed

HERE = pathlib.Path(__file__).resolve().parent
tool = None

NCU = r"""#!/bin/bash
case "$*" in
  --version) echo "${NCU_VERSION-Version 0.0 (a fake)}" ;;
  *"--import "*"--print-source sass"*) cat "$SYNTHETIC/sass.csv" ;;
  *"--import "*"--page source"*)
     [[ $* == *"--resolve-source-file "*/sources/transpose.cu,* && -z $NCU_HAS_NO_SOURCES ]] || { echo "no sources" >&2; exit 1; }
     cat "$SYNTHETIC/source.csv" ;;
  *"--import "*) cat "$SYNTHETIC/raw.csv" ;;
  *"--metrics inst_executed,"*) [[ -z $NCU_SAYS ]] || { echo "$NCU_SAYS"; exit 1; }
     [[ -z $NCU_KNOWS_NO_NAMES ]] || { echo "==ERROR== Failed to find metric inst_executed"; exit 1; }
     while [[ $1 != -o ]]; do shift; done
     [[ $2 != *tables_scan_2 || -e $2.tried ]] || { touch "$2.tried"; echo "==ERROR== busy"; exit 1; }
     touch "$2.ncu-rep" ;;
  *) [[ -z $NCU_SAYS ]] || { echo "$NCU_SAYS"; exit 1; }
     [[ $* != *lts__t_bytes.sum* ]] || { echo "==ERROR== Failed to find metric lts__t_bytes.sum"; exit 1; }
     [[ $* != *dram__bytes_read* ]] || { echo '==ERROR== Failed to find metric regex:^dram__bytes_read\.(sum|min|max|avg)$'; exit 1; }
     while [[ $1 != -o ]]; do shift; done
     touch "$2.ncu-rep" ;;
esac
"""


def check_call(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.made = pathlib.Path(temporary.name, "made")
        for folder in ("bin", "lib/warplens", "libexec/warplens", "share/warplens/gpus", "programs/plain", "programs/probed", "programs/measured",
                       "programs/microbenchmarks", "expected", "sources"):
            (cls.made / folder).mkdir(parents=True)
        shutil.copy(HERE / "run", cls.made)
        (cls.made / "bin/warplens").symlink_to(tool)
        for part in ("lib/warplens/libwarplens_gpu.so", "libexec/warplens/warplens-measure", "share/warplens/gpus/h100-sxm.toml"):
            (cls.made / part).touch()
        (cls.made / "versions.txt").write_text("fakes\n")
        (cls.made / "sources/kernels.tsv").write_text("# a comment\ntranspose\t64\t256\n")
        script(cls.made / "programs/properties", "#!/bin/sh\necho name Fake\n")
        (cls.made / "sources/measured.tsv").write_text("tables_scan_1\tscan.cu\t1 2\ntables_scan_2\tscan.cu\t\n")
        script(cls.made / "programs/measured/tables_scan", "#!/bin/sh\n[ -z $RELAUNCHES ] || echo relaunched 2.5 2.25 3 2 'void scan<2>(int *)'\n")
        (cls.made / "sources/executed.tsv").write_text("reference_transpose\tprograms/plain/transpose\t64\n"
                                                       "tables_scan_1\tprograms/measured/tables_scan\t1 2\n"
                                                       "tables_scan_2\tprograms/measured/tables_scan\t\n")
        (cls.made / "sources/cubins.tsv").write_text("# release 0.0 -O3\ntables_scan\t00\t1\n")
        (cls.made / "sources/pairs.tsv").write_text("case_scan\tprograms/measured/tables_scan\t1 2\n")
        (cls.made / "sources/warm.tsv").write_text("tables_scan_2\tprograms/measured/tables_scan\t\n")
        for name in ("instructions", "accesses", "warps", "atomics", "outstanding", "launches", "streams"):
            script(cls.made / "programs/microbenchmarks" / name, f"#!/bin/sh\necho x,y\necho {name},$1\n")
        script(cls.made / "programs/pinned", "#!/bin/sh\necho pinned_write_gb_per_s 20\n")
        for name, source in (("transpose", HERE / "kernels/transpose.cu"), ("hangs", HERE / "hangs.cu")):
            program = cls.made / "programs/plain" / name
            check_call(tool, "nvcc", "--strict", "--backend", "cpu", "-O3", "-arch=sm_80", source, "-o", program)
            shutil.copy(program, cls.made / "programs/probed")
        trace = cls.made / "t.wlt"
        check_call(tool, "run", "--quiet", "--gpu", "h100-sxm", "--trials", "2", "--snapshot-blocks", "1000000", "--trace", trace, "-o", os.devnull, "--",
                   cls.made / "programs/probed/transpose", 64)
        (cls.made / "expected/transpose.tsv").write_text(check_call(tool, "trace", "counts", trace).stdout)
        tools = cls.made / "tools"
        tools.mkdir()
        script(tools / "ncu", NCU)
        cls.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "SYNTHETIC": str(HERE / "synthetic")}

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.pack, self.out = pathlib.Path(temporary.name, "pack"), pathlib.Path(temporary.name, "out")
        shutil.copytree(self.made, self.pack, symlinks=True)

    def run_pack(self, *words, **environment):
        done = subprocess.run(["bash", self.pack / "run", "--out", self.out, *words], capture_output=True, text=True, timeout=200,
                              env={**self.environment, **environment})
        return done.returncode, done.stdout, done.stderr

    def test_every_step_with_fakes(self):
        code, output, _ = self.run_pack("--only", "versions,results,tracing,counters,cost")
        lines = {line.split()[0]: line for line in output.splitlines()}
        for step in ("versions", "results", "tracing", "counters"):
            self.assertRegex(lines[step], rf"^{step} +ok \(\d+ s\)$", (self.out / f"{step}.log").read_text())
        self.assertEqual((self.out / "summary.txt").read_text(), output)
        self.assertEqual(code, 1 if "failed" in lines["cost"] else 0)  # the substitutes' speed does not matter
        times = (self.out / "results/times.csv").read_text().splitlines()
        self.assertEqual([line.split(",")[:2] for line in times[1:]], [["transpose_naive", "21"], ["transpose_tiled", "21"]])
        self.assertRegex((self.out / "tracing.log").read_text(), r"^4 sites equal\n|^\d+ sites equal\n$")
        cost = [line.split(",") for line in (self.out / "cost/cost.csv").read_text().splitlines()]
        self.assertEqual([row[0] for row in cost], ["kernel", "transpose_naive", "transpose_tiled"])
        self.assertEqual([row[5] for row in cost[1:]], ["4096", "8192"])  # 2048 warps, 2 and 4 accesses each
        log = (self.out / "counters.log").read_text()
        self.assertIn("transpose: without lts__t_bytes.sum\ntranspose: without dram__bytes_read\n", log)
        self.assertIn("transpose: 6 lines of counters, 29 by source line", log)

    def test_programs_and_microbenchmarks(self):
        code, output, _ = self.run_pack("--only", "microbenchmarks,programs")
        self.assertEqual(code, 0, output)
        self.assertEqual((self.out / "microbenchmarks/streams_l2.csv").read_text(), "x,y\nstreams,l2\n")
        self.assertEqual(sorted(path.name for path in (self.out / "programs").glob("*.csv")),
                         ["streams_l1.csv", "streams_l2.csv", "tables_scan_1.csv", "tables_scan_2.csv"])
        script(self.pack / "programs/microbenchmarks/atomics", "#!/bin/sh\necho atomics: out of memory >&2\nexit 1\n")
        code, output, _ = self.run_pack("--only", "microbenchmarks", NCU_SAYS="==ERROR== broken")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"^microbenchmarks failed: streams l2: 2 rows, at \d+ s")
        self.assertIn("atomics: atomics: out of memory\n", (self.out / "microbenchmarks.log").read_text())
        code, output, _ = self.run_pack("--only", "programs", NCU_SAYS="==ERROR== broken")
        self.assertEqual(code, 1)
        self.assertIn("tables_scan_2: ==ERROR== broken\n", (self.out / "programs.log").read_text())

    def test_instructions(self):
        code, output, _ = self.run_pack("--only", "instructions")
        log = (self.out / "instructions.log").read_text()
        self.assertEqual(code, 0, log)  # the program that failed once was tried again
        self.assertRegex(log, r"^collected: --metrics inst_executed,[\s\S]*\n3 of 3 programs\n$")
        with tempfile.TemporaryDirectory() as target:
            self.assertEqual(executed.write_instructions(self.out / "instructions", pathlib.Path(target)), 15)
            with lzma.open(pathlib.Path(target, "instructions.tsv.xz"), "rt") as table:
                rows = [line.rstrip("\n").split("\t") for line in table]
            self.assertTrue(pathlib.Path(target, "cubins.tsv").read_text().startswith("# release"))
        self.assertEqual(rows[0], list(executed.COLUMNS))
        self.assertEqual([row[0] for row in rows[1::5]], ["reference_transpose", "tables_scan", "tables_scan"])
        self.assertEqual(rows[8], ["tables_scan", "1 2", "void scan<(int)2>(const int *, int *)", "1", "2", "STS", "1064", "34048", "30000",
                                   "", "", "", "2128", "1064"])
        self.assertEqual(rows[10][2:9], ["add(int *)", "1", "0", "EXIT", "2", "40", ""])  # of its two launches the first

        code, output, _ = self.run_pack("--only", "instructions", NCU_KNOWS_NO_NAMES="1")
        self.assertEqual(code, 0, output)
        self.assertRegex((self.out / "instructions.log").read_text(), r"Failed to find metric inst_executed\ncollected: --section SourceCounters\n")
        code, output, _ = self.run_pack("--only", "instructions", NCU_SAYS="==ERROR== broken")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"^instructions +failed: reference_transpose: ==ERROR== broken")
        code, output, _ = self.run_pack("--only", "instructions", NCU_SAYS="==ERROR== ERR_NVGPUCTRPERM - no permission")
        self.assertRegex(output, r"^instructions +could not: the driver gives counters to administrators only")
        code, output, _ = self.run_pack("--only", "instructions", "--budget", "10")  # too little for more than the first
        self.assertRegex((self.out / "instructions.log").read_text(), r"no time left for 2 programs\n1 of 3 programs\n$")

    def test_pairs(self):
        code, output, _ = self.run_pack("--only", "pairs")
        log = (self.out / "pairs.log").read_text()
        self.assertEqual(code, 0, log)
        self.assertEqual(log, "2 launches timed, 1 programs with caches flushed\n")
        step = self.out / "pairs"
        self.assertEqual(executed.warm_times(step / "case_scan.txt"), [("void scan<2>(int *)", ["2.5", "2.25", "3", "2"])])
        (step / "case_scan.csv").unlink()  # the synthetic page has other kernels
        self.assertEqual(list(executed.pair_rows(tool, step)), [["tables_scan", "1 2", "scan", "1", "", "2.5", "2.25", "3", "2"],
                                                                ["tables_scan", "", "scan", "1", "", "2.5", "2.25", "3", "2"]])
        script(self.pack / "programs/measured/tables_scan", "#!/bin/sh\necho no memory\nexit 1\n")
        code, output, _ = self.run_pack("--only", "pairs")
        self.assertEqual(code, 1)
        self.assertIn("case_scan: no memory\n", (self.out / "pairs.log").read_text())
        (self.pack / "sources/pairs.tsv").unlink()
        code, output, _ = self.run_pack("--only", "pairs")
        self.assertRegex(output, r"^pairs +could not: the pack has some kernels only")

    def test_counts_that_differ_fail(self):
        expected = self.pack / "expected/transpose.tsv"
        lines = expected.read_text().splitlines()
        fields = lines[0].split("\t")
        fields[-1] = str(int(fields[-1]) + 1)
        expected.write_text("\n".join(["\t".join(fields)] + lines[1:]) + "\n")
        code, output, _ = self.run_pack("--only", "tracing")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"^tracing +failed: .*transpose.*,different ")

    def test_missing_parts_are_reported(self):
        code, output, _ = self.run_pack("--only", "counters", NCU_SAYS="==ERROR== ERR_NVGPUCTRPERM - no permission")
        self.assertEqual(code, 0)
        self.assertRegex(output, r"^counters +could not: the driver gives counters to administrators only")
        code, output, _ = self.run_pack("--only", "counters", NCU_SAYS="==ERROR== something else")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"^counters +failed: transpose: ==ERROR== something else")
        code, output, _ = self.run_pack("--only", "counters", NCU_SAYS="==ERROR== Failed to find metric unknown__metric.sum")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"^counters +failed: transpose: ==ERROR== Failed to find metric unknown__metric.sum")
        code, output, _ = self.run_pack("--only", "results", "--budget", "3")
        self.assertRegex(output, r"^results +could not: no time left of 3 s")
        (self.pack / "programs/properties").write_text("#!/bin/sh\necho device 0\necho 'cudaErrorInsufficientDriver: old'\nexit 3\n")
        code, output, _ = self.run_pack()
        self.assertEqual(code, 3)
        self.assertRegex(output, r"^versions +could not: no NVIDIA GPU that programs may use: cudaErrorInsufficientDriver: old \(\d+ s\)\n")
        (self.pack / "programs/plain/transpose").unlink()
        code, _, errors = self.run_pack()
        self.assertEqual(code, 3)
        self.assertIn("missing beside this script (test/gpu/pack makes them): programs/plain/transpose\n", errors)

    def test_profilers_that_are_none(self):
        without = [folder for folder in os.environ["PATH"].split(":") if not pathlib.Path(folder, "ncu").exists()]
        code, output, _ = self.run_pack("--only", "counters", PATH=":".join(without))
        self.assertEqual(code, 0)
        self.assertRegex(output, r"^counters +could not: no ncu \(Nsight Compute\) here \(")
        code, output, _ = self.run_pack("--only", "counters", NCU_VERSION="it is not installed")
        self.assertEqual(code, 0)
        self.assertRegex(output, r"^counters +could not: ncu is here but reports no version: it is not installed \(")
        code, output, _ = self.run_pack("--only", "counters", NCU_HAS_NO_SOURCES="1")
        self.assertEqual(code, 1)  # the kernels' counters exist all the same
        self.assertRegex(output, r"^counters +failed: transpose: 6 lines of counters, 0 by source line")
        self.assertIn("transpose: no counters by source line: no sources\n", (self.out / "counters.log").read_text())

    def test_ctrl_c_ends_the_step_and_its_programs(self):
        script(self.pack / "programs/plain/transpose", "#!/bin/sh\necho $$ > \"$PIDS\"\nexec sleep 300\n")
        pids = self.out.parent / "pids"
        for sent, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            pids.unlink(missing_ok=True)
            running = subprocess.Popen(["bash", self.pack / "run", "--out", self.out, "--only", "versions,results"], stdout=subprocess.PIPE,
                                       text=True, env={**self.environment, "PIDS": str(pids)})
            self.wait_for(lambda: pids.exists() and pids.read_text().endswith("\n"))
            running.send_signal(sent)
            output, _ = running.communicate(timeout=60)
            self.assertEqual(running.returncode, code)
            self.assertRegex(output, r"^versions +ok .*\nresults +interrupted \(\d+ s\)\n$")
            self.assertEqual((self.out / "summary.txt").read_text(), output)
            program = pathlib.Path("/proc", pids.read_text().strip())
            self.wait_for(lambda: not program.exists())

    def wait_for(self, condition):
        until = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)

    def test_a_full_disk_is_reported(self):
        # RLIMIT_FSIZE simulates it: no file may be larger than a page, so the trace ends there.
        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        done = subprocess.run(["bash", self.pack / "run", "--out", self.out, "--only", "versions,tracing"], capture_output=True, text=True,
                              timeout=200, env=self.environment, preexec_fn=limited)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^versions +ok .*\ntracing +failed: ")
        self.assertIn("File too large", (self.out / "tracing.log").read_text())

    def test_a_program_that_never_ends_costs_its_step_only(self):
        script(self.pack / "programs/plain/transpose", "#!/bin/sh\nexec sleep 100\n")
        code, output, _ = self.run_pack("--only", "results,versions", "--budget", "6")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"results +failed: not done after [56] s")

    def test_wrong_command_lines(self):
        for words, expected in ((["--only", "nosuch"], "no step 'nosuch'"), (["--budget"], "--budget needs a value"), (["x"], "usage: ")):
            code, _, errors = self.run_pack(*words)
            self.assertEqual(code, 2)
            self.assertIn(expected, errors)


if __name__ == "__main__":
    tool = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
