// Merges the accesses that lanes logged one by one into accesses of their warp.
#pragma once

#include "runtime/abi/abi.h"
#include "runtime/cpu/execution/fiber.h"
#include "runtime/cpu/execution/warp_access_sink.h"
#include "runtime/cpu/memory/constant_memory.h"
#include "trace/records.h"

#include <array>
#include <cstdint>

namespace warplens::cpu {

/// The memory spaces of a running block, by address.
struct AddressMap {
  AddressRange shared;
  const StackPool* stacks = nullptr;
  AddressRange around_constants;
  std::uint64_t first_warp = 0;   ///< the number of the block's first warp in the grid
  std::uint64_t local_bytes = 16; ///< local memory per thread, a multiple of 4
};

/// Merges the logs of a warp's lanes: always issues the smallest key among the lanes' next entries, together
/// for all lanes that have it. Keys follow program order with loop bodies contiguous, so this is the order of
/// a machine that runs the warp in lock step and reconverges as early as it can (min-PC).
class LogMerger {
public:
  static constexpr std::uint32_t capacity = 64; ///< entries per lane: few enough to stay in the L1 cache

  /// Starts a warp with empty logs; sets each lane's log_next, log_end and log_keys.
  void begin(std::uint32_t warp, const std::array<LaneContext*, warp_lanes>& lanes, std::uint32_t lane_count,
             const KeyRecord* keys, const AddressMap& addresses, WarpAccessSink& sink);

  template <class Number> using PerLane = std::array<Number, warp_lanes>;

  /// Lanes that wait for others, and the smallest keys that they may log next.
  struct Held {
    std::uint32_t lanes = 0;
    PerLane<std::int32_t> keys{};
  };

  /// Issues until the log of one of the lanes in `full` is empty, or all logs are, or only keys are left that
  /// a held lane with an empty log may precede. Other lanes outside `full` are not waited for. Returns the
  /// lanes whose logs are empty.
  std::uint32_t merge(std::uint32_t full, const Held& held);
  std::uint32_t merge(std::uint32_t full) { return merge(full, {}); }

private:
  LogRow& row(std::size_t index) { return rows_and_before_[index + 1]; }
  std::uint32_t find_ends();
  std::uint32_t advance(std::uint32_t row);
  std::uint32_t advance_apart(std::uint32_t lanes);
  void issue(std::uint32_t key, std::uint32_t lanes, const std::uint64_t* addresses);
  void issue_by_space(const ring::Line& line, std::uint32_t lanes);
  void send(const ring::Line& line, std::uint32_t lanes, Space space);
  std::uint64_t local_address(std::uint64_t address) const;

  // Loops over all lanes are written for vectorisation: signed 32-bit numbers, and conditions as masks of all
  // bits.
  static constexpr std::int32_t nothing = 0x7fffffff; ///< the head of an empty log
  /// Behind a row without entries, with which marked bodies compare the first one (lowering/log_appends.cpp);
  /// the last is always empty.
  alignas(64) std::array<LogRow, capacity + 2> rows_and_before_;
  alignas(64) PerLane<std::int32_t> head_keys_;
  alignas(64) PerLane<std::int32_t> heads_;  ///< the row of each lane's next entry
  alignas(64) PerLane<std::int32_t> ends_;   ///< the number of rows it has filled
  alignas(64) PerLane<std::int32_t> chosen_; ///< all bits set: the lane's next entry is issued now
  PerLane<LaneContext*> lanes_;
  std::uint32_t lane_count_ = 0, warp_ = 0;
  const KeyRecord* keys_ = nullptr;
  const AddressMap* addresses_ = nullptr;
  WarpAccessSink* sink_ = nullptr;
};

} // namespace warplens::cpu
