#include "model/snapshot/memory_history.h"

#include "model/snapshot/coalesce.h"
#include "support/display_name.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace warplens::model {
namespace {

using trace::MemoryUse;

/// The maximum bytes of copies before one launch that a trace records (docs/trace-format.md).
constexpr std::uint64_t max_copied_bytes = 512u << 20;

unsigned sectors_of(const ByteMask& bytes) {
  return Coalesced::Line{0, {bytes[0], bytes[1]}}.sectors();
}

ByteMask bytes_of(unsigned sectors) {
  ByteMask bytes{};
  for (unsigned sector = 0; sector < sectors_per_line; ++sector)
    if (sectors >> sector & 1)
      bytes[sector / 2] |= std::uint64_t{0xffff'ffff} << sector % 2 * sector_bytes;
  return bytes;
}

/// Returns a mask of the bytes [begin, end) of a line.
ByteMask bytes_between(unsigned begin, unsigned end) {
  ByteMask bytes{};
  for (unsigned byte = begin; byte < end; ++byte)
    bytes[byte / 64] |= std::uint64_t{1} << byte % 64;
  return bytes;
}

bool contains(const ByteMask& all, const ByteMask& some) {
  return (some[0] & ~all[0]) == 0 && (some[1] & ~all[1]) == 0;
}

/// Returns the launch, and why the trace lacks accesses of it; empty: the trace has all.
std::string missing_of(const trace::AccessSource& trace, const trace::Launch& launch) {
  const std::string name = fmt::format("launch {}, of {}, ", launch.id, display_name(launch.kernel));
  const auto end = trace.end_of(launch.id);
  if (!end || !end->complete)
    return name + "cut short";
  const std::uint64_t blocks = end->blocks == 0 ? launch.blocks : std::min(launch.blocks, end->blocks);
  if (launch.first_block != 0 || blocks < launch.grid.count())
    return fmt::format("{}traced in {} of its {} blocks", name, blocks, launch.grid.count());
  if (end->probed_accesses < end->executed_accesses)
    return fmt::format("{}with probes for {} of its {} accesses", name, end->probed_accesses,
                       end->executed_accesses);
  return "";
}

} // namespace

void MemoryHistory::add_uses_before(const trace::AccessSource& trace, const trace::Launch& launch) {
  const auto [begin, end] = std::ranges::equal_range(trace.memory_uses(), launch.id, {}, &MemoryUse::launch);
  auto first = end;
  for (std::uint64_t bytes = 0; first != begin && bytes < max_copied_bytes;)
    bytes += (--first)->bytes();
  if (first != begin)
    forget("more copies and fills than are looked at");
  for (; first != end; ++first)
    add(*first);
}

Expected<void> MemoryHistory::add_launch(const trace::AccessSource& trace, const trace::Launch& launch) {
  if (std::string missing = missing_of(trace, launch); !missing.empty()) {
    forget(std::move(missing));
    return {};
  }
  ++launches_;
  std::unordered_set<std::uint64_t> evicted_first;
  for (const Site& site : trace.sites())
    if (is_evicted_first(site.cache_operator))
      evicted_first.insert(site.id);
  return trace.for_each_access(launch.id, [&](std::uint64_t, std::uint32_t, const trace::WarpAccess& access) {
    if (access.space == Space::shared || !is_access(access.kind) || !has_possible_width(access))
      return;
    const Coalesced touched = coalesce(access, {});
    for (unsigned i = 0; i < touched.count; ++i) {
      const ByteMask bytes{touched.lines[i].bytes[0], touched.lines[i].bytes[1]};
      const unsigned sectors = touched.lines[i].sectors();
      UsedLine used{.line = touched.lines[i].line};
      used.is_evicted_first = !evicted_first.empty() && evicted_first.contains(access.site);
      if (access.kind != AccessKind::store)
        used.read = sectors;
      if (access.kind == AccessKind::atomic)
        used.written = bytes_of(sectors); // the L2 writes whole sectors
      else if (access.kind != AccessKind::load)
        used.written = bytes;
      add(used);
    }
  });
}

void MemoryHistory::forget(std::string why) {
  groups_.clear();
  parts_.clear();
  lines_ = copies_ = launches_ = 0;
  unknown_before_ = std::move(why);
}

void MemoryHistory::add(const MemoryUse& use) {
  if (use.kind == MemoryUse::Kind::unseen)
    return forget(use.what.empty() ? "something without a name" : use.what);
  if (use.rows == 0)
    return;
  ++copies_;
  if (use.pitch <= line_bytes) // then no line lies between two rows
    return add_piece(use.kind, use.address, use.pitch * (use.rows - 1) + use.row_bytes);
  const std::uint64_t first = use.rows - std::min(use.rows, max_lines_); // the others will be forgotten
  for (std::uint64_t row = first; row < use.rows; ++row)
    add_piece(use.kind, use.address + row * use.pitch, use.row_bytes);
}

void MemoryHistory::add_piece(MemoryUse::Kind kind, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes, last = (end - 1) / line_bytes;
  std::uint64_t line = address / line_bytes;
  if (last - line >= max_lines_)
    line = last - max_lines_ + 1;
  for (; line <= last; ++line) {
    const std::uint64_t start = line * line_bytes;
    const ByteMask used = bytes_between(unsigned(std::max(address, start) - start),
                                        unsigned(std::min<std::uint64_t>(end - start, line_bytes)));
    if (kind == MemoryUse::Kind::read)
      add({line, sectors_of(used), {}});
    else
      add({line, 0, used});
  }
}

void MemoryHistory::add(const UsedLine& used) {
  Use& use = groups_[used.line / lines_per_group][used.line % lines_per_group];
  lines_ += use.when == 0;
  use.when = ++now_;
  use.is_evicted_first = used.is_evicted_first;
  use.read = (use.read | used.read) & whole_line;
  const unsigned before = use.written, sectors = sectors_of(used.written);
  use.written = (before | sectors) & whole_line;
  if (sectors != 0)
    use.written_when = now_;
  if (!contains(used.written, bytes_of(sectors)) || parts_.contains(used.line)) {
    const auto part = parts_.try_emplace(used.line, bytes_of(before)).first;
    part->second[0] |= used.written[0];
    part->second[1] |= used.written[1];
    if (contains(part->second, bytes_of(use.written)))
      parts_.erase(part);
  }
  if (lines_ > max_lines_ + max_lines_ / 4)
    forget_oldest();
}

std::vector<std::uint64_t> MemoryHistory::times() const {
  std::vector<std::uint64_t> times;
  times.reserve(lines_);
  for (const auto& [number, group] : groups_)
    for (const Use& use : group)
      if (use.when != 0)
        times.push_back(use.when);
  return times;
}

void MemoryHistory::forget_oldest() {
  std::vector<std::uint64_t> all = times();
  std::ranges::nth_element(all, all.begin() + std::ptrdiff_t(max_lines_ - 1), std::greater());
  const std::uint64_t oldest = all[max_lines_ - 1];
  for (auto numbered = groups_.begin(); numbered != groups_.end();) {
    auto& [number, group] = *numbered;
    for (unsigned i = 0; i < lines_per_group; ++i)
      if (group[i].when != 0 && group[i].when < oldest) {
        parts_.erase(number * lines_per_group + i);
        group[i] = {};
      }
    const bool any = std::ranges::any_of(group, [](const Use& use) { return use.when != 0; });
    numbered = any ? std::next(numbered) : groups_.erase(numbered);
  }
  lines_ = max_lines_;
}

std::vector<UsedLine> MemoryHistory::latest(std::uint64_t lines) const {
  std::vector<std::uint64_t> all = times();
  std::uint64_t oldest = 1;
  if (lines < all.size()) {
    if (lines == 0)
      return {};
    std::ranges::nth_element(all, all.begin() + std::ptrdiff_t(lines - 1), std::greater());
    oldest = all[lines - 1];
    all.resize(lines);
  }
  std::vector<UsedLine> latest;
  latest.reserve(all.size());
  for (const auto& [number, group] : groups_)
    for (unsigned i = 0; i < lines_per_group; ++i) {
      const Use& use = group[i];
      if (use.when < oldest)
        continue;
      const std::uint64_t line = number * lines_per_group + i;
      const auto part = parts_.find(line);
      latest.push_back({line, unsigned(use.read),
                        part == parts_.end() ? bytes_of(unsigned(use.written)) : part->second, use.when,
                        use.written_when, use.is_evicted_first != 0});
    }
  std::ranges::sort(latest, {}, &UsedLine::when);
  return latest;
}

} // namespace warplens::model
