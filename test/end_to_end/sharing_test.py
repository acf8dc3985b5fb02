"""Tests `warplens corun`, `power` and `clocks` on small kernels: watts of kernels beside each other, partitions, energies from few rows."""

import json
import pathlib
import tempfile
import unittest

import warplens_tool
from warplens_tool import warplens

# A kernel of which DRAM is busy, one of chains of products, and one that runs on a single SM.
SOURCE = """
__global__ void copy(const float4* in, float4* out) { out[blockIdx.x * 256 + threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x]; }
__global__ void products(double* out, int steps) {
  double value = threadIdx.x;
  for (int step = 0; step < steps; ++step)
    value *= 1.000001;
  out[blockIdx.x * 256 + threadIdx.x] = value;
}
int main() {
  float4 *in, *out;
  double* sums;
  cudaMalloc(&in, 4 << 20); cudaMalloc(&out, 4 << 20); cudaMalloc(&sums, 320 * 2048);
  copy<<<1024, 256>>>(in, out);
  products<<<320, 256>>>(sums, 200);
  products<<<1, 32>>>(sums, 200);
  return cudaDeviceSynchronize();
}
"""


class Sharing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        (cls.folder / "a.cu").write_text(SOURCE)
        cls.profile("v100.json", "v100", "--trace", "trace")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def profile(cls, result, gpu, *options):
        finished = warplens("profile", "a.cu", "--backend", "cpu", "--quiet", "--gpu", gpu, "--trials", "2", "--sharing", "--format", "json", "-o", result,
                            *options, "--run", cwd=cls.folder)
        assert finished.returncode == 0, finished.stderr

    def run_json(self, *command):
        finished = warplens(*command, "--format", "json", cwd=self.folder)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        return json.loads(finished.stdout)

    def corun(self, *options):
        return self.run_json("corun", "trace", "trace", "--gpu", "v100", "--trials", "2", "--quiet", *options)

    def test_watts_beside_each_other(self):
        pair = self.corun("--kernel", "copy,products")
        alone = [kernel["watts_alone"]["mean"] for kernel in pair["kernels"]]
        self.assertGreater(pair["watts"]["mean"], 33)
        self.assertTrue(min(alone) < pair["watts_one_after_other"]["mean"] < max(alone))
        low, high = pair["watts"]["ci95"]
        self.assertTrue(low < pair["watts"]["mean"] < high)
        # Alone, each kernel takes what `power` says of it, but for the some 2 µs of a launch, which trials beside each other do not have.
        of_power = {kernel["name"].split("(")[0]: kernel for kernel in self.run_json("power", "v100.json")["kernels"][:2]}
        for kernel, watts in zip(pair["kernels"], alone):
            self.assertAlmostEqual(watts / of_power[kernel["name"].split("(")[0]]["watts"]["value"], 1, delta=.35)

    def test_two_copies_that_dram_bounds_say_so(self):
        pair = self.corun("--kernel", "copy", "--division", "sms")
        self.assertGreater(pair["kernels"][0]["slow_down"]["mean"], 1.5)
        self.assertTrue(any(reason.startswith("DRAM") for reason in pair["contention"]), pair["contention"])

    def test_a_lone_warp_beside_idle_sms(self):
        lone = self.run_json("power", "v100.json")["kernels"][2]
        self.assertGreater(lone["parts"]["idle SMs"], 20)
        self.assertGreater(lone["watts"]["value"], 50)

    def test_the_partition_that_cd3_expects_most_of(self):
        pair = self.corun("--kernel", "copy,products", "--search")
        self.assertEqual([kernel["max_per_sm"] for kernel in pair["kernels"]], pair["search"]["blocks"])
        self.assertGreaterEqual(pair["search"]["gain"], pair["search"]["gain_of_even"])
        refused = warplens("corun", "trace", "trace", "trace", "--gpu", "v100", "--search", cwd=self.folder)
        self.assertIn("a partition is between two kernels, and there are 3", refused.stderr)

    def test_all_results_at_once(self):
        together = self.run_json("corun", "v100.json")["together"]
        self.assertEqual(len(together["kernels"]), 3)
        self.assertGreater(together["watts"]["mean"], 33)
        ways = [kernel["ways"] for kernel in together["kernels"]]
        self.assertLessEqual(sum(ways), 16 + 1e-6)

    def test_energies_from_fewer_rows_than_there_are(self):
        (self.folder / "powers.csv").write_text("kernel,watts\n\\bcopy\\b,150\n")
        trained = warplens("power", "v100.json", "--train", "powers.csv", cwd=self.folder)
        self.assertEqual(trained.returncode, 0, trained.stderr)
        self.assertRegex(trained.stdout, r"# 1 row by itself determines 1 of 24 energies; 24 priors hold the others: \[power\] of v100\n")
        self.assertRegex(trained.stdout, r"# \\bcopy\S*\s+1\d\d\.\d W \(\d+ to \d+\), measured  150.0")
        self.assertRegex(trained.stdout, r"tensor_pj = \{ value = 9\d\.\d+, interval = \[1\.\d+, 19\d")  # at 1380 MHz
        self.assertRegex(trained.stdout, r"error = \{ value = 0\.(0[1-9]|[1-9])")  # without the row, by the prior alone

    def test_energies_of_a_board_of_which_nothing_is_known(self):
        self.profile("a100.json", "a100")
        (self.folder / "powers.csv").write_text("kernel,watts\n\\bcopy\\b,150\n")
        refused = warplens("power", "a100.json", "--train", "powers.csv", cwd=self.folder)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("no row has any of ", refused.stderr)
        trained = warplens("power", "a100.json", "--train", "powers.csv", "--prior", "v100", cwd=self.folder)
        self.assertEqual(trained.returncode, 0, trained.stderr)
        self.assertIn("[power] of v100, each known to its own size", trained.stdout)
        mixed = warplens("power", "v100.json", "a100.json", "--train", "powers.csv", cwd=self.folder)
        self.assertNotEqual(mixed.returncode, 0)
        self.assertIn("energies are those of one board at one clock: ", mixed.stderr)
        self.assertEqual(len(mixed.stderr.splitlines()), 1)

    def test_clocks_while_launches_run(self):
        plans = self.run_json("clocks", "trace", "--gpu", "v100", "--clocks", "700,1000,1380", "--trials", "2", "--quiet", "--slow-down", "20")
        self.assertEqual(plans["windows"]["launches"], 3)
        # Three launches end before there is anything to decide by: all run at the highest clock.
        self.assertAlmostEqual(plans["windows"]["joules"], sum(
            kernel["choices"][-1]["joules"] for kernel in plans["kernels"]), delta=1e-9)


if __name__ == "__main__":
    warplens_tool.main()
