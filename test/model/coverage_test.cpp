// The coverage of the stated intervals. This test is slow and so not a part of the checks: `ninja -C build
// coverage` builds and runs it. It makes 1000 analyses of one small trace, each with a seed of its own and
// the default rule for stopping; for each figure that varies, it counts the analyses whose 95 % interval
// holds the long-run mean.
#include "made_trace.h"
#include "model/figures.h"
#include "model/run_trials.h"
#include "numeric/random.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

using namespace warplens;
using test::MadeTrace;

namespace {

constexpr std::uint32_t analyses = 1000;
constexpr double wanted = 0.93;

/// Sparse matrix times vector in small, with a histogram at its end: about 10^5 transactions of streams, a
/// gather, an update, stores and atomics.
MadeTrace sparse(std::uint32_t blocks) {
  MadeTrace made(blocks, 128);
  const auto index = made.site();
  const auto value = made.site(), gather = made.site(AccessKind::load, {index}),
             sum = made.site(AccessKind::update, {}, 1), store = made.site(AccessKind::store, {}, 1),
             bin = made.site(AccessKind::atomic, {}, 1);
  Random random(5, 0, 0);
  const std::uint64_t y = 1 << 20, values = 16 << 20, sums = 32 << 20, stores = 48 << 20, bins = 64 << 20;
  for (std::uint64_t block = 0; block < blocks; ++block)
    for (std::uint32_t warp = 0; warp < 4; ++warp) {
      const std::uint64_t row = block * 4 + warp;
      for (std::uint64_t i = 0, count = 10 + random.below(20); i < count; ++i) {
        const std::uint64_t at = (row * 30 + i) * 64;
        made.access(block, warp, index, 4, [=](unsigned lane) { return at + lane % 16 * 4; });
        made.access(block, warp, value, 4, [=](unsigned lane) { return values + at + lane % 16 * 4; });
        std::uint64_t chosen[8];
        for (std::uint64_t& element : chosen)
          element = random.below(random.below(1 << 19) + 1);
        made.access(block, warp, gather, 4, [&](unsigned lane) { return y + chosen[lane % 8] * 4; });
      }
      made.access(block, warp, sum, 4, [=](unsigned lane) { return sums + row * 64 + lane % 16 * 4; });
      made.access(block, warp, store, 4, [=](unsigned lane) { return stores + row * 128 + lane * 4; });
      made.access(block, warp, bin, 4, [&](unsigned) { return bins + random.below(4096) * 4ull; });
    }
  return made;
}

/// Name and value of each figure of some trials.
using Figures = std::vector<std::pair<std::string, std::optional<Statistic>>>;

Figures figures_of(std::span<const model::TrialCounts> trials, const model::Snapshot& snapshot,
                   const model::Gpu& gpu) {
  const Totals totals = model::totals_of(trials, gpu);
  Figures figures{{"L1 reads", totals.l1_read_hit_rate},
                  {"L2 reads", totals.l2_read_hit_rate},
                  {"L2 writes", totals.l2_write_hit_rate},
                  {"DRAM latency", totals.dram_latency_ns}};
  for (std::size_t i = 0; i < snapshot.sites.size(); ++i) {
    SiteResult site;
    model::set_statistics(site, snapshot.sites[i], i, trials, gpu);
    figures.emplace_back(fmt::format("site {} L1", i), site.l1_hit_rate);
    figures.emplace_back(fmt::format("site {} L2", i), site.l2_hit_rate);
    figures.emplace_back(fmt::format("site {} latency", i), site.latency_ns);
  }
  return figures;
}

void check_coverage(const char* name, std::uint32_t blocks) {
  const model::Gpu gpu = test::gpu(name);
  const MadeTrace made = sparse(blocks);
  const auto snapshot = made.decode();
  REQUIRE(snapshot);
  trace::Launch launch;
  launch.block.x = 128;
  const model::Occupancy occupied = *model::occupancy(gpu, launch);

  struct Analysis {
    Figures stated;
    Figures unchosen; ///< of its first trials, whose number does not depend on their values
    std::size_t trials = 0;
  };
  std::vector<Analysis> all(analyses);
  tbb::parallel_for(0u, analyses, [&](std::uint32_t i) {
    model::Options options;
    options.trials = 64;
    options.without_clock = true;
    options.seed = 1000 + i;
    options.threads = 1;
    const model::Trials trials = model::run_trials(*snapshot, made.sites(), launch, gpu, occupied, options);
    all[i].stated = figures_of(trials.counts, *snapshot, gpu);
    all[i].unchosen = figures_of(std::span(trials.counts).first(8), *snapshot, gpu);
    all[i].trials = trials.counts.size();
  });

  std::map<std::size_t, unsigned> lengths;
  for (const Analysis& analysis : all)
    ++lengths[analysis.trials];
  fmt::print("{}, {} transactions; analyses by their number of trials:", name, snapshot->transactions);
  for (const auto& [trials, count] : lengths)
    fmt::print(" {}: {}", trials, count);
  fmt::print("\n");
  for (std::size_t figure = 0; figure < all[0].stated.size(); ++figure) {
    double mean = 0;
    unsigned seen = 0;
    bool varies = false;
    for (const Analysis& analysis : all)
      if (const auto& value = analysis.unchosen[figure].second) {
        mean += value->mean;
        varies |= value->std_deviation > 1e-9 * value->mean;
        ++seen;
      }
    if (!varies || seen != analyses)
      continue;
    mean /= seen;
    unsigned covered = 0;
    double half = 0;
    for (const Analysis& analysis : all) {
      const Statistic& value = *analysis.stated[figure].second;
      covered += value.ci95[0] <= mean && mean <= value.ci95[1];
      half += (value.ci95[1] - value.ci95[0]) / 2 / analyses;
    }
    const double share = double(covered) / analyses;
    fmt::print("  {:<16} long-run mean {:10.5f}  half of an interval {:.5f}  covered {:.1f} %\n",
               all[0].stated[figure].first, mean, half, 100 * share);
    CHECK(share >= wanted);
  }
}

} // namespace

TEST_CASE("Intervals hold the long-run mean, on a GPU with few SMs") {
  check_coverage("c2050", 112);
}

TEST_CASE("Intervals hold the long-run mean, on a GPU with many SMs") {
  check_coverage("a100", 112);
}
