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

/// An access's active lanes without gaps, lowest first: loops over them have no branches, and the compiler
/// takes several lanes together.
class ActiveLanes {
public:
  /// `last` and the access must outlive this.
  ActiveLanes(const WarpAccess& access, const Lanes& last) {
    if (access.active == ~std::uint32_t{0}) {
      addresses_ = access.addresses.data();
      last_ = last.data();
      count_ = warp_lanes;
      return;
    }
    for_each_lane(access.active, [&](unsigned lane) {
      packed_addresses_[count_] = access.addresses[lane];
      packed_last_[count_++] = last[lane];
    });
  }
  ActiveLanes(const ActiveLanes&) = delete;
  ActiveLanes& operator=(const ActiveLanes&) = delete;

  unsigned count() const { return count_; }
  const std::uint64_t* addresses() const { return addresses_; }
  const std::uint64_t* last() const { return last_; } ///< each lane's address before this access

private:
  unsigned count_ = 0;
  Lanes packed_addresses_, packed_last_; ///< unset where all lanes are active
  const std::uint64_t* addresses_ = packed_addresses_.data();
  const std::uint64_t* last_ = packed_last_.data();
};

struct AffineForm {
  std::uint64_t base, stride;
};

std::optional<AffineForm> affine_form(const WarpAccess& access) {
  const auto first = static_cast<unsigned>(std::countr_zero(access.active));
  const auto highest = static_cast<unsigned>(std::bit_width(access.active)) - 1;
  const std::uint32_t others = access.active & (access.active - 1);
  std::uint64_t stride = 0;
  if (others) {
    const auto second = static_cast<unsigned>(std::countr_zero(others));
    const auto distance = static_cast<std::int64_t>(access.addresses[second] - access.addresses[first]);
    stride = static_cast<std::uint64_t>(distance / static_cast<std::int64_t>(second - first));
  }
  const AffineForm form{access.addresses[first] - stride * first, stride};
  if (access.addresses[highest] != form.base + form.stride * highest) // what most others differ in
    return std::nullopt;
  std::uint64_t differing = 0;
  for_each_lane(access.active, [&](unsigned lane) {
    differing |= access.addresses[lane] ^ (form.base + form.stride * lane);
  });
  return differing == 0 ? std::optional(form) : std::nullopt;
}

bool is_step(const ActiveLanes& lanes, std::uint64_t& distance) {
  distance = lanes.addresses()[0] - lanes.last()[0];
  std::uint64_t differing = 0;
  for (unsigned i = 0; i < lanes.count(); ++i)
    differing |= (lanes.addresses()[i] - lanes.last()[i]) ^ distance;
  return differing == 0;
}

/// Returns the bits of all numbers together, each at most 2^51 - 1. `count` is even. A double's exponent has
/// the width of its number, and unlike std::bit_width() that of several numbers at once.
std::uint64_t bits_of(const std::uint64_t* numbers, unsigned count) {
  using Words = std::uint64_t __attribute__((vector_size(16)));
  using Doubles = double __attribute__((vector_size(16)));
  constexpr Doubles two_to_52{0x1p52, 0x1p52};
  constexpr std::uint64_t exponent_of_1 = 1023;
  constexpr unsigned mantissa_bits = 52;
  Words exponents{};
  for (unsigned i = 0; i < count; i += 2) { // 2 n + 1, whose exponent is the width of n, and which is not 0
    const Words pair = Words{numbers[i], numbers[i + 1]} * 2 + 1;
    const Doubles number = reinterpret_cast<Doubles>(pair | reinterpret_cast<Words>(two_to_52)) - two_to_52;
    exponents += reinterpret_cast<Words>(number) >> mantissa_bits;
  }
  return exponents[0] + exponents[1] - exponent_of_1 * count;
}

/// Differences of the active lanes, and their cost.
struct Differences {
  AddressCode code = AddressCode::lanes_own;
  Lanes lanes;            ///< as many as are active
  std::uint64_t bits = 0; ///< bits of all together, as entropy coding packs them
  unsigned width = 1;     ///< bytes that hold each with its sign

  /// Sets all but the code from `difference(i)` of the i-th active lane.
  template <class Difference> void set(unsigned count, Difference difference) {
    std::array<std::uint64_t, warp_lanes + 1> magnitudes; // one more, for pairs
    magnitudes[count] = 0;
    std::uint64_t all = 0;
    for (unsigned i = 0; i < count; ++i) {
      lanes[i] = difference(i);
      const auto number = static_cast<std::int64_t>(lanes[i]);
      magnitudes[i] = static_cast<std::uint64_t>(number < 0 ? ~number : number);
      all |= magnitudes[i];
    }
    const auto longest = static_cast<unsigned>(std::bit_width(all));
    width = longest / 8 + 1;
    constexpr unsigned max_bits = 51;
    if (longest <= max_bits)
      bits = bits_of(magnitudes.data(), count + count % 2);
    else
      for (unsigned i = 0; i < count; ++i)
        bits += static_cast<unsigned>(std::bit_width(magnitudes[i]));
  }
};

/// Returns the smallest of `all`, which it sets.
const Differences& smallest_differences(const ActiveLanes& active, std::uint64_t reference,
                                        std::array<Differences, 3>& all) {
  const std::uint64_t* const addresses = active.addresses();
  const std::uint64_t* const last = active.last();
  auto& [own, to_neighbour, to_reference] = all;
  own.code = AddressCode::lanes_own;
  own.set(active.count(), [&](unsigned i) { return addresses[i] - last[i]; });
  Lanes neighbours;
  neighbours[0] = last[0];
  std::copy_n(addresses, active.count() - 1, neighbours.begin() + 1);
  to_neighbour.code = AddressCode::lanes_neighbour;
  to_neighbour.set(active.count(), [&](unsigned i) { return addresses[i] - neighbours[i]; });
  to_reference.code = AddressCode::lanes_reference;
  to_reference.set(active.count(), [&](unsigned i) { return addresses[i] - reference; });
  return *std::ranges::min_element(all, {}, &Differences::bits);
}

} // namespace

struct AccessEncoder::State {
  LastAddresses last;
  std::unordered_map<Shape, std::uint32_t, ShapeHash> shape_index;
  /// Some of shape_index's entries, each at a place of its hash: kernels have few shapes, over and over.
  struct RecentShape {
    Shape shape;
    std::uint32_t index = none;
    static constexpr std::uint32_t none = ~std::uint32_t{0};
  };
  std::array<RecentShape, 64> recent_shapes;
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
    static_assert(sizeof(std::size_t) == 8);
    RecentShape& recent = recent_shapes[ShapeHash()(shape) >> 58]; // 64 places
    if (recent.index == RecentShape::none || recent.shape != shape)
      recent = {shape, looked_up(shape)};
    return recent.index;
  }

  std::uint32_t looked_up(const Shape& shape) {
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
    if (!has_addresses(access))
      return static_cast<unsigned>(AddressCode::step);
    const ActiveLanes active(access, last_lanes);
    std::uint64_t distance = 0;
    if (is_step(active, distance)) {
      put_signed(columns[scalars], static_cast<std::int64_t>(distance));
      return static_cast<unsigned>(AddressCode::step);
    }
    if (const auto form = affine_form(access)) {
      put_signed(columns[scalars], static_cast<std::int64_t>(form->base - last_lanes[0]));
      put_signed(columns[scalars], static_cast<std::int64_t>(form->stride));
      return static_cast<unsigned>(AddressCode::affine);
    }
    std::array<Differences, 3> all;
    const Differences& differences = smallest_differences(active, last.reference(shape), all);
    for (unsigned byte = 0; byte < differences.width; ++byte) {
      Bytes& plane = columns[planes + byte];
      plane.resize(plane.size() + active.count());
      std::uint8_t* const end = plane.data() + plane.size() - active.count();
      for (unsigned i = 0; i < active.count(); ++i)
        end[i] = static_cast<std::uint8_t>(differences.lanes[i] >> (8 * byte));
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
  state.recent_shapes.fill({});
  state.shapes.clear();
  state.records = 0;
  state.mask = 0;
  state.block = state.run_block = 0;
  state.warp = state.run_warp = 0;
  state.last.start_chunk();
  return state.taken;
}

} // namespace warplens::trace
