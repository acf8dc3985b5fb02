// The arrays of a launch: ranges of a memory that its accesses name alike, found in the trace by address.
#pragma once

#include "support/expected.h"
#include "trace/access_source.h"

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace warplens::placement {

/// A half-open range of addresses.
struct AddressRange {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;

  bool empty() const { return begin >= end; }
  std::uint64_t bytes() const { return empty() ? 0 : end - begin; }
  void cover(std::uint64_t first, std::uint64_t behind) {
    begin = std::min(begin, first);
    end = std::max(end, behind);
  }
  bool overlaps(const AddressRange& other) const { return begin < other.end && other.begin < end; }
};

/// A line of 128 bytes that a block stores to, with a bit for each byte.
struct StoredLine {
  std::uint64_t line = 0;
  std::array<std::uint64_t, 2> bytes{};
};

/// The part of an array that one block touches.
struct BlockUse {
  /// 128-byte lines, ascending; empty where there are more than any block could keep in shared memory.
  std::vector<std::uint64_t> lines;
  std::vector<StoredLine> stored_lines; ///< of these, ascending
  bool has_too_many_lines = false;
  AddressRange stored;

  /// Returns the bytes of the line that the block stores to; null: none.
  const StoredLine* stores_to(std::uint64_t line) const;
};

/// No site.
inline constexpr std::uint32_t no_site = ~0u;

struct Array {
  std::string name;
  Space space = Space::global; ///< global, shared or constant
  AddressRange touched;        ///< addresses, or offsets in a block's shared memory
  std::uint64_t bytes = 0;     ///< of the allocation where the array is all of it; else of what is touched
  std::uint64_t base = 0;      ///< where these begin
  std::uint32_t element_bytes = 0;                  ///< that a lane accesses, mostly
  std::uint64_t loads = 0, stores = 0, atomics = 0; ///< warp accesses; an update is a load and a store
  std::uint64_t lane_bytes = 0;                     ///< sum of what lanes access
  bool is_cuda_array = false;     ///< its layout is the driver's: a texture's or a surface's
  bool is_read_only_load = false; ///< its loads are ld.global.nc
  bool is_fetched = false;        ///< by texture fetches
  std::uint32_t first_access = no_site, first_store = no_site, first_atomic = no_site; ///< of the trace
  std::vector<std::uint32_t> sites; ///< that access it, ascending indices into the trace's
  /// The constant distances between neighbouring lanes' addresses, by accesses that have one; of accesses by
  /// whole warps.
  std::map<std::int64_t, std::uint64_t> lane_strides;
  std::uint64_t whole_warps = 0; ///< accesses by all lanes of a warp
  std::uint64_t row_bytes = 0;   ///< from a row to the next, as RowLength finds it; 0: nothing tells it
  std::unordered_map<std::uint64_t, BlockUse> block_uses; ///< of arrays in device memory

  /// Returns how often a block accesses the bytes of the lines that it touches, on average; 0 where they are
  /// too many to be known.
  double reuse_in_block() const;
};

/// The arrays of a launch, and which of them an access is to.
class Arrays {
public:
  /// Reads the launch's accesses. In device memory an array is what one name of the source touches within one
  /// allocation; names whose ranges overlap are one array, as pointers may be aliases. In shared and constant
  /// memory it is what one name touches. The error reports a damaged trace.
  static Expected<Arrays> find(const trace::AccessSource& trace, const trace::Launch& launch);

  const std::vector<Array>& all() const { return arrays_; }
  const Array& operator[](std::size_t index) const { return arrays_[index]; }
  std::size_t size() const { return arrays_.size(); }
  /// Returns the bytes of global memory that the launch touches, with the gaps within arrays.
  std::uint64_t global_bytes() const;
  /// Returns the index of the array that the access is to, by its first active lane; none where it accesses
  /// local memory or nothing, or where its lanes access several.
  std::optional<std::uint32_t> of(const trace::WarpAccess& access) const;
  /// Returns the array of that name; the error lists the names that there are.
  Expected<std::uint32_t> named(const std::string& name) const;

private:
  std::vector<Array> arrays_;
  std::map<std::uint64_t, std::uint32_t> by_end_; ///< of arrays in device memory, whose ranges are disjoint
  std::unordered_map<std::uint64_t, std::uint32_t> by_site_; ///< of shared and constant memory, by Site::id
};

} // namespace warplens::placement
