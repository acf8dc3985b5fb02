// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), read without a schema: a
// message is a sequence of fields, each with its number and one of four kinds of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warplens::import {

/// A field of a message. Which of the two values it has follows from its kind.
struct WireField {
  enum class Kind : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  std::uint32_t number = 0;
  Kind kind = Kind::varint;
  std::uint64_t value = 0; ///< of a varint; the bits of a fixed one
  std::string_view bytes;  ///< of bytes, a text or a message; a view into the message

  bool is_number() const { return kind != Kind::bytes; }
};

/// Reads one field after the other from bytes that may be anything.
class WireReader {
public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  /// Returns the next field; none at the end, and from the first damaged field on.
  std::optional<WireField> next();
  bool is_damaged() const { return is_damaged_; }

private:
  std::optional<std::uint64_t> varint();
  std::optional<std::uint64_t> fixed(std::size_t size);

  std::string_view rest_;
  bool is_damaged_ = false;
};

/// Returns the last value of the field, which is the one that counts where a field stands twice; none where
/// there is no field of this number and kind.
std::optional<std::uint64_t> number_in(std::string_view message, std::uint32_t field);
std::optional<std::string_view> bytes_in(std::string_view message, std::uint32_t field);

/// Returns whether the whole message is a sequence of fields.
bool is_message(std::string_view bytes);

} // namespace warplens::import
