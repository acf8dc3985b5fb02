// Tests the text of baselines: what is written is read, and whatever is read gives a baseline or one line.
#include "result/baseline.h"
#include "test/catch.h"

#include <random>

using namespace warplens;

namespace {

RecordedKernel sample(const std::string& name, std::uint64_t number = 1) {
  RecordedKernel kernel;
  kernel.program = "a.cu --size \"4\"";
  kernel.gpu = "a100";
  kernel.kernel = name;
  kernel.number = number;
  kernel.identity = {"c0de", "f00d", "beef"};
  kernel.seed = 7;
  kernel.version = "0.1";
  kernel.grid = {64, 2, 1};
  kernel.block = {256, 1, 1};
  kernel.time_us = {10, 9.5, 10.5};
  kernel.trials_us = {9.75, 10.25};
  kernel.bound = "dram";
  kernel.exact = {{"registers", 32}, {"spill_bytes", 0}, {"instructions.fp32", 1ull << 60}};
  kernel.findings = {"few-warps", "tail"};
  kernel.accesses = {{"a.cu", "in[i | \"x\"]", 0.5, 32, 0, {"strided"}}};
  return kernel;
}

Baseline sample_baseline() {
  return {{sample("copy(float*)"), sample("copy(float*)", 2), sample("operator|<'\"\\>(int)")},
          {{"copy(float*)", "a100", "2026-12-31", "the sort: comes next"}, {"f", "", "2027-01-01", "why"}}};
}

/// Returns the error's text, which must be one line; empty if there is none.
std::string error_of(const std::string& text) {
  const auto read = read_baseline(text, "b.txt");
  if (read)
    return "";
  CHECK(read.error().message.find('\n') == std::string::npos);
  CHECK(read.error().message.starts_with("b.txt:"));
  return read.error().message;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("a baseline is read as it was written, in any order of its kernels") {
  const Baseline written = sample_baseline();
  const std::string text = print_baseline(written);
  const auto read = read_baseline(text, "b.txt");
  REQUIRE(read);
  CHECK(read->kernels == written.kernels);
  REQUIRE(read->waivers.size() == 2);
  CHECK(read->waivers[0].kernel == "copy(float*)");
  CHECK(read->waivers[0].gpu == "a100");
  CHECK(read->waivers[0].until == "2026-12-31");
  CHECK(read->waivers[0].reason == "the sort: comes next");
  CHECK(read->waivers[0].line == 5);
  CHECK(print_baseline(*read) == text);

  Baseline reversed = written;
  std::ranges::reverse(reversed.kernels);
  CHECK(print_baseline(reversed) == text);
}

TEST_CASE("a wrong baseline gives one line that says where and what to do") {
  const std::string text = print_baseline(sample_baseline());
  const auto has = [&](const std::string& wrong, const std::string& what) {
    INFO(error_of(wrong));
    CHECK(error_of(wrong).find(what) != std::string::npos);
  };
  has("", "b.txt: it is empty");
  has("junk\n", "b.txt:1: not a baseline");
  has(replaced(text, "baseline 1", "baseline 2"), "b.txt:1: version \"2\" of the format");
  has(text.substr(0, text.size() - 5), "ends in the middle of a line");
  has(text.substr(0, text.rfind("  model")), "ends without its \"model\"");
  has(replaced(text, "  bound", "=======\n  bound"), "b.txt:10: a merge left its marker =======");
  has(replaced(text, ",2]", ",1]"), "is in line 8 already");
  has(replaced(text, "time_us 10 9.5", "time_us nan 9.5"), "b.txt:9: time_us has \"nan\"");
  has(replaced(text, "time_us 10 9.5", "time_us 10 11"), "not a mean and its interval");
  has(replaced(text, "registers 32", "registers 99999999999999999999"), "registers is not a whole number");
  has(replaced(text, "registers 32", "register 32"), "there is no figure \"register\"");
  has(replaced(text, "registers 32", "seed 1"), "\"seed\" is there twice");
  has(replaced(text, "2026-12-31", "2026-02-30"), "expected: waive");
  has(replaced(text, ": why\n\n", ":\n\n"), "a waiver without a reason");
}

TEST_CASE("whatever is read gives a baseline, which is written and read again, or one line") {
  std::mt19937 random(1);
  const std::string sound = print_baseline(sample_baseline());
  const std::string pieces[] = {"\n",
                                "kernel [",
                                "  time_us 1e999 -1 nan\n",
                                "waive \"",
                                "\xff\x1b",
                                "18446744073709551616",
                                "  access [1,2]\n",
                                "]]]]",
                                "\0"};
  for (int round = 0; round < 3000; ++round) {
    std::string text = sound;
    for (unsigned change = random() % 4 + 1; change != 0 && !text.empty(); --change) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
      case 0: text.erase(at, random() % 40); break;
      case 1: text.insert(at, pieces[random() % std::size(pieces)]); break;
      case 2: text[at] = char(random()); break;
      default: text.insert(at, text.substr(random() % text.size(), random() % 200)); break;
      }
    }
    const auto read = read_baseline(text, "b.txt");
    if (!read) {
      CHECK(read.error().message.find('\n') == std::string::npos);
      continue;
    }
    const std::string again = print_baseline(*read);
    const auto twice = read_baseline(again, "b.txt");
    REQUIRE(twice);
    CHECK(print_baseline(*twice) == again);
  }
}
