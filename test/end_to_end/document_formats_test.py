"""Tests the formats of documents through the command line: the commands that print them have all of them, and each has what its readers want."""

import csv
import html.parser
import io
import json
import pathlib
import re
import tempfile
import unittest

import jsonschema

import warplens_tool
from calibrate_test import write_published_curves
from warplens_tool import PROJECT, warplens

SOURCE = """
__global__ void copy(const float4* in, float4* out) { out[blockIdx.x * 256 + threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x]; }
__global__ void scale(float* out) { out[blockIdx.x * 256 + threadIdx.x] *= 2; }
int main() {
  float4 *in, *out;
  cudaMalloc(&in, 1 << 20); cudaMalloc(&out, 1 << 20);
  copy<<<256, 256>>>(in, out);
  scale<<<64, 256>>>((float*)out);
  return cudaDeviceSynchronize();
}
"""
FORMATS = {"text", "markdown", "csv", "html", "json"}
COMMANDS = ("gpus", "doctor", "power", "clocks", "corun", "explain", "calibrate", "ab", "gate", "diff", "compare", "counters", "placement", "advise")


class Tables(html.parser.HTMLParser):
    """Counts the rows of a page's tables."""
    rows = 0

    def handle_starttag(self, tag, attributes):
        self.rows += tag == "tr"


class DocumentFormats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        (cls.folder / "a.cu").write_text(SOURCE)
        for result, options in (("fast.json", ("--trace", "trace")), ("slow.json", ("--sm-clock", "700"))):
            done = warplens("profile", "a.cu", "--backend", "cpu", "--quiet", "--gpu", "v100", "--trials", "2", "--sharing", "--format", "json", "-o", result,
                            *options, cwd=cls.folder)
            assert done.returncode == 0, done.stderr

    def output(self, *command):
        done = warplens(*command, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def tables(self, *command):
        """Returns the rows of CSV, by table."""
        text = self.output(*command, "--format", "csv")
        return [list(csv.DictReader(io.StringIO(table))) for table in text.split("\r\n\r\n")]

    def check(self, *command):
        """Checks that the output in Markdown, CSV and HTML is well formed, and returns the Markdown."""
        markdown = self.output(*command, "--format", "markdown")
        widths = [[line.replace("\\|", "").count("|") for line in table.splitlines()] for table in markdown.split("\n\n") if table.startswith("|")]
        self.assertTrue(widths, markdown)
        for width in widths:
            self.assertEqual(len(set(width)), 1, markdown)
        for table in self.tables(*command):
            self.assertTrue(table)
            for row in table:
                self.assertNotIn(None, row, "a row is longer than its heading")
                self.assertNotIn(None, row.values(), "a row is shorter than its heading")
        page = Tables()
        page.feed(self.output(*command, "--format", "html"))
        if command[0] in ("gpus", "doctor", "counters", "diff"):  # others have the report page
            self.assertGreater(page.rows, 2)
        return markdown

    def test_each_command_has_the_formats(self):
        for command in COMMANDS:
            with self.subTest(command):
                words = {"calibrate": (), "diff": ("a", "b"), "compare": ("a", "b")}.get(command, ("a",))
                wrong = warplens(command, *words, "--format", "nonsense")
                self.assertEqual(wrong.returncode, 2)
                named = re.search(r"not in \{([^}]*)\}", wrong.stderr)
                self.assertLessEqual(FORMATS, set(named[1].split(",")), wrong.stderr)

    def test_gpus(self):
        self.assertIn("| a100 | A100 SXM4 80 GB | 108 | 40960 KiB | times of a100", self.check("gpus"))
        rows = {row["name"]: row for row in self.tables("gpus")[0]}
        self.assertEqual(rows["a100"]["L2 [B]"], "41943040")
        document = json.loads(self.output("gpus", "--format", "json"))
        jsonschema.validate(document, json.loads((PROJECT / "docs/schemas/document.json").read_text()))
        table = document["sections"][0]["blocks"][0]["table"]
        self.assertEqual([column["heading"] for column in table["columns"]], ["name", "GPU", "SMs", "L2", "accuracy"])
        self.assertEqual(len(table["rows"]), len(rows))
        self.assertIn("```\naccuracy.date ", self.output("gpus", "a100", "--format", "markdown"))

    def test_a_gpu_in_full(self):
        rows, = self.tables("gpus", "a100")
        self.assertEqual({row["parameter"]: (row["value"], row["unit"], row["source"]) for row in rows}["dram.latency_ns"][1:], ("ns", "chase"))
        blocks = json.loads(self.output("gpus", "a100", "--format", "json"))["sections"][1]["blocks"]
        self.assertEqual([list(block) for block in blocks], [["table"]])

    def test_diff(self):
        self.assertRegex(self.check("diff", "fast.json", "slow.json"), r"\n\| total\.microseconds \| [\d.]+ \| [\d.]+ \| \+[\d.]+ \| (±\S+ )?µs \\\* \|\n")
        rows, = self.tables("diff", "fast.json", "slow.json")
        kernels = json.loads(self.output("diff", "fast.json", "slow.json", "--format", "json"))["kernels"]
        figures = [figure for kernel in kernels for figures in (kernel["totals"], *(site["figures"] for site in kernel["sites"])) for figure in figures]
        self.assertEqual(len(rows), len(figures))  # also those that do not differ
        time, = (row for row in rows if row["figure"] == "total.microseconds" and row["kernel"] == kernels[0]["name"])
        self.assertEqual(float(time["before"]), kernels[0]["totals"][0]["before"])
        self.assertLessEqual(float(time["difference low"]), float(time["difference high"]))

    def test_counters_and_compare(self):
        kernel = json.loads((self.folder / "fast.json").read_text())["kernels"][0]
        launch = f'0,"{kernel["name"]}","{tuple(kernel["block"])}","{tuple(kernel["grid"])}",0,5,700\n'
        heading = "ID,Kernel Name,Block Size,Grid Size,Device,gpu__time_duration.sum,dram__sectors_read.sum\n"
        (self.folder / "measured.csv").write_text(heading + ",,,,,usecond,sector\n" + launch)
        self.assertIn("| 700 | dram__sectors_read.sum |", self.check("counters", "measured.csv").replace("\\", ""))
        rows, = self.tables("counters", "measured.csv")
        self.assertEqual({row["counter"]: round(float(row["value"]), 12) for row in rows}, {"gpu__time_duration.sum": 5e-6, "dram__sectors_read.sum": 700})
        self.assertRegex(self.check("compare", "fast.json", "measured.csv"), r"\n\| time \| 5 µs \| \S+ µs \| \S+ % \|\n")
        time = next(row for row in self.tables("compare", "fast.json", "measured.csv")[0] if row["figure"] == "time")
        self.assertAlmostEqual(float(time["difference [fraction]"]), float(time["modelled"]) / 5 - 1, places=6)

    def test_gate(self):
        """A baseline of the fast result does not hold for the slow one."""
        done = warplens("baseline", "fast.json", "--baseline", "kept.txt", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = {}
        for format in ("text", "markdown", "csv", "html", "json"):
            done = warplens("gate", "slow.json", "--baseline", "kept.txt", "--format", format, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (4, ""), format)
            printed[format] = done.stdout
        self.assertRegex(printed["text"], r"^worse: copy on v100: ")
        self.assertTrue(printed["markdown"].startswith("**Warplens: worse than recorded**\n"))
        self.assertRegex(printed["markdown"], r"\n- \*\*worse\*\*: copy on v100: ")
        kernels = {kernel["kernel"]: kernel for kernel in json.loads(printed["json"])["kernels"]}
        rows = list(csv.DictReader(io.StringIO(printed["csv"])))
        self.assertEqual({row["kernel"]: (row["verdict"], float(row["now [us]"])) for row in rows},
                         {name: (kernel["verdict"], kernel["after_us"]) for name, kernel in kernels.items()})
        self.assertRegex(printed["html"], r"<figure><svg [^>]*>")
        self.assertIn('<li><b class="alarming">worse</b>: copy on v100: ', printed["html"])

    def test_ab(self):
        options = ("--backend", "cpu", "--quiet", "--gpu", "v100", "--trials", "2")
        rows, = self.tables("ab", "a.cu", "a.cu", *options)
        self.assertEqual([row["verdict"] for row in rows], ["same", "same"])
        self.assertEqual(rows[0]["A [us]"], rows[0]["B [us]"])
        row, = self.tables("ab", "a.cu", "-L", "UNUSED", "7", *options)[0]
        self.assertEqual((row["UNUSED"], row["v100 beside the best"]), ("7", "1"))
        self.assertLessEqual(float(row["v100 low [us]"]), float(row["v100 [us]"]))

    def test_placement(self):
        command = ("placement", "trace", "--kernel", "copy", "--gpu", "v100", "--trials", "2", "--quiet")
        self.assertRegex(self.check(*command), r"\n\| 1 \| \S+->\S+ \| \S+ \S+ \| \S+ % \S+ \| ")
        rows, = self.tables(*command)
        kernel, = json.loads(self.output(*command, "--format", "json"))["kernels"]
        self.assertEqual(len(rows), 1 + len(kernel["candidates"]))  # and the launch as it is
        self.assertEqual([row["legal"] == "true" for row in rows[1:]], [one["legal"] for one in kernel["candidates"]])
        self.assertAlmostEqual(float(rows[0]["microseconds"]), kernel["sample"]["time_ns"]["mean"] / 1000, places=6)

    def test_advise(self):
        command = ("advise", "trace", "--kernel", "copy", "--gpu", "v100", "--trials", "2", "--quiet")
        rows, = self.tables(*command)
        kernel, = json.loads(self.output(*command, "--format", "json"))["kernels"]
        self.assertEqual([row["suggested"] for row in rows], ["true"] * len(kernel["suggestions"]) + ["false"] * len(kernel["without_gain"]))
        for row, change in zip(rows, kernel["suggestions"] + kernel["without_gain"]):
            self.assertEqual(row["change"], change["what"])
            self.assertAlmostEqual(float(row["gain [fraction]"]), change["share"], places=6)
            self.assertAlmostEqual(float(row["after [us]"]), change["after_us"], places=6)
        for format in ("markdown", "html"):
            page = self.output(*command, "--format", format)
            for change in kernel["without_gain"]:
                self.assertIn(change["what"], page.replace("\\", "").replace("&gt;", ">"))

    def test_advise_on_a_change(self):
        command = ("advise", "trace", "--check", "trace", "--gpu", "v100", "--trials", "2", "--quiet")
        kernels, = self.tables(*command)  # no line differs
        programs = json.loads(self.output(*command, "--format", "json"))["programs"]
        self.assertEqual([row["kernel after"] for row in kernels], [""] + [kernel["after"] for kernel in programs[0]["kernels"]])
        self.assertEqual({(row["verdict"], float(row["change [fraction]"])) for row in kernels}, {("same", 0)})
        self.assertAlmostEqual(float(kernels[0]["time after [us]"]), programs[0]["after_us"], places=6)
        self.assertRegex(self.output(*command, "--format", "markdown"), r"\n- copy: \S+ µs → \S+ µs, \+0\.0 % ±0\.0; bound by ")
        refused = warplens(*command, "--format", "sarif", cwd=self.folder)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("--check makes none", refused.stderr)

    def test_calibrate(self):
        write_published_curves(self.folder / "curves")
        command = ("calibrate", "--from", "curves", "-o", "my.toml", "--quiet")
        self.assertRegex(self.check(*command), r"\n\| L1 \| 15\d\.\d KiB fit, 3 ways in effect, 33 cycles \|\n")
        rows, = self.tables(*command)
        self.assertEqual([row["property"] for row in rows][:4], ["L1", "L2, one partition", "L2", "memory"])

    def test_doctor(self):
        self.assertRegex(self.check("doctor"), r"\| CPU back end \| works \| a kernel was compiled, run and modelled \|\n")

    def test_power(self):
        self.assertIn("### copy", self.check("power", "fast.json"))
        rows, = self.tables("power", "fast.json")
        kernels = json.loads(self.output("power", "fast.json", "--format", "json"))["kernels"]
        self.assertEqual(len(rows), sum(len(kernel["lines"]) for kernel in kernels))  # text has the costly ones
        self.assertEqual(rows[0]["power low [W]"], str(kernels[0]["watts"]["interval95"][0]))
        self.assertEqual({row["file"] for row in rows}, {line["file"] for kernel in kernels for line in kernel["lines"]})

    def test_clocks(self):
        self.assertRegex(self.check("clocks", "fast.json", "slow.json"), r"\| kernel \|")
        rows = self.tables("clocks", "fast.json", "slow.json")[0]
        self.assertEqual(len(rows), 2)
        self.assertIn(float(rows[0]["clock [MHz]"]), (700, 1380))

    def test_corun(self):
        self.assertIn("| copy", self.check("corun", "fast.json").replace("`", ""))
        pairs, = self.tables("corun", "fast.json")[:1]
        self.assertEqual(len(pairs), 1)
        self.assertGreaterEqual(float(pairs[0]["slow-down of the first"]), 1)

    def test_text_of_a_pipe_has_100_columns(self):
        for command in ("gpus",), ("power", "fast.json"), ("clocks", "fast.json", "slow.json"), ("corun", "fast.json"):
            self.assertLessEqual(max(map(len, self.output(*command).splitlines())), 100)


if __name__ == "__main__":
    warplens_tool.main()
