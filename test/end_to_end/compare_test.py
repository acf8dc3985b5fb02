"""Tests `warplens compare` and `warplens counters`: a result beside counters that are written from it, in every format."""

import contextlib
import csv
import json
import os
import pathlib
import re
import sqlite3
import tempfile
import unittest

import warplens_tool
from warplens_tool import warplens

SOURCE = """
__global__ void add(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + in[i ^ 1];
}
int main() {
  float *out, *in;
  cudaMalloc(&out, 1 << 18);
  cudaMalloc(&in, 1 << 18);
  add<<<256, 256>>>(out, in, 1 << 16);
  return cudaDeviceSynchronize();
}
"""
HEADING = ["ID", "Kernel Name", "Block Size", "Grid Size", "Device"]

# Stands for NVIDIA's module, with as much of its interface as is used.
FAKE_MODULE = '''
class IAction:
    NameBase_DEMANGLED = 1

class Metric:
    def __init__(self, value, unit="", instances=()):
        self.values, self.units, self.instances = value, unit, instances
    def value(self): return self.values
    def unit(self): return self.units
    def as_uint64(self, index=None): return int(self.values if index is None else self.instances[index][0])
    def as_double(self, index=None): return float(self.values if index is None else self.instances[index][1])
    def has_correlation_ids(self): return bool(self.instances)
    def correlation_ids(self): return self
    def num_instances(self): return len(self.instances)

class Place:
    def __init__(self, file, line): self.file, self.number = file, line
    def file_name(self): return self.file
    def line(self): return self.number

class Action:
    code = {64: ("@!P0 LDG.E R2, [R4.64]", 12), 80: ("FADD R1, R2, R3", 12), 96: ("STS [R5], R2", 13)}
    metrics = {"gpu__time_duration.sum": Metric(12250, "ns"), "launch__grid_dim_x": Metric(4), "launch__grid_dim_y": Metric(1),
               "launch__grid_dim_z": Metric(1), "launch__block_dim_x": Metric(128), "launch__block_dim_y": Metric(1), "launch__block_dim_z": Metric(1),
               "device__attribute_display_name": Metric("NVIDIA A100"),
               "inst_executed": Metric(12, "inst", ((64, 4), (80, 4), (96, 4)))}
    def name(self, kind): return "gather(const float *)"
    def metric_names(self): return list(self.metrics)
    def __getitem__(self, name): return self.metrics[name]
    def sass_by_pc(self, address): return self.code[address][0]
    def source_info(self, address): return Place("/a/gather.cu", self.code[address][1])

def load_report(path):
    if "broken" in path: raise RuntimeError("no such report")
    return [[Action()]]
'''


def write_raw(path, rows, units):
    """Writes ncu's page `raw`: rows are [(kernel, grid, block, {metric: value})]."""
    with open(path, "w", newline="") as text:
        writer = csv.writer(text, quoting=csv.QUOTE_ALL)
        text.write("==PROF== Connected to process 1\n")
        writer.writerow(HEADING + list(units))
        writer.writerow([""] * len(HEADING) + list(units.values()))
        for index, (kernel, grid, block, metrics) in enumerate(rows):
            writer.writerow([index, kernel, "({}, {}, {})".format(*block), "({}, {}, {})".format(*grid), 0,
                             *[metrics.get(name, "n/a") for name in units]])


def write_nsys(path, launches):
    """Writes as much of nsys's export as is read: launches are [(kernel, start, end, grid, block)], times in ns."""
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
                         "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, "
                         "gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL)")
        database.execute("CREATE TABLE TARGET_INFO_GPU (id INTEGER NOT NULL, name TEXT NOT NULL)")
        database.execute("CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL)")
        database.execute("INSERT INTO TARGET_INFO_GPU VALUES (3, 'NVIDIA A100-SXM4-40GB')")
        database.execute("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0)")
        names = {name: 7 + i for i, name in enumerate(dict.fromkeys(launch[0] for launch in launches))}
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, name) for name, i in names.items()])
        database.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({', '.join('?' * 12)})",
                             [(start, end, 0, names[name], 0, 24, *grid, *block) for name, start, end, grid, block in launches])
        database.commit()


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.result = cls.folder / "result.json"
        source = cls.folder / "add.cu"
        source.write_text(SOURCE)
        done = warplens("profile", source, "--backend", "cpu", "--gpu", "a100", "--trials", "2", "--quiet", "--cold", "--format", "json",
                        "-o", cls.result)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.kernel = json.loads(cls.result.read_text())["kernels"][0]
        cls.measured = cls.folder / "raw.csv"
        us = cls.kernel["time"]["microseconds"]["mean"]
        cls.row = (cls.kernel["name"], cls.kernel["grid"], cls.kernel["block"],
                   {"gpu__time_duration.sum": f"{us / 1.25:.6f}", "device__attribute_clock_rate": "1,410,000"})
        write_raw(cls.measured, [cls.row, ("absent(int)", (1, 1, 1), (1, 1, 1), {})],
                  {"gpu__time_duration.sum": "usecond", "device__attribute_clock_rate": "", "x__y.sum": "sector"})

    def test_text(self):
        done = warplens("compare", self.result, self.measured)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\n +time .* µs .* µs +\+25\.0 %\n")
        self.assertIn("only measured: absent(int)\n    the result has no kernel absent\n", done.stdout)
        self.assertIn("unpaired: device__attribute_clock_rate: a property of the machine", done.stdout)

    def test_json(self):
        done = warplens("compare", self.result, self.measured, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads(done.stdout)
        self.assertEqual(made["schema"], "warplens-comparison/1")
        figures = {figure["figure"]: figure for figure in made["kernels"][0]["figures"]}
        self.assertAlmostEqual(figures["microseconds"]["difference"], 0.25, places=3)
        self.assertEqual([launch["kernel"] for launch in made["unpaired_launches"]], ["absent(int)"])

    def test_page(self):
        page = self.folder / "page.html"
        done = warplens("compare", self.result, self.measured, "--format", "html", "-o", page)
        if "no report page" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        data = re.search(r'id="warplens-data">(.*?)</script>', page.read_text(), re.DOTALL)[1]
        self.assertEqual(json.loads(data)["measured"]["kernels"][0]["index"], 0)

    def test_rows_are_added_to_a_table(self):
        table = self.folder / "table.tsv"
        done = warplens("compare", self.result, self.measured, "--add-to", table, "--board", "mine", "--source", "here")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = table.read_text().splitlines()
        self.assertEqual((len(rows), rows[1].split("\t")[0], rows[1].split("\t")[7]), (2, "mine", "held back"))
        done = warplens("compare", self.result, self.measured, "--add-to", table, "--board", "mine")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"table.tsv: the table has a row of \S+ on mine already")

    def test_nsys(self):
        ns = round(1000 * self.kernel["time"]["microseconds"]["mean"] / 1.25)
        name, grid, block = self.row[:3]
        times = self.folder / "times.sqlite"
        # The median of five is the third; the first launch, which is slow, does not move it.
        durations = [9 * ns, ns, ns - 40, ns + 60, ns - 100]
        launches = [(name, 1000000 * i, 1000000 * i + took, grid, block) for i, took in enumerate(durations)]
        write_nsys(times, [*launches, (name, 10**8, 10**8 + 5000, (1, 1, 1), block), ("absent(int)", 10**9, 10**9 + 4, grid, block)])
        done = warplens("compare", self.result, times)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\n  median of 5 launches that took [\d.]+ to [\d.]+ µs, grid \(256, 1, 1\)")
        self.assertRegex(done.stdout, r"\n +time +[\d.]+ µs +[\d.]+ µs +\+25\.\d %\n")
        self.assertIn("the result has no kernel absent", done.stdout)
        made = json.loads(warplens("compare", self.result, times, "--format", "json").stdout)
        measured = made["kernels"][0]["measured"]
        self.assertEqual((measured["median_of"], measured["device"]), (5, "NVIDIA A100-SXM4-40GB"))
        self.assertEqual((round(1e9 * measured["seconds"]["shortest"]), round(1e9 * measured["seconds"]["longest"])), (ns - 100, 9 * ns))
        figures = {figure["figure"]: figure for figure in made["kernels"][0]["figures"]}
        self.assertAlmostEqual(figures["microseconds"]["measured"], ns / 1000)
        self.assertEqual([launch["kernel"] for launch in made["unpaired_launches"]], [name, "absent(int)"])
        # The median of an even number lies between two.
        write_nsys(times, launches[:4])
        counters = json.loads(warplens("counters", times, "--format", "json").stdout)["launches"]
        self.assertAlmostEqual(counters[0]["counters"]["gpu__time_duration.sum"], (ns + 30) * 1e-9)
        self.assertEqual((len(counters), counters[0]["counters"]["launch__registers_per_thread"]), (1, 24))

    def test_damaged_exports_of_nsys(self):
        good = self.folder / "good.sqlite"
        write_nsys(good, [("k(int)", 10 * i, 10 * i + 5, (4, 1, 1), (32, 1, 1)) for i in range(200)])

        def changed(*statements):
            path = self.folder / "changed.sqlite"
            path.write_bytes(good.read_bytes())
            with contextlib.closing(sqlite3.connect(path)) as database:
                for statement in statements:
                    database.execute(statement)
                database.commit()
            return path

        cut = self.folder / "cut.sqlite"
        cut.write_bytes(good.read_bytes()[:6000])
        short = self.folder / "short.sqlite"
        short.write_bytes(good.read_bytes()[:50])
        noise = self.folder / "noise.sqlite"
        noise.write_bytes(good.read_bytes()[:100] + bytes(range(256)) * 100)
        table = "CUPTI_ACTIVITY_KIND_KERNEL"
        endless = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS end, 0 AS deviceId, 7 AS demangledName, "
                   "1 AS gridX, 1 AS gridY, 1 AS gridZ, 1 AS blockX, 1 AS blockY, 1 AS blockZ FROM n")
        cases = [(cut, "the database cannot be read"), (noise, "the database cannot be read"), (short, "the database is cut short: 50 bytes")]
        for make, expected in ((["DROP TABLE " + table], "no table CUPTI_ACTIVITY_KIND_KERNEL with a column start"),
                               ([f"DROP TABLE {table}", f"CREATE TABLE {table} (start, end)"], "with a column gridX"),
                               ([f"DROP TABLE {table}", f"CREATE VIEW {table} AS {endless}"], "no table CUPTI_ACTIVITY_KIND_KERNEL"),
                               ([f"DELETE FROM {table}"], "has no launch"),
                               (["DROP TABLE StringIds"], "no table StringIds"),
                               (["DELETE FROM StringIds"], "launch 1: StringIds has no name 7"),
                               ([f"UPDATE {table} SET end = 'late' WHERE start = 20"], "launch 3: its times are no nanoseconds"),
                               ([f"UPDATE {table} SET end = 1 WHERE start = 20"], "launch 3: its times are no nanoseconds, or it ends before"),
                               ([f"UPDATE {table} SET gridX = 1 << 40"], "launch 1: its grid or block is no number from 1 on"),
                               ([f"UPDATE {table} SET blockZ = 0"], "launch 1: its grid or block is no number from 1 on"),
                               ([f"UPDATE {table} SET demangledName = x'00'"], "launch 1: no kernel is named")):
            path = changed(*make)
            done = warplens("counters", path)
            self.assertEqual(done.returncode, 1, make)
            self.assertIn("changed.sqlite: ", done.stderr)
            self.assertIn(expected, done.stderr)
        for path, expected in cases:
            done = warplens("counters", path)
            self.assertEqual((done.returncode, done.stdout), (1, ""), path)
            self.assertIn(f"{path.name}: {expected}", done.stderr)

    def test_errors(self):
        other = self.folder / "other.csv"
        write_raw(other, [("absent(int)", (1, 1, 1), (1, 1, 1), {"gpu__time_duration.sum": "1"})], {"gpu__time_duration.sum": "ns"})
        broken = self.folder / "broken.csv"
        broken.write_text("a,b\n1,2\n")
        for arguments, expected in (([other], "the result has no kernel absent"), ([broken], "broken.csv: no report or CSV of ncu"),
                                    ([self.measured, "--gpu", "k80"], "--gpu k80: the result has a100"),
                                    ([self.measured, "--kernel", "nothing"], "no launch of ")):
            done = warplens("compare", self.result, *arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(expected, done.stderr)
        self.assertEqual(warplens("compare", self.result, self.measured, "--board", "x").returncode, 2)

    def test_reports_are_read_by_nvidias_module_where_it_is_installed(self):
        modules = self.folder / "modules"
        modules.mkdir()
        (modules / "ncu_report.py").write_text(FAKE_MODULE)
        report = self.folder / "a.ncu-rep"
        report.write_bytes(b"NVR\0 and what only the module understands")
        environment = {**os.environ, "PYTHONPATH": str(modules)}
        done = warplens("counters", report, "--format", "json", env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        launch = json.loads(done.stdout)["launches"][0]
        self.assertEqual((launch["kernel"], launch["grid"], launch["block"], launch["device"]),
                         ("gather(const float *)", [4, 1, 1], [128, 1, 1], "NVIDIA A100"))
        self.assertAlmostEqual(launch["counters"]["gpu__time_duration.sum"], 12.25e-6)
        self.assertEqual([(line["file"], line["line"], line["space"], line["operation"], line["counters"]["inst_executed"]) for line in launch["lines"]],
                         [("/a/gather.cu", 12, "global", "load", 4), ("/a/gather.cu", 13, "shared", "store", 4)])
        broken = self.folder / "broken.ncu-rep"
        broken.write_bytes(b"NVR\0")
        done = warplens("counters", broken, env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken.ncu-rep: NVIDIA's module ncu_report cannot read it: RuntimeError: no such report", done.stderr)
        # Without it, our own reader says what is wrong.
        self.assertIn("is cut short", warplens("counters", broken).stderr)


if __name__ == "__main__":
    warplens_tool.main()
