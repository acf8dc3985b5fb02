#include "runtime/host/access_writer.h"

namespace warplens::runtime {

void AccessWriter::begin_launch(std::uint32_t launch, std::uint32_t parts) {
  launch_ = launch;
  while (streams_.size() < parts)
    streams_.emplace_back();
}

bool AccessWriter::append(std::uint32_t part, std::uint64_t block, std::uint32_t warp,
                          std::span<const trace::WarpAccess> accesses) {
  trace::AccessStream& stream = streams_[part];
  for (const trace::WarpAccess& access : accesses) {
    stream.add(block, warp, access);
    if (stream.is_full() && !write(stream))
      return false;
  }
  return !file_.failed();
}

bool AccessWriter::flush(std::uint32_t part) {
  return streams_[part].is_empty() ? !file_.failed() : write(streams_[part]);
}

bool AccessWriter::write(trace::AccessStream& stream) {
  const Expected<trace::PackedPayload> packed = stream.pack();
  return file_.with_writer([&](trace::Writer& writer) -> Expected<void> {
    return packed ? writer.append_chunk(launch_, *packed) : tl::unexpected(packed.error());
  });
}

} // namespace warplens::runtime
