#include "support/line_diff.h"
#include "test/catch.h"

#include <fmt/format.h>

using warplens::line_diff;

TEST_CASE("a line diff: nothing, one line, the end without a newline, lines on top") {
  CHECK(line_diff("a.cu", "x\ny\n", "x\ny\n").empty());
  CHECK(line_diff("a.cu", "1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5!\n6\n") ==
        "--- a.cu\n+++ a.cu\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+5!\n 6\n");
  CHECK(line_diff("a b.cu", "x", "y") ==
        "--- a b.cu\t\n+++ a b.cu\t\n@@ -1 +1 @@\n-x\n\\ No newline at end of "
        "file\n+y\n\\ No newline at end of file\n");
  CHECK(line_diff("a.cu", "x\n", "top\nx\n", 1) == "--- a.cu\n+++ a.cu\n@@ -1 +1,2 @@\n+top\n x\n");
}

TEST_CASE("a line diff: changes further apart than their context have hunks of their own") {
  std::string before, after;
  for (int line = 1; line <= 30; ++line) {
    before += fmt::format("{}\n", line);
    after += line == 5 || line == 12 || line == 20 ? fmt::format("{}!\n", line) : fmt::format("{}\n", line);
  }
  const std::string diff = line_diff("a.cu", before, after);
  CHECK(diff.find("@@ -2,14 +2,14 @@") != std::string::npos); // 5 and 12 share their context
  CHECK(diff.find("@@ -17,7 +17,7 @@") != std::string::npos);
}
