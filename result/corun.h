// Kernels that run beside each other on one GPU: how much longer each takes, and why.
#pragma once

#include "result/events.h"
#include "result/result.h"
#include "vocabulary/access.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens {

/// How kernels divide a GPU: as streams do, where each kernel fills what those before it leave; each on SMs
/// of its own (MPS with a share of the threads each); each with a number of blocks on every SM; or each in an
/// instance of MIG, which has a part of the L2 and of memory as well.
enum class Division : std::uint8_t { streams, sms, blocks, mig };
template <>
inline constexpr std::array<std::string_view, 4> names_of<Division>{"streams", "sms", "blocks", "mig"};

/// Policies of chapter 8 of Chi Xu's thesis (University of Minnesota 2016) for two kernels. `inter`: each on
/// half of the SMs. The others share each SM, where the kernels take turns to issue first: `intra` with at
/// most half of the warps each; `icmt_max` and `icmt_even` with the most warps, or about as many each, and
/// with a queue to the memory pipeline for each kernel (PMIQ).
enum class Policy : std::uint8_t { inter, intra, icmt_max, icmt_even };
template <>
inline constexpr std::array<std::string_view, 4> names_of<Policy>{"inter", "intra", "icmt_max", "icmt_even"};

/// Issue policies that no GPU has, and the thesis proposes.
struct CorunWhatIf {
  bool kernels_in_turn = false; ///< kernels take turns, by instructions, to issue first
  bool own_queues = false;      ///< each kernel has a queue of its own to the memory pipeline
  std::uint32_t front_end = 1;  ///< warps from which a scheduler issues in a cycle

  bool is_any() const { return kernels_in_turn || own_queues || front_end > 1; }
};

/// A power of the board, mean over a time, in watts; the interval holds it with 95 % probability.
struct MeanWatts {
  double mean = 0;
  std::array<double, 2> ci95{};
};

/// One of the kernels, from trials on a clock.
struct CorunKernelResult {
  std::string name;
  std::uint64_t blocks = 0;      ///< of its snapshot
  std::uint32_t sms = 0;         ///< on which its blocks may run
  std::uint32_t max_per_sm = 0;  ///< its blocks at once on an SM; 0: as many as there is room for
  std::uint32_t slices = 0;      ///< of its instance, by Division::mig
  Statistic alone_us, beside_us; ///< the time of the snapshot's blocks
  Statistic slow_down;           ///< the ratio of these
  std::optional<double>
      estimate; ///< of that, from what each kernel does alone, by `CorunResult::estimated_by`
  /// How often it ran until all had ended once, the begun lap by its instructions; mean over trials.
  double laps = 1;
  /// Its laps repeat a part of its launch that the L2 holds: it hits there more often than further blocks
  /// would.
  bool repeats_part = false;
  double waits_us = 0; ///< until its first block finds room beside the others; mean over trials
  std::optional<double> l1_alone, l1_beside, l2_alone, l2_beside; ///< hit rates of loads, mean over trials
  std::optional<Activity> activity_alone; ///< mean over trials, where its machine code is known
  std::optional<MeanWatts> watts_alone;
  ByResource
      busy_alone{}; ///< the shares of the time in which each resource is busy, mean over all of its kind
};

/// One trial of the kernels beside each other over its cycles, until each has ended once. Each vector has one
/// entry per bin.
struct CorunTimeline {
  struct Kernel {
    std::vector<std::uint64_t> requests;        ///< warp accesses that it issues, also to shared memory
    std::vector<std::uint64_t> l1_hits, l1_all; ///< sectors, or lines in an L1 without sectors
  };
  std::uint64_t cycles = 0;
  double ns_per_cycle = 0;
  std::vector<std::uint64_t> edges; ///< cycles, one more than bins: 0, …, `cycles`
  std::vector<Kernel> kernels;
  std::vector<std::uint64_t> l2_hits, l2_all; ///< sectors that loads of all kernels look up
  std::vector<std::uint64_t> dram_lines;      ///< read or written, at least in part, by all kernels
};

/// The partition of an SM's blocks that CD3 expects most of, of all that there are.
struct PartitionChoice {
  std::size_t partitions = 0;            ///< that an SM has room for
  std::array<std::uint32_t, 2> blocks{}; ///< on an SM
  double gain = 0;                       ///< both rates over those alone, summed
  double gain_of_even = 0;               ///< the same of the partition of ICMT-EVEN
  double busy_lanes = 0;                 ///< of an SM's pipes, in a cycle
  double first_turns = 0.5;              ///< at the memory pipe, that the first kernel would have best
};

struct CorunResult {
  std::string gpu;
  double sm_clock_mhz = 0;
  Division division = Division::streams;
  std::optional<Policy> policy; ///< that chose the division
  CorunWhatIf what_if;
  std::uint32_t trials = 0;
  std::vector<CorunKernelResult> kernels;
  Statistic over_sequential; ///< the time until all have ended, over that of one after the other
  /// The time that all the work done takes one after the other, each kernel with the GPU to itself, over the
  /// time in which it was done: each kernel as often as it ran (`laps`) until all had ended once.
  Statistic speed_up;
  std::string estimated_by;              ///< "camp" or "cd3"; empty: nothing is estimated
  std::optional<PartitionChoice> search; ///< on request: how the blocks were chosen
  std::optional<CorunTimeline> timeline; ///< only on request, and not by Division::mig
  ByResource busy{};                     ///< beside each other; of no resource by Division::mig
  std::optional<Activity> activity;      ///< beside each other, where the machine code of all is known
  /// The board's power while they run beside each other, and while each runs once after the other: where the
  /// GPU's file has the energies of its board.
  std::optional<MeanWatts> watts, watts_sequential;
};

} // namespace warplens
