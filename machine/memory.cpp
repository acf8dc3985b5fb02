#include "machine/memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace warplens::machine {

void Memory::FreePages::operator()(std::unique_ptr<Page>* pages) const {
  std::free(pages); // those that are not null were freed by their part
}

Memory::Memory(std::vector<Range> ranges, bool keeps_writers) : keeps_writers_(keeps_writers) {
  for (const Range& range : ranges)
    add(range);
}

void Memory::add(Range range) {
  if (range.bytes == 0)
    return;
  auto part = std::make_unique<Part>();
  part->range = range;
  part->first_page = range.address / page_bytes;
  part->page_count =
      static_cast<std::size_t>((range.address + range.bytes - 1) / page_bytes - part->first_page + 1);
  // Zeroed memory is an array of null pointers. A range may be as large as a GPU's memory, of which few pages
  // are written: the system gives the table's own pages only where they are touched.
  void* table = std::calloc(part->page_count, sizeof(std::unique_ptr<Page>));
  if (!table)
    throw std::bad_alloc();
  part->pages.reset(static_cast<std::unique_ptr<Page>*>(table));
  const auto after = std::ranges::upper_bound(
      parts_, range.address, {}, [](const std::unique_ptr<Part>& other) { return other->range.address; });
  parts_.insert(after, std::move(part));
}

void Memory::remove(std::uint64_t address) {
  std::erase_if(parts_, [&](const std::unique_ptr<Part>& part) { return part->range.address == address; });
  last_ = nullptr;
}

Memory::~Memory() {
  discard();
}

Memory::Part* Memory::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(
      parts_, address, {}, [](const std::unique_ptr<Part>& part) { return part->range.address; });
  if (after == parts_.begin() ||
      address - (*std::prev(after))->range.address >= (*std::prev(after))->range.bytes)
    return nullptr;
  return std::prev(after)->get();
}

std::unique_ptr<Memory::Page> Memory::copy_page(Part& part, std::uint64_t number) const {
  auto page = std::make_unique<Page>();
  const std::uint64_t begin = number * page_bytes;
  const std::uint64_t from = std::max(begin, part.range.address);
  const std::uint64_t end = std::min(begin + page_bytes, part.range.address + part.range.bytes);
  page->bytes.fill(std::byte{0});
  std::memcpy(page->bytes.data() + (from - begin), part.range.host + (from - part.range.address), end - from);
  if (keeps_writers_) {
    page->writers = std::make_unique<std::array<std::uint32_t, words>>();
    page->writers->fill(no_writer);
  }
  part.copied.push_back(static_cast<std::size_t>(number - part.first_page));
  return page;
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
  for (const std::unique_ptr<Part>& part : parts_) {
    std::vector<std::size_t> copied = part->copied;
    std::ranges::sort(copied);
    for (const std::size_t index : copied) {
      const Page& page = *part->pages[index];
      for (std::size_t word = 0; word < words; ++word) {
        if ((page.written[word / 32] >> (word % 32) & 1) == 0)
          continue;
        const std::uint64_t address = (part->first_page + index) * page_bytes + 4 * word;
        std::uint32_t before = 0, after = 0;
        std::memcpy(&after, page.bytes.data() + 4 * word, 4);
        for (std::uint64_t byte = 0; byte < 4; ++byte) // a range may end within a word
          if (const std::uint64_t offset = address + byte - part->range.address; offset < part->range.bytes)
            before |= std::to_integer<std::uint32_t>(part->range.host[offset]) << (8 * byte);
        f(address, before, after, page.writers ? (*page.writers)[word] : no_writer);
      }
    }
  }
}

std::size_t Memory::written_pages() const {
  std::size_t count = 0;
  for (const std::unique_ptr<Part>& part : parts_)
    count += part->copied.size();
  return count;
}

void Memory::refresh() {
  for (const std::unique_ptr<Part>& part : parts_)
    for (const std::size_t index : part->copied) {
      Page& page = *part->pages[index];
      for (std::size_t word = 0; word < words; ++word) {
        if ((page.written[word / 32] >> (word % 32) & 1) != 0)
          continue;
        const std::uint64_t address = (part->first_page + index) * page_bytes + 4 * word;
        const std::uint64_t offset = address - part->range.address;
        if (offset < part->range.bytes && part->range.bytes - offset >= 4)
          std::memcpy(page.bytes.data() + 4 * word, part->range.host + offset, 4);
      }
    }
}

void Memory::discard() {
  for (const std::unique_ptr<Part>& part : parts_) {
    for (const std::size_t index : part->copied)
      part->pages[index].reset();
    part->copied.clear();
  }
}

} // namespace warplens::machine
