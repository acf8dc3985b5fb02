// A sequence of records that grows at its end; capacity is checked once for many records, not for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace warplens::model {

template <class Record> class AppendBuffer {
  static_assert(std::is_trivially_copyable_v<Record>);

public:
  /// Reserves memory for this number of records behind the last one, and returns its begin. Records become
  /// elements by written_to().
  Record* room_for(std::size_t records) {
    if (as_number(end_) + records * sizeof(Record) > as_number(limit_)) [[unlikely]]
      grow(records);
    return end_;
  }
  void written_to(Record* end) { end_ = end; }

  Record* begin() const { return memory_.get(); }
  Record* end() const { return end_; }
  std::size_t size() const { return std::size_t(end_ - memory_.get()); }
  Record& operator[](std::size_t i) const { return memory_[i]; }
  void clear() { end_ = memory_.get(); }

private:
  /// Returns the address as a number: pointers behind the memory may not be compared.
  static std::uintptr_t as_number(const Record* at) { return reinterpret_cast<std::uintptr_t>(at); }

  [[gnu::noinline]] void grow(std::size_t records) {
    const std::size_t used = size();
    const std::size_t capacity = std::max(2 * used, used + records);
    auto memory = std::make_unique_for_overwrite<Record[]>(capacity);
    std::copy_n(memory_.get(), used, memory.get());
    memory_ = std::move(memory);
    end_ = memory_.get() + used;
    limit_ = memory_.get() + capacity;
  }

  std::unique_ptr<Record[]> memory_;
  Record *end_ = nullptr, *limit_ = nullptr;
};

} // namespace warplens::model
