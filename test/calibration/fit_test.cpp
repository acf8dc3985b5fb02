// Tests the fit from pointer chases to the sizes and latencies of caches, without prior knowledge.
#include "calibration/fit_levels.h"
#include "curves_of.h"
#include "test/thorough.h"

#include <cmath>

using namespace warplens;
using calibration::fit_levels;

namespace {

/// Returns the size at which the last set overflows: the ramp's end, which capacity and ways together decide.
double end_of_ramp_kib(double kib, unsigned ways) {
  return kib * (ways + 1) / ways;
}

} // namespace

TEST_CASE("The published curves show the sizes and latencies that are known of these GPUs") {
  struct Known {
    const char* name;
    double l1_kib;               ///< the usable part
    std::vector<double> l2_mib;  ///< the levels that one SM sees
    std::vector<double> latency; ///< cycles: L1, each level of L2, memory
  };
  for (const Known& known : {Known{"v100", 121, {5.94}, {28, 212, 430}},
                             {"a100", 152, {19, 38}, {33, 205, 400, 540}},
                             {"gh200", 213, {29, 58}, {32, 280, 500, 660}}}) {
    INFO(known.name);
    const auto found = fit_levels(test::published_chase(known.name));
    REQUIRE(found);
    REQUIRE(found->levels.size() == known.l2_mib.size() + 1);
    CHECK(found->levels[0].kib == Approx(known.l1_kib).epsilon(0.02));
    CHECK(found->hit_cycles == Approx(known.latency[0]).epsilon(0.03));
    for (std::size_t i = 0; i < known.l2_mib.size(); ++i) {
      CHECK(found->levels[i + 1].kib / 1024 == Approx(known.l2_mib[i]).epsilon(0.05));
      CHECK(found->levels[i].beyond_cycles == Approx(known.latency[i + 1]).epsilon(0.03));
    }
    CHECK(found->levels.back().beyond_cycles == Approx(known.latency.back()).epsilon(0.03));
    CHECK(found->within_5_percent > 0.9);
  }
}

TEST_CASE("The chase of each modelled GPU gives back the figures of its file") {
  // One of each kind of caches: the oldest, the youngest without partitions, one with.
  const std::vector<const char*> of_each_kind = {"c2050", "rtx4090", "a100"};
  const std::vector<const char*> all = {"c2050", "k80", "v100", "a100", "rtx4090", "gh200"};
  for (const char* name : test::is_thorough() ? all : of_each_kind) {
    INFO(name);
    model::Gpu on = test::gpu(name);
    on.l1.early_usable = on.l2.early_usable = 0; // the fit knows sets that are all alike
    on.l2.usable = std::min(1.0, on.l2.usable);
    const auto found = fit_levels(test::modelled_chase(on));
    REQUIRE(found);
    const bool has_partitions = on.l2.partitions > 1;
    REQUIRE(found->levels.size() == (has_partitions ? 3 : 2));
    const auto is_cache = [&](const calibration::Level& level, double nominal_kib, double usable,
                              unsigned ways) {
      const std::uint32_t sets = model::sets_in(static_cast<std::uint64_t>(nominal_kib * 1024), usable, ways);
      const double kib = sets * ways / 8.0;
      CHECK(level.kib == Approx(kib).epsilon(0.02));
      CHECK(end_of_ramp_kib(level.kib, level.ways) == Approx(end_of_ramp_kib(kib, ways)).epsilon(0.05));
    };
    const double l2_kib = static_cast<double>(on.l2_bytes) / 1024;
    is_cache(found->levels[0], (on.l1.with_shared_bytes - on.shared.carveout_bytes.front()) / 1024.0,
             on.l1.usable, on.l1.ways);
    // In a partition a set gets two lines at a time.
    is_cache(found->levels[1], has_partitions ? l2_kib / 2 : l2_kib, on.l2.usable,
             has_partitions ? on.l2.ways / 2 : on.l2.ways);
    CHECK(found->hit_cycles == Approx(test::cycles(on, on.l1.latency_ns)).epsilon(0.01));
    CHECK(found->levels[0].beyond_cycles == Approx(test::cycles(on, on.l2.latency_ns)).epsilon(0.01));
    // Between the two sizes half of the loads hit in the other partition, the others go to memory.
    if (has_partitions)
      CHECK(found->levels[1].beyond_cycles ==
            Approx(test::cycles(
                       on, (on.l2.latency_ns + on.l2.hop_ns + on.dram.latency_ns + on.dram.precharge_ns) / 2))
                .epsilon(0.03));
    // A random chase finds another row of memory open.
    CHECK(
        found->levels.back().beyond_cycles ==
        Approx(test::cycles(on, on.dram.latency_ns + on.mean_hop_ns() + on.dram.precharge_ns)).epsilon(0.02));
  }
}

TEST_CASE("A curve that shows no cache is refused") {
  std::vector<calibration::ChasePoint> flat;
  CHECK_FALSE(fit_levels(flat));
  for (double kib = 2; kib < 100; kib *= 1.1)
    flat.push_back({kib, 30});
  const auto found = fit_levels(flat);
  REQUIRE_FALSE(found);
  CHECK(found.error().message.find("shows no cache") != std::string::npos);
}

TEST_CASE("Sets that overflow miss always") {
  CHECK(calibration::miss_ratio(8, 4, 2) == 0);
  CHECK(calibration::miss_ratio(9, 4, 2) == Approx(3 / 9.0));
  CHECK(calibration::miss_ratio(12, 4, 2) == 1);
  CHECK(calibration::miss_ratio(0, 4, 2) == 0);
}
