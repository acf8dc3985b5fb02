// From the addresses of a warp access to what the memory hierarchy does for it: the cache that serves it
// first, its transactions, and its passes through the SM's memory pipeline.
#pragma once

#include "model/snapshot/snapshot.h"
#include "support/expected.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace warplens::model {

/// The numbers of the 2 MiB pages that a launch touches, in the order of first touch until finish().
class PageNumbers {
public:
  /// Returns the number of a line; the error names the kernel that touches too many pages.
  Expected<std::uint32_t> line_number(std::uint64_t line, const trace::Launch& launch);

  struct InOrder {
    std::vector<std::uint64_t> pages;      ///< ascending
    std::vector<std::uint32_t> renumbered; ///< by the number of first touch

    /// Returns the line's number with that of its page in the order of addresses.
    std::uint32_t line(std::uint32_t number) const {
      return renumbered[number >> page_shift] << page_shift | (number & ((1u << page_shift) - 1));
    }
  };
  /// Numbers the pages by address, so that the result does not depend on the order of the warps.
  InOrder finish() const;

private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint64_t last_page_ = ~std::uint64_t{0};
  std::uint32_t last_number_ = 0;
};

/// The masks of written bytes that a launch has, each once.
class ByteMasks {
public:
  ByteMasks() : masks_{{~std::uint64_t{0}, ~std::uint64_t{0}}} {}

  /// Returns the index of a line's mask: 0 where all bytes of the touched sectors are written, which is
  /// nearly always so. The error names the kernel that has too many.
  Expected<std::uint32_t> index_of(const Coalesced::Line& written, const trace::Launch& launch);

  std::vector<ByteMask> take() { return std::move(masks_); }

private:
  std::map<ByteMask, std::uint32_t> indices_;
  std::vector<ByteMask> masks_;
};

class AccessCoalescer {
public:
  AccessCoalescer(const std::vector<Site>& sites, const trace::Launch& launch, const LaneRules& rules,
                  Accesses accesses)
      : sites_(sites), launch_(launch), rules_(rules), accesses_(accesses) {}

  /// Returns the access as a snapshot has it, without its place in the warp's order, appends its transactions
  /// to the warp's and counts it in the site's summary. `site` is an index into the trace's sites.
  Expected<Access> coalesce(const trace::WarpAccess& access, std::uint32_t site, Warp& warp,
                            SiteSummary& summary);

  /// Returns the number of a line that is accessed.
  Expected<std::uint32_t> line_number(std::uint64_t line) { return pages_.line_number(line, launch_); }

  /// Sets what the snapshot knows of all accesses together, and returns the numbers of its pages.
  PageNumbers::InOrder finish(Snapshot& snapshot) &&;

private:
  Expected<void> put_constant(const trace::WarpAccess& access, Access& entry, Warp& warp,
                              SiteSummary& summary);
  void choose_cache(const trace::WarpAccess& access, CacheOperator cache, Access& entry);
  Expected<void> put_transactions(Warp& warp, const Coalesced& touched, const trace::WarpAccess& access);
  std::uint8_t passes(const trace::WarpAccess& access, const Access& entry) const;

  const std::vector<Site>& sites_;
  const trace::Launch& launch_;
  LaneRules rules_;
  Accesses accesses_;
  PageNumbers pages_;
  ByteMasks masks_;
  bool stores_local_ = false, reads_read_only_ = false, reads_textures_ = false;
};

} // namespace warplens::model
