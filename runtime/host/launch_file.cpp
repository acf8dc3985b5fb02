#include "runtime/host/launch_file.h"

namespace warplens::runtime {

bool LaunchFile::append(std::uint32_t part, std::uint64_t block, std::uint32_t warp,
                        std::span<const trace::WarpAccess> accesses) {
  trace::AccessStream& stream = streams_[part];
  for (const trace::WarpAccess& access : accesses) {
    stream.add(block, warp, access);
    if (stream.is_full() && !write(stream))
      return false;
  }
  return !file_.failed();
}

bool LaunchFile::flush(std::uint32_t part) {
  return streams_[part].is_empty() ? !file_.failed() : write(streams_[part]);
}

bool LaunchFile::write(trace::AccessStream& stream) {
  const Expected<trace::PackedPayload> packed = stream.pack();
  return file_.with_writer([&](trace::Writer& writer) -> Expected<void> {
    return packed ? writer.append_chunk(launch_, *packed) : tl::unexpected(packed.error());
  });
}

} // namespace warplens::runtime
