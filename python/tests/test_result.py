"""Tests the reader on a result that Warplens makes here, which has to follow docs/schemas/result.json, and on wrong ones.

usage: WARPLENS=PATH-OF-WARPLENS python3 python/tests/test_result.py
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import jsonschema  # noqa: E402

import warplens  # noqa: E402

SCHEMA = json.loads((HERE.parent.parent / "docs/schemas/result.json").read_text())

SOURCE = """__global__ void scale(const float* from, float* to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = 2 * from[i * 8 % 65536];
}
int main() {
  float *from, *to;
  cudaMalloc(&from, 1 << 18);
  cudaMalloc(&to, 1 << 18);
  scale<<<256, 256>>>(from, to);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


def has_pandas():
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


class Reader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        (cls.folder / "scale.cu").write_text(SOURCE)
        cls.path = cls.folder / "result.json"
        subprocess.run([os.environ["WARPLENS"], "profile", "scale.cu", "--backend", "cpu", "--gpu", "a100,c2050", "--format", "json", "-o",
                        cls.path, "--quiet"], check=True, cwd=cls.folder)
        cls.data = json.loads(cls.path.read_text())
        cls.result = warplens.load(cls.path)

    def test_results_follow_the_schema(self):
        jsonschema.validate(self.data, SCHEMA)
        manifest = self.data["manifest"]
        self.assertEqual([[file["name"] for file in manifest[kind]] for kind in ("sources", "gpus")], [["scale.cu"], ["a100", "c2050"]])
        for change in (lambda kernel: kernel.pop("sites"), lambda kernel: kernel["time"].pop("bound"),
                       lambda kernel: kernel["warps"]["states"].update(asleep=0.5)):
            wrong = copy.deepcopy(self.data)
            change(wrong["kernels"][0])
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(wrong, SCHEMA)

    def test_every_property_that_is_read_is_in_the_schema(self):
        """The reader's attributes come from members that the schema describes."""
        site = SCHEMA["$defs"]["site"]["properties"]
        for name in ("id", "file", "expression", "object", "sectors_per_request", "bank_conflicts", "l1_hit_rate", "latency_share"):
            self.assertIn(name, site)

    def test_kernels_and_sites(self):
        kernel = self.result.kernel("scale", "a100")
        raw = next(one for one in self.data["kernels"] if one["gpu"] == "a100")
        self.assertEqual(kernel.time.mean, raw["time"]["microseconds"]["mean"])
        self.assertEqual(kernel["gpu__time_duration.sum"], 1000 * kernel.time.mean)
        self.assertEqual(kernel["launch__grid_size"], 256)
        self.assertEqual(kernel["lts__t_sector_op_read_hit_rate.pct"], 100 * raw["totals"]["l2_read_hit_rate"]["mean"])
        self.assertEqual(kernel["smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"], 1)
        load = next(site for site in kernel.sites if site.kind == "load")
        self.assertEqual((load.place, load.expression, load.sectors_per_request), ("scale.cu:3", "from[i * 8 % 65536]", 32))
        self.assertIsNone(load.bank_conflicts)
        self.assertEqual(len(kernel.costliest(1)), 1)
        with self.assertRaisesRegex(KeyError, "there is no kernel 'other'; there are scale"):
            self.result.kernel("other")
        with self.assertRaises(KeyError):
            kernel["gpu__unknown"]

    def test_a_gpu_whose_instructions_are_not_known_has_no_such_metric(self):
        kernel = self.result.kernel("scale", "c2050")
        self.assertIsNone(kernel["smsp__inst_executed.sum"])
        self.assertIsNone(kernel.time)
        self.assertIsNotNone(kernel["l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"])

    def test_notebooks(self):
        hostile = copy.deepcopy(self.data)
        hostile["kernels"][0]["sites"][0]["expression"] = "<script>"
        text = warplens.loads(json.dumps(hostile))._repr_html_()
        self.assertNotIn("<script>", text)
        self.assertIn("&lt;script&gt;", text)
        self.assertIn("<td>a100</td>", text)
        self.assertIn("±", self.result.kernels[0].time._repr_html_())

    def test_errors(self):
        empty = {**self.data, "kernels": []}
        broken = copy.deepcopy(self.data)
        del broken["kernels"][0]["name"]
        for text, message in (("{", "not JSON"), ("[]", "the schema is None"), ('{"schema": "x"}', "the schema is 'x'"),
                              (json.dumps(empty), "nothing was profiled"), (json.dumps(broken), "KeyError: 'name'")):
            with self.assertRaisesRegex(warplens.ResultError, message):
                warplens.loads(text)

    def test_without_pandas_everything_else_works(self):
        script = ("import sys; sys.modules['pandas'] = None; import warplens; result = warplens.load(sys.argv[1]); "
                  "print(len(result), result.kernels[0].metrics['launch__block_size'])")
        done = subprocess.run([sys.executable, "-B", "-c", script, self.path], capture_output=True, text=True, cwd=HERE.parent)
        self.assertEqual((done.stdout, done.stderr), ("2 256.0\n", ""))

    @unittest.skipUnless(has_pandas(), "pandas is not installed")
    def test_frames(self):
        kernels = self.result.kernels_frame()
        self.assertEqual(list(kernels.index), [(kernel.name, kernel.gpu) for kernel in self.result.kernels])
        self.assertEqual(kernels["launch__block_size"].tolist(), [256, 256])
        sites = self.result.sites_frame()
        self.assertEqual(len(sites), sum(len(kernel.sites) for kernel in self.result))
        loads = sites[(sites.kind == "load") & (sites.gpu == "a100")]
        self.assertEqual(loads.sectors_per_request.tolist(), [32])
        self.assertTrue(sites.bank_conflicts.isna().all())


if __name__ == "__main__":
    unittest.main(verbosity=2)
