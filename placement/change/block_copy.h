// A block's copy of an array in its shared memory: where each byte lies, and the pieces in which the warps
// copy.
#pragma once

#include "placement/change/transformation.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace warplens::placement {

constexpr std::uint32_t widest_chunk = 16;     ///< that a lane copies, in bytes
constexpr std::uint64_t shared_alignment = 16; ///< of an array in shared memory

/// The lines of an array that a block copies: all of them one behind the other, or with an element of padding
/// behind each run of neighbouring lines, so that what lies below one another is in different banks.
class BlockCopy {
public:
  /// `lines`: ascending, and outlive the object. `padding`: bytes behind each run, 0 to 16.
  BlockCopy(const std::vector<std::uint64_t>& lines, std::uint32_t padding);

  /// Returns the offset of an address within the copy.
  std::uint64_t offset_of(std::uint64_t address) const;
  /// Returns the address of the copy's n-th line.
  std::uint64_t line(std::size_t index) const { return (*lines_)[index]; }
  std::size_t size() const { return lines_->size(); }
  std::uint64_t bytes() const;

private:
  const std::vector<std::uint64_t>* lines_;
  std::uint32_t padding_;
  std::vector<std::uint32_t> run_; ///< of each line, where there is padding
};

/// A piece of a copy by one warp: the access to device memory and that to shared memory.
struct CopyPiece {
  trace::WarpAccess in_memory, in_shared;
};

/// Calls visit(piece) for each piece that the warp copies: the block's warps in turn take `chunk_bytes` for
/// each of their lanes. `stored_use`: only chunks of which the block stores all bytes; null: all.
void each_piece(const BlockCopy& copy, std::uint64_t offset, std::uint32_t chunk_bytes, std::uint32_t warp,
                std::uint32_t threads, const BlockUse* stored_use,
                const std::function<void(const CopyPiece&)>& visit);

/// The sites of one copy: its load, its store and the barrier behind or before it.
class CopySites {
public:
  /// `number`: distinguishes the copies of a launch; `first`: the access whose place they have.
  CopySites(const Array& array, std::uint64_t number, const Site& first);

  std::uint64_t load() const { return id_ + 1; }
  std::uint64_t store() const { return id_ + 2; }
  std::uint64_t barrier() const { return id_ + 3; }
  /// Returns the sites, the load from `from`. `is_async`: one instruction makes load and store, past the
  /// registers; past the L1 too where each lane copies 16 bytes.
  std::vector<Site> all(Space from, std::uint32_t chunk_bytes, bool is_async, std::string_view what) const;
  /// Emits the load and the store of a piece; either may be the one to memory.
  void put(const CopyPiece& piece, bool to_shared, const Transformation::Emit& emit) const;

private:
  const Array& array_;
  std::uint64_t id_;
  const Site& first_;
};

/// Returns whether a good part of the array's accesses have neighbouring lanes a line or more apart.
bool has_distant_lanes(const Array& array);

} // namespace warplens::placement
