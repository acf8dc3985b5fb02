// Several processes compute one result: here each is a thread, and bytes go through memory in place of MPI.
#include "made_code.h"
#include "made_trace.h"
#include "model/evaluate.h"
#include "model/share_kernels.h"

#include <barrier>
#include <nlohmann/json.hpp>
#include <thread>

using namespace warplens;
using test::gpu;
using test::MadeTrace;

namespace {

/// Runs `compute` once for each of `count` ranks, side by side, and returns what each returned.
template <class Compute> auto on_ranks(std::uint32_t count, const Compute& compute) {
  std::barrier arrival(count);
  std::vector<std::vector<std::byte>> exchanged(count);
  std::vector<decltype(compute(model::Ranks()))> results(count);
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      const auto exchange = [&, rank](std::vector<std::byte> mine) {
        exchanged[rank] = std::move(mine);
        arrival.arrive_and_wait();
        std::vector<std::vector<std::byte>> all = exchanged;
        arrival.arrive_and_wait(); // nothing is replaced before all have copied it
        return all;
      };
      results[rank] = compute(model::Ranks{rank, count, exchange});
    });
  threads.clear();
  return results;
}

std::string text_of(const std::vector<KernelResult>& kernels) {
  Result result;
  result.kernels = kernels;
  return to_json(result).dump();
}

/// Returns 40 warps' loads all over 1 MiB, of a kernel with random machine code.
std::pair<MadeTrace, model::Snapshot> made_kernel() {
  MadeTrace made(10, 128);
  const std::uint64_t site = made.site();
  Random random(5, 0, 0);
  for (unsigned block = 0; block < 10; ++block)
    for (unsigned warp = 0; warp < 4; ++warp)
      for (unsigned i = 0; i < 12; ++i)
        made.access(block, warp, site, 4, [&](unsigned) { return 0x10'0000 + random.below(1 << 18) * 4ull; });
  model::Snapshot snapshot = *made.decode({}, model::Accesses::all);
  test::add_random_code(snapshot, random);
  return {std::move(made), std::move(snapshot)};
}

} // namespace

TEST_CASE("Processes that divide a kernel's trials get the result of one process, warp states by line too") {
  auto [made, snapshot] = made_kernel();
  const model::Gpu on = gpu("v100");
  const auto compute = [&](const model::Ranks& ranks) {
    model::Options options;
    options.trials = 7;
    options.confidence = {0, 0};
    options.threads = 1;
    options.ranks = ranks;
    return model::evaluate_launch(snapshot, made.sites(), made.launch(), on, options).value();
  };
  KernelResult alone = compute({});
  REQUIRE(alone.warps);
  REQUIRE(std::ranges::any_of(alone.warps->states, [](double share) { return share > 0; }));
  for (const std::uint32_t count : {2u, 3u, 9u}) {
    const std::vector<KernelResult> results = on_ranks(count, compute);
    CHECK(text_of({results[0]}) == text_of({alone}));
    // Observations of the first trial are rank 0's alone; all else each rank has.
    KernelResult other = results[1];
    other.objects = alone.objects;
    other.totals.cold_miss_share = alone.totals.cold_miss_share;
    other.totals.dram_latencies = alone.totals.dram_latencies;
    CHECK(text_of({other}) == text_of({alone}));
  }
}

TEST_CASE("Processes that divide the kernels get all of them in order") {
  const auto kernel = [](std::size_t number) {
    KernelResult made;
    made.name = "kernel \xff" + std::to_string(number); // any bytes, as of a source
    made.gpu = "v100";
    made.totals.dram_read_bytes = 1.0 / double(number + 3);
    return made;
  };
  std::vector<KernelResult> expected;
  for (std::size_t number = 0; number < 5; ++number)
    expected.push_back(kernel(number));
  for (const std::uint32_t count : {1u, 2u, 3u, 5u, 6u}) {
    const auto results = on_ranks(count, [&](const model::Ranks& ranks) {
      const model::KernelShare share(5, ranks);
      CHECK(share.divides_kernels() == (count > 1 && count < 6));
      std::vector<KernelResult> mine;
      for (std::size_t number = 0; number < 5; ++number)
        if (share.is_mine(number))
          mine.push_back(kernel(number));
      return share.join(std::move(mine)).value();
    });
    for (const std::vector<KernelResult>& all : results) {
      REQUIRE(all.size() == 5);
      for (std::size_t number = 0; number < 5; ++number) {
        CHECK(all[number].name == expected[number].name);
        CHECK(all[number].totals.dram_read_bytes == expected[number].totals.dram_read_bytes);
      }
    }
  }
}

TEST_CASE("Processes that model different traces end with an error") {
  const auto results = on_ranks(2, [](const model::Ranks& ranks) {
    const model::KernelShare share(4, ranks);
    std::vector<KernelResult> mine(2 - ranks.rank); // rank 1 has one kernel too few
    for (KernelResult& kernel : mine)
      kernel.gpu = "v100";
    const auto all = share.join(std::move(mine));
    return all ? std::string() : all.error().message;
  });
  for (const std::string& error : results)
    CHECK(error == "the processes that mpirun started do not model the same trace");
}
