// The accesses of a launch on their way into the trace.
#pragma once

#include "runtime/host/trace_file.h"
#include "trace/access_stream.h"

#include <cstdint>
#include <deque>
#include <span>

namespace warplens::runtime {

/// One launch after the other. What belongs to different parts of it is encoded and compressed at the same
/// time; only writing to the file takes turns. Each part is for one thread at a time.
class AccessWriter {
public:
  /// `file` must outlive this.
  explicit AccessWriter(TraceFile& file) : file_(file) {}

  /// All of the launch before has been flushed.
  void begin_launch(std::uint32_t launch, std::uint32_t parts);
  /// In program order within a warp, whose accesses all have to go to the same part. False: nothing more can
  /// be taken.
  bool append(std::uint32_t part, std::uint64_t block, std::uint32_t warp,
              std::span<const trace::WarpAccess> accesses);
  /// Makes what was appended survive a kill.
  bool flush(std::uint32_t part);

private:
  bool write(trace::AccessStream& stream);

  TraceFile& file_;
  std::uint32_t launch_ = 0;
  std::deque<trace::AccessStream> streams_; ///< by part; they stay, being large
};

} // namespace warplens::runtime
