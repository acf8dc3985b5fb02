// Barriers for a number of threads (bar.sync and bar.arrive with a count), of which a block has sixteen,
// untraced and traced. The expected numbers are worked out by hand.
#include "device_program.h"
#include "runtime/cpu/execution/barrier.h"
#include "test/catch.h"
#include "test/thorough.h"

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace warplens;
using namespace warplens::test;

namespace {

constexpr char helpers[] = R"(
  __device__ void arrive(unsigned id, unsigned threads) { asm volatile("barrier.cta.arrive %0, %1;" :: "r"(id), "r"(threads) : "memory"); }
  __device__ void sync(unsigned id, unsigned threads) { asm volatile("barrier.cta.sync %0, %1;" :: "r"(id), "r"(threads) : "memory"); }
  __device__ void sync(unsigned id) { asm volatile("barrier.cta.sync %0;" :: "r"(id) : "memory"); }
)";

struct Outcome {
  cpu::GridResult result;
  std::vector<unsigned> words;
};

/// Runs the kernel `body` in one block, untraced and traced; checks that both end alike and store the same.
Outcome run_both(const std::string& body, std::uint32_t threads) {
  const DeviceProgram program(std::string(helpers) + R"(
    __global__ void kernel(unsigned* out) {
      __shared__ unsigned shared[1024];
      const unsigned t = threadIdx.x, warp = t / 32;
      shared[t] = 0;
      __syncthreads();
      )" + body + "}");
  Outcome plain{{}, std::vector<unsigned>(threads)}, traced = plain;
  plain.result = program.run("kernel", {1}, {threads}, 0, plain.words.data());
  std::vector<Seen> seen;
  traced.result = program.trace(seen, "kernel", {1}, {threads}, 0, traced.words.data());
  CHECK(plain.result.status == traced.result.status);
  CHECK(plain.result.message == traced.result.message);
  CHECK(plain.words == traced.words);
  return plain;
}

void check_all(const std::vector<unsigned>& words, std::uint32_t first, unsigned expected) {
  for (std::size_t i = first; i < words.size(); ++i)
    CHECK(words[i] == expected);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("threads that arrived and exited still count, and no more than they are") {
  const Outcome outcome = run_both(R"(
    if (warp == 0) { arrive(1, 96); return; }
    if (t == 64) shared[0] = 7;
    sync(1, 96);
    out[t] = shared[0];)",
                                   96);
  REQUIRE(outcome.result.status == cpu::BlockStatus::ok);
  check_all(outcome.words, 32, 7);
}

TEST_CASE("a barrier for all threads waits for each warp that has not exited") {
  const Outcome outcome = run_both(R"(
    if (warp == 0) { arrive(1, 128); return; }
    if (t == 96) shared[0] = 7;
    sync(1);
    out[t] = shared[0];)",
                                   128);
  REQUIRE(outcome.result.status == cpu::BlockStatus::ok);
  check_all(outcome.words, 32, 7);
}

TEST_CASE("barriers for all do not wait for threads that exit, barriers that count do") {
  REQUIRE(run_both("if (warp == 1) return; sync(3); out[t] = 1;", 96).result.status == cpu::BlockStatus::ok);
  const Outcome outcome = run_both("if (warp == 1) return; sync(3, 96); out[t] = 1;", 96);
  CHECK(outcome.result.status == cpu::BlockStatus::deadlocked);
  CHECK(has(outcome.result.message, "32 threads of warp 0 wait"));
  CHECK(has(outcome.result.message, "at barrier 3, where 64 of 96 threads have arrived"));
}

TEST_CASE("a warp that is not full counts as a full one") {
  const Outcome outcome = run_both(R"(
    if (warp == 1) shared[0] = 5;
    warp == 1 ? arrive(2, 64) : sync(2, 64);
    out[t] = warp == 0 ? shared[0] : 5;)",
                                   40);
  REQUIRE(outcome.result.status == cpu::BlockStatus::ok);
  check_all(outcome.words, 0, 5);
}

TEST_CASE("a warp arrives once all its threads that have not exited have, wherever they are") {
  const Outcome outcome = run_both(R"(
    if (warp == 0) {
      if (t == 31) return;
      if (t & 1) { shared[t] = 1; sync(4, 64); }
      else if (t & 2) { shared[t] = 1; arrive(4, 64); }
      else { for (unsigned i = 0; i < t; ++i) __syncwarp(1u << t); shared[t] = 1; sync(4, 64); }
      return;
    }
    sync(4, 64);
    for (unsigned i = 0; i < 32; ++i) out[t] += shared[i];)",
                                   64);
  REQUIRE(outcome.result.status == cpu::BlockStatus::ok);
  check_all(outcome.words, 32, 31);
}

TEST_CASE("threads of a warp that arrives incompletely are reported") {
  const Outcome outcome =
      run_both("if (t < 16) sync(5, 64); else if (warp == 1) sync(5, 64); else sync(6, 32);", 64);
  CHECK(outcome.result.status == cpu::BlockStatus::deadlocked);
  CHECK(has(outcome.result.message, "16 threads of warp 0 wait at"));
  CHECK(has(outcome.result.message, "for the rest of its warp"));
  CHECK(has(outcome.result.message, "at barrier 5, where 32 of 64 threads have arrived"));
}

TEST_CASE("different numbers of threads for one barrier contradict each other") {
  const Outcome outcome = run_both("sync(1, warp == 0 ? 96 : 64);", 96);
  CHECK(outcome.result.status == cpu::BlockStatus::failed);
  const std::string& message = outcome.result.message; // the runtime chooses which warp is first
  CHECK((has(message, "barrier 1 waits for 96 threads, and warp 1 arrives for 64 threads") ||
         has(message, "barrier 1 waits for 64 threads, and warp 0 arrives for 96 threads")));
  CHECK(has(run_both("sync(1, 32 + t);", 32).result.message,
            "warp 0 arrive at barrier 1 for different numbers"));
}

TEST_CASE("a producer and three consumers take turns by two barriers") {
  const Outcome outcome = run_both(R"(
    unsigned sum = 0;
    for (unsigned i = 1; i <= 20; ++i)
      if (warp == 3) {
        shared[t % 32] = i;
        arrive(1, 128); // full
        sync(2, 128);   // empty
      } else {
        sync(1, 128);
        sum += shared[(t + i) % 32];
        arrive(2, 128);
      }
    out[t] = warp == 3 ? 210 : sum;)",
                                   128);
  REQUIRE(outcome.result.status == cpu::BlockStatus::ok);
  check_all(outcome.words, 0, 210);
}

TEST_CASE("pairs of warps meet at barriers of their own, and reduce over the pair") {
  const Outcome outcome = run_both(R"(
    unsigned yes = 0, both = 0;
    const unsigned pair = warp / 2;
    if (warp == 5) return;
    if (warp != 4) {
      asm volatile("{.reg .pred p; setp.lt.u32 p, %1, 40; barrier.cta.red.popc.u32 %0, %2, 64, p;}" : "=r"(yes) : "r"(t), "r"(pair + 1) : "memory");
      asm volatile("{.reg .pred p, q; setp.lt.u32 p, %1, 64; barrier.cta.red.and.pred q, %2, 64, p; selp.u32 %0, 1, 0, q;}" : "=r"(both) : "r"(t), "r"(pair + 1) : "memory");
    }
    out[t] = yes * 10 + both;)",
                                   192);
  REQUIRE(outcome.result.status == cpu::BlockStatus::ok);
  for (std::size_t t = 0; t < 192; ++t)
    CHECK(outcome.words[t] == (t < 64 ? 401U : 0U));
}

namespace {

/// The same barrier, lane by lane, by the manual's definition; for `expected` threads, 0: all.
class ReferenceBarrier {
public:
  ReferenceBarrier(unsigned block_threads, unsigned expected)
      : block_threads_(block_threads), expected_(expected) {}

  void arrive_lane(unsigned thread, bool waits) { here_[thread / 32][thread] = waits; }

  /// Returns the released lanes, numbered through the block.
  std::set<unsigned> release(const std::set<unsigned>& exited) {
    std::set<unsigned> released;
    for (unsigned warp = 0; warp * 32 < block_threads_; ++warp) {
      bool whole = !here_[warp].empty();
      for (unsigned t = warp * 32; t < std::min(block_threads_, warp * 32 + 32); ++t)
        whole = whole && (exited.contains(t) || here_[warp].contains(t));
      if (!whole)
        continue;
      arrivals_ += 32;
      arrived_.insert(warp);
      for (const auto& [thread, waits] : here_[warp])
        (waits ? waiting_ : released).insert(thread);
      here_[warp].clear();
    }
    bool complete = !arrived_.empty();
    if (expected_)
      complete = complete && arrivals_ >= expected_;
    else
      for (unsigned t = 0; t < block_threads_; ++t)
        complete = complete && (exited.contains(t) || arrived_.contains(t / 32));
    if (complete) {
      released.merge(waiting_);
      waiting_.clear();
      arrived_.clear();
      arrivals_ = 0;
    }
    return released;
  }

private:
  const unsigned block_threads_, expected_;
  std::map<unsigned, std::map<unsigned, bool>> here_;
  std::set<unsigned> waiting_, arrived_;
  unsigned arrivals_ = 0;
};

} // namespace

TEST_CASE("barriers against a slow reference: threads arrive, wait, pass and exit in any order") {
  std::mt19937 random(7);
  const unsigned attempts = is_thorough() ? 300 : 60;
  for (unsigned attempt = 0; attempt < attempts; ++attempt) {
    const unsigned threads = 1 + random() % 130, warps = (threads + 31) / 32;
    const unsigned expected = attempt % 2 ? 0 : 32 * (1 + random() % warps);
    cpu::Barrier barrier;
    ReferenceBarrier reference(threads, expected);
    std::set<unsigned> free, exited;
    for (unsigned t = 0; t < threads; ++t)
      free.insert(t);
    const auto alive = [&](unsigned warp) {
      std::uint32_t lanes = 0;
      for (unsigned t = warp * 32; t < std::min(threads, warp * 32 + 32); ++t)
        lanes |= exited.contains(t) ? 0 : 1U << t % 32;
      return lanes;
    };
    const auto settle = [&](unsigned warp) {
      std::set<unsigned> released;
      const auto add = [&](unsigned of, std::uint32_t lanes) {
        for (; lanes; lanes &= lanes - 1)
          released.insert(of * 32 + static_cast<unsigned>(std::countr_zero(lanes)));
      };
      if (barrier.warp_is_present(warp, alive(warp)))
        add(warp, barrier.arrive(warp));
      std::uint32_t alive_warps = 0;
      for (unsigned w = 0; w < warps; ++w)
        alive_warps |= alive(w) ? 1U << w : 0;
      if (barrier.is_complete(alive_warps)) {
        const auto lanes = barrier.release();
        for (unsigned w = 0; w < warps; ++w)
          if (lanes.warps >> w & 1)
            add(w, lanes.lanes[w]);
      }
      return released;
    };
    for (unsigned step = 0; step < 1000 && !free.empty(); ++step) {
      const unsigned thread = *std::next(free.begin(), static_cast<long>(random() % free.size()));
      free.erase(thread);
      if (random() % 50 == 0) {
        exited.insert(thread);
      } else {
        const bool waits = !expected || random() % 4 != 0;
        REQUIRE(barrier.arrive_lane(thread / 32, thread % 32, expected, waits, false));
        reference.arrive_lane(thread, waits);
      }
      const auto released = settle(thread / 32);
      REQUIRE(released == reference.release(exited));
      free.insert(released.begin(), released.end());
    }
  }
}
