#include "runtime/host/memory_log.h"

#include <utility>

namespace warplens::runtime {
namespace {

using trace::MemoryUse;

bool follows(const MemoryUse& before, const MemoryUse& use) {
  return before.rows == 1 && use.rows == 1 && before.kind == use.kind &&
         before.address + before.row_bytes == use.address;
}

} // namespace

MemoryLog::Place MemoryLog::place_of(const MemoryUse& use) {
  return {use.address, use.row_bytes, use.pitch, use.rows};
}

void MemoryLog::add(const MemoryUse& use) {
  MemoryUse added = use;
  if (added.rows == 1 || added.pitch == added.row_bytes) { // one piece, described in one way
    added.row_bytes *= added.rows;
    added.pitch = added.row_bytes;
    added.rows = 1;
  }
  if (added.bytes() == 0)
    return;
  if (!uses_.empty() && follows(uses_.back(), added)) {
    added.address = uses_.back().address;
    added.pitch = added.row_bytes += uses_.back().row_bytes;
    remove(std::prev(uses_.end()));
  }
  if (const auto same = by_place_.find(place_of(added)); same != by_place_.end()) {
    if (same->second->kind == MemoryUse::Kind::written)
      added.kind = MemoryUse::Kind::written; // memory that is read after it was written stays dirty
    remove(same->second);
  }
  bytes_ += added.bytes();
  by_place_.emplace(place_of(added), uses_.insert(uses_.end(), added));
  while (uses_.size() > max_uses || (bytes_ > max_bytes && uses_.size() > 1)) {
    remove(uses_.begin());
    unseen_ = "more copies and fills than are kept";
  }
}

void MemoryLog::add_unseen(const std::string& what) {
  uses_.clear();
  by_place_.clear();
  bytes_ = 0;
  unseen_ = what;
}

std::vector<MemoryUse> MemoryLog::take(std::uint32_t launch) {
  std::vector<MemoryUse> taken;
  if (!unseen_.empty())
    taken.push_back({.kind = MemoryUse::Kind::unseen, .what = std::exchange(unseen_, {})});
  taken.insert(taken.end(), uses_.begin(), uses_.end());
  add_unseen({});
  for (MemoryUse& use : taken)
    use.launch = launch;
  return taken;
}

void MemoryLog::remove(Uses::iterator use) {
  bytes_ -= use->bytes();
  by_place_.erase(place_of(*use));
  uses_.erase(use);
}

} // namespace warplens::runtime
