#include "model/snapshot/snapshot.h"

#include <algorithm>

namespace warplens::model {
namespace {

/// Counts the sectors of lines that a snapshot touches, and those that it stores.
class StoredSectors {
public:
  void touch(std::uint32_t line, unsigned stored) {
    std::uint8_t& state = line < lines_.size() ? lines_[line] : grown(line);
    touched_ += state == 0;
    stored_ += sector_count(stored & ~state);
    state |= std::uint8_t(touched | stored);
  }
  std::uint64_t lines() const { return touched_; }
  double share() const { return touched_ == 0 ? 0 : double(stored_) / (double(touched_) * sectors_per_line); }

private:
  static constexpr unsigned touched = 1u << sectors_per_line;
  std::uint8_t& grown(std::uint32_t line) {
    lines_.resize((std::size_t(line >> page_shift) + 1) << page_shift);
    return lines_[line];
  }
  std::vector<std::uint8_t> lines_; ///< the stored sectors, and `touched`
  std::uint64_t touched_ = 0, stored_ = 0;
};

} // namespace

void finalize(Snapshot& snapshot) {
  for (SiteSummary& site : snapshot.sites)
    site.l1_lines = site.l1_sectors = 0;
  snapshot.longest_bulk = 0;
  StoredSectors stored;
  for (const Warp& warp : snapshot.warps) {
    std::uint64_t bulk_length = 0;
    warp.each_access([&](const Access& access, std::span<const Transaction> transactions) {
      bulk_length = access.starts_bulk ? 1 : bulk_length + 1;
      snapshot.longest_bulk = std::max(snapshot.longest_bulk, bulk_length);
      if (!snapshot.whole_grid)
        for (const Transaction& transaction : transactions)
          stored.touch(transaction.line, access.kind == AccessKind::load ? 0 : transaction.sectors);
      if (!access.loads_in_l1())
        return;
      SiteSummary& site = snapshot.sites[access.site];
      site.l1_lines += transactions.size();
      for (const Transaction& transaction : transactions)
        site.l1_sectors += sector_count(transaction.sectors);
    });
    if (snapshot.whole_grid)
      continue;
    for (const Gap& gap : warp.gaps) {
      for (const Transaction& transaction : gap.loads)
        stored.touch(transaction.line, 0);
      for (const Transaction& transaction : gap.stores)
        stored.touch(transaction.line, transaction.sectors);
    }
  }
  snapshot.lines_touched = stored.lines();
  snapshot.stored_share = stored.share();
}

} // namespace warplens::model
