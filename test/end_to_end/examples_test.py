"""Tests that each instrumented example prints the same as without probes, and that hardly an access escapes the probes."""

import unittest

import warplens_tool
from warplens_tool import PROJECT, Profile, warplens

# Arguments that keep an example small; the others run as they are.
ARGUMENTS = {"spmv": ["u", "4096"]}


def sources():
    """Returns each examples/NAME/NAME.cu; projects of several files are tests of the drop-in nvcc."""
    return sorted(source for source in (PROJECT / "examples").glob("*/*.cu") if source.stem == source.parent.name)


class Examples(unittest.TestCase):
    def test_there_are_some(self):
        self.assertGreaterEqual(len(sources()), 5)

    def test_output_and_coverage(self):
        for source in sources():
            arguments = ARGUMENTS.get(source.parent.name, [])
            with self.subTest(example=source.parent.name):
                original = warplens("profile", source, "--backend", "cpu", "--quiet", "--no-probes",
                                    *(["--run", *arguments] if arguments else []))
                self.assertEqual(original.returncode, 0, original.stderr)
                self.assertNotEqual(original.stdout, "")
                profile = Profile(source, "--gpu", "c2050", "--trials", "2", run=arguments)
                self.assertEqual(profile.stdout, original.stdout)
                self.assertGreaterEqual(profile.result["coverage"]["executed_accesses_probed"], 0.99)
                self.assertNotEqual(profile.result["kernels"], [])
                for kernel in profile.result["kernels"]:
                    self.assertGreater(kernel["snapshot"]["warp_accesses"], 0)


if __name__ == "__main__":
    warplens_tool.main()
