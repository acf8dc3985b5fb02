#include "trace/access_codec.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace warplens::trace {
namespace {

struct ShapeHash {
  std::size_t operator()(const Shape& shape) const {
    const std::uint64_t rest =
        (std::uint64_t{shape.bytes} << 16) | (std::uint64_t(shape.space) << 8) | std::uint64_t(shape.kind);
    return static_cast<std::size_t>((shape.site ^ rest) * 0x9e3779b97f4a7c15);
  }
};

struct AffineForm {
  std::uint64_t base, stride;
};

std::optional<AffineForm> affine_form(const WarpAccess& access) {
  const auto first = static_cast<unsigned>(std::countr_zero(access.active));
  const std::uint32_t others = access.active & (access.active - 1);
  std::uint64_t stride = 0;
  if (others) {
    const auto second = static_cast<unsigned>(std::countr_zero(others));
    const auto distance = static_cast<std::int64_t>(access.addresses[second] - access.addresses[first]);
    stride = static_cast<std::uint64_t>(distance / static_cast<std::int64_t>(second - first));
  }
  const AffineForm form{access.addresses[first] - stride * first, stride};
  bool fits = true;
  for_each_lane(access.active,
                [&](unsigned lane) { fits &= access.addresses[lane] == form.base + form.stride * lane; });
  return fits ? std::optional(form) : std::nullopt;
}

bool is_step(const WarpAccess& access, const Lanes& last, std::uint64_t& distance) {
  const auto first = static_cast<unsigned>(std::countr_zero(access.active));
  distance = access.addresses[first] - last[first];
  bool fits = true;
  for_each_lane(access.active,
                [&](unsigned lane) { fits &= access.addresses[lane] - last[lane] == distance; });
  return fits;
}

/// Differences lane by lane, and their cost.
struct Differences {
  AddressCode code = AddressCode::lanes_own;
  Lanes lanes{};
  unsigned bits = 0;  ///< bits of all together, as entropy coding packs them
  unsigned width = 1; ///< bytes that hold each with its sign

  void set(unsigned lane, std::uint64_t difference) {
    lanes[lane] = difference;
    const auto number = static_cast<std::int64_t>(difference);
    const auto size =
        static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(number ^ (number >> 63))));
    bits += size;
    width = std::max(width, size / 8 + 1);
  }
};

Differences smallest_differences(const WarpAccess& access, const Lanes& last, std::uint64_t reference) {
  std::array<Differences, 3> all;
  all[0].code = AddressCode::lanes_own;
  all[1].code = AddressCode::lanes_neighbour;
  all[2].code = AddressCode::lanes_reference;
  std::uint64_t neighbour = last[static_cast<unsigned>(std::countr_zero(access.active))];
  for_each_lane(access.active, [&](unsigned lane) {
    const std::uint64_t address = access.addresses[lane];
    all[0].set(lane, address - last[lane]);
    all[1].set(lane, address - neighbour);
    all[2].set(lane, address - reference);
    neighbour = address;
  });
  const Differences* best = &all[0];
  for (const Differences& other : all)
    if (other.bits < best->bits)
      best = &other;
  return *best;
}

} // namespace

struct AccessEncoder::State {
  LastAddresses last;
  std::unordered_map<Shape, std::uint32_t, ShapeHash> shape_index;
  Bytes shapes;
  std::array<Bytes, column_count> columns;
  std::array<Bytes, 1 + column_count> taken; ///< the head and the columns of the previous chunk
  std::uint32_t records = 0;
  std::uint32_t mask = 0;
  std::uint64_t block = 0, run_block = 0; // the block of the current run; that of the previous run
  std::uint32_t warp = 0, run_warp = 0;
  std::uint64_t run_length = 0;

  State() { last.start_chunk(); }

  void put_run() {
    if (run_length == 0)
      return;
    put_signed(columns[runs], static_cast<std::int64_t>(block - run_block));
    put_signed(columns[runs], std::int64_t{warp} - std::int64_t{run_warp});
    put_varint(columns[runs], run_length);
    run_block = block;
    run_warp = warp;
    run_length = 0;
  }

  std::uint32_t index_of(const Shape& shape) {
    const auto [place, is_new] =
        shape_index.try_emplace(shape, static_cast<std::uint32_t>(shape_index.size()));
    if (is_new) {
      put_fixed(shapes, shape.site);
      put_varint(shapes, shape.bytes);
      shapes.push_back(static_cast<std::uint8_t>(shape.space));
      shapes.push_back(static_cast<std::uint8_t>(shape.kind));
      last.add_shape();
    }
    return place->second;
  }

  /// Appends to the columns and returns the control byte's address code and width.
  unsigned put_addresses(const WarpAccess& access, std::size_t shape, const Lanes& last_lanes) {
    std::uint64_t distance = 0;
    if (!has_addresses(access))
      return static_cast<unsigned>(AddressCode::step);
    if (is_step(access, last_lanes, distance)) {
      put_signed(columns[scalars], static_cast<std::int64_t>(distance));
      return static_cast<unsigned>(AddressCode::step);
    }
    if (const auto form = affine_form(access)) {
      put_signed(columns[scalars], static_cast<std::int64_t>(form->base - last_lanes[0]));
      put_signed(columns[scalars], static_cast<std::int64_t>(form->stride));
      return static_cast<unsigned>(AddressCode::affine);
    }
    const Differences differences = smallest_differences(access, last_lanes, last.reference(shape));
    for (unsigned byte = 0; byte < differences.width; ++byte) {
      Bytes& plane = columns[planes + byte];
      std::size_t end = plane.size();
      plane.resize(end + static_cast<unsigned>(std::popcount(access.active)));
      for_each_lane(access.active, [&](unsigned lane) {
        plane[end++] = static_cast<std::uint8_t>(differences.lanes[lane] >> (8 * byte));
      });
    }
    return static_cast<unsigned>(differences.code) | (differences.width - 1) << width_shift;
  }
};

AccessEncoder::AccessEncoder() : state_(std::make_unique<State>()) {}
AccessEncoder::~AccessEncoder() = default;

std::uint32_t AccessEncoder::records() const {
  return state_->records;
}

bool AccessEncoder::full() const {
  if (state_->shape_index.size() >= max_shapes)
    return true;
  constexpr std::uint32_t interval = 64; // accesses: their maximum size is small beside a chunk
  if (state_->records % interval != 0)
    return false;
  std::size_t size = 0;
  for (const Bytes& column : state_->columns)
    size += column.size();
  return size >= full_chunk_bytes;
}

void AccessEncoder::add(std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
  State& state = *state_;
  if (block != state.block || warp != state.warp) {
    state.put_run();
    state.block = block;
    state.warp = warp;
  }
  ++state.run_length;
  ++state.records;

  const std::uint32_t shape = state.index_of({access.site, access.bytes, access.space, access.kind});
  put_varint(state.columns[shape_indices], shape);
  unsigned control_byte = 0;
  if (access.active != state.mask) {
    control_byte |= changed_mask_bit;
    put_fixed(state.columns[masks], access.active ^ state.mask);
    state.mask = access.active;
  }
  Lanes& last_lanes = state.last.of(block, warp, shape);
  control_byte |= state.put_addresses(access, shape, last_lanes);
  state.columns[control].push_back(static_cast<std::uint8_t>(control_byte));
  state.last.remember(access, shape, last_lanes);
}

std::span<const Bytes> AccessEncoder::take() {
  State& state = *state_;
  state.put_run();
  Bytes& head = state.taken.front();
  head.clear();
  put_varint(head, state.shape_index.size());
  head.insert(head.end(), state.shapes.begin(), state.shapes.end());
  for (const Bytes& column : state.columns)
    put_varint(head, column.size());
  for (std::size_t column = 0; column < column_count; ++column) {
    std::swap(state.columns[column], state.taken[1 + column]);
    state.columns[column].clear(); // keeps its memory: chunks are large, and there are many
  }
  state.shape_index.clear();
  state.shapes.clear();
  state.records = 0;
  state.mask = 0;
  state.block = state.run_block = 0;
  state.warp = state.run_warp = 0;
  state.last.start_chunk();
  return state.taken;
}

} // namespace warplens::trace
