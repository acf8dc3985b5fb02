// The instructions that compute the address of an access, by where its array lies and by the architecture:
// what a change of placement adds or removes. The load or store itself is the same instruction everywhere.
#pragma once

#include "placement/paper/reading.h"
#include "placement/space.h"
#include "support/expected.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace warplens::placement {

/// The counts of one architecture, in instructions per access with an index of its own.
struct Addressing {
  int architecture = 0; ///< 80 is sm_80
  double global = 0;
  double global_wide_index = 0; ///< the index has 64 bits
  double global_byte = 0;       ///< elements of one byte
  double texture = 0;
  double texture_wait = 0;            ///< instructions that wait for a fetch, or for a read-only load
  double texture_constant_offset = 0; ///< of a fetch at an index plus a constant
  double coordinate = 0;              ///< of each coordinate of a 2D fetch that is no float yet
  double constant = 0;
  double shared = 0;
  bool shared_shares_index = true; ///< a second array at the same index costs nothing in shared memory
};

/// An access of a basic block, as far as its address matters.
struct IndexedAccess {
  std::uint32_t index = 0; ///< equal for accesses at the same index
  std::uint32_t array = 0;
  PlacementSpace space = PlacementSpace::global;
  std::uint32_t element_bytes = 4;
  bool wide_index = false;
  bool constant_offset = false; ///< the index is another one's plus a constant
};

/// Returns the instructions that a block needs for the addresses of its accesses, where each distinct index
/// is computed once: a second array at an index costs its address again in global memory, and nothing in
/// constant memory. `literal`: as the paper counts, each access on its own.
double addressing_instructions(std::span<const IndexedAccess> accesses, const Addressing& of,
                               Reading reading = Reading::corrected);

/// Returns the instructions that wait for an access there.
double waiting_instructions(PlacementSpace place, const Addressing& of);

/// Reads the counts of all architectures from a TOML file. The error names the file and what was expected.
Expected<std::vector<Addressing>> load_addressing(const std::filesystem::path& file);

/// Returns the counts of the newest architecture that is not newer than this one; of the oldest, where all
/// are. `all` is not empty and in ascending order.
const Addressing& addressing_of(std::span<const Addressing> all, int architecture);

} // namespace warplens::placement
