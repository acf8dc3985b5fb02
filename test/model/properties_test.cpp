// Properties that hold for every trace under every combination of policies: requests and bytes add up between
// the levels, a larger cache does not hit less, and the numbers of the SMs do not matter.
#include "evaluated.h"
#include "model/replay/trial.h"
#include "numeric/random.h"
#include "test/thorough.h"
#include "vocabulary/geometry.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace warplens;
using test::MadeTrace;

namespace {

/// A GPU small enough that a short trace overflows its caches.
model::Gpu small_gpu() {
  model::Gpu gpu = test::gpu("v100");
  gpu.sms = 6;
  gpu.l1.ways = 4;
  gpu.l1.usable = gpu.l2.usable = 1;
  gpu.l1.early_usable = 0;
  gpu.l2.ways = 8;
  gpu.l2_bytes = 128 * 8 * 24;
  gpu.dram.channels = 4;
  gpu.read_only = {128 * 3 * 4, 32, 3, 50};
  gpu.texture = {128 * 5 * 2, 32, 5, 60};
  gpu.constant.bytes = 128 * 2 * 2;
  gpu.constant.ways = 2;
  gpu.constant.group.sms = 4;
  gpu.constant.group.bytes = 256 * 4 * 4;
  gpu.constant.group.ways = 4;
  return gpu;
}

constexpr model::Occupancy two_blocks{2, 4, 128 * 4 * 8, "blocks"};

/// Returns the GPU with the policies of this combination; the numbers enumerate all combinations.
model::Gpu with_policies(unsigned combination) {
  const auto choose = [&](unsigned choices) {
    const unsigned chosen = combination % choices;
    combination /= choices;
    return chosen;
  };
  model::Gpu gpu = small_gpu();
  gpu.l1.sectored = choose(2);
  gpu.l1.stores = model::L1Stores(choose(2));
  gpu.l1.local_stores = model::LocalStores(choose(2));
  gpu.l1.index = model::IndexHash(choose(2));
  gpu.l2.line_bytes = choose(2) ? 128 : 32;
  gpu.l2.stores = model::L2Stores(choose(2));
  gpu.l2.index = model::IndexHash(choose(2));
  gpu.schedule.placement = model::BlockPlacement(choose(2));
  gpu.schedule.start = model::BlockStart(choose(2));
  gpu.dram.queue = model::DramQueue(choose(2));
  gpu.dram.channel_index = gpu.dram.bank_index = model::DramIndex(choose(2));
  return gpu;
}
constexpr unsigned combinations = (1 << 11) * 3; // each with traces for three kinds of lanes
/// From one combination to the next: `check` takes every 25th, among which any four choices are in all ways.
const unsigned combination_step = test::is_thorough() ? 1 : 25;

/// Makes accesses of every kind by warps of unequal length.
MadeTrace anything(std::uint32_t seed, unsigned blocks, unsigned longest) {
  MadeTrace made(blocks, 64);
  std::uint64_t sites[12];
  for (std::uint64_t& site : sites)
    site = made.site(AccessKind((&site - sites) % 7 < 4 ? (&site - sites) % 7 : 0));
  made.site_of(sites[5]).cache_operator = CacheOperator::cg;
  for (const auto& [site, cache] :
       {std::pair(sites[10], CacheOperator::nc), {sites[11], CacheOperator::tex}}) {
    made.site_of(site).kind = AccessKind::load;
    made.site_of(site).cache_operator = cache;
  }
  Random random(seed, 0, 0);
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned warp = 0; warp < 2; ++warp)
      for (unsigned i = 0, count = 1 + random.below(longest); i < count; ++i) {
        const std::uint32_t chosen = random.below(12);
        const auto space = chosen == 6                 ? Space::constant
                           : chosen > 6 && chosen < 10 ? Space::local // a load, a store, an update
                                                       : Space::global;
        const std::uint64_t of_space = space == Space::local ? 1u << 24 : 0;
        const std::uint64_t start = of_space + random.below(2048) * 64ull, stride = 4ull << random.below(6);
        made.access(
            block, warp, sites[chosen], 4, [=](unsigned lane) { return start + lane * stride; },
            random.next() | 1, space);
      }
  return made;
}

/// Each kind of GPU sends loads to other caches.
constexpr model::LaneRules as_fermi{
    .coalesced_bytes = 128, .texture_lanes = 4, .texture_cache = model::TextureCache::own},
    as_kepler{.coalesced_bytes = 128,
              .bank_bytes = 8,
              .texture_lanes = 16,
              .global_loads_in_l1 = false,
              .own_read_only_cache = true,
              .texture_cache = model::TextureCache::read_only};

model::Snapshot decoded(const MadeTrace& made, const model::LaneRules& rules = {}) {
  auto snapshot = made.decode(rules);
  REQUIRE(snapshot);
  return std::move(*snapshot);
}

/// Sums a trial's events, independently of the model's own sums.
struct Sums final : model::TrialObserver {
  std::vector<std::uint64_t> issued_of_site;
  model::Lookups l1, read_only, textures, l2_reads, l2_writes;
  std::uint64_t fetched = 0, updated = 0, reads = 0, evicted = 0, to_memory = 0;
  bool every_lookup_adds_up = true;

  void issued(std::uint32_t, const model::Access& access, std::span<const model::Transaction>,
              const model::Lookups& lookups, model::Cycle) override {
    issued_of_site.resize(std::max<std::size_t>(issued_of_site.size(), access.site + 1));
    ++issued_of_site[access.site];
    (access.cache == model::FirstCache::read_only ? read_only
     : access.cache == model::FirstCache::texture ? textures
                                                  : l1) += lookups;
  }
  void looked_up(bool is_load, std::uint32_t, unsigned sectors, const model::L2Outcome& outcome,
                 model::Cycle) override {
    model::Lookups& sum = is_load ? l2_reads : l2_writes;
    sum.hits += sector_count(outcome.hits);
    sum.all += sector_count(sectors);
    fetched += sector_count(outcome.fetched);
    updated += sector_count(outcome.updated);
    reads += outcome.fetched != 0;
    // A load fetches what it misses, and hits only sectors that it requested.
    every_lookup_adds_up &= ((outcome.hits | outcome.fetched | outcome.updated) & ~sectors) == 0 &&
                            (outcome.hits & (outcome.fetched | outcome.updated)) == 0 &&
                            (!is_load || (outcome.hits | outcome.fetched) == sectors);
  }
  void used_memory(const model::DramUse& use, std::uint32_t, model::Cycle, model::Cycle) override {
    ++to_memory;
    evicted += use.evicted;
  }
};

struct Mean {
  double mean = 0, error = 0; ///< standard
  explicit Mean(const std::vector<double>& values) {
    const double n = double(values.size());
    mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values)
      squares += (value - mean) * (value - mean);
    error = std::sqrt(squares / (n - 1) / n);
  }
};

double rate(const model::Lookups& lookups) {
  return double(lookups.hits) / double(lookups.all);
}

} // namespace

TEST_CASE("Requests are hits and misses at each level, and bytes add up, whatever the policies") {
  const model::Snapshot snapshots[] = {decoded(anything(1, 30, 12)), decoded(anything(2, 13, 25), as_fermi),
                                       decoded(anything(3, 40, 6), as_kepler)};
  unsigned wrong = 0, first_wrong = 0;
  for (unsigned combination = 0; combination < combinations; combination += combination_step) {
    const model::Gpu gpu = with_policies(combination);
    const model::Snapshot& snapshot = snapshots[combination % 3];
    Sums sums;
    const Random random(7, 0, combination);
    const auto counts = model::run_trial(snapshot, gpu, two_blocks, random, sums);

    std::uint64_t loaded = 0, past_l1 = 0, stored = 0, lines = 0, constants = 0, stored_back = 0,
                  read_only = 0, textures = 0;
    for (const model::Warp& warp : snapshot.warps)
      warp.each_access([&](const model::Access& access, std::span<const model::Transaction> transactions) {
        for (const model::Transaction& transaction : transactions) {
          if (access.cache == model::FirstCache::constant) {
            ++constants; // an aligned address, in one line
            continue;
          }
          const unsigned sectors = sector_count(transaction.sectors);
          const bool loads = access.kind == AccessKind::load || access.kind == AccessKind::update;
          const bool back = access.cache == model::FirstCache::l1_local &&
                            gpu.l1.local_stores == model::LocalStores::write_back;
          const bool stores = access.kind != AccessKind::load;
          stored += stores && !back ? sectors : 0;
          stored_back += stores && back;
          if (access.cache == model::FirstCache::read_only || access.cache == model::FirstCache::texture) {
            (access.cache == model::FirstCache::texture ? textures : read_only) += sectors;
            continue;
          }
          past_l1 += loads && access.skips_l1 ? sectors : 0;
          loaded += loads && !access.skips_l1 ? sectors : 0;
          lines += loads && !access.skips_l1;
        }
      });
    bool right = sums.every_lookup_adds_up && counts.sites.size() == snapshot.sites.size();
    for (std::size_t i = 0; i < snapshot.sites.size(); ++i)
      right &= sums.issued_of_site[i] == snapshot.sites[i].executions;
    // Each loaded sector (or line) is looked up once in the L1, or in the caches for read-only loads and
    // textures.
    model::Lookups first = sums.l1;
    first += sums.read_only;
    first += sums.textures;
    right &= counts.l1_reads == first && sums.l1.all == (gpu.l1.sectored ? loaded : lines) &&
             sums.l1.hits <= sums.l1.all && sums.read_only.all == read_only &&
             sums.read_only.hits <= read_only && (read_only != 0) == (&snapshot == &snapshots[2]) &&
             sums.textures.all == textures && sums.textures.hits <= textures &&
             (textures != 0) == (&snapshot == &snapshots[1]);
    // Each constant address is looked up in the SM's constant cache, and its misses in that of the group.
    const model::Lookups &constant = counts.constant_reads, &of_groups = counts.constant_group_reads;
    right &= constants != 0 && constant.all == constants && of_groups.all == constants - constant.hits;
    const std::uint64_t for_constants =
        (of_groups.all - of_groups.hits) * gpu.constant.group.line_bytes / sector_bytes;
    // Misses of the L1 and accesses that bypass it are looked up in the L2; a miss of an L1 without sectors
    // requests all four.
    const std::uint64_t missed = sums.l1.all - sums.l1.hits;
    past_l1 += read_only - sums.read_only.hits + textures - sums.textures.hits;
    right &= counts.l2_reads == sums.l2_reads && counts.l2_writes == sums.l2_writes &&
             counts.l2_reads.all == (gpu.l1.sectored ? missed : 4 * missed) + past_l1 + for_constants &&
             counts.l2_writes.all >= stored && counts.l2_writes.all <= stored + 4 * stored_back &&
             (stored_back == 0) == (gpu.l1.local_stores == model::LocalStores::as_global);
    // So small an L1 does not keep all.
    right &= stored_back == 0 || counts.l2_writes.all > stored;
    // To and from memory.
    right &= counts.dram_read_sectors == sums.fetched && counts.dram_reads == sums.reads &&
             counts.dram_written_sectors >= sums.updated + sums.evicted &&
             counts.dram_written_sectors <= sums.updated + 4 * sums.evicted &&
             counts.dram_written_sectors <= counts.l2_writes.all &&
             sums.to_memory >= sums.reads + sums.evicted;
    model::Lookups l1, constants_of_sites;
    double latency = 0;
    for (const auto& site : counts.sites) {
      l1 += site.l1;
      constants_of_sites += site.constant;
      latency += site.all_latency_ns();
    }
    right &= l1 == counts.l1_reads && constants_of_sites == constant && std::isfinite(latency) && latency > 0;
    // The same trial without an observer has the same counts.
    const auto again = model::run_trial(snapshot, gpu, two_blocks, random);
    right &= again.l1_reads == counts.l1_reads && again.l2_reads == counts.l2_reads &&
             again.dram_latency_ns == counts.dram_latency_ns;
    if (!right && wrong++ == 0)
      first_wrong = combination;
  }
  INFO("the first combination: " << first_wrong);
  CHECK(wrong == 0);
}

TEST_CASE("More ways, and more capacity, never hit less under LRU") {
  // Less than a round of a trial: the order of requests is drawn before any outcome is known, so that each
  // trace is replayed in the same order by all sizes.
  const model::Snapshot snapshot = decoded(anything(4, 40, 12));
  for (unsigned combination = 0; combination < combinations; combination += combination_step) {
    const model::Gpu on = with_policies(combination);
    if (on.dram.queue != model::DramQueue::batch || on.dram.channel_index != model::DramIndex::modulo ||
        on.schedule.placement != model::BlockPlacement::random)
      continue; // have no say in this
    const Random random(9, 0, combination);
    INFO("combination " << combination);
    std::uint64_t fewer = 0;
    for (const unsigned ways : {1u, 2u, 3u, 8u, 17u}) {
      model::Gpu gpu = on;
      gpu.l1.ways = ways;
      const auto counts = model::run_trial(snapshot, gpu, {2, 4, 128 * ways * 8, ""}, random);
      if (counts.l1_reads.hits < fewer)
        FAIL("an L1 of " << ways << " ways");
      fewer = counts.l1_reads.hits;
    }
    fewer = 0;
    for (const unsigned ways : {1u, 2u, 3u, 8u, 17u}) {
      model::Gpu gpu = on;
      gpu.constant.ways = ways;
      gpu.constant.bytes = 128 * ways * 2;
      const auto counts = model::run_trial(snapshot, gpu, two_blocks, random);
      if (counts.constant_reads.hits < fewer)
        FAIL("constant caches of " << ways << " ways");
      fewer = counts.constant_reads.hits;
    }
    model::Lookups reads, writes;
    for (const unsigned ways : {1u, 2u, 5u, 16u, 40u}) {
      model::Gpu gpu = on;
      gpu.l2.ways = ways;
      gpu.l2_bytes = 128 * ways * 12;
      const auto counts = model::run_trial(snapshot, gpu, two_blocks, random);
      if (counts.l2_reads.hits < reads.hits || counts.l2_writes.hits < writes.hits)
        FAIL("an L2 of " << ways << " ways");
      reads = counts.l2_reads;
      writes = counts.l2_writes;
    }
    // Twice the sets hold at least what there was if each set's lines go to two: so it is where the set is
    // the line's number modulo theirs.
    if (on.l1.index != model::IndexHash::modulo || on.l2.index != model::IndexHash::modulo)
      continue;
    fewer = 0;
    reads = writes = {};
    for (const unsigned sets : {1u, 3u, 6u, 24u}) {
      auto counts = model::run_trial(snapshot, on, {2, 4, 128 * on.l1.ways * sets, ""}, random);
      if (counts.l1_reads.hits < fewer)
        FAIL("an L1 of " << sets << " sets");
      fewer = counts.l1_reads.hits;
      model::Gpu gpu = on;
      gpu.l2_bytes = 128 * gpu.l2.ways * sets;
      counts = model::run_trial(snapshot, gpu, two_blocks, random);
      if (counts.l2_reads.hits < reads.hits || counts.l2_writes.hits < writes.hits)
        FAIL("an L2 of " << sets << " sets");
      reads = counts.l2_reads;
      writes = counts.l2_writes;
    }
  }
}

TEST_CASE("Which SM is which does not matter") {
  // One block of one warp after the other on each SM, so that an SM's own order is known. `shift` gives each
  // SM the blocks of another one.
  constexpr unsigned sms = 12, blocks = 8 * sms;
  const auto made = [&](unsigned shift) {
    MadeTrace trace(blocks, 32);
    const std::uint64_t sites[] = {trace.site(), trace.site(AccessKind::store),
                                   trace.site(AccessKind::update), trace.site(AccessKind::atomic)};
    for (unsigned block = 0; block < blocks; ++block) {
      Random random(31, 0, block / sms * sms + (block + shift) % sms);
      for (unsigned i = 0; i < 20; ++i) {
        const std::uint64_t start = random.below(3072) * 64ull;
        trace.access(block, 0, sites[random.below(16) % 7 % 4], 4,
                     [=](unsigned lane) { return start + lane * 16; });
      }
    }
    return decoded(trace);
  };
  const model::Snapshot plain = made(0), permuted = made(4);
  for (const auto queue : {model::DramQueue::batch, model::DramQueue::kingman}) {
    INFO("queue " << int(queue));
    model::Gpu gpu = small_gpu();
    gpu.sms = sms;
    gpu.dram.queue = queue;
    std::vector<double> figures[2][4];
    for (std::uint32_t trial = 0; trial < 400; ++trial) {
      const model::Occupancy alone{1, 1, 128 * 4 * 8, ""};
      // The two have different random numbers, as their distributions are compared.
      const model::TrialCounts counts[] = {model::run_trial(plain, gpu, alone, Random(1, 0, trial)),
                                           model::run_trial(permuted, gpu, alone, Random(2, 0, trial))};
      // Counts that depend on a single SM are the same to the bit.
      REQUIRE(counts[0].l1_reads == counts[1].l1_reads);
      for (unsigned which = 0; which < 2; ++which) {
        figures[which][0].push_back(rate(counts[which].l2_reads));
        figures[which][1].push_back(rate(counts[which].l2_writes));
        figures[which][2].push_back(double(counts[which].dram_written_sectors));
        figures[which][3].push_back(counts[which].dram_latency_ns / double(counts[which].dram_reads));
      }
    }
    // Counts that depend on all SMs are the same in distribution: mean and deviation.
    for (unsigned i = 0; i < 4; ++i) {
      INFO("figure " << i);
      const Mean a(figures[0][i]), b(figures[1][i]);
      CHECK(a.error > 0);
      CHECK(std::abs(a.mean - b.mean) < 4.5 * std::hypot(a.error, b.error));
      CHECK(a.error / b.error == Approx(1).epsilon(0.2));
    }
  }
}

TEST_CASE("Every combination of policies gives the same result for any number of threads") {
  const MadeTrace made = anything(5, 30, 10);
  for (unsigned combination = 0; combination < combinations; combination += 97) {
    model::Gpu gpu = with_policies(combination);
    gpu.l1.with_shared_bytes = 128 * 1024;
    Result results[2];
    results[0].kernels.push_back(evaluate(made, gpu, 6, 1, combination));
    results[1].kernels.push_back(evaluate(made, gpu, 6, 3, combination));
    if (to_json(results[0]).dump() != to_json(results[1]).dump())
      FAIL("combination " << combination);
  }
}
