// Copies of many bytes at once, by the unit that hardware calls the tensor memory accelerator. A copy is done
// when it is issued, and its bytes complete at once at their barrier (PTX ISA, "cp.async.bulk" and
// "Tensors").
#include "machine/atomic_numbers.h"
#include "machine/integers.h"
#include "machine/numbers.h"
#include "machine/tensor_map.h"
#include "machine/warp.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace warplens::machine {
namespace {

using sass::Opcode;

u64 pair_at(const u32* row) {
  return u64{row[lane_count]} << 32 | row[0];
}

/// Calls `to_block(address, barrier)` with both addresses in each block that the copy goes to; a mask has a
/// bit for each block of the cluster.
template <class ToBlock>
void for_each_target(u32 address, u32 barrier, bool is_multicast, u32 blocks, ToBlock to_block) {
  if (!is_multicast)
    return to_block(address, barrier);
  for (; blocks != 0; blocks &= blocks - 1) {
    const u32 block = first_lane(blocks) << 24;
    to_block(block | (address & shared_offset_mask), block | (barrier & shared_offset_mask));
  }
}

void copy_in_bulk(Warp& warp, const Operation& o, Mask) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b), c = warp.row(o.c)[0];
  const u32 bytes = 16 * (c & 0xffff);
  const bool is_to_global = o.operands->function == 0, is_from_global = o.operands->function == 1;
  if (const u64 global = pair_at(is_to_global ? b : a); (is_to_global || is_from_global) && global % 16 != 0)
    return warp.stop(Outcome::Kind::fault,
                     fmt::format("misaligned bulk copy at {:#x}: addresses are multiples of 16", global),
                     global);
  Memory& memory = *warp.block->launch->memory;
  // A is the source, B the destination; beside an address in shared memory is that of the barrier.
  const auto copy = [&](u32 to) {
    for (u32 done = 0; done < bytes; done += 16) {
      const u32 here = is_to_global ? a[0] : to;
      std::byte* const at = shared_bytes_at(warp, here + done, 16);
      if (!at)
        return fault(warp, o, here + done);
      if (!is_to_global && !is_from_global) {
        const std::byte* const from = shared_bytes_at(warp, a[0] + done, 16);
        if (!from)
          return fault(warp, o, a[0] + done);
        std::memmove(at, from, 16);
        continue;
      }
      const u64 global = pair_at(is_to_global ? b : a) + done;
      if (is_to_global ? !memory.copy_to(global, std::span<const std::byte>(at, 16), warp.pc)
                       : !memory.copy_from(global, std::span(at, 16)))
        return fault(warp, o, global);
    }
  };
  if (is_to_global)
    return copy(0);
  for_each_target(b[0], b[lane_count], o.operands->wraps, c >> 16, [&](u32 to, u32 barrier) {
    copy(to);
    if (!warp.is_stopped)
      complete_bytes(warp, o, barrier, bytes);
  });
}

// ---- reductions

/// Combines an element in place with a value.
void combine(TensorMap::Type type, sass::AtomicOperation operation, std::byte* place,
             const std::byte* value) {
  using enum TensorMap::Type;
  const auto apply = [&]<class Number>(Number, auto combine_numbers) {
    Number old, other;
    std::memcpy(&old, place, sizeof old);
    std::memcpy(&other, value, sizeof other);
    const Number result = combine_numbers(old, other);
    std::memcpy(place, &result, sizeof result);
  };
  const auto integer = [&](auto number) {
    apply(number, [&](auto old, auto other) { return combine_integers(operation, old, other); });
  };
  switch (type) {
  case u8: return integer(std::uint8_t{});
  case u16: return integer(std::uint16_t{});
  case u32: return integer(std::uint32_t{});
  case s32: return integer(std::int32_t{});
  case u64: return integer(std::uint64_t{});
  case s64: return integer(std::int64_t{});
  case f16:
    return apply(std::uint16_t{}, [&](std::uint16_t old, std::uint16_t other) {
      return double_to_half(combine_floats<double>(operation, half_to_float(old), half_to_float(other)),
                            Direction::nearest);
    });
  case bf16:
    return apply(std::uint16_t{}, [&](std::uint16_t old, std::uint16_t other) {
      return double_to_bfloat(combine_floats<double>(operation, bfloat_to_float(old), bfloat_to_float(other)),
                              Direction::nearest);
    });
  case f64:
    return apply(double{}, [&](double old, double other) { return combine_floats(operation, old, other); });
  default:
    return apply(float{}, [&](float old, float other) {
      return static_cast<float>(combine_floats<double>(operation, old, other));
    });
  }
}

void reduce_in_bulk(Warp& warp, const Operation& o, Mask) {
  using enum TensorMap::Type;
  // The field at bit 81 is the index.
  constexpr TensorMap::Type types[] = {u32, s32, u64, s64, f16, f32, f32_ftz, f64, bf16};
  if (o.operands->type >= std::size(types))
    return warp.stop(Outcome::Kind::refused, "a bulk reduction of this type");
  const TensorMap::Type type = types[o.operands->type];
  const std::uint32_t bytes = 16 * (warp.row(o.c)[0] & 0xffff), size = bytes_of(type),
                      shared = warp.row(o.a)[0];
  const std::uint64_t global = pair_at(warp.row(o.b));
  for (std::uint32_t done = 0; done < bytes; done += size) {
    const std::byte* const value = shared_bytes_at(warp, shared + done, size);
    if (!value)
      return fault(warp, o, shared + done);
    std::byte* const place = warp.block->launch->memory->write(global + done, size, warp.pc);
    if (!place)
      return fault(warp, o, global + done);
    combine(type, o.operands->atomic, place, value);
  }
}

// ---- tensors

using Coordinates = std::array<i64, TensorMap::max_rank>;

/// Returns where the map puts a byte of the box in shared memory: chunks of 16 or 32 bytes are exchanged
/// within rows of the swizzle's width, by bits of the address, so that columns lie in different banks.
u32 swizzled(TensorMap::Swizzle swizzle, u32 address) {
  switch (swizzle) {
  case TensorMap::Swizzle::bytes_32: return address ^ (address >> 3 & 0x10);
  case TensorMap::Swizzle::bytes_64: return address ^ (address >> 3 & 0x30);
  case TensorMap::Swizzle::bytes_128: return address ^ (address >> 3 & 0x70);
  case TensorMap::Swizzle::bytes_128_atom_32: return address ^ (address >> 2 & 0x60);
  default: return address;
  }
}

/// A box of elements, one after the other as they lie in shared memory.
class Box {
public:
  Box(const TensorMap& map, bool is_im2col, const Coordinates& first, u32 offsets)
      : map_(map), is_im2col_(is_im2col), first_(first) {
    if (!is_im2col)
      return;
    // All offsets together have 16 bits.
    const u32 spatial = map.rank - 2u, bits = 16 / spatial;
    for (u32 i = 0; i < spatial; ++i)
      offsets_[i] = offsets >> (bits * i) & ((1u << bits) - 1);
  }

  /// Calls `visit(number, address, count)` for elements that lie beside each other in global memory; the
  /// address is 0 outside of the tensor.
  template <class Visit> void for_each_run(Visit visit) const {
    if (is_im2col_)
      return for_each_pixel(visit);
    const u32 step = std::max<u32>(map_.steps[0], 1), in_row = (map_.box[0] + step - 1) / step;
    u32 number = 0;
    Coordinates at{};
    for (;;) {
      Coordinates place{};
      for (u32 i = 0; i < map_.rank; ++i)
        place[i] = first_[i] + at[i];
      visit_row(number, place, in_row, step, visit);
      number += in_row;
      u32 i = 1;
      for (; i < map_.rank; at[i++] = 0)
        if ((at[i] += map_.steps[i]) < map_.box[i])
          break;
      if (i >= map_.rank)
        return;
    }
  }

private:
  /// Visits the runs of elements along the innermost dimension, `step` apart.
  template <class Visit>
  void visit_row(u32 number, const Coordinates& begin, u32 count, u32 step, Visit visit) const {
    u64 row = map_.address;
    bool is_inside = true;
    for (u32 i = 1; i < map_.rank; ++i) {
      is_inside = is_inside && begin[i] >= 0 && begin[i] <= i64{map_.last[i]};
      row += u64(begin[i]) * map_.strides[i - 1];
    }
    for (u32 done = 0; done < count;) {
      const i64 x = begin[0] + i64{done} * step;
      const bool is_outside = !is_inside || x < 0 || x > i64{map_.last[0]};
      const i64 of_run = !is_inside   ? i64{count}
                         : x < 0      ? -x
                         : is_outside ? i64{count}
                                      : map_.last[0] - x + 1;
      const u32 length = step != 1 ? 1 : static_cast<u32>(std::min<i64>(count - done, of_run));
      visit(number + done, is_outside ? 0 : row + u64(x) * bytes_of(map_.type), length);
      done += length;
    }
  }
  /// Channels of one pixel after the other: those of the box of pixels, innermost dimension first, then of
  /// the next image.
  template <class Visit> void for_each_pixel(Visit visit) const {
    u32 number = 0;
    Coordinates pixel = first_;
    const u32 images = map_.rank - 1u;
    for (u32 count = 0; count < map_.pixels; ++count) {
      Coordinates place = pixel;
      for (u32 i = 1; i < images; ++i)
        place[i] += offsets_[i - 1];
      visit_row(number, place, map_.channels, 1, visit);
      number += map_.channels;
      u32 i = 1;
      for (; i < images; ++i) {
        if ((pixel[i] += map_.steps[i]) <= i64{map_.last[i]} + map_.upper_corner[i - 1])
          break;
        pixel[i] = map_.lower_corner[i - 1];
      }
      if (i == images)
        ++pixel[images];
    }
  }

  const TensorMap& map_;
  bool is_im2col_;
  Coordinates first_;
  std::array<i64, 3> offsets_{};
};

/// Tells the sink of the bytes in global memory that a box accesses, run by run.
void observe(Warp& warp, const Operation& o, const Box& box, u32 size) {
  LaunchState& launch = *warp.block->launch;
  if (!launch.sink)
    return;
  std::optional<BarrierPhase> phase;
  std::vector<BarrierPhase> further_phases;
  if (o.operands->opcode == Opcode::utmaldg)
    put_phases_of_copy(warp, o, phase, further_phases);
  u64 begin = 0, end = 0;
  bool is_further = false;
  const auto tell = [&] {
    if (begin == end)
      return;
    std::array<u64, lane_count> addresses{};
    addresses[0] = begin;
    launch.sink->on_access({warp.block->index, warp.index},
                           {.instruction = warp.pc,
                            .lanes = 1,
                            .space = sass::Space::global,
                            .bytes = 0,
                            .is_store = o.operands->opcode == Opcode::utmastg,
                            .is_atomic = o.operands->opcode == Opcode::utmaredg,
                            .is_further = std::exchange(is_further, true),
                            .bulk_bytes = u32(end - begin),
                            .phase = phase,
                            .further_phases = further_phases,
                            .addresses = addresses});
  };
  box.for_each_run([&](u32, u64 address, u32 count) {
    if (address == 0)
      return;
    if (address != end) {
      tell();
      begin = address;
    }
    end = address + u64{count} * size;
  });
  tell();
}

void fill(const TensorMap& map, std::byte* place, u32 size) {
  std::memset(place, 0, size);
  if (!map.fills_with_nan)
    return;
  using enum TensorMap::Type;
  const std::uint64_t bits = map.type == f16    ? 0x7fff
                             : map.type == bf16 ? 0x7fff
                             : map.type == f64  ? 0x7fffffffffffffff
                                                : 0x7fffffff;
  std::memcpy(place, &bits, size);
}

void copy_tensor(Warp& warp, const Operation& o, Mask) {
  const sass::Operands& x = *o.operands;
  LaunchState& launch = *warp.block->launch;
  TensorMap map{};
  const u64 map_at = pair_at(warp.row(o.a));
  if (!launch.memory->copy_from(map_at, std::as_writable_bytes(std::span(&map, 1))))
    return fault(warp, o, map_at);
  if (map.mark != TensorMap::expected_mark || bytes_of(map.type) == 0 || map.rank != x.selector ||
      map.is_im2col != x.extended)
    return warp.stop(Outcome::Kind::fault,
                     fmt::format("there is no map of {} dimensions{} of a tensor at {:#x}", x.selector,
                                 x.extended ? " (im2col)" : "", map_at),
                     map_at);
  const u32* const b = warp.row(o.b);
  const bool is_load = x.opcode == Opcode::utmaldg;
  Coordinates first{};
  for (u32 i = 0; i < map.rank; ++i)
    first[i] = static_cast<std::int32_t>(b[(i + (is_load ? 2 : 1)) * lane_count]);
  if (b[0] % 128 != 0)
    return warp.stop(Outcome::Kind::fault,
                     fmt::format("misaligned copy of a tensor at {:#x} of shared memory: addresses are "
                                 "multiples of 128",
                                 b[0] & shared_offset_mask),
                     b[0]);
  const u32 c = x.c.kind == sass::Source::Kind::none ? 0 : warp.row(o.c)[0];
  const Box box(map, x.extended, first, c & 0xffff);
  const u32 size = bytes_of(map.type);
  observe(warp, o, box, size);
  // Bytes that no swizzle parts.
  constexpr u32 chunk = 16;
  const bool reduces = x.opcode == Opcode::utmaredg;
  const auto copy_part = [&](u32 at, u64 address, u32 bytes) {
    std::byte* const here = shared_bytes_at(warp, at, size);
    if (!here || !shared_bytes_at(warp, at + bytes - size, size))
      return fault(warp, o, at);
    const std::span<std::byte> part(here, bytes);
    if (address == 0) {
      for (u32 done = 0; is_load && done < bytes; done += size)
        fill(map, &part[done], size);
    } else if (reduces) {
      std::byte* const to = launch.memory->write(address, bytes, warp.pc);
      if (!to)
        return fault(warp, o, address);
      combine(map.type, x.atomic, to, part.data());
    } else if (is_load ? !launch.memory->copy_from(address, part)
                       : !launch.memory->copy_to(address, part, warp.pc))
      fault(warp, o, address);
  };
  const auto copy = [&](u32 shared) {
    u32 all = 0;
    box.for_each_run([&](u32 number, u64 address, u32 count) {
      all += count * size;
      for (u32 done = 0; done < count * size && !warp.is_stopped;) {
        const u32 at = shared + number * size + done;
        const u32 bytes = reduces ? size : std::min(count * size - done, chunk - at % chunk);
        copy_part(swizzled(map.swizzle, at), address == 0 ? 0 : address + done, bytes);
        done += bytes;
      }
    });
    return all;
  };
  if (!is_load) {
    copy(b[0]);
    return;
  }
  for_each_target(b[0], b[lane_count], x.wraps, c >> 16, [&](u32 to, u32 barrier) {
    const u32 bytes = copy(to);
    if (!warp.is_stopped)
      complete_bytes(warp, o, barrier, bytes);
  });
}

} // namespace

Handler select_bulk_operation(Opcode opcode) {
  switch (opcode) {
  case Opcode::ublkcp: return copy_in_bulk;
  case Opcode::ublkred: return reduce_in_bulk;
  case Opcode::utmaldg:
  case Opcode::utmastg:
  case Opcode::utmaredg: return copy_tensor;
  default: return nullptr;
  }
}

} // namespace warplens::machine
