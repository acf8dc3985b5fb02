// Writes the accesses of a launch into the trace.
#pragma once

#include "runtime/host/trace_file.h"
#include "trace/access_stream.h"

#include <cstdint>
#include <deque>
#include <span>

namespace warplens::runtime {

/// Writes one launch after the other. Parts of a launch are encoded and compressed in parallel; only the
/// writes to the file are serialised. Each part is for one thread at a time.
class AccessWriter {
public:
  /// `file` must outlive this.
  explicit AccessWriter(TraceFile& file) : file_(file) {}

  /// Begins a launch; all of the launch before must have been flushed.
  void begin_launch(std::uint32_t launch, std::uint32_t parts);
  /// Appends accesses in program order within a warp, whose accesses must all go to the same part. Returns
  /// false if the file takes no more.
  bool append(std::uint32_t part, std::uint64_t block, std::uint32_t warp,
              std::span<const trace::WarpAccess> accesses);
  /// Writes the part to the file, so that its accesses survive a kill.
  bool flush(std::uint32_t part);

private:
  bool write(trace::AccessStream& stream);

  TraceFile& file_;
  std::uint32_t launch_ = 0;
  std::deque<trace::AccessStream> streams_; ///< one per part; kept, since they are large
};

} // namespace warplens::runtime
