"""Tests the reports of one result: annotated diffs apply and change nothing for the compiler, SARIF and pages are consistent,
diff gates."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import jsonschema

import warplens_tool
from warplens_tool import warplens

# Every place where a comment would be read as something else: joined lines, raw strings, comments over several lines.
SOURCE = r'''// a.cu
#define TWICE(p, i) \
  ((p)[i] + \
   (p)[i])
#define PASTED(p, i) ((p)[i] + na\
me)
int name;
const char* text = R"(x[0] // not code
x[1] \
)" "x[2]"; int after_raw(int* x) { return x[3]; }
int one(int* x, int i) { return x[i]; } // a comment that ends \
in x[i]
int two(int* x, int i) { return x[i]; /* a comment
over x[i] */ } int three(int* x) { return x[0]; }
const char* spliced = "x[0] \
x[1]"; int four(int* x) { return x[1'0]; }
int five(int* x) { return TWICE(x, 1) + PASTED(x, 2); }
int six(int* x) { return x[0]; }'''


def statistic(mean, half_width=0.001):
    return {"mean": mean, "std": 0.002, "ci95": [mean - half_width, mean + half_width],
            "spread95": [mean - 0.004, mean + 0.004], "histogram": {"edges": [], "counts": []}}


def site(identity, line, expression, **more):
    return {"id": f"{identity:016x}", "file": "a.cu", "line": line, "column": 1, "expression": expression, "kind": "load",
            "space": "global", "element_bytes": 4, "executions": 100, "active_lanes": 32.0, "sectors_per_request": 32.0,
            "bytes_used": 12800, "bytes_moved": 102400, "l1_hit_rate": statistic(0.5), "latency_ns": statistic(400, 1),
            "latency_share": 0.05, **more}


def result(sites, **totals):
    return {"schema": "warplens-result/1", "program": "a", "seed": 1, "coverage": {}, "kernels": [
        {"name": "k<1>(int*)", "gpu": "a100", "grid": [1, 1, 1], "block": [32, 1, 1], "launches": 1,
         "occupancy": {"blocks_per_sm": 1, "warps_per_sm": 1, "limited_by": "blocks"},
         "snapshot": {"blocks": 1, "warp_accesses": 100, "transactions": 3200}, "trials": {"run": 8, "converged": True},
         "totals": totals, "sites": sites}]}


def result_of_every_line():
    return result([site(line, line, "x[\\\n*/ \"i\" // ]" if line % 2 else "x[i]")
                   for line in range(1, SOURCE.count("\n") + 2)])


class Formats(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "a.cu").write_text(SOURCE)
        self.write("a.json", result_of_every_line())

    def write(self, name, content):
        (self.folder / name).write_text(json.dumps(content))

    def report(self, *arguments):
        done = warplens("report", "a.json", *arguments, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def tokens(self):
        """Returns the compiler's view of the source, with macros' bodies and the strings made of their arguments."""
        clang = shutil.which("clang++-19") or shutil.which("g++")
        done = subprocess.run([clang, "-std=c++17", "-x", "c++", "-E", "-P", "-w", "a.cu"], cwd=self.folder, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_annotated_diffs_apply_and_change_nothing(self):
        for endings in ("\n", "\r\n"):
            for apply in (["patch", "-p0", "--fuzz=0", "--binary"], ["git", "apply", "-p0"]):
                with self.subTest(apply=apply[0], endings=endings):
                    source = SOURCE.replace("\n", endings).encode()
                    (self.folder / "a.cu").write_bytes(source)
                    before = self.tokens()
                    diff = subprocess.run([warplens_tool.tool, "report", "a.json", "--format", "patch"], cwd=self.folder,
                                          capture_output=True, check=True).stdout
                    applied = subprocess.run(apply, cwd=self.folder, input=diff, capture_output=True)
                    self.assertEqual(applied.returncode, 0, applied.stdout + applied.stderr)
                    self.assertEqual(self.tokens(), before)
                    after = (self.folder / "a.cu").read_bytes()
                    self.assertEqual(after.count(b"\n"), source.count(b"\n"))
                    self.assertEqual(after.count(b"warplens: "), 12)
                    self.assertIn(b"return x[0]; } // warplens: 5.0 % of the latency, 400 ns, L1 50.0 %",  # no longer than 120 columns
                                  after)
                    skipped = re.findall(r"^# a.cu:(\d+): no place for a comment$", diff.decode(), re.MULTILINE)
                    self.assertEqual(skipped, ["5", "8", "9", "11", "13", "15"])

    def test_figures_of_an_annotated_diff(self):
        diff = self.report("--format", "patch", "--columns", "lanes,used")
        self.assertIn("// warplens: 32.0 lanes active, 12.5 % of the bytes used\n", diff)

    def test_sources_that_are_not_here(self):
        (self.folder / "a.cu").unlink()
        done = warplens("report", "a.json", "--format", "patch", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("a.cu is not found", done.stderr)

    def test_sarif(self):
        log = json.loads(self.report("--format", "sarif", "--threshold", "0.05"))
        self.assertEqual(len(log["runs"][0]["results"]), SOURCE.count("\n") + 1)
        self.assertEqual(json.loads(self.report("--format", "sarif", "--threshold", "0.06"))["runs"][0]["results"], [])

    def test_an_annotated_diff_has_at_most_120_columns(self):
        """A line with several accesses has no room for all of their figures, and says fewer of each."""
        code = "float f(float* x) { return " + " + ".join(f"x[{k}]" for k in range(4)) + "; }"
        self.write("a.json", result([site(k, 1, f"x[{k}]", column=28 + 7 * k) for k in range(4)]))
        (self.folder / "a.cu").write_text(code + "\n")
        added, = [line[1:] for line in self.report("--format", "patch").splitlines() if line.startswith("+float")]
        self.assertLessEqual(len(added), 120)
        self.assertTrue(added.startswith(code + " // warplens: x[0]: 5.0 % of the latency"), added)

        long = code[:-2] + " " * 70 + "}"
        (self.folder / "a.cu").write_text(long + "\n")
        added, = [line[1:] for line in self.report("--format", "patch").splitlines() if line.startswith("+float")]
        self.assertRegex(added[len(long):], r"^ // warplens: x\[0\]: 5.0 % of .*…$")

    def test_briefs(self):
        schema = json.loads((warplens_tool.PROJECT / "docs/schemas/brief.json").read_text())
        timed = result_of_every_line()
        timed["kernels"][0]["time"] = {"cycles": statistic(1e5), "microseconds": statistic(70), "extrapolated": False,
                                       "busy": {"dram": 0.75}, "bound": "dram"}
        for content in (result_of_every_line(), timed, {**timed, "kernels": 40 * timed["kernels"]}):
            self.write("a.json", content)
            text = self.report("--format", "brief-json")
            self.assertLessEqual(len(text.encode()), 2048)
            jsonschema.validate(json.loads(text), schema)
            self.assertLessEqual(len(self.report("--format", "brief").encode()), 2048)
        kernel = json.loads(text)["kernels"][0]
        self.assertEqual((kernel["limiter"], kernel["busy"], kernel["headroom"]), ("dram", 0.75, 0.25))

    def test_a_brief_names_advice(self):
        suggestion = {"file": "a.cu", "line": 7, "edit": "make x __restrict__", "share": -0.25, "half_width": 0.01}
        self.write("advice.json", {"schema": "warplens-advice/1", "kernels": [
            {"kernel": "k<1>(int*)", "gpu": "a100", "suggestions": [suggestion]}]})
        self.assertIn("findings   a.cu:7  -25 ± 1 % of the time: make x __restrict__\n",
                      self.report("--format", "brief", "--advice", "advice.json"))
        for content, message in (({}, "advice.json: not a warplens-advice/1 document: schema is missing"),
                                 ({"schema": "warplens-result/1"}, 'schema is not "warplens-advice/1"')):
            self.write("advice.json", content)
            done = warplens("report", "a.json", "--format", "brief", "--advice", "advice.json", cwd=self.folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
        self.assertEqual(warplens("report", "a.json", "--advice", "advice.json", cwd=self.folder).returncode, 2)

    def test_pages(self):
        page = pathlib.Path(warplens_tool.tool).parent.parent / "share/warplens/report.html"
        done = warplens("report", "a.json", "a.json", "--format", "html", cwd=self.folder)
        if not page.exists():
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("Node.js was not found", done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        data = re.search(r'<script type="application/json" id="warplens-data">(.*?)</script>', done.stdout, re.DOTALL)
        data = json.loads(data[1])
        self.assertEqual([entry["label"] for entry in data["results"]], ["a.json", "a.json"])
        self.assertEqual(data["sources"], [{"file": "a.cu", "text": SOURCE}])

    def test_pages_in_the_browser(self):
        if not (pathlib.Path(warplens_tool.tool).parent.parent / "share/warplens/report.html").exists():
            self.skipTest("this build has no page")
        browser = self.folder / "a browser"
        browser.write_text('#!/bin/sh\ncp "$2" seen.html && echo "$1" >option\n')
        browser.chmod(0o755)
        without = {key: value for key, value in os.environ.items() if key not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")}
        without["TMPDIR"] = str(self.folder)
        named = without | {"BROWSER": f"./no-such-browser:'{browser}' --new %s"}
        for command in (("view", "a.json"), ("view", "a.json", "a.json", "-o", "kept.html"), ("report", "a.json", "--open")):
            with self.subTest(command=command):
                (self.folder / "seen.html").unlink(missing_ok=True)
                done = warplens(*command, cwd=self.folder, env=named)
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
                self.assertEqual((self.folder / "option").read_text(), "--new\n")
                self.assertIn('"label":"a.json"', (self.folder / "seen.html").read_text().replace(": ", ":"))
        self.assertEqual((self.folder / "kept.html").read_text().replace(": ", ":").count('"label":"a.json"'), 2)
        done = warplens("view", "a.json", cwd=self.folder, env=without)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        found = re.fullmatch(r"warplens: there is no display to open the page on: it is (\S+\.html); BROWSER can .*\n", done.stderr)
        self.assertTrue(pathlib.Path(found[1]).exists())
        done = warplens("view", "a.json", cwd=self.folder, env=without | {"BROWSER": "false"})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^warplens: false did not open the page: it is \S+\.html; ")
        done = warplens("report", "a.json", "--open", "--format", "csv", cwd=self.folder, env=named)
        self.assertEqual(done.returncode, 2)
        self.assertIn("only --format html goes with it", done.stderr)

    def test_a_file_alone_is_profiled_and_has_its_page(self):
        source = "__global__ void k(float* a) { a[threadIdx.x] = 1; }\nint main() { float* a; cudaMalloc(&a, 128); k<<<1, 32>>>(a); }\n"
        (self.folder / "alone.cu").write_text(source)
        page = self.folder / "alone.warplens.html"
        done = warplens("alone.cu", "--backend", "cpu", "--trials", "2", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("alone.cu", done.stdout)
        profile = warplens("profile", "alone.cu", "--backend", "cpu", "--trials", "2", cwd=self.folder)
        self.assertEqual(profile.stdout, done.stdout)
        if warplens("report", "a.json", "--format", "html", cwd=self.folder).returncode == 0:  # the build has the page
            self.assertEqual(done.stderr.splitlines()[-1], "warplens: the page is alone.warplens.html")
            self.assertIn('"label":"alone.cu"', page.read_text().replace(": ", ":"))
            page.unlink()
        brief = warplens("./alone.cu", "--format", "brief", "--backend", "cpu", "--trials", "2", "--quiet", cwd=self.folder)
        self.assertTrue(brief.stdout.startswith("k on a100\n"), brief.stdout + brief.stderr)
        self.assertFalse(page.exists())
        for words, exit_code, message in ((["none.cu"], 1, "none.cu: no such file"), (["no/such"], 1, "no/such: no such file"),
                                          (["alone.cu", "--none"], 2, "The following argument was not expected: --none (see warplens profile --help)"),
                                          (["alone"], 2, "there is no subcommand or option 'alone'")):
            done = warplens(*words, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (exit_code, "", 1), words)
            self.assertTrue(done.stderr.startswith("warplens: " + message), done.stderr)

    def test_problems_in_visual_studio_code(self):
        tasks = json.loads((warplens_tool.PROJECT / "examples/vscode/tasks.json").read_text())["tasks"]
        findings, lines, errors = tasks[0]["problemMatcher"]

        def problems(matcher, text):
            pattern = matcher["pattern"]
            return [(found[pattern["file"]], int(found[pattern["line"]]), found[pattern["message"]])
                    for line in text.splitlines() if (found := re.match(pattern["regexp"], line))]

        brief = warplens("report", "a.json", "--format", "brief", cwd=self.folder).stdout
        found = problems(findings, brief)
        self.assertTrue(found and all(file == "a.cu" and "uncoalesced" in message for file, _, message in found), brief)
        self.assertEqual([(file, line) for file, line, _ in problems(lines, brief)], [(file, line) for file, line, _ in found[:3]])
        self.assertEqual(problems(errors, "warplens: a b.cu: no\nwarplens: a.cu:7:3: expected expression\nwarplens: b.cu:9: no\n"),
                         [("a.cu", 7, "expected expression"), ("b.cu", 9, "no")])
        known = warplens("profile", "--help").stdout
        for task in tasks:
            for option in task["args"]:
                self.assertTrue(not option.startswith("-") or re.search(rf"{option}\b", known), option)

    def test_a_second_result_is_for_pages(self):
        done = warplens("report", "a.json", "a.json", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("warplens diff", done.stderr)

    def test_text_options(self):
        self.assertIn("by latency", self.report("--sort", "latency", "--width", "120"))
        done = warplens("report", "a.json", "--columns", "speed", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no figure 'speed'; there are time, waited, share, latency", done.stderr)

    def test_no_time_lapse(self):
        done = warplens("report", "a.json", "--format", "perfetto", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("its trials have no clock", done.stderr)


class Diff(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        before, after = result([site(1, 5, "x[i]")]), result([site(2, 7, "x[i]", l1_hit_rate=statistic(0.4))])
        for name, content in (("a.json", before), ("b.json", after)):
            (self.folder / name).write_text(json.dumps(content))

    def diff(self, *arguments):
        return warplens("diff", "a.json", "b.json", *arguments, cwd=self.folder)

    def test_exit_codes(self):
        for condition, code in (("l1_hit_rate<-0.05", 1), ("l1_hit_rate<-0.2", 0), ("l1_hit_rate<-10%", 1), ("latency_ns>0", 0),
                                ("l1_hit_rate<", 2), ("total.l1_read_hit_rate<0", 1)):
            with self.subTest(condition=condition):
                done = self.diff("--fail-if", condition)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 0 if code == 0 else 1, done.stderr)

    def test_snapshots_of_different_size(self):
        """Compares a transpose before and after: the snapshot then held 3456 of its 16384 blocks, now all of them; it moves fewer bytes."""
        def transpose(blocks, bytes_per_block):
            made = result([site(1, 5, "x[i]", executions=8 * blocks, bytes_used=1024 * blocks, bytes_moved=bytes_per_block * blocks)],
                          dram_read_bytes=bytes_per_block * blocks)
            made["kernels"][0].update(grid=[128, 128, 1], snapshot={"blocks": blocks, "warp_accesses": 8 * blocks,
                                                                   "transactions": 64 * blocks})
            return made
        for name, content in (("a.json", transpose(3456, 8192)), ("b.json", transpose(16384, 6000))):
            (self.folder / name).write_text(json.dumps(content))
        conditions = ["--fail-if", "total.dram_read_bytes>5%", "--fail-if", "bytes_moved>5%", "--fail-if", "executions>0"]
        done = self.diff(*conditions)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("snapshots differ: 3456 of 16384 blocks before, 16384 of 16384 after", done.stdout)
        done = self.diff("--fail-if", "total.dram_read_bytes<-20%")
        self.assertEqual(done.returncode, 1)
        self.assertIn("snapshots differ: 3456 of 16384 blocks before", done.stderr)

    def test_times(self):
        def timed(microseconds):
            made = result([site(1, 5, "x[i]")])
            made["kernels"][0]["time"] = {"cycles": statistic(1000 * microseconds), "microseconds": statistic(microseconds),
                                          "extrapolated": False, "busy": {"dram": 0.8}, "bound": "dram"}
            return made
        for name, content in (("a.json", timed(100)), ("b.json", timed(110))):
            (self.folder / name).write_text(json.dumps(content))
        done = self.diff("--fail-if", "total.microseconds>+5%")
        self.assertEqual(done.returncode, 1)
        self.assertIn("microseconds 100 → 110, +10", done.stderr)
        self.assertEqual(self.diff("--fail-if", "total.microseconds>+15%").returncode, 0)
        self.assertIn("bound by   DRAM, 80 % busy\n", warplens("report", "a.json", cwd=self.folder).stdout)

        (self.folder / "a.json").write_text(json.dumps(result([site(1, 5, "x[i]")])))
        done = self.diff()
        self.assertEqual(done.returncode, 0)
        self.assertIn("only the result after has times", done.stdout)
        done = self.diff("--fail-if", "total.microseconds>+5%")
        self.assertEqual(done.returncode, 1)
        self.assertIn("only the one after has it", done.stderr)

    def test_the_verdict(self):
        schema = json.loads((warplens_tool.PROJECT / "docs/schemas/diff.json").read_text())

        def write(name, *microseconds):
            made = result([site(1, 5, "x[i]")])
            mean = sum(microseconds) / len(microseconds)
            made["kernels"][0]["time"] = {"cycles": statistic(1000 * mean), "microseconds": statistic(mean), "extrapolated": False,
                                          "busy": {"dram": 0.8}, "bound": "dram"}
            made["kernels"][0]["trials"]["run"] = len(microseconds)
            made["kernels"][0]["trial_values"] = {"microseconds": microseconds}
            (self.folder / name).write_text(json.dumps(made))
        write("a.json", 100, 104)
        for microseconds, verdict, code in (((100, 104), "same", 0), ((90, 93.6), "faster", 3), ((110, 114.4), "slower", 4),
                                            ((100, 106), "cannot say", 5)):
            with self.subTest(verdict=verdict):
                write("b.json", *microseconds)
                done = self.diff("--exit-code", "verdict")
                self.assertEqual((done.returncode, done.stderr), (code, ""))
                self.assertRegex(done.stdout, f"in total on a100: {verdict}")
                self.assertEqual(self.diff().returncode, 0)
                self.assertEqual(self.diff("--fail-if-slower").returncode, 1 if verdict == "slower" else 0)
                difference = json.loads(self.diff("--format", "json").stdout)
                jsonschema.validate(difference, schema)
                self.assertEqual(difference["speed"]["verdict"], verdict)
                self.assertTrue(difference["kernels"][0]["speed"]["paired"])
        write("b.json", 110, 114.4)
        self.assertIn("--fail-if-slower: in total on a100: slower 1.10 ×: 102 µs → 112 µs, +10.0 % (+10.0 to +10.0 %)", self.diff("--fail-if-slower").stderr)
        self.assertEqual(self.diff("--fail-if", "total.microseconds>0", "--exit-code", "verdict").returncode, 1)
        self.assertEqual(self.diff("--same-within", "0.2", "--exit-code", "verdict").returncode, 0)
        (self.folder / "b.json").write_text(json.dumps(result([site(1, 5, "x[i]")])))
        self.assertEqual(self.diff("--exit-code", "verdict").returncode, 5)
        jsonschema.validate(json.loads(self.diff("--format", "json").stdout), schema)

    def test_several_conditions(self):
        self.assertEqual(self.diff("--fail-if", "latency_ns>5%", "--fail-if", "l1_hit_rate<-0.05").returncode, 1)

    def test_the_printed_output(self):
        done = self.diff()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("a.cu:5 → 7  x[i]", done.stdout)
        self.assertRegex(done.stdout, r"l1_hit_rate +0\.5 +0\.4 +-0\.1 +±0\.0014 of 1 \*")
        self.assertEqual(json.loads(self.diff("--format", "json").stdout)["schema"], "warplens-diff/1")

    def test_nothing_in_common(self):
        done = self.diff("--kernel", "other")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no kernel in common", done.stderr)


if __name__ == "__main__":
    warplens_tool.main()
