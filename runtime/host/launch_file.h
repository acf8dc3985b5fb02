// The accesses of one launch on their way into the trace.
#pragma once

#include "runtime/host/trace_file.h"
#include "trace/access_stream.h"

#include <cstdint>
#include <span>
#include <vector>

namespace warplens::runtime {

/// What belongs to different parts is encoded and compressed at the same time; only the writing takes turns.
/// Each part is for one thread at a time.
class LaunchFile {
public:
  /// `file` must outlive this.
  LaunchFile(TraceFile& file, std::uint32_t launch, std::uint32_t parts)
      : file_(file), launch_(launch), streams_(parts) {}

  /// In program order within a warp, whose accesses all have to go to the same part. False: nothing more can
  /// be taken.
  bool append(std::uint32_t part, std::uint64_t block, std::uint32_t warp,
              std::span<const trace::WarpAccess> accesses);
  /// Makes what was appended survive a kill.
  bool flush(std::uint32_t part);

private:
  bool write(trace::AccessStream& stream);

  TraceFile& file_;
  std::uint32_t launch_;
  std::vector<trace::AccessStream> streams_; ///< by part
};

} // namespace warplens::runtime
