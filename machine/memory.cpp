#include "machine/memory.h"

#include <cstring>

namespace warplens::machine {

Memory::Memory(std::vector<Range> ranges, bool keeps_writers)
    : ranges_(std::move(ranges)), keeps_writers_(keeps_writers) {
  std::erase_if(ranges_, [](const Range& range) { return range.bytes == 0; });
  std::ranges::sort(ranges_, {}, &Range::address);
}

void Memory::add(Range range) {
  if (range.bytes == 0)
    return;
  ranges_.insert(std::ranges::upper_bound(ranges_, range.address, {}, &Range::address), range);
  entries_.fill({});
}

const Range* Memory::range_at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::address);
  if (after == ranges_.begin() || address - std::prev(after)->address >= std::prev(after)->bytes)
    return nullptr;
  return &*std::prev(after);
}

bool Memory::contains(std::uint64_t address, std::uint64_t bytes) const {
  const Range* range = range_at(address);
  return range && bytes <= range->bytes - (address - range->address);
}

void Memory::fill(Entry& entry, std::uint64_t number) {
  const std::uint64_t begin = number * page_bytes;
  entry = {.number = number};
  const auto after = std::ranges::upper_bound(ranges_, begin + page_bytes - 1, {}, &Range::address);
  if (after == ranges_.begin())
    return;
  const Range& last = *std::prev(after);
  if (last.address + last.bytes <= begin)
    return;
  entry.is_whole = last.address <= begin && last.bytes - (begin - last.address) >= page_bytes;
  if (const auto page = pages_.find(number); page != pages_.end()) {
    entry.page = page->second.get();
    entry.bytes = entry.page->bytes.data();
  } else if (entry.is_whole) {
    entry.bytes = last.host + (begin - last.address);
  } else
    copy_page(entry); // parts of it, which may lie anywhere
}

void Memory::copy_page(Entry& entry) {
  auto page = std::make_unique<Page>();
  const std::uint64_t begin = entry.number * page_bytes, end = begin + page_bytes;
  if (!entry.is_whole)
    page->bytes.fill(std::byte{0});
  const auto after = std::ranges::upper_bound(ranges_, end - 1, {}, &Range::address);
  for (auto range = after; range != ranges_.begin();) {
    --range;
    const std::uint64_t range_end = range->address + range->bytes;
    if (range_end <= begin)
      break;
    const std::uint64_t from = std::max(begin, range->address), to = std::min(end, range_end);
    std::memcpy(page->bytes.data() + (from - begin), range->host + (from - range->address), to - from);
  }
  if (keeps_writers_) {
    page->writers = std::make_unique<std::array<std::uint32_t, words>>();
    page->writers->fill(no_writer);
  }
  entry.page = page.get();
  entry.bytes = page->bytes.data();
  pages_[entry.number] = std::move(page);
}

bool Memory::copy_from(std::uint64_t address, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min<std::size_t>(bytes.size(), page_bytes - address % page_bytes);
    const std::byte* from = read(address, part);
    if (!from)
      return false;
    std::memcpy(bytes.data(), from, part);
    bytes = bytes.subspan(part);
    address += part;
  }
  return true;
}

bool Memory::copy_to(std::uint64_t address, std::span<const std::byte> bytes, std::uint32_t writer) {
  while (!bytes.empty()) {
    const std::size_t part = std::min<std::size_t>(bytes.size(), page_bytes - address % page_bytes);
    std::byte* to = write(address, part, writer);
    if (!to)
      return false;
    std::memcpy(to, bytes.data(), part);
    bytes = bytes.subspan(part);
    address += part;
  }
  return true;
}

void Memory::for_each_written_word(const WordVisitor& f) const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, page] : pages_)
    numbers.push_back(number);
  std::ranges::sort(numbers);
  for (const std::uint64_t number : numbers) {
    const Page& page = *pages_.at(number);
    for (std::size_t word = 0; word < words; ++word) {
      if ((page.written[word / 32] >> (word % 32) & 1) == 0)
        continue;
      const std::uint64_t address = number * page_bytes + 4 * word;
      // A word may be only partly in a range.
      std::uint32_t before = 0, after = 0;
      std::memcpy(&after, page.bytes.data() + 4 * word, 4);
      for (std::uint64_t byte = 0; byte < 4; ++byte)
        if (const Range* range = range_at(address + byte))
          before |= std::to_integer<std::uint32_t>(range->host[address + byte - range->address])
                    << (8 * byte);
      f(address, before, after, page.writers ? (*page.writers)[word] : no_writer);
    }
  }
}

void Memory::discard() {
  pages_.clear();
  entries_.fill({});
}

} // namespace warplens::machine
