// Finds how a memory's controller maps addresses to channels, banks and rows, from the latencies of pairs of
// accesses: the second of two to different rows of a bank waits until the first row is closed.
#pragma once

#include "support/expected.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace warplens::placement {

/// Two addresses, and the latency of an access to the second one right behind one to the first, in ns, with
/// neither in a cache and their pages in the TLB.
struct MeasuredPair {
  std::uint64_t first = 0, second = 0;
  double ns = 0;
};

/// Which pairs are measured.
struct PairPlan {
  unsigned lowest_bit = 7;         ///< of the addresses, which are multiples of a line
  unsigned highest_bit = 30;       ///< inclusive
  unsigned repetitions = 64;       ///< pairs for each single bit, of which the median counts
  unsigned random_pairs = 1 << 16; ///< some 50 conflicts in each of the largest memories' banks
  std::uint64_t seed = 1;

  std::uint64_t bits() const { return (std::uint64_t{2} << highest_bit) - (std::uint64_t{1} << lowest_bit); }
};

/// Returns the pairs to measure, without latencies: those that differ in one bit, and random ones.
std::vector<MeasuredPair> pairs_to_measure(const PairPlan& plan);

/// The part of a place in memory that a bit of the address selects.
enum class AddressBit : std::uint8_t { column, bank, row };

/// The latencies that part hits of an open row, accesses to another bank, and conflicts in one bank.
struct LatencyClasses {
  double hit_below = 0, conflict_above = 0;
};

/// Returns the classes: the latencies at the widest gaps on either side of the median, each with enough pairs
/// beyond it that they are no outliers. The error: there are no such gaps.
Expected<LatencyClasses> latency_classes(std::span<const MeasuredPair> pairs);

/// A map, or what of it was found.
struct FoundDramMap {
  unsigned lowest_bit = 0;
  std::vector<AddressBit> bits; ///< from lowest_bit on
  /// The bits whose parity is one bit of the bank's number (with its channel), each function a mask.
  std::vector<std::uint64_t> bank_functions;
  /// The share of random pairs for which the functions predict a conflict that is none, or none that is one.
  double mispredicted = 0;
  bool is_linear = true; ///< the functions explain the latencies
  /// If they do not: the number of banks, by clustering addresses that conflict; none: not determined.
  std::optional<unsigned> clusters;

  std::uint64_t banks() const { return std::uint64_t{1} << bank_functions.size(); }
};

/// Classifies each bit by the median latency of pairs that differ in it alone: Huang and Li's Algorithm 1. It
/// takes a row's bit for a bank's where the controller folds it into the bank's number.
std::vector<AddressBit> bits_one_by_one(std::span<const MeasuredPair> pairs, const PairPlan& plan,
                                        const LatencyClasses& classes);

/// Finds the functions of the bank as all masks whose parity is even for the differences of all pairs that
/// conflict: the null space over GF(2) (after Knock-Knock, arXiv:2509.19568). A few pairs may be mismeasured.
Expected<FoundDramMap> find_dram_map(std::span<const MeasuredPair> pairs, const PairPlan& plan);

/// Returns the number of banks as that of clusters of random addresses of which any two conflict; `latency`
/// measures a pair. For maps that are not linear over GF(2), as with six channels.
unsigned count_banks(const std::function<double(std::uint64_t, std::uint64_t)>& latency, const PairPlan& plan,
                     const LatencyClasses& classes);

} // namespace warplens::placement
