"""Tests ci/gate, and the shell steps of the GitHub Action (ci/action.yml) as the service would run them.

usage: ci_test.py PATH-OF-WARPLENS
"""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

CI = pathlib.Path(__file__).resolve().parent.parent.parent / "ci"

SOURCE = """__global__ void copy(const float* from, float* to) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[INDEX];
}
int main() {
  float *from, *to;
  cudaMalloc(&from, 1 << 20);
  cudaMalloc(&to, 1 << 20);
  copy<<<1024, 256>>>(from, to);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


class Ci(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "src").mkdir()
        self.write_source("i")
        self.environment = {**os.environ, "WARPLENS": WARPLENS, "PATH": f"{pathlib.Path(WARPLENS).parent}:{os.environ['PATH']}"}

    def write_source(self, index):
        (self.folder / "src/copy.cu").write_text(SOURCE.replace("INDEX", index))

    def gate(self, *words):
        return subprocess.run([CI / "gate", *words], cwd=self.folder, env=self.environment, capture_output=True, text=True)

    def outputs(self, name="warplens-output"):
        return {path.name: path.read_bytes() for path in (self.folder / name).iterdir()}

    def test_the_gate(self):
        self.assertEqual(self.gate("--before", "none.json", "--", "src/copy.cu").returncode, 0)
        first = self.outputs()
        self.assertEqual(set(first), {"result.json", "warplens.sarif", "warplens.html", "warplens.md"})
        self.assertIn(b"There is no earlier result", first["warplens.md"])

        again = self.gate("--before", "warplens-output/result.json", "--output", "again", "--fail-if-slower", "--", "src/copy.cu")
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        second = self.outputs("again")
        for name in ("result.json", "warplens.sarif"):
            self.assertEqual(first[name], second[name], f"{name} differs from run to run")
        self.assertEqual(json.loads(second["difference.json"])["speed"]["verdict"], "same")

        self.write_source("i % 32 * 8192 + i / 32")
        slower = self.gate("--before", "again/result.json", "--output", "slower", "--fail-if-slower", "--", "src/copy.cu")
        self.assertEqual(slower.returncode, 1)
        self.assertIn("--fail-if-slower: in total on a100: slower", slower.stderr)
        third = self.outputs("slower")
        self.assertIn(b"**Failed:** `warplens: --fail-if-slower", third["warplens.md"])

        log = json.loads(third["warplens.sarif"])
        results = log["runs"][0]["results"]
        self.assertTrue(results)
        for result in results:
            self.assertEqual(result["locations"][0]["physicalLocation"]["artifactLocation"],
                             {"uri": "src/copy.cu", "uriBaseId": "%SRCROOT%"})
        self.assertLess(len(gzip.compress(third["warplens.sarif"])), 10 << 20)

    def test_a_baseline(self):
        recorded = subprocess.run([WARPLENS, "baseline", "src/copy.cu", "--backend", "cpu", "--quiet"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((recorded.returncode, recorded.stderr), (0, ""))
        done, summary = self.run_action({"sources": "src/copy.cu", "baseline": "warplens-baseline.txt"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("**Warplens: no kernel is worse**", summary)
        self.write_source("i % 32 * 8192 + i / 32")
        done, summary = self.run_action({"sources": "src/copy.cu", "baseline": "warplens-baseline.txt", "ratchet": "registers",
                                         "picture-url": "https://example.org/gate.svg"})
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("warplens-baseline.txt does not hold", done.stderr)
        self.assertIn(r"copy.cu:3 from\[i % 32", summary)
        self.assertIn("(https://example.org/gate.svg)", summary)
        written = self.outputs()
        self.assertIn(b"<svg ", written["gate.svg"])
        self.assertIn(b"a100: 1 slower", written["badge.svg"])
        self.assertEqual(json.loads(written["badge.json"])["message"], "a100: 1 slower")
        self.assertIn("warplens-output/gate.sarif", [str(path.relative_to(self.folder)) for path in self.folder.rglob("*.sarif")])

    def test_mistakes(self):
        for words in ((), ("--",), ("--before",), ("--speed", "--", "a.cu")):
            self.assertEqual(self.gate(*words).returncode, 2, words)
        self.assertEqual(self.gate("--", "src/none.cu").returncode, 1)

    def run_action(self, inputs):
        """Runs the action's shell steps with inputs as the service fills them in; returns the last exit code and the summary."""
        action = yaml.safe_load((CI / "action.yml").read_text())
        values = {name: str(one.get("default", "")) for name, one in action["inputs"].items()} | inputs
        summary = self.folder / "summary.md"
        summary.write_text("")

        def filled(text):
            text = text.replace("${{ github.action_path }}", str(CI))
            return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: values[match[1]], text)
        done = None
        for step in action["runs"]["steps"]:
            if "run" not in step:
                self.assertRegex(step["uses"], r"^[\w./-]+@v\d+$")
                continue
            if step.get("if") == "inputs.package != ''" and not values["package"]:
                continue
            self.assertEqual(step["shell"], "bash")
            environment = {name: filled(text) for name, text in step.get("env", {}).items()}
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=self.folder,
                                  env={**self.environment, **environment, "GITHUB_STEP_SUMMARY": str(summary)}, capture_output=True, text=True)
        return done, summary.read_text()

    def test_the_action(self):
        done, summary = self.run_action({"sources": "src/copy.cu", "options": "--gpu a100,v100", "nvcc": "-O2 -DSIZE=1", "output": "first"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("on v100", summary)
        self.write_source("i % 32 * 8192 + i / 32")
        done, summary = self.run_action({"sources": "src/copy.cu", "options": "--gpu a100,v100", "before": "first/result.json",
                                         "fail-if": "sectors_per_request>10%\ntotal.dram_read_bytes>1000%\n"})
        self.assertEqual(done.returncode, 1, summary)
        self.assertIn("**Failed:** `warplens: 2 differences beyond --fail-if", summary)
        self.assertIn("in total on v100: slower", summary)

    def test_every_input_is_used(self):
        text = (CI / "action.yml").read_text()
        for name in yaml.safe_load(text)["inputs"]:
            self.assertRegex(text, rf"inputs\.{name}\b")


if __name__ == "__main__":
    WARPLENS = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1], verbosity=2)
