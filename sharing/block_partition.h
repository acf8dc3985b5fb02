// How many blocks of each of two kernels share an SM: the choices of intra-core multitasking (ICMT) in
// chapter 8 of Chi Xu's thesis (University of Minnesota 2016).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warplens::sharing {

/// The resources of its SM that a block takes.
struct BlockNeeds {
  std::uint32_t warps = 0; ///< at least 1
  std::uint32_t registers = 0, shared_bytes = 0;
};

/// The resources of an SM.
struct SmRoom {
  std::uint32_t warps = 0, blocks = 0, registers = 0, shared_bytes = 0;
};

/// The blocks of each of two kernels on an SM.
struct BlockPartition {
  std::array<std::uint32_t, 2> blocks{};
  std::array<std::uint32_t, 2> warps{}; ///< of these blocks

  std::uint32_t all_warps() const { return warps[0] + warps[1]; }
};

/// Returns the partitions with at least one block of each kernel that the SM has room for, by blocks.
std::vector<BlockPartition> feasible_partitions(const std::array<BlockNeeds, 2>& needs, const SmRoom& room);

/// Returns the partition with the largest number of warps (ICMT-MAX), the first of several; empty if there is
/// none.
std::optional<BlockPartition> fullest_partition(std::span<const BlockPartition> feasible);

/// Returns, of the partitions with at most six warps fewer than the fullest one, that whose kernels' warps
/// differ least (ICMT-EVEN), the fullest of several; empty if there is none.
std::optional<BlockPartition> even_partition(std::span<const BlockPartition> feasible);

/// Returns the partition with the largest number of warps of those in which neither kernel has more than half
/// of the SM's (INTRA), the first of several; empty if there is none.
std::optional<BlockPartition> halved_partition(std::span<const BlockPartition> feasible, const SmRoom& room);

} // namespace warplens::sharing
