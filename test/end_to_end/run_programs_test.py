"""Tests test/corpus/run_programs.py on small programs with build files of their own: each outcome, and that checkouts stay as they are."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import warplens_tool
from warplens_tool import PROJECT, main

MAKEFILE = "main: main.cu\n\tnvcc -O1 -arch=sm_80 -o $@ main.cu $(LIBS)\n"
SOURCE = """#include <cstdio>
#include <cstdlib>
__global__ void fill(int* out) { out[threadIdx.x] = threadIdx.x; }
int main(int count, char** words) {
  int *out, last;
  cudaMalloc(&out, 128);
  fill<<<1, 32>>>(out);
  cudaMemcpy(&last, out + 31, 4, cudaMemcpyDeviceToHost);
  std::puts(count > 1 && last == std::atoi(words[1]) ? "PASS" : "FAIL");
  return %s;
}
"""
CUDNN = "#include <cudnn.h>\nint main() { cudnnHandle_t handle; return cudnnCreate(&handle); }\n"


class RunPrograms(unittest.TestCase):
    def setUp(self):
        self.suite = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def add(self, name, source, makefile=MAKEFILE):
        (self.suite / name).mkdir()
        (self.suite / name / "main.cu").write_text(source)
        if makefile:
            (self.suite / name / "Makefile").write_text(makefile)

    def run_programs(self, *arguments):
        done = subprocess.run([sys.executable, "-B", PROJECT / "test/corpus/run_programs.py", "--warplens", warplens_tool.tool, *map(str, arguments)],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def test_each_outcome_of_a_list(self):
        self.add("right", SOURCE % 0)
        self.add("wrong_output", SOURCE % 0)
        self.add("crash", SOURCE % "(abort(), 0)")
        self.add("refused", CUDNN, MAKEFILE.replace("$(LIBS)", "-lcudnn"))
        self.add("unbuildable", SOURCE % 0, makefile=None)
        listed = self.suite / "list.tsv"
        rows = [("right", "31"), ("wrong_output", "30"), ("crash", "31"), ("refused", ""), ("unbuildable", ""), ("absent", "")]
        listed.write_text("suite\tname\tdir\trun_args\tpass_regex\n" + "".join(f"s\t{name}\t{name}\t{words}\t\\APASS\n" for name, words in rows))
        code, lines = self.run_programs("--list", listed, f"s={self.suite}")
        self.assertEqual(code, 1)
        self.assertEqual([line.split()[:2] for line in lines[:-1]],
                         [["right", "right"], ["wrong_output", "WRONG"], ["crash", "failed"], ["refused", "refused"], ["unbuildable", "failed"],
                          ["absent", "failed"]], lines)
        self.assertIn("cuDNN", lines[3])
        self.assertEqual(lines[-1], "6 programs: 1 right, 1 refused, 1 WRONG, 3 failed, 0 too slow")
        self.assertEqual(sorted(file.name for file in (self.suite / "right").iterdir()), ["Makefile", "main.cu"])

    def test_a_folder_of_projects(self):
        self.add("here", SOURCE % 0, MAKEFILE.replace("sm_80", "$(ARCH)"))
        listed = self.suite / "list.tsv"
        listed.write_text("suite\tname\tdir\trun_args\tpass_regex\tbuild_args\trepository\tcommit\n"
                          "here\there\t.\t31\t\\APASS\tARCH=sm_80\thttps://here\t1\nfar\tfar\t.\t\t\t\thttps://far\t23ab\n")
        code, lines = self.run_programs("--list", listed, self.suite)
        self.assertEqual((code, lines[-1]), (0, "1 programs: 1 right, 0 refused, 0 WRONG, 0 failed, 0 too slow"), lines)
        self.assertEqual(lines[0].split(maxsplit=1), ["far", "not there: https://far at 23ab"])

    def test_one_folder(self):
        self.add("one", SOURCE % 3)
        code, lines = self.run_programs(self.suite / "one", "--run", "31", "--pass", "PASS", "--exit", "3", "--probed")
        self.assertEqual((code, lines[-1]), (0, "1 programs: 1 right, 0 refused, 0 WRONG, 0 failed, 0 too slow"), lines)
        code, lines = self.run_programs(self.suite / "one", "--timeout", "0.5")
        self.assertEqual((code, lines[-1]), (0, "1 programs: 0 right, 0 refused, 0 WRONG, 0 failed, 1 too slow"), lines)


if __name__ == "__main__":
    main()
