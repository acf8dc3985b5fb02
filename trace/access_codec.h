// Encodes warp accesses into the payload of a chunk and decodes them. Each chunk is self-contained.
// docs/trace-format.md describes the layout; this file has the parts that both directions share.
#pragma once

#include "support/expected.h"
#include "trace/bytes.h"
#include "trace/format.h"
#include "trace/records.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace warplens::trace {

/// The encoding of the addresses of an access. `lanes_…`: one difference per active lane, to
enum class AddressCode : std::uint8_t {
  step = 0,            ///< all lanes moved by the same distance since their last addresses
  affine = 1,          ///< base + stride × lane
  lanes_own = 2,       ///< the lane's own last address,
  lanes_neighbour = 3, ///< the active lane below, the lowest to its own last address,
  lanes_reference = 4, ///< the first address seen at this shape in the chunk.
};

// The control byte of an access: bits 0-2 an AddressCode, bits 3-5 bytes per difference less one, bit 6 the
// mask changed.
inline constexpr unsigned width_shift = 3;
inline constexpr unsigned changed_mask_bit = 1u << 6;

/// The columns behind the table of shapes: like values lie together, which makes them compress.
enum Column : std::size_t { runs, control, shape_indices, masks, scalars, planes, column_count = planes + 8 };

/// The common properties of accesses; named by its index in the chunk's table.
struct Shape {
  std::uint64_t site = 0;
  std::uint16_t bytes = 0;
  Space space = Space::global;
  AccessKind kind = AccessKind::load;
  friend bool operator==(const Shape&, const Shape&) = default;
};

using Lanes = std::array<std::uint64_t, warp_lanes>;

/// Returns whether addresses are encoded for the access: a barrier has none, a mark a count.
inline bool has_addresses(const WarpAccess& access) {
  return access.active != 0 && access.kind != AccessKind::barrier;
}

/// Calls `act(lane)` for each active lane, lowest first.
template <class Act> void for_each_lane(std::uint32_t active, Act act) {
  if (active == ~std::uint32_t{0}) { // mostly, and the compiler takes several lanes together
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      act(lane);
    return;
  }
  for (; active; active &= active - 1)
    act(static_cast<unsigned>(std::countr_zero(active)));
}

/// The last addresses of each (block, warp, shape), in a table of fixed size: entries that fall into the same
/// slot share it, which costs compression, never correctness, since both directions do the same.
class LastAddresses {
public:
  LastAddresses() : slots_(static_cast<Slot*>(std::calloc(slot_count, sizeof(Slot)))) {
    if (!slots_)
      throw std::bad_alloc();
  }

  void start_chunk() {
    ++chunk_;
    shapes_.clear();
  }
  void add_shape() { shapes_.emplace_back(); }

  /// Returns the addresses that a shape's lanes accessed last in this warp; in a new warp, those of any warp.
  Lanes& of(std::uint64_t block, std::uint32_t warp, std::size_t shape) {
    std::uint64_t hash = (block * 64 + warp) * max_shapes + shape;
    hash *= 0x9e3779b97f4a7c15; // 2^64 / golden ratio: Fibonacci hashing
    Slot& slot = slots_[hash >> (64 - slot_bits)];
    if (slot.chunk != chunk_) {
      slot.chunk = chunk_;
      slot.lanes = shapes_[shape].lanes;
    }
    return slot.lanes;
  }

  /// Returns the first address seen at the shape in this chunk; 0 before.
  std::uint64_t reference(std::size_t shape) const { return shapes_[shape].reference; }

  void remember(const WarpAccess& access, std::size_t shape, Lanes& last) {
    if (!has_addresses(access))
      return;
    ShapeState& state = shapes_[shape];
    if (!state.seen) {
      state.seen = true;
      state.reference = access.addresses[static_cast<unsigned>(std::countr_zero(access.active))];
      state.lanes.fill(state.reference);
      last.fill(state.reference);
    }
    for_each_lane(access.active,
                  [&](unsigned lane) { last[lane] = state.lanes[lane] = access.addresses[lane]; });
  }

private:
  static constexpr unsigned slot_bits = 16;
  static constexpr std::size_t slot_count = std::size_t{1} << slot_bits;
  struct Slot {
    std::uint64_t chunk = 0;
    Lanes lanes;
  };
  struct ShapeState {
    bool seen = false;
    std::uint64_t reference = 0;
    Lanes lanes{};
  };
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };
  std::unique_ptr<Slot[], Free>
      slots_; // calloc'ed: the kernel gives zeroed pages only for slots that are used
  std::vector<ShapeState> shapes_;
  std::uint64_t chunk_ = 0;
};

class AccessEncoder {
public:
  AccessEncoder();
  ~AccessEncoder();
  AccessEncoder(const AccessEncoder&) = delete;
  AccessEncoder& operator=(const AccessEncoder&) = delete;

  void add(std::uint64_t block, std::uint32_t warp, const WarpAccess& access);
  std::uint32_t records() const; ///< accesses added since the last take()
  bool full() const;
  /// Returns the payload, column by column, valid until the next call, and starts afresh.
  std::span<const Bytes> take();

private:
  struct State;
  std::unique_ptr<State> state_;
};

class AccessDecoder {
public:
  using Visit = std::function<void(std::uint64_t block, std::uint32_t warp, const WarpAccess&)>;
  /// Decodes a payload. The error names the fault; some accesses may have been visited by then.
  Expected<void> decode(std::span<const std::uint8_t> payload, std::uint32_t records, const Visit& visit);

private:
  LastAddresses last_;
};

} // namespace warplens::trace
