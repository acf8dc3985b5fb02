// The consumer's side of the rings: takes committed lines out.
#pragma once

#include "trace/records.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>
#include <warplens/ring.h>

namespace warplens::runtime {

/// Empties a channel's rings, in parts: buffer b belongs to part b modulo their number. Each part is for one
/// thread at a time.
class Drain {
public:
  /// `channel`'s shared memory must outlive this.
  explicit Drain(const ring::Channel& channel, std::uint32_t parts = 1);

  std::uint32_t parts() const { return static_cast<std::uint32_t>(batches_.size()); }

  /// Receives a run of accesses by one warp, in program order.
  using Visit = std::function<void(std::uint64_t block, std::uint32_t warp,
                                   std::span<const trace::WarpAccess> accesses)>;

  /// Takes out every line of the part that is committed by now and frees its slots for the producers. Returns
  /// the number of lines.
  std::uint64_t once(const Visit& visit, std::uint32_t part = 0);

private:
  using Batch = std::vector<trace::WarpAccess>; ///< room for the lines of one ring
  std::uint64_t drain_ring(std::uint64_t ring, std::uint32_t warp, const Visit& visit, Batch& batch);

  ring::Channel channel_;
  std::vector<std::uint64_t> drained_; ///< per ring, as in the shared word
  std::vector<Batch> batches_;         ///< per part
};

} // namespace warplens::runtime
