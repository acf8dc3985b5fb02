#include "import/wire_format.h"

namespace warplens::import {

std::optional<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0)
      return value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t size) {
  if (rest_.size() < size)
    return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(rest_[i])) << (8 * i);
  rest_.remove_prefix(size);
  return value;
}

std::optional<WireField> WireReader::next() {
  if (rest_.empty() || is_damaged_)
    return std::nullopt;
  is_damaged_ = true; // until the field is read
  const auto tag = varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fff'ffff)
    return std::nullopt;
  WireField field;
  field.number = static_cast<std::uint32_t>(*tag >> 3);
  std::optional<std::uint64_t> value;
  switch (*tag & 7) {
  case 0: value = varint(); break;
  case 1: value = fixed(8); break;
  case 2: value = varint(); break;
  case 5: value = fixed(4); break;
  default: return std::nullopt;
  }
  if (!value)
    return std::nullopt;
  field.kind = static_cast<WireField::Kind>(*tag & 7);
  field.value = *value;
  if (field.kind == WireField::Kind::bytes) {
    if (*value > rest_.size())
      return std::nullopt;
    field.bytes = rest_.substr(0, *value);
    rest_.remove_prefix(*value);
  }
  is_damaged_ = false;
  return field;
}

std::optional<std::uint64_t> number_in(std::string_view message, std::uint32_t field) {
  std::optional<std::uint64_t> last;
  WireReader reader(message);
  while (const auto one = reader.next())
    if (one->number == field && one->is_number())
      last = one->value;
  return last;
}

std::optional<std::string_view> bytes_in(std::string_view message, std::uint32_t field) {
  std::optional<std::string_view> last;
  WireReader reader(message);
  while (const auto one = reader.next())
    if (one->number == field && !one->is_number())
      last = one->bytes;
  return last;
}

bool is_message(std::string_view bytes) {
  WireReader reader(bytes);
  while (reader.next())
    continue;
  return !reader.is_damaged();
}

} // namespace warplens::import
