#include "model/replay/observers/objects.h"

#include "model/cache/sector_set.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace warplens::model {
namespace {

/// Counts the distinct sectors of transactions that come in any order.
class DistinctSectors {
public:
  void add(const Transaction& transaction) { touched_.emplace_back(transaction.line, transaction.sectors); }

  /// Returns their number, and forgets them.
  std::uint64_t take() {
    std::sort(touched_.begin(), touched_.end());
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < touched_.size();) {
      const std::uint32_t line = touched_[i].first;
      unsigned sectors = 0;
      for (; i < touched_.size() && touched_[i].first == line; ++i)
        sectors |= touched_[i].second;
      count += std::uint64_t(std::popcount(sectors));
    }
    touched_.clear();
    return count;
  }

private:
  std::vector<std::pair<std::uint32_t, unsigned>> touched_; ///< line and its sectors
};

} // namespace

Objects::Objects(const Snapshot& snapshot, const std::vector<Site>& sites) {
  std::vector<std::string> names;
  for (const SiteSummary& summary : snapshot.sites)
    if (summary.cached != 0 && !sites[summary.site].object.empty())
      names.push_back(sites[summary.site].object);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names)
    objects_.emplace_back().name = name;

  for (const SiteSummary& summary : snapshot.sites) {
    const auto found = std::lower_bound(names.begin(), names.end(), sites[summary.site].object);
    const bool named = found != names.end() && *found == sites[summary.site].object;
    object_of_.push_back(named ? std::uint32_t(found - names.begin()) : std::uint32_t(names.size()));
    if (!named)
      continue;
    ObjectResult& object = objects_[object_of_.back()];
    object.requests += summary.cached;
    object.bytes_used += summary.bytes_used;
    object.bytes_moved += summary.sectors * sector_bytes;
  }

  std::vector<SectorSet> touched(objects_.size());
  std::vector<DistinctSectors> block_sectors(objects_.size());
  std::vector<std::uint64_t> largest_part(objects_.size(), 0);
  for (std::size_t i = 0; i < snapshot.warps.size(); ++i) {
    snapshot.warps[i].each_access([&](const Access& access, std::span<const Transaction> transactions) {
      if (const std::uint32_t object = object_of_[access.site];
          object != objects_.size() && access.cache != FirstCache::constant)
        for (const Transaction& transaction : transactions) {
          touched[object].insert(transaction.line, transaction.sectors);
          block_sectors[object].add(transaction);
        }
    });
    if (i + 1 == snapshot.warps.size() || snapshot.warps[i + 1].block != snapshot.warps[i].block)
      for (std::size_t object = 0; object < objects_.size(); ++object)
        largest_part[object] = std::max(largest_part[object], block_sectors[object].take());
  }
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    objects_[i].footprint_bytes = touched[i].size() * sector_bytes;
    objects_[i].block_footprint_bytes = largest_part[i] * sector_bytes;
  }
}

void Objects::issued(std::uint32_t sm, const Access& access, std::span<const Transaction> transactions,
                     const Lookups&, Cycle) {
  if (sm != 0 || access.cache == FirstCache::constant)
    return;
  const std::uint32_t object = object_of_[access.site];
  for (const Transaction& transaction : transactions) {
    const std::optional<std::uint32_t> distance = distances_.access(transaction.line);
    if (object == objects_.size())
      continue;
    auto& seen = objects_[object].reuse_distance;
    if (!seen)
      seen.emplace();
    if (!distance) {
      ++seen->cold;
      continue;
    }
    const auto bin = std::size_t(std::bit_width(*distance)); // 0; 1; 2 and 3; 4 to 7; …
    if (bin >= seen->counts.size())
      seen->counts.resize(bin + 1);
    ++seen->counts[bin];
  }
}

std::vector<ObjectResult> Objects::results() && {
  for (ObjectResult& object : objects_) {
    if (!object.reuse_distance || object.reuse_distance->counts.empty())
      continue;
    object.reuse_distance->edges.push_back(0);
    for (std::size_t i = 0; i < object.reuse_distance->counts.size(); ++i)
      object.reuse_distance->edges.push_back(std::uint64_t{1} << i);
  }
  std::sort(objects_.begin(), objects_.end(), [](const ObjectResult& a, const ObjectResult& b) {
    return std::tie(b.bytes_moved, a.name) < std::tie(a.bytes_moved, b.name);
  });
  return std::move(objects_);
}

} // namespace warplens::model
