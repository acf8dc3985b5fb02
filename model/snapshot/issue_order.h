// The order in which a warp issues its accesses, and the bulks of those that it issues without waiting.
#pragma once

#include "model/snapshot/access_check.h"
#include "model/snapshot/snapshot.h"

#include <array>
#include <cstdint>
#include <vector>

namespace warplens::model {

class IssueOrder {
public:
  IssueOrder(const std::vector<Site>& sites, const SiteIndex& index, Accesses accesses);

  /// The accesses of one warp that compiled code may issue in another order than the program's, which is that
  /// of the trace: those of the iterations that lie next to each other in unrolled loops.
  struct Window {
    struct Seen {
      std::uint32_t site = 0, accesses = 0;
      std::uint32_t bulk = 0; ///< that the last of the accesses belongs to
    };
    std::vector<Seen> sites;          ///< in the order of their first accesses
    std::vector<std::uint32_t> bulks; ///< for each access so far: which of the window's bulks it belongs to
    std::uint32_t last_bulk = 0, last_sequence = 0;
    std::uint32_t sequence_bulk = 0; ///< the bulk in which the last sequence began
    std::array<std::uint32_t, names_of<Space>.size()> stored_bulk{}; ///< the last one with a store, by space
    std::size_t first_access = 0, first_transaction = 0;             ///< indices into the warp's
  };
  /// The state of a warp between its accesses.
  struct WarpProgress {
    Window window;                   ///< Accesses::all
    std::vector<std::uint32_t> bulk; ///< sites of the current bulk's accesses so far; the other orders
    bool bulk_ended = true;
  };

  /// Determines the bulk of the warp's next access, which is at this site (an index into the trace's).
  void place(WarpProgress& state, Warp& warp, std::uint32_t site, const trace::WarpAccess& access) const;
  /// Appends the access that was placed last to its warp's.
  void append(WarpProgress& state, Warp& warp, Access access) const;
  /// Appends a barrier, which accesses are not moved across.
  void append_barrier(WarpProgress& state, Warp& warp, Access barrier) const;
  /// Orders the accesses that have not been ordered yet, at the end.
  void finish(WarpProgress& state, Warp& warp) const;

private:
  bool starts_bulk(const WarpProgress& state, std::uint32_t site) const;
  void put_into_window(Window& window, Warp& warp, std::uint32_t site, const trace::WarpAccess& access) const;
  static void close_window(Window& window, Warp& warp);

  const std::vector<Site>& sites_;
  Accesses accesses_;
  std::vector<std::vector<std::uint32_t>> depends_on_; ///< by index into the trace's sites
};

} // namespace warplens::model
