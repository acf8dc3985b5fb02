#include "placement/dram/find_dram_map.h"

#include "placement/dram/gf2.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

namespace warplens::placement {
namespace {

/// Fewer pairs on the far side of a gap are outliers: of a memory with n banks, one random pair in n
/// conflicts, and there are memories with more than a thousand.
constexpr double min_share = 0.0003;
constexpr std::size_t min_pairs_of_class = 8;
/// From this share of pairs on, the functions do not explain the latencies.
constexpr double max_mispredicted = 0.02;
/// Addresses that are clustered in a row without a new bank, at least, and for each bank that was found: by
/// chance they miss a bank once in 10^5 times.
constexpr std::size_t min_clustered = 2048, clustered_per_bank = 12;

bool differs_in_one_bit(const MeasuredPair& pair) {
  return std::has_single_bit(pair.first ^ pair.second);
}

/// Returns the functions that are even for the differences of nearly all conflicts. One mismeasured pair
/// would leave no function: of several random samples, that counts which leaves most functions that hold
/// elsewhere.
std::vector<std::uint64_t> functions_of(const std::vector<std::uint64_t>& differences, std::uint64_t bits,
                                        std::uint64_t seed) {
  constexpr unsigned samples = 64;
  constexpr double must_hold = 0.9;
  std::mt19937_64 random(seed);
  const auto sample_size = std::min<std::size_t>(differences.size(), std::size_t(std::popcount(bits)) + 12);
  std::vector<std::uint64_t> best;
  std::size_t best_kept = 0;
  for (unsigned n = 0; n < samples; ++n) {
    std::vector<std::uint64_t> sample;
    std::ranges::sample(differences, std::back_inserter(sample), std::ptrdiff_t(sample_size), random);
    const std::vector<std::uint64_t> functions = orthogonal_to(sample, bits);
    std::vector<std::uint64_t> kept;
    for (const std::uint64_t difference : differences)
      if (std::ranges::none_of(functions, [&](std::uint64_t one) { return parity(one & difference); }))
        kept.push_back(difference);
    if (double(kept.size()) < must_hold * double(differences.size()))
      continue;
    // A small sample leaves functions that hold by chance, but not for all that were kept.
    std::vector<std::uint64_t> holding = orthogonal_to(kept, bits);
    if (std::pair(holding.size(), kept.size()) > std::pair(best.size(), best_kept)) {
      best = std::move(holding);
      best_kept = kept.size();
    }
  }
  return best.empty() ? orthogonal_to(differences, bits) : best;
}

} // namespace

std::vector<MeasuredPair> pairs_to_measure(const PairPlan& plan) {
  std::mt19937_64 random(plan.seed);
  std::vector<MeasuredPair> pairs;
  for (unsigned bit = plan.lowest_bit; bit <= plan.highest_bit; ++bit)
    for (unsigned n = 0; n < plan.repetitions; ++n) {
      const std::uint64_t address = random() & plan.bits();
      pairs.push_back({address, address ^ std::uint64_t{1} << bit});
    }
  for (unsigned n = 0; n < plan.random_pairs; ++n) {
    const std::uint64_t first = random() & plan.bits(), second = random() & plan.bits();
    if (first != second)
      pairs.push_back({first, second});
  }
  return pairs;
}

Expected<LatencyClasses> latency_classes(std::span<const MeasuredPair> pairs) {
  std::vector<double> all, random_pairs;
  for (const MeasuredPair& pair : pairs) {
    all.push_back(pair.ns);
    if (!differs_in_one_bit(pair))
      random_pairs.push_back(pair.ns);
  }
  if (random_pairs.size() < 2048)
    return fail("{} random pairs are too few to find a memory's banks: at least 2048 are needed",
                random_pairs.size());
  std::ranges::sort(all);
  std::ranges::sort(random_pairs);
  const auto beyond = [](const std::vector<double>& sorted) {
    return std::max(min_pairs_of_class, std::size_t(min_share * double(sorted.size())));
  };
  LatencyClasses classes;
  double widest = 0;
  for (std::size_t i = random_pairs.size() / 2; i + beyond(random_pairs) < random_pairs.size(); ++i)
    if (const double gap = random_pairs[i + 1] - random_pairs[i]; gap > widest) {
      widest = gap;
      classes.conflict_above = (random_pairs[i + 1] + random_pairs[i]) / 2;
    }
  if (widest <= 0)
    return fail("the latencies of random pairs have no gap above their median: none conflicts in a bank");
  widest = 0;
  const double median = random_pairs[random_pairs.size() / 2];
  for (std::size_t i = beyond(all); i < all.size() && all[i] <= median; ++i)
    if (const double gap = all[i] - all[i - 1]; gap > widest) {
      widest = gap;
      classes.hit_below = (all[i] + all[i - 1]) / 2;
    }
  return classes;
}

std::vector<AddressBit> bits_one_by_one(std::span<const MeasuredPair> pairs, const PairPlan& plan,
                                        const LatencyClasses& classes) {
  std::map<std::uint64_t, std::vector<double>> latencies_by_bit;
  for (const MeasuredPair& pair : pairs)
    if (differs_in_one_bit(pair))
      latencies_by_bit[pair.first ^ pair.second].push_back(pair.ns);
  std::vector<AddressBit> bits;
  for (unsigned bit = plan.lowest_bit; bit <= plan.highest_bit; ++bit) {
    std::vector<double>& latencies = latencies_by_bit[std::uint64_t{1} << bit];
    if (latencies.empty()) {
      bits.push_back(AddressBit::bank);
      continue;
    }
    const auto middle = latencies.begin() + std::ptrdiff_t(latencies.size() / 2);
    std::ranges::nth_element(latencies, middle);
    bits.push_back(*middle < classes.hit_below        ? AddressBit::column
                   : *middle > classes.conflict_above ? AddressBit::row
                                                      : AddressBit::bank);
  }
  return bits;
}

Expected<FoundDramMap> find_dram_map(std::span<const MeasuredPair> pairs, const PairPlan& plan) {
  TRY_LET(classes, latency_classes(pairs));
  std::vector<std::uint64_t> conflicts;
  for (const MeasuredPair& pair : pairs)
    if (!differs_in_one_bit(pair) && pair.ns > classes->conflict_above)
      conflicts.push_back((pair.first ^ pair.second) & plan.bits());
  const auto unknown_bits = std::size_t(std::popcount(plan.bits()));
  if (conflicts.size() < unknown_bits + 8)
    return fail("{} of the pairs conflict, which is too few for {} bits of an address: measure more pairs",
                conflicts.size(), unknown_bits);

  FoundDramMap map;
  map.lowest_bit = plan.lowest_bit;
  map.bank_functions = functions_of(conflicts, plan.bits(), plan.seed);
  map.bits = bits_one_by_one(pairs, plan, *classes);
  std::uint64_t selecting = 0; // one bit of each function, the lowest: a higher one is a row's, folded in
  for (const std::uint64_t function : map.bank_functions)
    selecting |= function & (~function + 1);
  for (unsigned bit = plan.lowest_bit; bit <= plan.highest_bit; ++bit) {
    AddressBit& kind = map.bits[bit - plan.lowest_bit];
    if ((selecting >> bit & 1) != 0)
      kind = AddressBit::bank;
    else if (kind == AddressBit::bank)
      kind = AddressBit::row;
  }
  std::size_t random_pairs = 0, wrong = 0;
  for (const MeasuredPair& pair : pairs) {
    if (differs_in_one_bit(pair))
      continue;
    ++random_pairs;
    const std::uint64_t difference = pair.first ^ pair.second;
    const bool same_bank =
        std::ranges::none_of(map.bank_functions, [&](std::uint64_t one) { return parity(one & difference); });
    // Two addresses of one bank conflict, or they are in one row.
    wrong += same_bank != (pair.ns > classes->conflict_above || pair.ns < classes->hit_below);
  }
  map.mispredicted = double(wrong) / double(random_pairs);
  map.is_linear = !map.bank_functions.empty() && double(wrong) <= max_mispredicted * double(random_pairs) &&
                  double(wrong) <= 0.2 * double(conflicts.size());
  return map;
}

unsigned count_banks(const std::function<double(std::uint64_t, std::uint64_t)>& latency, const PairPlan& plan,
                     const LatencyClasses& classes) {
  std::mt19937_64 random(plan.seed + 1);
  std::vector<std::uint64_t> cluster_addresses; // an address of each
  for (std::size_t since = 0; since < std::max(min_clustered, clustered_per_bank * cluster_addresses.size());
       ++since) {
    const std::uint64_t address = random() & plan.bits();
    const bool is_known = std::ranges::any_of(cluster_addresses, [&](std::uint64_t other) {
      const double ns = latency(other, address);
      return ns > classes.conflict_above || ns < classes.hit_below || other == address;
    });
    if (!is_known) {
      cluster_addresses.push_back(address);
      since = 0;
    }
  }
  return unsigned(cluster_addresses.size());
}

} // namespace warplens::placement
