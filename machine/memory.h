// Device memory as a launch sees it: what the caller lets it read, under an overlay of the pages that the
// launch has written. The caller's memory is never changed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace warplens::machine {

/// Bytes that device code may read and write at an address, and where they lie in this process; the two may
/// be the same.
struct Range {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  const std::byte* host = nullptr;
  bool is_writable = true;
};

class Memory {
public:
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::uint32_t no_writer = ~0u;

  /// The ranges must not overlap. If `keeps_writers`, the last instruction that wrote each word is kept.
  explicit Memory(std::vector<Range> ranges, bool keeps_writers = false);

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  /// Adds a range; what was written stays.
  void add(Range range);
  /// Removes the range that begins at the address, with what was written.
  void remove(std::uint64_t address);
  /// Returns whether all bytes are in one range.
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    const Part* part = find(address);
    return part && bytes <= part->range.bytes - (address - part->range.address);
  }

  /// Returns where the bytes can be read, or null if they are not all in one range or cross the end of a
  /// page. The pointer is valid until the next write.
  const std::byte* read(std::uint64_t address, std::uint64_t bytes) {
    const Part* part = part_of(address, bytes);
    if (!part)
      return nullptr;
    const Page* page = part->pages[address / page_bytes - part->first_page].get();
    return page ? page->bytes.data() + address % page_bytes
                : part->range.host + (address - part->range.address);
  }
  /// Returns where the bytes are to be written, and marks them as written by an instruction.
  std::byte* write(std::uint64_t address, std::uint64_t bytes, std::uint32_t writer) {
    Part* part = part_of(address, bytes);
    if (!part || !part->range.is_writable)
      return nullptr;
    std::unique_ptr<Page>& page = part->pages[address / page_bytes - part->first_page];
    if (!page)
      page = copy_page(*part, address / page_bytes);
    page->mark(address % page_bytes, bytes, writer);
    return page->bytes.data() + address % page_bytes;
  }
  /// Copies bytes that may lie in several pages; returns whether all could be read or written.
  bool copy_from(std::uint64_t address, std::span<std::byte> bytes);
  bool copy_to(std::uint64_t address, std::span<const std::byte> bytes, std::uint32_t writer);

  /// Calls `f(address, old, new, writer)` for each aligned word of 32 bits of which a byte was written, by
  /// ascending addresses. The writer is an instruction's index, `no_writer` if they are not kept.
  using WordVisitor = std::function<void(std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t)>;
  void for_each_written_word(const WordVisitor& f) const;
  /// Returns the number of pages that were written.
  std::size_t written_pages() const;
  /// Reads again what the launch has not written, of pages of which it has written a part: others may have
  /// changed it, for which the launch may be waiting.
  void refresh();
  /// Forgets what was written.
  void discard();

private:
  static constexpr std::size_t words = page_bytes / 4;

  /// The copy of a page's bytes, as far as they are in a range.
  struct Page {
    std::array<std::byte, page_bytes> bytes;
    std::array<std::uint32_t, words / 32> written{};
    std::unique_ptr<std::array<std::uint32_t, words>> writers;

    void mark(std::uint64_t offset, std::uint64_t count, std::uint32_t writer) {
      const std::uint64_t first = offset / 4, last = (offset + count - 1) / 4;
      for (std::uint64_t word = first; word <= last;) {
        const std::uint64_t in_group = word % 32,
                            group = std::min<std::uint64_t>(last - word + 1, 32 - in_group);
        written[word / 32] |= (group == 32 ? ~0u : (1u << group) - 1) << in_group;
        word += group;
      }
      if (writers)
        for (std::uint64_t word = first; word <= last; ++word)
          (*writers)[word] = writer;
    }
  };

  struct FreePages {
    void operator()(std::unique_ptr<Page>* pages) const;
  };
  /// A range with the copies of its pages, which are null until they are written. A page that two ranges
  /// share has a copy for each.
  struct Part {
    Range range;
    std::uint64_t first_page = 0;
    std::size_t page_count = 0;
    std::unique_ptr<std::unique_ptr<Page>[], FreePages> pages; ///< zeroed memory that is touched where needed
    std::vector<std::size_t> copied;                           ///< the pages that are not null
  };

  Part* part_of(std::uint64_t address, std::uint64_t bytes) {
    Part* part = last_;
    if (!part || address - part->range.address >= part->range.bytes) {
      part = find(address);
      if (!part)
        return nullptr;
      last_ = part;
    }
    const bool is_inside = bytes <= part->range.bytes - (address - part->range.address) &&
                           address % page_bytes + bytes <= page_bytes;
    return is_inside ? part : nullptr;
  }
  Part* find(std::uint64_t address) const;
  std::unique_ptr<Page> copy_page(Part& part, std::uint64_t number) const;

  std::vector<std::unique_ptr<Part>> parts_; ///< by address
  Part* last_ = nullptr;                     ///< that an address was found in
  bool keeps_writers_;
};

} // namespace warplens::machine
