"""Tests that an error is one line that names the fault, with exit code 1 (2 for the command line), and that collected data is kept."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, warplens


class BadInput(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def fails(self, *arguments, names, code=1):
        """Checks that `warplens ARGUMENTS…` prints one line that holds each of `names`, and nothing else on stderr."""
        done = warplens(*arguments)
        lines = done.stderr.splitlines()
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(lines), 1, done.stderr)
        for name in names:
            self.assertIn(str(name), lines[0])
        return done

    def profile_fails(self, source, *options, names):
        return self.fails("profile", source, "--backend", "cpu", "--quiet", "--gpu", "c2050", "--trials", "2", *options,
                          names=names)

    def test_a_file_that_is_not_there(self):
        missing = self.folder / "missing.cu"
        self.profile_fails(missing, names=[missing])
        self.fails("patch", missing, names=[missing])
        self.fails("model", self.folder / "missing.wlt", names=["missing.wlt"])
        self.fails("trace", "info", self.folder / "missing.wlt", names=["missing.wlt"])
        self.fails("report", self.folder / "missing.json", names=["missing.json"])

    def test_a_file_that_does_not_compile(self):
        self.profile_fails(KERNELS / "broken.cu", names=["broken.cu:2:", "undeclared"])
        self.fails("patch", KERNELS / "broken.cu", names=["broken.cu:2:", "undeclared"])

    def test_a_program_that_cannot_be_linked(self):
        empty = self.folder / "empty.cu"
        empty.touch()
        self.profile_fails(empty, names=[empty, "linked", "main"])

    def test_a_compilation_without_an_end(self):
        """Compiles 10^9 empty declarations, which the compiler could well read, within a second of processor time."""
        source = self.folder / "endless.cu"
        lines = ["__global__ void k() {}", "#define A0 ;"] + [f"#define A{i + 1} {' '.join([f'A{i}'] * 10)}" for i in range(9)] + ["A9"]
        source.write_text("\n".join(lines))
        environment = os.environ | {"WARPLENS_STAGE_SECONDS": "1"}
        done = warplens("profile", source, "--backend", "cpu", "--quiet", env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Awarplens: warplens-compile rewrite was stopped while instrumenting .*endless.cu, .*"
                                      r"more processor time.*\n\Z")

    def test_a_folder_in_place_of_a_file(self):
        self.fails("profile", self.folder, names=[self.folder, "folder"])

    def test_an_odd_file_name_and_no_stdout(self):
        """Uses a name of any bytes; the trace does not get the number of the closed stdout, where the program prints."""
        source = self.folder / os.fsdecode(b"it's l\xe9ft.cu")
        shutil.copy(KERNELS / "endings.cu", source)
        trace = self.folder / "trace.wlt"
        done = subprocess.run([warplens_tool.tool, "profile", source, "--backend", "cpu", "--quiet", "--gpu", "c2050", "--trials",
                               "2", "--trace", trace, "-o", self.folder / "report.txt"],
                              stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        checked = warplens("trace", "check", trace)
        self.assertEqual(checked.stdout, f"{trace}: nothing wrong\n")

    def test_a_trace_that_another_run_left(self):
        trace = self.folder / "old.wlt"
        trace.write_bytes(b"of another program")
        self.fails("run", "--quiet", "--trace", trace, "--", "true", names=["true: it left no trace: it launched no kernel"])
        self.fails("run", "--quiet", "--trace", trace, "--", "sh", "-c", "exit 4", names=["sh exited with code 4"])
        self.assertFalse(trace.exists())

    def test_an_unknown_gpu(self):
        self.profile_fails(KERNELS / "endings.cu", "--gpu", "voodoo2", names=["voodoo2", "a100", "c2050"])
        self.fails("gpus", "voodoo2", names=["voodoo2", "a100"])

    def test_programs_that_end_badly_lose_nothing(self):
        result = self.folder / "result.json"
        for ending, name in (("exit-3", "3"), ("abort", "abort"), ("at-once", "cut short")):
            with self.subTest(ending=ending):
                done = warplens("profile", KERNELS / "endings.cu", "--backend", "cpu", "--quiet", "--gpu", "c2050", "--trials",
                                "2", "--format", "json", "-o", result, "--run", ending)
                self.assertEqual(done.returncode, 1, done.stderr)
                lines = done.stderr.splitlines()
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertIn("endings.cu", lines[0])
                self.assertIn(name, lines[0].lower())
                self.assertEqual(done.stdout, "filled: cudaSuccess\n")
                kernels = json.loads(result.read_text())["kernels"]
                self.assertEqual([site["executions"] for site in kernels[0]["sites"]], [256])
                result.unlink()

    def test_a_kernel_that_is_never_launched(self):
        self.profile_fails(KERNELS / "endings.cu", "--run", "without-launch", names=["kernel", "launched"])

    def test_no_kernel_of_that_name(self):
        # With -o the program's own output stays on stdout.
        self.profile_fails(KERNELS / "endings.cu", "--kernel", "nothing_is_called_so", "-o", self.folder / "report.txt",
                           names=["kernel", "--kernel"])

    def test_kernels_of_a_trace_by_name(self):
        trace = self.folder / "trace.wlt"
        done = warplens("profile", KERNELS / "patterns.cu", "--backend", "cpu", "--quiet", "--gpu", "c2050", "--trials", "2",
                        "--trace", trace, "-o", self.folder / "report.txt")
        self.assertEqual(done.returncode, 0, done.stderr)
        model = ("model", trace, "--gpu", "c2050", "--trials", "2")
        of_all, of_one = (json.loads(warplens(*model, *chosen).stdout)["kernels"] for chosen in ([], ["--kernel", "walk"]))
        expected = [kernel for kernel in of_all if "walk" in kernel["name"]]
        self.assertTrue(0 < len(expected) < len(of_all))
        self.assertEqual(of_one, expected, "what is modelled beside a kernel does not change its figures")
        self.fails(*model, "--quiet", "--kernel", "nothing_is_called_so", names=["--kernel 'nothing_is_called_so'", "for one"])

    def test_a_trace_cut_in_half(self):
        trace, half = self.folder / "whole.wlt", self.folder / "half.wlt"
        done = warplens("profile", KERNELS / "patterns.cu", "--backend", "cpu", "--quiet", "--gpu", "c2050", "--trials", "2",
                        "--trace", trace, "-o", self.folder / "report.txt")
        self.assertEqual(done.returncode, 0, done.stderr)
        half.write_bytes(trace.read_bytes()[: trace.stat().st_size // 2])
        result = self.folder / "result.json"
        self.fails("model", half, "--gpu", "c2050,c2050", "--trials", "2", "--quiet", "-o", result, names=["half.wlt"])
        collected = json.loads(result.read_text())
        self.assertTrue(collected["trace_truncated"])
        kernels = [kernel["name"] for kernel in collected["kernels"]]
        self.assertEqual(len(kernels), len(set(kernels)), "a GPU that is named twice is modelled once")
        self.assertGreater(sum(site["executions"] for kernel in collected["kernels"] for site in kernel["sites"]), 0)

    def test_files_that_are_something_else(self):
        garbage = self.folder / "garbage"
        for content in (b"", b"\0" * 100, b"{", bytes(range(256)) * 20):
            with self.subTest(content=content[:8]):
                garbage.write_bytes(content)
                self.fails("model", garbage, "--quiet", names=["garbage"])
                self.fails("trace", "check", garbage, names=["garbage"])
                self.fails("report", garbage, names=["garbage"])
        garbage.write_text('{"schema": "warplens-result/1"}')
        self.fails("report", garbage, names=["garbage", "program is missing"])
        # Another program may have written this behind the mark of our notes.
        garbage.write_text('warplens-compilation/1 {"source": 5, "probed": "x", "unseen": [{"line": "a", "file": []}]}\n')
        done = warplens("nvcc", "--report", garbage)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

        self.fails("nvcc", "--report", names=["--report needs a file"])

    def test_a_folder_in_place_of_a_result(self):
        for arguments in (["report", self.folder], ["diff", self.folder, self.folder], ["nvcc", "--report", self.folder]):
            with self.subTest(command=arguments[0]):
                self.fails(*arguments, names=[self.folder, "cannot be read: Is a directory"])

    def test_a_removed_current_folder(self):
        removed = self.folder / "removed"
        removed.mkdir()
        done = subprocess.run(["sh", "-c", 'cd "$1" && rmdir "$1" && "$2" run --quiet --trace t.wlt -- true', "sh", removed,
                               warplens_tool.tool], capture_output=True, text=True)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertRegex(done.stderr, "^warplens: .*t.wlt.*: (cannot be written|it left no trace)?.*No such file or directory")

    def test_an_error_that_only_clang_makes(self):
        source = self.folder / "picky.cu"
        source.write_text("#ifdef __clang__\n#error only nvcc takes this file\n#endif\n__global__ void k() {}\nint main() {}\n")
        self.profile_fails(source, names=["nvcc takes this, Clang 19 does not: ", "picky.cu:2:", "only nvcc takes this file"])
        self.fails("patch", source, names=["nvcc takes this, Clang 19 does not: "])
        source.write_text("__global__ void k() { missing; }\nint main() {}\n")
        done = self.fails("patch", source, names=["picky.cu:1:"])
        self.assertNotIn("nvcc takes this", done.stderr)

    def test_an_output_that_cannot_be_written(self):
        nowhere = self.folder / "no" / "such" / "folder"
        result = self.folder / "result.json"
        result.write_text('{"schema": "warplens-result/1", "program": "p", "seed": 1, "coverage": {}, "kernels": []}')
        self.fails("report", result, "-o", nowhere, names=[nowhere])
        for option in ("-o", "--trace"):  # reported before the program runs
            for place in (nowhere, self.folder):
                done = self.fails("run", "--quiet", option, place, "--", "echo", "it ran", names=[place, "cannot be written"])
                self.assertEqual(done.stdout, "")

    def test_wrong_command_lines(self):
        for arguments, names in (
                ([], ["subcommand"]), (["frobnicate"], ["'frobnicate'", "profile, run", "see warplens --help"]),
                (["profile"], ["see warplens profile --help"]), (["trace", "frob"], ["'frob'", "info, counts, dump, check"]), (["trace", "info"], ["see warplens trace info --help"]),
                (["run"], ["PROGRAM"]), (["report", "x", "--format", "papyrus"], ["papyrus"]),
                (["report", "x", "--format", "json", "--columns", "l1"], ["--columns", "text and patch only"]),
                (["report", "x", "--width", "90", "--format", "csv"], ["--width", "sass only"]),
                (["report", "x", "--threshold", "0.1"], ["--threshold", "sarif only"]),
                (["report", "x", "--open", "--no-source"], ["--no-source", "text only"]),
                (["report", "x", "--format", "sarif", "--threshold", "nan"], ["--threshold", "nan", "from 0 to 1"]),
                (["diff", "x", "y", "--fail-if", "latency_ns>>1"], ["--fail-if", "character 12"]),
                (["profile", "x.cu", "--no-such-option"], ["--no-such-option"]),
                (["profile", "x.cu", "--trials", "many"], ["--trials", "many", "1000000"]),
                (["model", "x.wlt", "--trials", "1"], ["--trials", "from 2 to"]),
                (["model", "x.wlt", "--confidence", "0.01,5"], ["--confidence", "'0.01,5'", "0.005,2%"]),
                (["model", "x.wlt", "--confidence", "-1"], ["--confidence", "'-1'"]),
                (["model", "x.wlt", "--confidence", "0.01,101%"], ["--confidence", "'0.01,101%'"]),
                (["model", "x.wlt", "--timeline-bins", "0"], ["--timeline-bins", "from 1 to"]),
                (["profile", "x.cu", "--seed", "-1"], ["--seed", "-1"]),
                (["profile", "x.cu", "--seed", str(2**64)], ["--seed", 2**64]),
                (["profile", "x.cu", "--snapshot-blocks", "0"], ["--snapshot-blocks", "from 1 to"]),
                (["model", "absent.wlt", "--kernel", "("], ["--kernel", "'('", "regular expression"]),
                (["run", "--kernel", "(", "--", "true"], ["--kernel", "'('", "regular expression"])):
            with self.subTest(arguments=arguments):
                self.fails(*arguments, names=["--help", *names], code=2)


if __name__ == "__main__":
    warplens_tool.main()
