#include "trace/access_codec.h"

namespace warplens::trace {
namespace {

Expected<std::vector<Shape>> read_shapes(ByteReader& reader) {
  const std::uint64_t count = reader.varint();
  if (count > max_shapes)
    return fail("it has {} shapes, more than can be", count);
  std::vector<Shape> shapes;
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    Shape shape;
    shape.site = reader.fixed<std::uint64_t>();
    const std::uint32_t bytes = reader.varint32();
    const std::uint8_t space = reader.byte();
    const std::uint8_t kind = reader.byte();
    if (bytes > UINT16_MAX || space > static_cast<std::uint8_t>(Space::constant) ||
        kind > static_cast<std::uint8_t>(AccessKind::mark))
      return fail("shape {} has an impossible size, space or kind", i);
    shape.bytes = static_cast<std::uint16_t>(bytes);
    shape.space = static_cast<Space>(space);
    shape.kind = static_cast<AccessKind>(kind);
    shapes.push_back(shape);
  }
  if (!reader.ok())
    return fail("its table of shapes ends too early");
  return shapes;
}

using Columns = std::vector<ByteReader>;

Expected<Columns> read_columns(ByteReader& reader) {
  std::array<std::uint64_t, column_count> lengths{};
  for (std::uint64_t& length : lengths)
    length = reader.varint();
  Columns columns;
  for (const std::uint64_t length : lengths)
    columns.emplace_back(reader.take(length));
  if (!reader.ok() || !reader.at_end())
    return fail("the lengths of its columns do not add up");
  return columns;
}

/// Fills in the addresses of the active lanes; returns false if the control byte is invalid.
bool read_addresses(unsigned control_byte, Columns& columns, const Lanes& last, std::uint64_t reference,
                    WarpAccess& access) {
  const auto code = static_cast<AddressCode>(control_byte & 7);
  const unsigned width = (control_byte >> width_shift & 7) + 1;
  if (!has_addresses(access))
    return code == AddressCode::step;
  switch (code) {
  case AddressCode::step: {
    const auto distance = static_cast<std::uint64_t>(columns[scalars].signed_varint());
    for_each_lane(access.active, [&](unsigned lane) { access.addresses[lane] = last[lane] + distance; });
    return true;
  }
  case AddressCode::affine: {
    const std::uint64_t base = last[0] + static_cast<std::uint64_t>(columns[scalars].signed_varint());
    const auto stride = static_cast<std::uint64_t>(columns[scalars].signed_varint());
    for_each_lane(access.active, [&](unsigned lane) { access.addresses[lane] = base + stride * lane; });
    return true;
  }
  case AddressCode::lanes_own:
  case AddressCode::lanes_neighbour:
  case AddressCode::lanes_reference: {
    const auto count = static_cast<unsigned>(std::popcount(access.active));
    Lanes differences{};
    for (unsigned byte = 0; byte < width; ++byte) {
      const auto plane = columns[planes + byte].take(count);
      for (std::size_t i = 0; i < plane.size(); ++i)
        differences[i] |= std::uint64_t{plane[i]} << (8 * byte);
    }
    const unsigned unused_bits = 64 - 8 * width;
    std::uint64_t neighbour = last[static_cast<unsigned>(std::countr_zero(access.active))];
    std::size_t i = 0;
    for_each_lane(access.active, [&](unsigned lane) {
      const auto shifted = static_cast<std::int64_t>(differences[i++] << unused_bits);
      const auto difference = static_cast<std::uint64_t>(shifted >> unused_bits); // carries the sign
      const std::uint64_t from = code == AddressCode::lanes_own         ? last[lane]
                                 : code == AddressCode::lanes_neighbour ? neighbour
                                                                        : reference;
      access.addresses[lane] = neighbour = from + difference;
    });
    return true;
  }
  }
  return false;
}

} // namespace

Expected<void> AccessDecoder::decode(std::span<const std::uint8_t> payload, std::uint32_t records,
                                     const Visit& visit) {
  ByteReader reader(payload);
  TRY_LET(shapes, read_shapes(reader));
  TRY_LET(columns, read_columns(reader));
  if ((*columns)[control].left() != records)
    return fail("it states {} accesses and holds {}", records, (*columns)[control].left());

  last_.start_chunk();
  for (std::size_t i = 0; i < shapes->size(); ++i)
    last_.add_shape();
  std::uint64_t block = 0, run_left = 0;
  std::uint32_t warp = 0, mask = 0;
  for (std::uint32_t record = 0; record < records; ++record) {
    if (run_left == 0) {
      block += static_cast<std::uint64_t>((*columns)[runs].signed_varint());
      warp += static_cast<std::uint32_t>((*columns)[runs].signed_varint());
      run_left = (*columns)[runs].varint();
      if (run_left == 0 || run_left > records - record)
        return fail("its runs do not add up to its accesses");
    }
    --run_left;
    const unsigned control_byte = (*columns)[control].byte();
    const std::uint64_t shape = (*columns)[shape_indices].varint();
    if (shape >= shapes->size())
      return fail("access {} has shape {} of {}", record, shape, shapes->size());
    if (control_byte & changed_mask_bit)
      mask ^= (*columns)[masks].fixed<std::uint32_t>();

    WarpAccess access;
    access.site = (*shapes)[shape].site;
    access.bytes = (*shapes)[shape].bytes;
    access.space = (*shapes)[shape].space;
    access.kind = (*shapes)[shape].kind;
    access.active = mask;
    Lanes& last_lanes = last_.of(block, warp, shape);
    if (control_byte > 0x7f ||
        !read_addresses(control_byte, *columns, last_lanes, last_.reference(shape), access))
      return fail("access {} has an unknown encoding", record);
    for (const ByteReader& column : *columns)
      if (!column.ok())
        return fail("a column ends before access {}", record);
    last_.remember(access, shape, last_lanes);
    visit(block, warp, access);
  }
  for (const ByteReader& column : *columns)
    if (!column.at_end())
      return fail("a column goes on behind the last access");
  return {};
}

} // namespace warplens::trace
