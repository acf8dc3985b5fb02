// Encodes and compresses accesses for a trace, independently of the writer.
#pragma once

#include "trace/access_codec.h"
#include "trace/chunk_file.h"
#include "trace/records.h"

namespace warplens::trace {

/// A chunk under construction. Several threads can each fill one.
class AccessStream {
public:
  /// Adds an access, in program order within (block, warp).
  void add(std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
    encoder_.add(block, warp, access);
  }
  bool is_empty() const { return encoder_.records() == 0; }
  /// Returns whether a chunk is complete.
  bool is_full() const { return encoder_.full(); }
  /// Returns the chunk of the added accesses, for Writer::append_chunk(), valid until the next call. Starts
  /// afresh.
  Expected<PackedPayload> pack() {
    const std::uint32_t records = encoder_.records();
    return packer_.pack(records, encoder_.take());
  }

private:
  AccessEncoder encoder_;
  Packer packer_;
};

} // namespace warplens::trace
