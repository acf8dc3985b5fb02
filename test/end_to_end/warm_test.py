"""Tests the L2's contents at the beginning of a launch, through the whole tool: the remains of copies and launches that were seen.

The arrays of warm.cu have 1 MiB each, so that an A100's L2 holds all of them.
"""

import json
import pathlib
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, Profile, base_name, warplens

ARRAY = 1 << 20


class Warm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.trace = pathlib.Path(cls.temporary.name) / "t.wlt"
        cls.profile = Profile(KERNELS / "warm.cu", "--gpu", "a100", "--trials", "4", "--trace", cls.trace)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def check(self, kernel, rate, warm, bytes_left, why):
        self.assertAlmostEqual(kernel["totals"]["l2_read_hit_rate"]["mean"], rate, delta=0.001)
        self.assertEqual(kernel["l2_start"], {"warm": warm, "bytes": bytes_left, "why": why})

    def test_the_program_computes_the_right_values(self):
        self.assertEqual(self.profile.stdout.splitlines()[-1], "right")

    def test_a_copy_leaves_its_output(self):
        self.check(self.profile.kernel("add"), 1, True, ARRAY, "left by 1 copy or fill")

    def test_a_launch_leaves_its_input_and_output(self):
        self.check(self.profile.kernel("scale"), 1, True, 2 * ARRAY, "left by 1 copy or fill and 1 launch")

    def test_after_an_untraced_launch_nothing_is_known(self):
        self.check(self.profile.kernel("negate"), 0, False, 0, "not known after an untraced launch of add")
        self.assertEqual(self.profile.kernel("negate")["totals"]["cold_miss_share"], 1)

    def test_except_memory_used_since(self):
        self.check(self.profile.kernel("copy"), 1, True, ARRAY,
                   "left by 1 copy or fill; the rest is not known after an untraced launch of add")

    def test_cold(self):
        done = warplens("model", self.trace, "--gpu", "a100", "--trials", "4", "--cold")
        self.assertEqual(done.returncode, 0, done.stderr)
        kernels = json.loads(done.stdout)["kernels"]
        self.assertEqual([base_name(kernel["name"]) for kernel in kernels], ["add", "scale", "negate", "copy"])
        for kernel in kernels:
            self.check(kernel, 0, False, 0, "as asked for")

    def test_warm(self):
        done = warplens("model", self.trace, "--gpu", "a100", "--trials", "4", "--warm")
        self.assertEqual(done.returncode, 0, done.stderr)
        repeated = "; this launch is one of them, as if it were repeated"
        for kernel in json.loads(done.stdout)["kernels"]:
            self.assertEqual(kernel["totals"]["l2_read_hit_rate"]["mean"], 1)
            self.assertEqual(kernel["l2_start"]["why"].count(repeated), 1)
            self.assertEqual(kernel["totals"]["dram_write_bytes"], 0)
        both = warplens("model", self.trace, "--cold", "--warm")
        self.assertEqual(both.returncode, 2)
        self.assertIn("--warm", both.stderr)

    def test_the_report_shows_the_start_of_the_l2(self):
        done = warplens("model", self.trace, "--gpu", "a100", "--trials", "4", "--format", "text")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nL2 start   warm: 1.0 MB left by 1 copy or fill\n", done.stdout)
        self.assertIn("\nL2 start   cold: not known after an untraced launch of add\n", done.stdout)

    def test_the_trace_tells_of_it(self):
        self.assertEqual(warplens("trace", "check", self.trace).returncode, 0)
        uses = [line for line in warplens("trace", "dump", self.trace).stdout.splitlines() if line.startswith("before ")]
        self.assertEqual([line.split()[1:3] for line in uses],
                         [["0", "written"], ["2", "unseen"], ["3", "unseen"], ["3", "written"]])


class Windows(unittest.TestCase):
    def test_windows_of_streams_and_of_launches_are_in_the_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "t.wlt"
            profile = Profile(KERNELS / "windows.cu", "--gpu", "a100", "--trials", "2", "--trace", trace)
            self.assertEqual(profile.stdout.splitlines()[-1], "right")
            dumped = warplens("trace", "dump", trace).stdout.splitlines()
        launches = [base_name(line.split()[2]) for line in dumped if line.startswith("launch ")]
        windows = [line.split() for line in dumped if line.startswith("window ")]
        self.assertEqual([launches[int(window[1])].split("(")[0] for window in windows], ["by_stream", "by_launch"])
        for window in windows:
            self.assertEqual(" ".join(window[3:]), "16384 bytes, of which a share of 0.5 persists in 1048576 bytes of the L2")


if __name__ == "__main__":
    warplens_tool.main()
