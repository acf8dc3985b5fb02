// The receiver of a traced block's warp accesses.
#pragma once

#include <cstdint>
#include <warplens/ring.h>

namespace warplens::cpu {

/// A sink for one block. Called by the OS thread that runs the block.
class WarpAccessSink {
public:
  virtual ~WarpAccessSink() = default;
  virtual void access(std::uint32_t warp, const ring::Line& line) = 0;
  /// Counts an access that no probe has reported.
  virtual void unprobed_access(std::uint32_t /*warp*/, const ring::Line& /*line*/) {}
  /// Returns whether the block runs in its traced variant; else no access is reported.
  virtual bool observes() const { return true; }
  /// Returns whether the block is a part of the snapshot; else its accesses are only counted.
  virtual bool is_recorded() const { return true; }
};

} // namespace warplens::cpu
