// The memory behind a channel: its size and its layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <warplens/ring.h>

namespace warplens::ring {

/// The dimensions of a channel. Every member but first_block is at least 1.
struct Extent {
  std::uint64_t first_block = 0, blocks = 0; ///< the snapshot
  std::uint32_t buffers = 0;                 ///< blocks that may be in flight at once
  std::uint32_t warps = 0;                   ///< per block
  std::uint32_t capacity = 0;                ///< lines per warp's ring
  std::uint32_t first_choices = 0;           ///< see Channel

  std::size_t local_bytes() const;
  std::size_t shared_bytes() const;
};

/// Lays a channel out in the given memories, which are zero-filled and aligned to 64 bytes,
/// `extent.local_bytes()` and `extent.shared_bytes()` long. Accesses neither, so that `local` may be a
/// device's. The caller sets the launch's shape.
Channel lay_out(const Extent& extent, void* local, void* shared);

/// Makes the shared memory of an earlier channel as good as zero-filled for this one. Writes only the words
/// that are read before they are written, which are few: the slots' lines are not among them.
void clear_shared(const Channel& channel);

/// Zero-filled memory of this process that costs nothing before it is touched.
class HostMemory {
public:
  HostMemory() = default;
  /// Throws std::bad_alloc if the address space is exhausted.
  explicit HostMemory(std::size_t bytes);
  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&& other) noexcept;
  ~HostMemory();
  void* data() const { return data_; }

private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace warplens::ring
