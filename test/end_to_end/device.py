"""Programs of kernels/device/, each about one part of CUDA's device side, run on the CPU back end with probes and without.

A file says in its first lines how it is compiled: one line `// flags: …` for each way. It prints a line for each construct, which ends in
`: right`."""

import re
import unittest

from warplens_tool import KERNELS, main, warplens

FILES = sorted((KERNELS / "device").glob("*.cu"))


class Device(unittest.TestCase):
    def run_file(self, file, flags, *options):
        done = warplens("profile", file, "--backend", "cpu", "--nvcc", flags, *options, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def all_right(self, *options, ways):
        for file in FILES:
            for flags in re.findall("^// flags: (.*)$", file.read_text(), re.MULTILINE)[:ways]:
                with self.subTest(file.name, flags=flags):
                    lines = self.run_file(file, flags, *options)
                    self.assertTrue(lines)
                    self.assertEqual([line for line in lines if not line.endswith(": right")], [])

    def test_as_they_are(self):
        self.all_right("--no-probes", ways=None)

    def test_with_probes(self):
        self.all_right("--trials", "2", "-o", "/dev/null", ways=1)

    def test_arithmetic_as_the_options_ask(self):
        """The same lines with probes: what is fused must not depend on them."""
        for flags, expected in (("", ("fused", "kept")), ("-fmad=false", ("separate", "kept")), ("-ftz=true", ("fused", "flushed")),
                                ("--use_fast_math", ("fused", "flushed"))):
            for options in (["--no-probes"], ["--trials", "2", "-o", "/dev/null"]):
                with self.subTest(flags, options=options):
                    lines = self.run_file(KERNELS / "arithmetic.cu", flags, *options)
                    self.assertEqual(lines, [f"contraction: {expected[0]}", f"subnormals: {expected[1]}",
                                             *(f"{name}: right" for name in ("divisions", "shifts", "conversions"))])


if __name__ == "__main__":
    main()
