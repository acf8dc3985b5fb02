// Finds how far the rows of an array are apart, which a texture of two dimensions needs to know, from the
// launch's accesses to it.
#pragma once

#include "trace/records.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warplens::placement {

class RowLength {
public:
  /// Takes the next access of the warp to the array. `site` is an index, `sequence` the site's.
  void note(std::uint64_t block, std::uint32_t warp, std::uint32_t site, std::uint32_t sequence,
            const trace::WarpAccess& access, const trace::Dim3& threads);
  /// Adds what was seen of another name of the array.
  void merge(const RowLength& other);

  /// Returns the bytes from a row to the next; 0: nothing tells them. A site that jumps from one execution to
  /// the next, in a loop over rows, says it best; then threads of a block that differ in y alone; then the
  /// constants in the indices of a stencil, which lie around multiples of the row.
  std::uint64_t bytes(std::uint32_t element_bytes) const;

private:
  using Distances = std::map<std::uint64_t, std::uint64_t>; ///< with how often they occurred

  void note_neighbours_in_y(std::uint64_t block, std::uint32_t warp, std::uint32_t site,
                            const trace::WarpAccess& access, const trace::Dim3& threads);
  void note_other_sites(std::uint64_t warp, std::uint32_t site, std::uint32_t sequence, std::uint64_t first);

  Distances loop_distances_, thread_distances_, index_distances_;
  std::unordered_map<std::uint64_t, std::uint64_t> last_; ///< the first lane's address, by warp and site
  std::unordered_map<std::uint64_t, std::uint64_t> first_of_warp_; ///< likewise, of the first execution
  /// The sites of a sequence that a warp has executed so far, with their addresses.
  struct Running {
    std::uint32_t sequence = ~0u;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> sites;
  };
  std::unordered_map<std::uint64_t, Running> running_;
};

} // namespace warplens::placement
