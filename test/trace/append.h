// Puts accesses made for a test into a trace through an AccessStream, as the runtime does.
#pragma once

#include "trace/access_stream.h"
#include "trace/writer.h"

#include <cstdint>
#include <vector>

namespace warplens::trace::test {

struct Record {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  WarpAccess access;
  friend bool operator==(const Record&, const Record&) = default;
};

/// Appends the accesses in the necessary number of chunks.
inline Expected<void> append(Writer& writer, std::uint32_t launch, const std::vector<Record>& records) {
  AccessStream stream;
  for (const Record& record : records) {
    stream.add(record.block, record.warp, record.access);
    if (!stream.is_full() && &record != &records.back())
      continue;
    const auto chunk = stream.pack();
    if (!chunk)
      return tl::unexpected(chunk.error());
    if (auto written = writer.append_chunk(launch, *chunk); !written)
      return written;
  }
  return {};
}

} // namespace warplens::trace::test
