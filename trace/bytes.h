// Numbers and strings as bytes: little-endian fixed-width numbers, LEB128 variable-length ones, zigzag for
// signed ones, strings behind their length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warplens::trace {

using Bytes = std::vector<std::uint8_t>;

template <class Number> void put_fixed(Bytes& bytes, Number number) {
  static_assert(std::is_unsigned_v<Number>);
  for (unsigned shift = 0; shift < 8 * sizeof number; shift += 8)
    bytes.push_back(static_cast<std::uint8_t>(number >> shift));
}

inline void put_varint(Bytes& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7)
    bytes.push_back(static_cast<std::uint8_t>(number | 0x80));
  bytes.push_back(static_cast<std::uint8_t>(number));
}

/// Writes a number so that small ones of either sign become small: 0, -1, 1, -2, … are 0, 1, 2, 3, …
inline void put_signed(Bytes& bytes, std::int64_t number) {
  put_varint(bytes, (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63));
}

inline void put_string(Bytes& bytes, std::string_view text) {
  put_varint(bytes, text.size());
  bytes.insert(bytes.end(), text.begin(), text.end());
}

/// Reads the output of the functions above. Reading past the end, or a number that does not fit, yields zeros
/// and makes ok() false.
class ByteReader {
public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }
  std::size_t left() const { return bytes_.size(); }

  std::uint8_t byte() { return static_cast<std::uint8_t>(little_endian(1)); }
  template <class Number> Number fixed() { return static_cast<Number>(little_endian(sizeof(Number))); }

  std::uint64_t varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t next = byte();
      if (shift == 63 && next > 1)
        break;
      number |= (next & 0x7f) << shift;
      if (next < 0x80)
        return number;
    }
    ok_ = false;
    return 0;
  }

  std::uint32_t varint32() {
    const std::uint64_t number = varint();
    ok_ = ok_ && number <= UINT32_MAX;
    return ok_ ? static_cast<std::uint32_t>(number) : 0;
  }

  std::int64_t signed_varint() {
    const std::uint64_t number = varint();
    return static_cast<std::int64_t>((number >> 1) ^ (~(number & 1) + 1));
  }

  std::string string() {
    const auto text = take(varint());
    return {text.begin(), text.end()};
  }

  /// Returns the next `count` bytes; empty if there are fewer.
  std::span<const std::uint8_t> take(std::uint64_t count) {
    if (count > bytes_.size()) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

private:
  std::uint64_t little_endian(std::size_t size) {
    std::uint64_t number = 0;
    unsigned shift = 0;
    for (std::uint8_t next : take(size)) {
      number |= std::uint64_t{next} << shift;
      shift += 8;
    }
    return number;
  }

  std::span<const std::uint8_t> bytes_;
  bool ok_ = true;
};

} // namespace warplens::trace
