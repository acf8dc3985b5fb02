// The paper's model of whole placements: its parts on made traces, and what must hold of any estimate.
#include "placement/experiment.h"
#include "test/catch.h"
#include "test/placement/loaded.h"
#include "test/placement/made_source.h"

#include <cmath>
#include <random>

using namespace warplens;
using namespace warplens::placement;
using warplens::test::addressing;
using warplens::test::gpu;
using warplens::test::MadeSource;

namespace {

/// out[i] = table[...] * values[i] of 64 blocks with 4 warps; with a barrier between the loads and the store.
MadeSource table_of(std::uint64_t table_bytes, bool scattered, bool waits) {
  MadeSource source(64, 128);
  const std::uint64_t table = source.allocate(table_bytes), values = source.allocate(64 * 512),
                      out = source.allocate(64 * 512);
  const auto of_table = source.site("table"), of_values = source.site("values"),
             barrier = source.site("", AccessKind::barrier, Space::generic),
             of_out = source.site("out", AccessKind::store);
  std::mt19937_64 random(5);
  for (std::uint64_t block = 0; block < 64; ++block)
    for (std::uint32_t warp = 0; warp < 4; ++warp) {
      const std::uint64_t first = block * 512 + warp * 128;
      for (int n = 0; n < 8; ++n) {
        const std::uint64_t uniform = random() % (table_bytes / 4) * 4;
        source.access(block, warp, of_table, [&](std::uint64_t) {
          return table + (scattered ? random() % (table_bytes / 4) * 4 : uniform);
        });
      }
      source.access(block, warp, of_values, [&](std::uint64_t lane) { return values + first + 4 * lane; });
      if (waits)
        source.access(block, warp, barrier, [](std::uint64_t) { return 0; });
      source.access(block, warp, of_out, [&](std::uint64_t lane) { return out + first + 4 * lane; });
    }
  return source;
}

/// One launch's placements by an estimator.
class Estimated {
public:
  Estimated(const MadeSource& made, const char* gpu_name, EstimateOptions estimates)
      : source_(made), gpu_(gpu(gpu_name)), arrays_(*Arrays::find(made, made.launches().front())),
        experiment_(source_, 0, arrays_, gpu_, addressing_, options(), std::move(estimates)) {
    const auto modelled = experiment_.model_sample();
    if (!modelled)
      FAIL(modelled.error().message);
  }

  const Candidate& sample() const { return experiment_.sample(); }
  Candidate moved(const char* moves) const {
    const auto candidate = experiment_.model(*parse_moves(moves, arrays_), 2);
    if (!candidate)
      FAIL(candidate.error().message);
    return *candidate;
  }

private:
  static model::Options options() {
    model::Options options;
    options.trials = 2;
    return options;
  }

  MadeSource source_;
  model::Gpu gpu_;
  std::vector<Addressing> addressing_ = addressing();
  Arrays arrays_;
  Experiment experiment_;
};

constexpr const char* all_moves[] = {"table:ldg",    "table:texture",           "table:constant",
                                     "table:shared", "table:shared=whole",      "values:shared",
                                     "out:shared",   "table:texture,values:ldg"};

} // namespace

TEST_CASE("each estimate of the paper is a time, and no move makes it explode") {
  for (const char* name : {"k80", "v100", "a100", "h100-sxm"})
    for (const Estimator estimator : {Estimator::paper, Estimator::paper_literal})
      for (const bool scattered : {false, true})
        for (const bool waits : {false, true}) {
          const Estimated launch(table_of(4096, scattered, waits), name, {.estimator = estimator});
          const double before = launch.sample().microseconds->mean;
          CHECK((std::isfinite(before) && before > 0));
          for (const char* moves : all_moves) {
            const Candidate candidate = launch.moved(moves);
            if (!candidate.is_legal())
              continue;
            const double after = candidate.microseconds->mean;
            INFO(name << ' ' << name_of(estimator) << ' ' << moves << ": " << before << " to " << after);
            CHECK((std::isfinite(after) && after > 0));
            CHECK(candidate.change.share == Approx(after / before - 1));
            CHECK(after < 5 * before);
            CHECK(after > before / 20);
          }
        }
}

TEST_CASE("the trace's placement takes its measured time by the paper as well") {
  const Estimated launch(table_of(4096, true, true), "k80",
                         {.estimator = Estimator::paper, .measured_us = 123});
  CHECK(launch.sample().microseconds->mean == Approx(123));
  const Candidate moved = launch.moved("table:texture");
  CHECK(moved.microseconds->mean == Approx(123 * (1 + moved.change.share)));
}

TEST_CASE("a way through the code that has no end is not counted") {
  const MadeSource source = table_of(4096, false, false);
  const trace::Launch& launch = source.launches().front();
  const auto arrays = Arrays::find(source, launch);
  REQUIRE(arrays);
  const model::Gpu k80 = gpu("k80");
  model::Options options;
  options.trials = 2;
  const auto result = model::evaluate(source, {k80}, options);
  REQUIRE(result);
  KernelResult code = result->kernels.front();
  code.executed.emplace().instructions = std::uint64_t{1} << 60;
  const std::vector<Addressing> all = addressing();
  const auto paper =
      PaperModel::of(source, launch, *arrays, result->kernels.front(), code, k80, addressing_of(all, 37), {});
  REQUIRE(paper);
  const auto estimate = paper->estimate(source, launch, result->kernels.front(), {});
  REQUIRE(estimate);
  CHECK(estimate->executed == Approx(10 * 3)); // ten accesses, and two instructions for the address of each
}

TEST_CASE("a request to constant memory leaves the bandwidth to the others") {
  const Estimated launch(table_of(4096, false, false), "k80", {.estimator = Estimator::paper});
  CHECK(launch.moved("table:constant").paper->cycles.memory < 1.01 * launch.sample().paper->cycles.memory);
}

TEST_CASE("a barrier and special functions are held equal in all placements") {
  // The copy's barrier is an instruction more, and adds no wait.
  const Estimated without(table_of(4096, true, false), "k80", {.estimator = Estimator::paper_literal});
  const PaperEstimate before = *without.sample().paper, after = *without.moved("values:shared").paper;
  CHECK(after.cycles.computation == Approx(before.cycles.computation).epsilon(0.2));
  CHECK(after.cycles.initialisation > 0);
}

TEST_CASE("each part of the paper's model that is left out changes what it is about") {
  const auto estimate = [](EstimateParts parts, const char* moves) {
    return *Estimated(table_of(1 << 20, true, false), "k80", {.estimator = Estimator::paper, .parts = parts})
                .moved(moves)
                .paper;
  };
  const PaperEstimate whole = estimate({}, "table:ldg");
  CHECK(whole.replays > 8 * 20); // 32 lines for each of eight loads
  CHECK(estimate({.counts_replays = false}, "table:ldg").replays == 0);
  CHECK(estimate({.counts_addresses = false}, "table:texture").executed >
        estimate({}, "table:texture").executed); // a K80's fetches need no addresses
  CHECK(whole.memory.nanoseconds > 0);
  CHECK(whole.memory.arrival_variation > 0);
  CHECK(whole.memory.rows.hit + whole.memory.rows.miss + whole.memory.rows.conflict == Approx(1));
  CHECK(estimate({.queues_dram = false}, "table:ldg").memory.nanoseconds ==
        Approx(gpu("k80").dram.latency_ns));
  CHECK(estimate({.maps_banks = false}, "table:ldg").memory.nanoseconds !=
        Approx(whole.memory.nanoseconds).epsilon(1e-6));
  CHECK(whole.events.row_misses + whole.events.row_conflicts > 0); // r_k of equation 11
}

TEST_CASE("accesses at one index share its address, those behind it have the constant in the instruction") {
  MadeSource source(1, 32);
  const std::uint64_t a = source.allocate(8192), b = source.allocate(8192);
  const auto first = source.site("a"), behind = source.site("a"), other = source.site("b"),
             distinct = source.site("b");
  for (std::uint64_t n = 0; n < 4; ++n) {
    source.access(0, 0, first, [&](std::uint64_t lane) { return a + n * 256 + 4 * lane; });
    source.access(0, 0, behind, [&](std::uint64_t lane) { return a + n * 256 + 4 * lane + 64; });
    source.access(0, 0, other, [&](std::uint64_t lane) { return b + n * 256 + 4 * lane; });
    source.access(0, 0, distinct, [&](std::uint64_t lane) { return b + n * 512 + 8 * lane; });
  }
  const auto arrays = Arrays::find(source, source.launches().front());
  REQUIRE(arrays);
  const auto groups = IndexGroups::find(source, source.launches().front(), 1, *arrays, {distinct});
  REQUIRE(groups);
  REQUIRE(groups->all().size() == 1);
  const std::vector<IndexedAccess>& accesses = groups->all().front().accesses;
  REQUIRE(accesses.size() == 4);
  CHECK(accesses[1].index == accesses[0].index);
  CHECK(accesses[1].constant_offset);
  CHECK(accesses[2].index == accesses[0].index);
  CHECK_FALSE(accesses[2].constant_offset);
  CHECK(accesses[3].index != accesses[0].index);
  CHECK(accesses[3].wide_index);
  // On a K80, of four executions: a[i] 2 and b[i] 2, a[i + 16] none, b[2 i] with 64 bits 3.
  const std::vector<Addressing> all = addressing();
  const Addressing& of = addressing_of(all, 37);
  const auto added = [&](const char* moves, Reading reading) {
    return groups->added_instructions(*parse_moves(moves, *arrays), of, reading);
  };
  CHECK(added("b:constant", Reading::corrected) == 4 * (1 + 1 - 2 - 3));
  CHECK(added("b:constant", Reading::literal) == 4 * (1 + 1 - 2 - 3));
  CHECK(added("a:constant", Reading::corrected) == 4 * (1 - 2));
  CHECK(added("a:constant", Reading::literal) == 4 * 2 * (1 - 2));
}

TEST_CASE("arrivals at banks: bursts vary more than a stream in step, and a busy bank waits finitely") {
  const model::Gpu k80 = gpu("k80");
  MadeSource source(13, 32);
  const std::uint64_t base = source.allocate(64 << 20);
  const auto site = source.site("a");
  for (std::uint64_t block = 0; block < 13; ++block)
    for (std::uint64_t n = 0; n < 64; ++n)
      source.access(block, 0, site,
                    [&](std::uint64_t lane) { return base + (block * 64 + n) * 4096 + 128 * lane; });
  const auto banks = bank_arrivals(source, source.launches().front(), 13, 13, k80, false);
  REQUIRE(banks);
  double requests = 0;
  for (const BankArrivals& bank : *banks)
    requests += bank.requests();
  CHECK(requests == 13 * 64 * 32);
  for (const Reading reading : {Reading::corrected, Reading::literal})
    for (const double step : {0.0, 1e-3, 1.0, 1e3, 1e9}) {
      const MemoryLatency latency =
          memory_latency(*banks, {.step_ns = step, .requests_in_flight = 13 * 32}, k80, reading);
      CHECK((std::isfinite(latency.nanoseconds) && latency.nanoseconds > 0));
      CHECK(latency.arrival_variation > 1); // all lanes of an access arrive at once
    }
  const auto wait = [&](double step) {
    return memory_latency(*banks, {.step_ns = step, .requests_in_flight = 13 * 32}, k80, Reading::corrected)
        .nanoseconds;
  };
  CHECK(wait(1) >= wait(1e3));
  CHECK(wait(1e3) >= wait(1e9));
}
