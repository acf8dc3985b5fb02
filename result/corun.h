// Kernels that run beside each other on one GPU: how much longer each takes, and why.
#pragma once

#include "result/result.h"
#include "vocabulary/access.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens {

/// How kernels divide the SMs: as streams do, where each kernel fills what those before it leave; each on SMs
/// of its own (MIG, or MPS with a share of the threads each); or each with a number of blocks on every SM.
enum class Division : std::uint8_t { streams, sms, blocks };
template <> inline constexpr std::array<std::string_view, 3> names_of<Division>{"streams", "sms", "blocks"};

/// One of the kernels, from trials on a clock.
struct CorunKernelResult {
  std::string name;
  std::uint64_t blocks = 0;      ///< of its snapshot
  std::uint32_t sms = 0;         ///< on which its blocks may run
  std::uint32_t max_per_sm = 0;  ///< its blocks at once on an SM; 0: as many as there is room for
  Statistic alone_us, beside_us; ///< the time of the snapshot's blocks
  Statistic slow_down;           ///< the ratio of these
  double waits_us = 0;           ///< until its first block finds room beside the others; mean over trials
  std::optional<double> l1_alone, l1_beside, l2_alone, l2_beside; ///< hit rates of loads, mean over trials
  ByResource
      busy_alone{}; ///< the shares of the time in which each resource is busy, mean over all of its kind
};

struct CorunResult {
  std::string gpu;
  double sm_clock_mhz = 0;
  Division division = Division::streams;
  std::uint32_t trials = 0;
  std::vector<CorunKernelResult> kernels;
  Statistic over_sequential; ///< the time until all have ended, over that of one after the other
  ByResource busy{};         ///< beside each other
};

} // namespace warplens
