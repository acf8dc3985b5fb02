"""Tests that --racecheck, --initcheck and --synccheck report the faults, with both lines, and nothing else; tests --lockstep and
the note on lock step."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, warplens

SOURCE = KERNELS / "checks.cu"


def line_of(name):
    """Returns the line that ends with `// site: NAME`, as messages name it."""
    return "checks.cu:%d" % next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
                                 if line.endswith("// site: " + name))


class Checks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.programs = {}
        for check in ("racecheck", "initcheck", "synccheck", "none"):
            program = pathlib.Path(folder.name, check)
            done = warplens("nvcc", "--backend", "cpu", *(["--" + check] if check != "none" else []), "-arch=sm_80", SOURCE, "-o", program)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
            cls.programs[check] = program

    def finds(self, check, kernel, *parts, times=None):
        """Checks for one line with these parts in this order, and the summary."""
        done = subprocess.run([self.programs[check], kernel], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "cudaSuccess\n")
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 2, done.stderr)
        self.assertRegex(lines[0], ".*".join(re.escape(part) for part in (f"warplens: {check}: kernel {kernel}: block (", *parts)))
        self.assertRegex(lines[1], rf"^warplens: {check}: found .* \(1 place\), {times or '[0-9]+'} times? in all; looked at .*[1-9]")

    def finds_nothing(self, check, kernel, looked_at="[1-9][0-9]* "):
        """Checks that the summary is all that is printed, and that the check has looked at something."""
        done = subprocess.run([self.programs[check], kernel], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "cudaSuccess\n"), done.stderr)
        self.assertRegex(done.stderr, rf"^warplens: {check}: found nothing; looked at {looked_at}[^\n]*\n$")

    def test_races(self):
        self.finds("racecheck", "written_twice", "write after write: thread (1, 0, 0) writes 4 bytes at 0x0", line_of("written twice"),
                   "which thread (0, 0, 0) of the same warp wrote at ", line_of("written twice"), times=63)
        done = subprocess.run([self.programs["racecheck"], "read_then_written"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, "cudaSuccess\n"))
        self.assertEqual(len(done.stderr.splitlines()), 3, done.stderr)  # some warps read before the write, some behind it
        for kind, first, does, did in (("read after write", "read of old", "reads", "wrote"), ("write after read", "write of new", "writes", "read")):
            second = "write of new" if first == "read of old" else "read of old"
            self.assertRegex(done.stderr, rf"kernel read_then_written: block \([01], 0, 0\): {kind}: thread \(\d+, 0, 0\) {does} 4 bytes at 0x0 "
                                          rf"of shared memory at \S*{line_of(first)}, which thread \(\d+, 0, 0\) of another warp {did} at "
                                          rf"\S*{line_of(second)}, with no synchronisation between")

    def test_races_in_lock_step(self):
        done = subprocess.run([self.programs["racecheck"], "lock_step"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"read after write: .* at \S*{}, which .* of the same warp wrote at \S*{}".format(
            line_of("read in lock step"), line_of("written in lock step")))

    def test_no_races(self):
        self.finds_nothing("racecheck", "all_in_order")

    def test_races_in_global_memory(self):
        done = subprocess.run([self.programs["racecheck"], "between_blocks"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"(read after write|write after read|write after write) between blocks: thread \(0, 0, 0\) \w+ 4 bytes at byte 0 of "
                                      rf"the 4096-byte allocation at 0x\w+ at \S*{line_of('counted by blocks')}, which thread \(0, 0, 0\) of block "
                                      rf"\(\d, 0, 0\) (wrote|read) at \S*{line_of('counted by blocks')}, with no synchronisation between")
        done = subprocess.run([self.programs["racecheck"], "within_a_block"], capture_output=True, text=True, timeout=60)
        self.assertRegex(done.stderr, rf"4 bytes at byte \d+ of the 4096-byte allocation at 0x\w+ at \S*{line_of('read of a neighbour')}, which thread "
                                      rf"\(\d+, 0, 0\) of another warp wrote at \S*{line_of('written by a neighbour')}")
        self.finds("racecheck", "in_a_variable", "write after write between blocks", "of global memory", line_of("variable of all blocks"))
        done = subprocess.run([self.programs["racecheck"], "without_fence"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, rf"read after write between blocks: .* at \S*{line_of('read unpublished')}, which .* wrote at "
                                      rf"\S*{line_of('not published')}")
        self.finds_nothing("racecheck", "blocks_in_order", r"\d+ accesses to shared and [1-9]\d* to global")
        self.finds_nothing("racecheck", "flag_by_volatile", r"0 accesses to shared and [1-9]\d* to global")

    def test_copies_that_are_not_waited_for(self):
        self.finds("racecheck", "copied_without_waiting", "read after write: thread (0, 0, 0) reads 4 bytes at 0x0 of shared memory",
                   line_of("read while copied"), "which the thread itself copies to asynchronously at ", line_of("copied"), "and has not waited for", times=64)
        self.finds("racecheck", "waited_by_one_group_too_few", line_of("read one group too early"), "copies to asynchronously at ", line_of("copied last"))
        self.finds_nothing("racecheck", "copied_and_waited")

    def test_memory_that_was_not_written(self):
        self.finds("initcheck", "read_device", "thread (25, 0, 0) reads 4 bytes at byte 100 of the 4096-byte allocation at 0x",
                   line_of("device memory") + ", which was never written", times=64 - 25)
        self.finds("initcheck", "read_shared", "thread (63, 0, 0) reads 4 bytes at 0x100 of shared memory", line_of("shared memory"), times=2)
        self.finds_nothing("initcheck", "all_written")

    def test_threads_that_are_not_there(self):
        self.finds("synccheck", "without_itself", "thread (31, 0, 0), lane 31 of its warp, executes shfl.sync at ", line_of("without itself"),
                   "with the mask 0x7fffffff, which lacks it", times=1)
        self.finds("synccheck", "with_ended", "executes bar.warp.sync at ", line_of("with ended"), "lanes 0xffff0000 of it have ended")
        self.finds("synccheck", "apart", "waits for the block at ", line_of("odd"), "other lanes of its warp wait for it at ", line_of("even"))
        self.finds("synccheck", "several_barriers", "waits for the block at ", line_of("barrier of the second warp"), "another warp waits for it at ",
                   line_of("barrier of the first warp"))
        done = subprocess.run([self.programs["synccheck"], "left_out"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, rf"lanes 0x\w+ of the warp of thread \(\d+, 0, 0\) have ended without the barrier at \S*{line_of('left out')}")
        self.finds_nothing("synccheck", "in_agreement")

    def test_several_checks_at_once(self):
        """Uses a source whose strings only some kernels use."""
        done = warplens("profile", SOURCE, "--memcheck", "--racecheck", "--initcheck", "--synccheck", "--no-probes", "--run", "written_twice")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("write after write", done.stderr)

    def test_through_the_command_line(self):
        model = ("--quiet", "--gpu", "c2050", "--trials", "2")
        done = warplens("profile", SOURCE, "--racecheck", *model, "--run", "written_twice")
        self.assertEqual(done.returncode, 1)
        self.assertIn("write after write", done.stderr)
        done = warplens("run", "--initcheck", *model, "--", self.programs["racecheck"], "written_twice")
        self.assertEqual(done.returncode, 1)
        self.assertIn("built without --initcheck", done.stderr)

    def test_the_note_on_lock_step(self):
        """The variant with probes reports the accesses that rely on it; the program ends as it would."""
        done = warplens("profile", SOURCE, "--gpu", "c2050", "--trials", "2", "-o", "/dev/null", "--run", "lock_step")
        self.assertEqual(done.returncode, 0, done.stderr)
        notes = [line for line in done.stderr.splitlines() if line.startswith("warplens: note: kernel lock_step")]
        self.assertEqual(len(notes), 1, done.stderr)
        self.assertRegex(notes[0], rf"{line_of('read in lock step')}, which .* of the same warp wrote at \S*{line_of('written in lock step')}")

    def test_notes_of_a_scan(self):
        """Each step exchanges data, in its own lines: the report shows two of them, and that there are more."""
        done = warplens("profile", SOURCE, "--gpu", "c2050", "--trials", "2", "-o", "/dev/null", "--run", "scan_in_lock_step")
        self.assertEqual(done.returncode, 0, done.stderr)
        notes = [line for line in done.stderr.splitlines() if line.startswith("warplens: note: kernel scan_in_lock_step: ")]
        self.assertEqual(len(notes), 3, done.stderr)
        self.assertIn("relies on lock step at more lines", notes[2])

    def test_lockstep(self):
        """A warp that exchanges data through global memory, in a loop: right only with the option."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "a.cu")
            source.write_text("""
                #include <cstdio>
                __global__ void scan(int* p) {
                  int t = threadIdx.x;
                  for (int by = 1; by < 32; by *= 2)
                    if (t >= by) p[t] += p[t - by];
                }
                int main() {
                  int* p; cudaMallocManaged(&p, 128);
                  for (int i = 0; i < 32; ++i) p[i] = 1;
                  scan<<<1, 32>>>(p); cudaDeviceSynchronize();
                  int right = 0;
                  for (int i = 0; i < 32; ++i) right += p[i] == i + 1;
                  std::printf("%d\\n", right);
                }""")
            program = pathlib.Path(folder, "a")
            done = warplens("nvcc", "--backend", "cpu", "--lockstep", source, "-o", program)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(subprocess.run([program], capture_output=True, text=True, timeout=60).stdout, "32\n")


if __name__ == "__main__":
    warplens_tool.main()
