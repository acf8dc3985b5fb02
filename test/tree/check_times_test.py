"""Tests tools/check_times.py on a made build folder."""
import pathlib
import sys
import tempfile
import unittest

import source_tree

sys.path.insert(0, str(pathlib.Path(source_tree.ROOT) / "tools"))
import check_times  # noqa: E402

NINJA_LOG = """# ninja log v5
0\t3000\t1\tmodel/CMakeFiles/warplens_model.dir/gpu/gpu.cpp.o\ta
10\t1010\t1\tmodel/CMakeFiles/warplens_model.dir/gpu/mig.cpp.o\tb
0\t9000\t1\ttest/model/CMakeFiles/test_model_gpu.dir/a.cpp.o\tc
0\t2000\t2\ttest/model/CMakeFiles/test_model_gpu.dir/a.cpp.o\td
0\t4000\t2\tbuild.ninja\te
"""
TESTS = '<testsuite><testcase name="quick" time="0.5"/><testcase name="slow" time="7.5"/></testsuite>'


class CheckTimes(unittest.TestCase):
    def test_shares(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            (folder / ".ninja_log").write_text(NINJA_LOG)
            text = check_times.report(folder)
            self.assertIn("building, by part: 10 s\n        4.0 s  40.0 %  model\n", text)
            self.assertIn("    2.0 s  20.0 %  test/model\n", text)  # its last build alone
            self.assertIn("    4.0 s  40.0 %  the rest\n", text)
            self.assertNotIn("tests:", text)
            (folder / "tests.xml").write_text(TESTS)
            self.assertTrue(check_times.report(folder).endswith("  tests: 8 s\n        7.5 s  93.8 %  slow\n        0.5 s   6.2 %  quick\n"))


if __name__ == "__main__":
    unittest.main()
