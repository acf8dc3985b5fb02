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
#include <unordered_map>
#include <vector>

namespace warplens::machine {

/// Bytes that device code may read and write at an address, and where they lie in this process; the two may
/// be the same.
struct Range {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  const std::byte* host = nullptr;
};

class Memory {
public:
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::uint32_t no_writer = ~0u;

  /// The ranges must not overlap. If `keeps_writers`, the last instruction that wrote each word is kept.
  explicit Memory(std::vector<Range> ranges, bool keeps_writers = false);

  /// Adds a range; what was written stays.
  void add(Range range);
  /// Returns whether all bytes are in one range.
  bool contains(std::uint64_t address, std::uint64_t bytes) const;

  /// Returns where the bytes can be read, or null if some of them are in no range. They must not cross the
  /// end of a page. The pointer is valid until the next write.
  const std::byte* read(std::uint64_t address, std::uint64_t bytes) {
    const Entry& entry = lookup(address);
    const std::uint64_t offset = address % page_bytes;
    if (!entry.bytes || offset + bytes > page_bytes || (!entry.is_whole && !contains(address, bytes)))
      return nullptr;
    return entry.bytes + offset;
  }
  /// Returns where the bytes are to be written, and marks them as written by an instruction.
  std::byte* write(std::uint64_t address, std::uint64_t bytes, std::uint32_t writer) {
    const std::uint64_t offset = address % page_bytes;
    Entry& entry = lookup(address);
    if (!entry.bytes || offset + bytes > page_bytes || (!entry.is_whole && !contains(address, bytes)))
      return nullptr;
    if (!entry.page)
      copy_page(entry);
    entry.page->mark(offset, bytes, writer);
    return entry.page->bytes.data() + offset;
  }
  /// Copies bytes that may lie in several pages; returns whether all could be read.
  bool copy_from(std::uint64_t address, std::span<std::byte> bytes);
  bool copy_to(std::uint64_t address, std::span<const std::byte> bytes, std::uint32_t writer);

  /// Calls `f(address, old, new, writer)` for each aligned word of 32 bits of which a byte was written, by
  /// ascending addresses. The writer is an instruction's index, `no_writer` if they are not kept.
  using WordVisitor = std::function<void(std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t)>;
  void for_each_written_word(const WordVisitor& f) const;
  /// Returns the pages that were copied.
  std::size_t written_pages() const { return pages_.size(); }
  /// Forgets what was written.
  void discard();

private:
  static constexpr std::size_t words = page_bytes / 4;

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

  /// A page as the last look-ups found it.
  struct Entry {
    std::uint64_t number = ~std::uint64_t{0};
    const std::byte* bytes = nullptr; ///< null: no byte of the page is in a range
    Page* page = nullptr;             ///< null: not written yet
    bool is_whole = false;            ///< all bytes are in a range
  };

  Entry& lookup(std::uint64_t address) {
    Entry& entry = entries_[address / page_bytes % entries_.size()];
    if (entry.number != address / page_bytes)
      fill(entry, address / page_bytes);
    return entry;
  }
  void fill(Entry& entry, std::uint64_t number);
  void copy_page(Entry& entry);
  const Range* range_at(std::uint64_t address) const;

  std::vector<Range> ranges_; ///< by address
  bool keeps_writers_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Entry, 512> entries_{};
};

} // namespace warplens::machine
