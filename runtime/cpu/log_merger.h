// From what lanes did one by one to what their warp did.
#pragma once

#include "runtime/cpu/abi.h"
#include "runtime/cpu/constant_memory.h"
#include "runtime/cpu/fiber.h"
#include "runtime/cpu/warp_access_sink.h"
#include "trace/records.h"

#include <array>
#include <cstdint>

namespace warplens::cpu {

/// The memory spaces of a running block, by address.
struct AddressMap {
  AddressRange shared;
  const StackPool* stacks = nullptr;
  AddressRange around_constants;
};

/// Merges the logs of a warp's lanes: always issues the smallest key among the lanes' next entries, all lanes
/// that have it together. Keys follow program order with loop bodies contiguous, so this is the order of a
/// machine that runs the warp in lock step and reconverges as early as it can (min-PC).
class LogMerger {
public:
  static constexpr std::uint32_t capacity = 128; ///< entries per lane

  /// Starts a warp with empty logs; sets each lane's log_next and log_end.
  void begin(std::uint32_t warp, const std::array<LaneContext*, trace::warp_lanes>& lanes,
             std::uint32_t lane_count, const KeyRecord* keys, const AddressMap& addresses,
             WarpAccessSink& sink);

  /// Issues until the log of one of the lanes in `full` is empty, or all logs are. Lanes that are not in
  /// `full` are not waited for. Returns the lanes whose logs are empty.
  std::uint32_t merge(std::uint32_t full);

private:
  void issue(std::uint32_t key, std::uint32_t lanes);
  void send(ring::Line& line, std::uint32_t lanes, trace::Space space);
  std::uint64_t local_address(std::uint64_t address) const;

  static constexpr std::uint32_t nothing = 0xffffffff; ///< the head of an empty log
  std::array<std::array<LogEntry, capacity>, trace::warp_lanes> logs_;
  std::array<std::uint32_t, trace::warp_lanes> head_keys_;
  std::array<const LogEntry*, trace::warp_lanes> heads_;
  std::array<LaneContext*, trace::warp_lanes> lanes_;
  std::uint32_t lane_count_ = 0, warp_ = 0;
  const KeyRecord* keys_ = nullptr;
  const AddressMap* addresses_ = nullptr;
  WarpAccessSink* sink_ = nullptr;
};

} // namespace warplens::cpu
