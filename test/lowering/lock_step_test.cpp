// The warp accesses of divergent kernels are those of a machine that runs each warp in lock step and
// reconverges after each branch and each passage of a loop. All figures here are counted by hand.
#include "device_program.h"
#include "test/catch.h"

#include <map>
#include <numeric>

using namespace warplens;
using namespace warplens::test;

namespace {

/// A site and the lanes that were active.
struct Issue {
  std::uint64_t site;
  std::uint32_t active;
  bool operator==(const Issue&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Issue& issue) {
    return out << issue.site << ':' << std::hex << issue.active << std::dec;
  }
};
using Issued = std::vector<Issue>;

/// Returns the accesses that one warp issued, in order.
Issued issued(const std::vector<Seen>& seen) {
  Issued result;
  for (const Seen& one : seen)
    result.push_back({one.line.site, one.line.active});
  return result;
}

Issued run_one_warp(const char* body, int argument = 0) {
  const DeviceProgram program(std::string(R"(
    #define PROBE(site) (*(volatile int*)warplens::load(site, p + t))
    __global__ void kernel(int* p, int n) {
      int t = threadIdx.x;
      )") + body + "}");
  std::vector<int> memory(64, 1);
  std::vector<Seen> seen;
  const auto result = program.trace(seen, "kernel", {1}, {32}, 0, memory.data(), argument);
  REQUIRE(result.status == cpu::BlockStatus::ok);
  CHECK(result.executed_accesses == result.probed_accesses);
  return issued(seen);
}

constexpr std::uint32_t all = 0xffffffff, even = 0x55555555, odd = 0xaaaaaaaa;

/// Returns the mask of lanes 0 to n - 1.
constexpr std::uint32_t first(unsigned n) {
  return n >= 32 ? all : (1U << n) - 1;
}

} // namespace

TEST_CASE("both sides of a branch, then together again") {
  CHECK(run_one_warp("PROBE(1); if (t % 2) PROBE(2); else PROBE(3); PROBE(4);") ==
        Issued{{1, all}, {2, odd}, {3, even}, {4, all}});
}

TEST_CASE("nested branches") {
  CHECK(run_one_warp("if (t < 16) { PROBE(1); if (t % 2) PROBE(2); PROBE(3); } PROBE(4);") ==
        Issued{{1, first(16)}, {2, odd & first(16)}, {3, first(16)}, {4, all}});
}

TEST_CASE("a loop of unequal length: the warp runs as long as its longest lane") {
  Issued expected;
  for (unsigned i = 0; i < 31; ++i) { // lane t runs t times
    expected.push_back({1, all & ~first(i + 1)});
    expected.push_back({2, all & ~first(i + 1)});
  }
  expected.push_back({3, all});
  CHECK(run_one_warp("for (int i = 0; i < t; ++i) { PROBE(1); PROBE(2); } PROBE(3);") == expected);
}

TEST_CASE("more entries than a lane's log holds") {
  Issued expected;
  for (int i = 0; i < 1000; ++i)
    expected.push_back({1, i < 500 ? all : odd});
  expected.push_back({2, all});
  const bool as_expected =
      run_one_warp("for (int i = 0; i < (t % 2 ? 1000 : 500); ++i) PROBE(1); PROBE(2);") == expected;
  CHECK(as_expected);
}

TEST_CASE("an access under a condition after the last unconditional one: lanes meet at the loop's end") {
  Issued expected;
  for (int i = 0; i < 4; ++i) {
    expected.push_back({1, all});
    expected.push_back({2, i % 2 ? odd : even});
  }
  CHECK(run_one_warp("for (int i = 0; i < 4; ++i) { PROBE(1); if ((t + i) % 2 == 0) PROBE(2); }") ==
        expected);
}

TEST_CASE("nested loops of unequal length: lanes meet after each inner loop") {
  Issued expected;
  for (unsigned i = 0; i < 3; ++i) {
    expected.push_back({1, all});
    for (unsigned j = 0; j < 3; ++j) // lane t runs (t + i) % 4 times
      for (std::uint32_t lane = 0, mask = 0; lane <= 32; ++lane)
        if (lane == 32)
          expected.push_back({2, mask});
        else if ((lane + i) % 4 > j)
          mask |= 1U << lane;
  }
  expected.push_back({3, all});
  CHECK(run_one_warp("for (int i = 0; i < 3; ++i) { PROBE(1); for (int j = 0; j < (t + i) % 4; ++j) "
                     "PROBE(2); } PROBE(3);") == expected);
}

TEST_CASE("continue") {
  Issued expected;
  for (int i = 0; i < 3; ++i) {
    expected.push_back({1, all});
    expected.push_back({2, even});
  }
  CHECK(run_one_warp("for (int i = 0; i < 3; ++i) { PROBE(1); if (t % 2) continue; PROBE(2); }") == expected);
}

TEST_CASE("break, with an access on the way out") {
  // In passage i the lanes t > i remain after lane i breaks.
  Issued expected;
  for (unsigned i = 0; i < 4; ++i) {
    expected.push_back({1, all & ~first(i)});
    expected.push_back({2, 1U << i});
    expected.push_back({3, all & ~first(i + 1)});
  }
  expected.push_back({4, all});
  CHECK(
      run_one_warp(
          "for (int i = 0; i < 4; ++i) { PROBE(1); if (t == i) { PROBE(2); break; } PROBE(3); } PROBE(4);") ==
      expected);
}

TEST_CASE("a way out after which the loop contains no more code") {
  Issued expected;
  for (unsigned i = 0; i < 3; ++i) {
    expected.push_back({1, all & ~first(i)});
    expected.push_back({2, 1U << i});
  }
  expected.push_back({1, all & ~first(3)});
  CHECK(
      run_one_warp("for (int i = 0; ; ++i) { PROBE(1); if (t == i) { PROBE(2); break; } if (i == 3) break; }")
          .size() == expected.size() + 1);
}

TEST_CASE("return from a loop and from a function that is inlined") {
  CHECK(
      run_one_warp("auto part = [&](int k) { if (t < k) return; PROBE(1); if (t < 2 * k) return; PROBE(2); };"
                   "part(4); PROBE(3); part(8);") ==
      Issued{
          {1, all & ~first(4)}, {2, all & ~first(8)}, {3, all}, {1, all & ~first(8)}, {2, all & ~first(16)}});
}

TEST_CASE("switch, with a case that falls through") {
  // t % 4: 0 → 1; 1 → 2, 3; 2 → 3; 3 → 4
  const std::uint32_t ones = 0x22222222, twos = 0x44444444, threes = 0x88888888, zeros = 0x11111111;
  CHECK(run_one_warp("switch (t % 4) { case 0: PROBE(1); break; case 1: PROBE(2); case 2: PROBE(3); break; "
                     "default: PROBE(4); }"
                     "PROBE(5);") == Issued{{1, zeros}, {2, ones}, {3, ones | twos}, {4, threes}, {5, all}});
}

TEST_CASE("while and do loops, short-circuit conditions") {
  CHECK(run_one_warp("int i = 0; do { PROBE(1); } while (++i < 1 + t / 16);"
                     "while (i < 2 && PROBE(2)) ++i; if (t > 3 && PROBE(3)) PROBE(4);") ==
        Issued{{1, all}, {1, all & ~first(16)}, {2, first(16)}, {3, all & ~first(4)}, {4, all & ~first(4)}});
}

TEST_CASE("goto back and forth") {
  CHECK(run_one_warp("int i = 0; again: PROBE(1); if (t % 2) goto over; PROBE(2); over: if (++i < 2) goto "
                     "again; PROBE(3);") == Issued{{1, all}, {2, even}, {1, all}, {2, even}, {3, all}});
}

TEST_CASE("barriers and shuffles within loops keep the order") {
  Issued expected;
  for (int i = 0; i < 3; ++i) {
    expected.push_back({1, all});
    expected.push_back({2, first(8)});
    expected.push_back({3, all});
  }
  CHECK(run_one_warp(
            "for (int i = 0; i < 3; ++i) { PROBE(1); int v = __shfl_sync(~0u, t, 0); if (t < v + 8) PROBE(2);"
            "__syncthreads(); PROBE(3); __syncwarp(); }") == expected);
}

TEST_CASE("CSR rows of unequal length, over several warps and blocks") {
  const DeviceProgram program(R"(
    __global__ void spmv(const int* begin, const int* index, const float* value, const float* y, float* x, int rows) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < rows) {
        int lb = *warplens::load(1, &begin[i]), ub = *warplens::load(2, &begin[i + 1]);
        float t = 0;
        for (int j = lb; j < ub; ++j) {
          int ind = *warplens::load(3, &index[j]);
          t += *warplens::load(4, &value[j]) * *warplens::load(5, &y[ind]);
        }
        *warplens::store(6, &x[i]) = t;
      }
    })");
  const int rows = 300;
  std::vector<int> begin(rows + 1), index;
  std::vector<float> value, y(rows), x(rows), expected(rows);
  std::iota(y.begin(), y.end(), 1.f);
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < row * 7 % 13; ++k) {
      index.push_back((row + k * 31) % rows);
      value.push_back(static_cast<float>(k + 1));
      expected[row] += value.back() * y[index.back()];
    }
    begin[row + 1] = static_cast<int>(index.size());
  }
  std::vector<Seen> seen;
  const auto result = program.trace(seen, "spmv", {3}, {128}, 0, begin.data(), index.data(), value.data(),
                                    y.data(), x.data(), rows);
  CHECK(x == expected);
  std::map<std::uint64_t, std::uint64_t> executions;
  for (const Seen& one : seen)
    ++executions[one.line.site];
  std::uint64_t passages = 0, warps = 0; // per warp as many as its longest row
  for (int first_row = 0; first_row < rows; first_row += 32, ++warps) {
    int longest = 0;
    for (int row = first_row; row < std::min(first_row + 32, rows); ++row)
      longest = std::max(longest, row * 7 % 13);
    passages += static_cast<std::uint64_t>(longest);
  }
  CHECK(executions == std::map<std::uint64_t, std::uint64_t>{
                          {1, warps}, {2, warps}, {3, passages}, {4, passages}, {5, passages}, {6, warps}});
  CHECK(result.executed_accesses == result.probed_accesses);
  CHECK(result.executed_accesses == 3 * rows + 3 * index.size());
}
