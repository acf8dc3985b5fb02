// Accesses on their way into a trace, encoded and compressed apart from the writer.
#pragma once

#include "trace/access_codec.h"
#include "trace/chunk_file.h"
#include "trace/records.h"

namespace warplens::trace {

/// Several threads can each fill one.
class AccessStream {
public:
  /// In program order within (block, warp).
  void add(std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
    encoder_.add(block, warp, access);
  }
  bool is_empty() const { return encoder_.records() == 0; }
  /// Is a chunk complete?
  bool is_full() const { return encoder_.full(); }
  /// The chunk of what was added, for Writer::append_chunk(), valid until the next call. Starts afresh.
  Expected<PackedPayload> pack() {
    const std::uint32_t records = encoder_.records();
    return packer_.pack(records, encoder_.take());
  }

private:
  AccessEncoder encoder_;
  Packer packer_;
};

} // namespace warplens::trace
