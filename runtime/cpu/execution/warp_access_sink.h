// The receiver of a traced block's warp accesses.
#pragma once

#include <cstdint>
#include <warplens/ring.h>

namespace warplens::machine {
class Sink;
} // namespace warplens::machine

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
  /// Returns what observes the block where its machine code is executed in its place; null: nothing does.
  virtual machine::Sink* machine_sink() { return nullptr; }
  /// The block's machine code has been executed to its end, in its place, and has written `words` of memory.
  virtual void machine_code_ended(std::uint64_t /*words*/) {}
};

} // namespace warplens::cpu
