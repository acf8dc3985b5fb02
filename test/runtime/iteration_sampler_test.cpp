#include "runtime/cpu/machine/iteration_sampler.h"
#include "test/catch.h"
#include "trace/executed.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <vector>

using namespace warplens;

namespace {

constexpr std::uint32_t head = 10; ///< of the loop, whose second half may be skipped

/// The trace's records of a block.
struct Recorded {
  std::map<std::uint32_t, std::vector<trace::WarpAccess>> accesses; ///< by warp
  std::map<std::uint32_t, std::uint64_t> runs;                      ///< instructions, by warp
  bool meets_at_barriers = false;
  cpu::IterationSampler::LeftOutOfLoops left_out;

  std::uint64_t with(std::uint64_t bit, std::uint32_t warp = 0) const {
    const std::vector<trace::WarpAccess>& of_warp = accesses.at(warp);
    return std::uint64_t(
        std::ranges::count_if(of_warp, [&](const auto& one) { return (one.site & bit) != 0; }));
  }
  std::uint64_t plain(std::uint32_t warp = 0) const {
    return accesses.at(warp).size() - with(trace::leaves_out | trace::is_left_out | trace::ends_check, warp);
  }
  const trace::WarpAccess& gap(std::uint32_t warp = 0) const {
    return *std::ranges::find_if(accesses.at(warp),
                                 [](const auto& one) { return (one.site & trace::leaves_out) != 0; });
  }
};

/// One iteration of a warp: its accesses to global memory, and whether it meets the others at a barrier.
struct Iteration {
  std::vector<std::uint64_t> addresses; ///< of the first lane, each lane's is 4 bytes behind the one before
  bool has_barrier = false;
  machine::Mask lanes = ~0u;
};

/// Records a block's loop of warps that take turns, iteration by iteration.
Recorded record(std::uint32_t warps, std::uint64_t iterations,
                const std::function<Iteration(std::uint32_t warp, std::uint64_t iteration)>& body,
                std::uint64_t block = 0, const cpu::IterationSampler::LeftOutOfLoops& apart = {}) {
  Recorded recorded;
  trace::ExecutedEncoder encoder(80);
  const auto take = [&] {
    trace::Bytes all;
    for (const trace::Bytes& part : encoder.take())
      all.insert(all.end(), part.begin(), part.end());
    trace::ExecutedDecoder decoder;
    REQUIRE(decoder.decode(
        all,
        [&](std::uint64_t, std::uint32_t warp, std::span<const trace::ExecutedRun> runs) {
          for (const trace::ExecutedRun& run : runs)
            recorded.runs[warp] += run.count;
        },
        [&](std::uint64_t, std::uint32_t warp, const trace::WarpAccess& access) {
          recorded.accesses[warp].push_back(access);
        }));
  };
  cpu::ExecutionRecorder recorder(encoder, take, warps, 0, {});
  cpu::IterationSampler sampler(recorder, warps, apart);
  for (std::uint64_t i = 0; i < iterations; ++i)
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      const machine::WarpId id{block, warp};
      const Iteration made = body(warp, i);
      std::array<std::uint64_t, machine::lane_count> addresses{};
      for (const std::uint64_t address : made.addresses) {
        for (std::size_t lane = 0; lane < addresses.size(); ++lane)
          addresses[lane] = address + 4 * lane;
        sampler.on_access(id,
                          {.instruction = head + 1, .lanes = made.lanes, .bytes = 4, .addresses = addresses});
      }
      sampler.on_run(id, head, 8, made.lanes);
      if (made.has_barrier)
        sampler.on_barrier(id, {.instruction = head + 7, .lanes = made.lanes});
    }
  for (std::uint32_t warp = 0; warp < warps; ++warp)
    sampler.on_run({block, warp}, head + 8, 1, ~0u);
  sampler.end_block(block);
  recorder.end_block(block);
  take();
  recorded.meets_at_barriers = sampler.meet_at_barriers();
  recorded.left_out = sampler.left_out();
  return recorded;
}

} // namespace

TEST_CASE("A loop that repeats leaves out iterations in its middle, and says where") {
  const Recorded recorded =
      record(1, 1000, [](std::uint32_t, std::uint64_t i) { return Iteration{{4096 + 128 * i, 1u << 20}}; });
  const trace::WarpAccess& gap = recorded.gap();
  const std::uint64_t left_out = gap.addresses[0], measured = gap.addresses[1];
  CHECK(measured == 128); // 2 accesses each: the most
  CHECK(left_out % measured == 0);
  CHECK(left_out >= 500);
  CHECK(gap.addresses[2] >= 2 * (measured - 2));
  CHECK(recorded.plain() == 2 * (1000 - left_out));
  CHECK(recorded.runs.at(0) == 8 * (1000 - left_out) + 1);
  CHECK(recorded.with(trace::is_left_out) == 4); // both accesses, in the first and the last iteration
  CHECK(recorded.with(trace::ends_check) == 1);
  std::vector<trace::WarpAccess> described;
  for (const trace::WarpAccess& access : recorded.accesses.at(0))
    if ((access.site & trace::is_left_out) != 0)
      described.push_back(access);
  CHECK(described[1].addresses[0] - described[0].addresses[0] == 128 * (left_out - 1));
  CHECK(described[3].addresses[5] == described[2].addresses[5]);
}

TEST_CASE("Loops whose iterations differ are recorded whole") {
  std::uint64_t random = 1;
  const auto gathered = [&](std::uint32_t, std::uint64_t) {
    random = random * 6364136223846793005u + 1;
    return Iteration{{random >> 40 << 2}};
  };
  const auto ever_fewer_lanes = [](std::uint32_t, std::uint64_t i) {
    return Iteration{{4096 + 128 * i}, false, ~0u >> std::min<std::uint64_t>(i / 20, 31)};
  };
  for (const Recorded& recorded : {record(1, 1000, gathered), record(1, 600, ever_fewer_lanes)}) {
    CHECK(recorded.with(trace::leaves_out) == 0);
    CHECK(recorded.plain() == recorded.accesses.at(0).size());
  }
}

TEST_CASE("The warps of a block leave out the same iterations where they meet at barriers") {
  // The first warp makes more accesses than the others, and would measure fewer iterations; the last one
  // makes none.
  const auto body = [](std::uint32_t warp, std::uint64_t i) {
    Iteration made{{}, true};
    if (warp != 3)
      made.addresses = {4096 + 128 * i};
    for (std::uint64_t more = 0; warp == 0 && more < 20; ++more)
      made.addresses.push_back((1u << 20) + (more << 14) + 128 * i);
    return made;
  };
  const Recorded recorded = record(4, 1000, body);
  CHECK(recorded.meets_at_barriers);
  for (const std::uint32_t warp : {1u, 2u, 3u}) {
    CHECK(recorded.gap(warp).addresses[0] == recorded.gap(0).addresses[0]);
    CHECK(recorded.gap(warp).addresses[1] == recorded.gap(0).addresses[1]);
  }
  // A warp whose accesses do not repeat leaves out none, so that the others may not either.
  std::uint64_t random = 1;
  const Recorded apart = record(2, 1000, [&](std::uint32_t warp, std::uint64_t i) {
    random = random * 6364136223846793005u + 1;
    return Iteration{{warp == 0 ? random >> 40 << 2 : 4096 + 128 * i}, true};
  });
  CHECK_FALSE(apart.meets_at_barriers);
}

TEST_CASE("Blocks that are not in step record other iterations of a loop, which follow each other") {
  constexpr std::uint64_t iterations = 1000, begin = 4096, step = 128;
  const auto body = [](std::uint32_t, std::uint64_t i) { return Iteration{{begin + step * i, 1u << 24}}; };
  const Recorded first = record(1, iterations, body);
  REQUIRE(first.left_out.contains(head));
  const std::uint64_t at_a_time = first.left_out.at(head).at_a_time;
  CHECK(first.left_out.at(head).iterations == first.gap().addresses[0]);
  std::set<std::uint64_t> begins;
  for (std::uint64_t block = 0; block < 20; ++block) {
    const Recorded apart = record(1, iterations, body, block, first.left_out);
    CHECK(apart.plain() == first.plain());
    CHECK(apart.gap().addresses == first.gap().addresses); // it says how many there are, not which
    std::vector<std::uint64_t> recorded;
    for (const trace::WarpAccess& access : apart.accesses.at(0))
      if (access.site < trace::leaves_out && access.addresses[0] < 1u << 24)
        recorded.push_back((access.addresses[0] - begin) / step);
    std::vector<std::uint64_t> jumps; // between runs of iterations that follow each other
    for (std::size_t i = 1; i < recorded.size(); ++i)
      if (recorded[i] != recorded[i - 1] + 1)
        jumps.push_back(recorded[i] - recorded[i - 1] - 1);
    CHECK(recorded.back() < iterations);
    REQUIRE(!jumps.empty());
    const std::uint64_t later = jumps.size() == 1 ? 0 : jumps.front();
    CHECK(jumps.size() <= 2);
    CHECK(later % at_a_time == 0);
    // The loop has to repeat before its step is known.
    CHECK((later == 0 || recorded[4] - recorded[0] == 4 + later));
    // The gap ends where those behind it begin.
    std::vector<trace::WarpAccess> described;
    for (const trace::WarpAccess& access : apart.accesses.at(0))
      if ((access.site & trace::is_left_out) != 0)
        described.push_back(access);
    const std::uint64_t end = (described[1].addresses[0] - begin) / step;
    CHECK(std::ranges::count(recorded, end + 1) == 1);
    CHECK(std::ranges::count(recorded, end) == 0);
    begins.insert(later);
  }
  CHECK(begins.size() > 3);
}

TEST_CASE("As many iterations are measured as lines take to begin at the same place") {
  using cpu::IterationSampler;
  CHECK(IterationSampler::measured_iterations(1000, 1, 8) == 8);
  CHECK(IterationSampler::measured_iterations(1000, 32, 8) == 32);
  CHECK(IterationSampler::measured_iterations(16, 1, 8) == 32);
  CHECK(IterationSampler::measured_iterations(1, 1, 8) == 128);
  CHECK(IterationSampler::measured_iterations(16, 1, 32) ==
        8); // a quarter of the accesses, of four times the warps
  CHECK(IterationSampler::measured_iterations(16, 1, 1) == 32);
}
