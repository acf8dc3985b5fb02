"""Tests `warplens placement` and `warplens advise` through the whole tool."""

import json
import pathlib
import tempfile
import unittest

import jsonschema

import warplens_tool
from warplens_tool import KERNELS, PROJECT, warplens

SOURCE = KERNELS / "placement.cu"


def json_of(test, *arguments):
    done = warplens(*arguments, "--format", "json", "--quiet", "--trials", "4", timeout=900)
    test.assertEqual(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)


class Placement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = pathlib.Path(cls.folder.name, "trace")
        done = warplens("profile", SOURCE, "--backend", "cpu", "--gpu", "k80,a100", "--trace", cls.trace, "--trials", "2", "--quiet")
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def candidates(self, report, gpu):
        kernel = next(one for one in report["kernels"] if one["gpu"] == gpu)
        return {(one["moves"][0]["array"], one["moves"][0]["to"]): one for one in kernel["candidates"] if len(one["moves"]) == 1}

    def test_each_array_in_each_place(self):
        report = json_of(self, "placement", self.trace, "--kernel", "six_arrays", "--gpu", "k80,a100")
        self.assertEqual(report["schema"], "warplens-placement/1")
        self.assertEqual({one["name"] for one in report["kernels"][0]["arrays"]}, {"uniform", "scattered", "index", "left", "right", "out"})
        for gpu in ("k80", "a100"):
            candidates = self.candidates(report, gpu)
            refused = candidates["out", "ldg"]
            self.assertFalse(refused["legal"])
            self.assertEqual(refused["reasons"][0]["line"], 14)
            self.assertEqual(pathlib.Path(refused["reasons"][0]["file"]).name, "placement.cu")
            self.assertFalse(candidates["left", "constant"]["legal"])  # 3 MB
            # Each lane has an index of its own, and constant memory serves one address after the other.
            self.assertGreater(candidates["scattered", "constant"]["delta"]["share"], 0.1)
        # The K80's L1 has no data of global memory: the cache of its texture units has.
        self.assertLess(self.candidates(report, "k80")["scattered", "texture"]["delta"]["share"], -0.3)
        self.assertLess(abs(self.candidates(report, "a100")["scattered", "ldg"]["delta"]["share"]), 0.03)

    def test_one_placement_and_wrong_ones(self):
        report = json_of(self, "placement", self.trace, "--kernel", "six_arrays", "--gpu", "a100", "--move", "left:texture,right:ldg")
        self.assertEqual(len(report["kernels"][0]["candidates"][0]["moves"]), 2)
        for moves, words in (("nothing:ldg", "no array 'nothing'"), ("left:cloud", "no place for an array"), ("out:ldg", "is refused")):
            done = warplens("placement", self.trace, "--kernel", "six_arrays", "--gpu", "a100", "--move", moves, "--quiet", "--trials", "2")
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)

    def test_formats(self):
        for format, begin in (("text", "six_arrays"), ("csv", "kernel,gpu,moves"), ("html", "<!doctype html>")):
            done = warplens("placement", self.trace, "--kernel", "six_arrays", "--gpu", "a100", "--format", format, "--quiet", "--trials", "2")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(begin), done.stdout[:100])
            self.assertIn("scattered", done.stdout)

    def test_advice_with_a_patch_that_keeps_its_word(self):
        report = json_of(self, "advise", SOURCE, "--backend", "cpu", "--kernel", "columns", "--gpu", "a100")
        padded = next(one for one in report["kernels"][0]["suggestions"] if one["change"] == "padded")
        self.assertIn("+  __shared__ float tile[32][32 + 1];", padded["patch"])
        with tempfile.TemporaryDirectory() as folder:
            changed = pathlib.Path(folder, "placement.cu")
            changed.write_text(SOURCE.read_text().replace("tile[32][32];", "tile[32][32 + 1];"))
            check = json_of(self, "advise", SOURCE, "--check", changed, "--backend", "cpu", "--kernel", "columns", "--gpu", "a100")
        jsonschema.validate(check, json.loads((PROJECT / "docs/schemas/check.json").read_text()))
        change = check["programs"][0]["change"]
        self.assertEqual(change["verdict"], "faster")
        self.assertAlmostEqual(change["share"], padded["share"], delta=0.05)
        lines = check["programs"][0]["kernels"][0]["lines"]
        self.assertTrue(any("bank conflicts" in figure for line in lines for figure in line["figures"]))

    def test_a_program_beside_itself(self):
        check = json_of(self, "advise", self.trace, "--check", self.trace, "--gpu", "a100")
        change = check["programs"][0]["change"]
        self.assertEqual((change["share"], change["verdict"]), (0, "same"))


if __name__ == "__main__":
    warplens_tool.main()
