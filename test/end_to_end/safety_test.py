"""Tests that a kernel's faults are reported with kernel, block, thread and line; endless kernels can be ended; sums can be repeated."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import warplens_tool
from warplens_tool import KERNELS, warplens

SOURCE = KERNELS / "safety.cu"


def line_of(name):
    """Returns the line that ends with `// site: NAME`."""
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.endswith("// site: " + name))


def built(folder, *options):
    """Returns the program from the intermediate files that --keep leaves."""
    done = warplens("profile", SOURCE, "--backend", "cpu", "--quiet", "--gpu", "c2050", "--trials", "2", "--keep", *options,
                    "-o", folder / "report.txt", "--run", "nothing_wrong")
    if done.returncode != 0 or "five\ncudaSuccess\n" not in done.stdout:
        raise AssertionError(done.stderr + done.stdout)
    kept = pathlib.Path(re.search(r"intermediate files stay in (\S+)", done.stderr)[1])
    program = folder / "program"
    shutil.move(kept / "program", program)
    shutil.rmtree(kept)
    return program


class Safety(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        for name in ("plain", "checked"):
            (pathlib.Path(cls.folder.name) / name).mkdir()
        cls.plain = built(pathlib.Path(cls.folder.name, "plain"))
        cls.checked = built(pathlib.Path(cls.folder.name, "checked"), "--memcheck")

    def ends_with(self, program, mistake, *parts):
        """Checks that the run prints one line with these parts, in this order, and fails."""
        done = subprocess.run([program, mistake], capture_output=True, text=True, timeout=60)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], ".*".join(re.escape(part) for part in parts))
        return done

    def test_memcheck(self):
        for mistake, kernel, thread, site, parts in (
                ("past_the_end", "past_the_end(float*)", "block (7, 0, 0): thread (104, 0, 0)", "past_the_end",
                 ["writes 4 bytes", "0 bytes past the end of the 4000-byte allocation at 0x2"]),
                ("past_a_shared_array", "past_a_shared_array(float*)", "thread (63, 0, 0)", "past_a_shared_array",
                 ["writes 4 bytes", "0 bytes past the end of __shared__ tile (256 bytes)"]),
                ("past_dynamic_shared", "past_dynamic_shared(float*)", "thread (63, 0, 0)", "past_dynamic_shared",
                 ["0 bytes past the end of the block's 256 bytes of shared memory"]),
                ("past_a_variable", "past_a_variable(int*)", "thread (0, 0, 0)", "past_a_variable",
                 ["reads 4 bytes", "0 bytes past the end of table (32 bytes)"]),
                ("misaligned", "misaligned(char*)", "thread (0, 0, 0)", "misaligned", ["writes 16 bytes", "not a multiple of 16"]),
                ("freed", "update(int*)", "thread (0, 0, 0)", "update",
                 ["updates atomically 4 bytes", "in the 4000-byte allocation at 0x2", "which was freed"]),
                ("host", "update(int*)", "thread (0, 0, 0)", "update", ["a pointer of the host's?"]),
                ("null", "update(int*)", "thread (0, 0, 0)", "update", ["at 0x0: a null pointer"])):
            with self.subTest(mistake=mistake):
                done = self.ends_with(self.checked, mistake, "kernel " + kernel, thread, f"safety.cu:{line_of(site)}", *parts)
                self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_memcheck_through_the_command_line(self):
        done = warplens("profile", SOURCE, "--memcheck", "--quiet", "--gpu", "c2050", "--trials", "2", "--run", "past_the_end")
        self.assertEqual(done.returncode, 1)
        self.assertIn("0 bytes past the end of the 4000-byte allocation", done.stderr)
        done = warplens("run", "--memcheck", "--quiet", "--gpu", "c2050", "--trials", "2", "--", self.checked, "nothing_wrong")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = warplens("run", "--memcheck", "--quiet", "--", self.plain, "nothing_wrong")
        self.assertEqual(done.returncode, 1)
        self.assertIn("built without --memcheck", done.stderr)

    def test_deadlock(self):
        done = self.ends_with(self.plain, "apart", "kernel apart(int*): block (0, 0, 0): deadlock",
                              "16 threads of warp 0 wait at ", f"safety.cu:{line_of('half')}, for the rest of the block",
                              "16 threads of warp 0 wait at ", f"safety.cu:{line_of('other half')} (in ", "for lanes 0x0000ffff of its warp",
                              "64 threads of warps 1 to 2 wait at ", f"safety.cu:{line_of('rest')}")
        self.assertEqual(done.returncode, 1)

    def test_faults(self):
        for mistake in ("far_away", "far_away_with_barrier"):
            with self.subTest(mistake=mistake):
                done = self.ends_with(self.plain, mistake, f"kernel {mistake}(int*) failed: block (", "thread (37, 0, 0) accesses unmapped memory")
                self.assertEqual(done.stdout, "cudaErrorIllegalAddress\n")
        done = self.ends_with(self.plain, "overflow", "kernel overflow(int*) failed: block (0, 0, 0): thread (0, 0, 0)", "stack")
        self.assertEqual(done.stdout, "cudaErrorIllegalAddress\n")

    def test_a_program_that_ignores_its_failed_kernel(self):
        """The program ends with code 0; in continuous integration the run must not pass."""
        report = pathlib.Path(self.folder.name, "failed.txt")
        done = warplens("run", "--quiet", "--gpu", "c2050", "--trials", "2", "-o", report, "--", self.plain, "far_away")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], r"^warplens: .*: kernel far_away\(int\*\) failed: block \(.*, and the program ended "
                         r"with code 0 all the same; the report covers what was collected until then$")
        self.assertIn("far_away", report.read_text())

    def test_a_block_that_fails_while_others_wait_for_it(self):
        for options in (["--deterministic"], []):
            with self.subTest(options=options):
                done = warplens("run", *options, "--quiet", "--gpu", "a100", "--trials", "2", "-o", "/dev/null", "--", self.plain, "fail_early", timeout=60)
                self.assertIn("cudaErrorLaunchFailure", done.stdout, done.stderr)
                self.assertIn("block (3, 0, 0): thread (0, 0, 0) executed trap", done.stderr)

    def test_a_number_of_threads_that_is_none(self):
        for value in ("4abc", "0", "-1"):
            done = subprocess.run([self.plain, "nothing_wrong"], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "WARPLENS_CPU_THREADS": value})
            self.assertEqual((done.returncode, done.stdout), (0, "five\ncudaSuccess\n"))
            self.assertEqual(done.stderr, f"warplens: WARPLENS_CPU_THREADS={value}: expected a whole number from 1 to 2^48; all cores are used\n")

    def start(self, *command, **options):
        """Runs a program in the background, which is killed when the test ends, however it ends."""
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        time.sleep(2)
        self.assertIsNone(process.poll())
        return process

    def test_a_kernel_that_never_ends(self):
        """Sends Ctrl-C as a terminal does: to warplens and to the program."""
        report = pathlib.Path(self.folder.name, "endless.txt")
        running = self.start(warplens_tool.tool, "run", "--gpu", "c2050", "--trials", "2", "-o", report, "--", self.plain, "endless")
        os.killpg(running.pid, signal.SIGINT)
        output = running.communicate(timeout=60)[1]
        self.assertEqual(running.returncode, 1)
        self.assertIn("was ended by signal 2", output)
        self.assertIn("The snapshot is partial", report.read_text())
        self.assertIn(f"»{line_of('before the loop')} ", report.read_text())

    def test_untraced_it_ends_too(self):
        running = self.start(self.plain, "endless")
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(timeout=60), -signal.SIGTERM)

    def outputs(self, kernel):
        """Returns the set of the program's outputs over several runs with different numbers of threads."""
        printed = set()
        for threads in ("1", "2", "7"):
            done = warplens("run", "--deterministic", "--quiet", "--gpu", "c2050", "--trials", "2", "-o", "/dev/null", "--", self.plain, kernel,
                            env={**os.environ, "WARPLENS_CPU_THREADS": threads})
            self.assertEqual(done.returncode, 0, done.stderr)
            printed.add(done.stdout)
        return printed

    def test_deterministic(self):
        """Blocks run one after the other, threads in their order: the sum is exactly that of a loop."""
        (printed,) = self.outputs("sum")
        total, in_order, error = printed.split()
        self.assertEqual((total, error), (in_order, "cudaSuccess"))

    def test_deterministic_cooperative_launch(self):
        """The result is the same in each run; the runtime chooses the order after the grid's barrier, but always the same."""
        (printed,) = self.outputs("sum_twice")
        total, in_order, _, error = printed.split()
        self.assertEqual((total, error), (in_order, "cudaSuccess"))


if __name__ == "__main__":
    warplens_tool.main()
