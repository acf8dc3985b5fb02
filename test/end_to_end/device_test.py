"""Tests that the programs of kernels/device/, each about one part of CUDA's device side, run on the CPU back end with probes and without.

The first lines of a file give the ways to compile it: one line `// flags: …` for each. It prints a line for each construct, which ends in
`: right`."""

import re
import unittest

from warplens_tool import KERNELS, PROJECT, THOROUGH, main, warplens

FILES = sorted((KERNELS / "device").glob("*.cu"))
LONGEST = KERNELS / "device/algorithms.cu"  # CUB's and Thrust's of the whole device: with probes it takes as long as all others together


class Device(unittest.TestCase):
    def run_file(self, file, flags, *options):
        done = warplens("profile", file, "--backend", "cpu", "--nvcc", flags, *options, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def all_right(self, *options, files, ways):
        for file in files:
            for flags in re.findall("^// flags: (.*)$", file.read_text(), re.MULTILINE)[:ways]:
                with self.subTest(file.name, flags=flags):
                    lines = self.run_file(file, flags, *options)
                    self.assertTrue(lines)
                    self.assertEqual([line for line in lines if not line.endswith(": right")], [])

    @unittest.skipUnless(THOROUGH, "test_with_probes has the same programs but the longest: check --all")
    def test_as_they_are(self):
        self.all_right("--no-probes", files=FILES, ways=None)

    def test_with_probes(self):
        self.all_right("--trials", "2", "-o", "/dev/null", files=[file for file in FILES if THOROUGH or file != LONGEST], ways=1)

    def test_arithmetic_follows_the_options(self):
        """Compares the output with and without probes: fused operations must not depend on them."""
        ways = (("--use_fast_math", ("fused", "flushed")), ("-fmad=false", ("separate", "kept")), ("", ("fused", "kept")), ("-ftz=true", ("fused", "flushed")))
        for flags, expected in ways if THOROUGH else ways[:2]:
            for options in (["--no-probes"], ["--trials", "2", "-o", "/dev/null"]):
                with self.subTest(flags, options=options):
                    lines = self.run_file(KERNELS / "arithmetic.cu", flags, *options)
                    self.assertEqual(lines, [f"contraction: {expected[0]}", f"subnormals: {expected[1]}",
                                             *(f"{name}: right" for name in ("divisions", "shifts", "conversions"))])

    def test_the_device_is_the_requested_gpu(self):
        for gpu, capability, gibibytes, sms, bus in (("h100-sxm", "9.0", 80, 132, 5120), ("rtx4090", "8.9", 24, 128, 384), ("v100", "7.0", 16, 80, 4096)):
            with self.subTest(gpu):
                done = warplens("profile", PROJECT / "test/gpu/properties.cu", "--backend", "cpu", "--no-probes", "--gpu", gpu)
                self.assertEqual(done.returncode, 0, done.stderr)
                printed = dict(line.split(" ", 1) for line in done.stdout.splitlines())
                self.assertEqual([printed[key] for key in ("compute_capability", "memory_bytes", "sms", "memory_bus_bits")],
                                 [capability, str(gibibytes << 30), str(sms), str(bus)])

    def test_no_device_is_older_than_the_code_it_runs(self):
        """An older device would reject programs that run here; nvcc's default is 7.5."""
        for gpu, flags, capability in (("v100", "", "7.5"), ("v100", "-arch=sm_80", "8.0"), ("h100-sxm", "", "9.0")):
            with self.subTest(gpu, flags=flags):
                done = warplens("profile", KERNELS / "capability.cu", "--backend", "cpu", "--no-probes", "--gpu", gpu, "--nvcc", flags)
                self.assertEqual((done.stdout, done.returncode), (f"{capability} cudaSuccess\n", 0), done.stderr)

    def ends(self, what, *options):
        done = warplens("profile", KERNELS / "failures.cu", "--backend", "cpu", "--nvcc", "-arch=sm_80", *options, "--run", what, timeout=300)
        return done.stdout.splitlines(), done.stderr

    def test_failures_stick(self):
        for what, error, expected_message in (
                ("assert", "cudaErrorAssert",
                 r"failures\.cu:\d+: .*asserts\(int\).*: block: \[\d,0,0\], thread: \[7,0,0\] Assertion `.*threadIdx\.x.* < limit` failed\."),
                ("trap", "cudaErrorLaunchFailure",
                 r"kernel traps\(\) failed: block \(1, 0, 0\): thread \(2, 0, 0\) executed trap at .*failures\.cu:\d+"),
                ("grid", "cudaErrorLaunchFailure", r"kernel syncs_grid\(\) failed: block \(\d, 0, 0\): thread \(0, 0, 0\) executed trap")):
            with self.subTest(what):
                lines, messages = self.ends(what, "--no-probes")
                self.assertEqual(lines, [f"after: {error}", f"then: {error}", f"allocation: {error}"])
                self.assertRegex(messages, expected_message)

    def test_printf(self):
        lines, _ = self.ends("print", "--no-probes")
        self.assertEqual(lines[0], "-7|   42|ff  |010|w|text|3.142|  1.23e+04|0.1|0x1p+0|-5000000000|18446744073709551615|%|0x10|44|4")
        self.assertEqual(lines[1:], ["after: cudaSuccess", "then: cudaSuccess", "allocation: cudaSuccess"])

    def test_a_kernel_template_that_a_kernel_launches(self):
        done = warplens("profile", KERNELS / "nested_template.cu", "--backend", "cpu", "--no-probes")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], r"^warplens: .*nested_template\.cu:4:5: .*\(dynamic parallelism\) is not supported")

    def test_refused_constructs(self):
        """Constructs that neither the lowering nor the executor of machine code knows are named with file and line."""
        for file in sorted((KERNELS / "refused").glob("*.cu")):
            text = file.read_text()
            flags = re.search("^// flags: (.*)$", text, re.MULTILINE)[1]
            line = next(number for number, line in enumerate(text.splitlines(), 1) if "// refused" in line)
            with self.subTest(file.name):
                done = warplens("profile", file, "--backend", "cpu", "--nvcc", flags, "--no-probes", timeout=300)
                self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                message = done.stderr.splitlines()[-1]
                self.assertRegex(message, rf"^warplens: .*{file.name}:{line}\b.*(?:not supported on the CPU back end|the CPU back end has no)")
                self.assertIn(re.search("^// says: (.*)$", text, re.MULTILINE)[1], message)
                self.assertIn("--backend gpu", message)


if __name__ == "__main__":
    main()
