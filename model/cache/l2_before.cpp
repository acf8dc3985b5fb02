#include "model/cache/l2_before.h"

#include "model/gpu/slices.h"

#include <algorithm>
#include <limits>

namespace warplens::model {
namespace {

std::string counted(std::uint64_t number, const char* one, const char* many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

std::string users_of(const MemoryHistory& history) {
  std::string users;
  if (history.copies() != 0)
    users = counted(history.copies(), "copy or fill", "copies and fills");
  if (history.launches() != 0)
    users += (users.empty() ? "" : " and ") + counted(history.launches(), "launch", "launches");
  return users;
}

/// Numbers pages: the snapshot's first, then the others by their addresses.
class Pages {
public:
  Pages(const std::vector<std::uint64_t>& first, const std::vector<UsedLine>& used) : pages_(first) {
    for (const UsedLine& one : used)
      if (const std::uint64_t page = one.line >> page_shift; pages_.empty() || pages_.back() != page)
        if (!std::ranges::binary_search(first, page))
          pages_.push_back(page);
    const auto own = pages_.begin() + std::ptrdiff_t(first.size());
    std::sort(own, pages_.end());
    pages_.erase(std::unique(own, pages_.end()), pages_.end());
    own_ = first.size();
  }

  std::size_t count() const { return pages_.size(); }

  std::uint32_t number_of(std::uint64_t line) const {
    const auto middle = pages_.begin() + std::ptrdiff_t(own_);
    const std::uint64_t page = line >> page_shift;
    auto found = std::lower_bound(pages_.begin(), middle, page);
    if (found == middle || *found != page)
      found = std::lower_bound(middle, pages_.end(), page);
    return std::uint32_t(found - pages_.begin()) << page_shift |
           std::uint32_t(line & ((std::uint64_t{1} << page_shift) - 1));
  }

private:
  std::vector<std::uint64_t> pages_; ///< two ascending parts
  std::size_t own_ = 0;              ///< pages in the first
};

/// The last uses of a line, or one of them.
struct Replayed {
  std::uint64_t when = 0;
  const UsedLine* line = nullptr;
  bool reads = false, writes = false;
};

/// Returns the last uses in the order of time. A line that was read again after it was written may have left
/// the L2 between the two, and then nothing of it is left to write back.
std::vector<Replayed> in_order(const std::vector<UsedLine>& used) {
  std::vector<Replayed> order;
  order.reserve(used.size());
  for (const UsedLine& one : used) {
    const bool is_read_last = one.written_when != one.when;
    if (is_read_last && one.written_when != 0)
      order.push_back({one.written_when, &one, false, true});
    order.push_back({one.when, &one, true, !is_read_last});
  }
  std::ranges::sort(order, {}, &Replayed::when);
  return order;
}

/// Replays uses of a line, the read before the write. Victims went to memory before the launch.
void use(L2& l2, std::uint32_t line, const Replayed& replayed) {
  const auto discard = [](std::uint32_t, unsigned, unsigned) {};
  const UsedLine& used = *replayed.line;
  const unsigned written = Coalesced::Line{0, {used.written[0], used.written[1]}}.sectors();
  l2.with_lines([&](auto& lines) {
    const auto request = [&](L2Kind kind, unsigned sectors, const ByteMask* bytes) {
      if (sectors != 0)
        l2.request<PlainInstructions, L2Form::any>(lines, kind, lines.set_of(0, line), line, sectors, bytes,
                                                   discard);
    };
    if (replayed.reads)
      request(L2Kind::load, used.read, nullptr);
    if (replayed.writes)
      request(L2Kind::store, written, &used.written);
  });
  if (used.is_evicted_first && replayed.when == used.when)
    l2.evict_first(line);
}

} // namespace

std::uint64_t lines_that_matter(const Gpu& gpu) {
  return std::max<std::uint64_t>(2 * gpu.l2_bytes / gpu.l2.line_bytes, 1);
}

std::uint64_t lines_that_matter(const std::vector<Gpu>& gpus) {
  std::uint64_t max = 1;
  for (const Gpu& gpu : gpus)
    max = std::max(max, lines_that_matter(gpu));
  return max;
}

L2Before l2_before(const MemoryHistory& history, const Snapshot& snapshot, const Gpu& gpu,
                   std::uint32_t partitions, const PartOfLines* part) {
  const auto cold = [](std::string why) {
    return L2Before{{}, {.warm = false, .bytes = 0, .why = std::move(why)}};
  };
  const std::uint64_t matter = part != nullptr ? part->matter : lines_that_matter(gpu);
  const bool known = history.unknown_before().empty() || history.lines() >= matter;
  if (history.lines() == 0)
    return cold(known ? "nothing used device memory before" : "not known after " + history.unknown_before());
  const std::vector<UsedLine> used = history.latest(matter);
  const Pages pages(snapshot.pages, used);
  if (pages.count() > max_pages)
    return cold(fmt::format("what came before touched more than {} pages of 2 MiB", max_pages));
  L2Before before{{}, {.warm = true, .bytes = 0, .why = "left by " + users_of(history)}};
  if (!known)
    before.start.why += "; the rest is not known after " + history.unknown_before();
  for (std::uint32_t i = 0; i < partitions; ++i)
    before.l2.push_back(partitions == 1 ? L2(gpu, snapshot.set_aside)
                                        : L2::partition_of(gpu, snapshot.set_aside));
  const auto home_of = [&](std::uint32_t line) -> L2& { return before.l2[home_partition(line, partitions)]; };
  for (const Replayed& one : in_order(used))
    if (const std::uint32_t line = pages.number_of(one.line->line); part == nullptr || part->keeps(line))
      use(home_of(line), line, one);
  for (const UsedLine& one : used) {
    const std::uint32_t line = pages.number_of(one.line);
    before.start.bytes += sector_bytes * sector_count(home_of(line).sectors_of(line));
  }
  return before;
}

} // namespace warplens::model
