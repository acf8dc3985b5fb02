// Operations that look at several lanes or at memory, one lane after the other, in the lanes' order: all that
// vector_operations.cpp does not take.
#include "machine/atomic_numbers.h"
#include "machine/integers.h"
#include "machine/lane.h"
#include "machine/numbers.h"
#include "machine/warp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace warplens::machine {
namespace {

using sass::Opcode;
using sass::Operands;
using sass::Space;
using Addresses = std::array<u64, lane_count>;

/// Writes a value to all lanes of a uniform register.
void set_uniform(Warp& warp, const Operation& o, u32 value) {
  std::fill_n(warp.destination(o), lane_count, value);
}

// ---- memory

/// Finds the space of a generic address, which becomes one of that space.
Space resolve(Space space, u64& address) {
  if (space != Space::generic)
    return space;
  const u64 window = window_of(address);
  if (window == shared_window || window == local_window) {
    address &= 0xffffffff;
    return window == shared_window ? Space::shared : Space::local;
  }
  return Space::global;
}

/// Copies between an address of a lane and bytes; returns whether the access is possible.
bool access(Warp& warp, Space space, u64 address, u32 lane, std::byte* bytes, u32 count, bool writes) {
  if (address % count != 0)
    return false;
  switch (resolve(space, address)) {
  case Space::shared: {
    std::byte* at = shared_bytes_at(warp, address, count);
    if (!at)
      return false;
    std::memcpy(writes ? at : bytes, writes ? bytes : at, count);
    return true;
  }
  case Space::local: {
    address &= 0xffffff;
    if (address + count > warp.local_bytes)
      return false;
    for (u32 byte = 0; byte < count;) {
      const u32 in_word = (address + byte) % 4, part = std::min(4 - in_word, count - byte);
      std::byte* word =
          reinterpret_cast<std::byte*>(warp.local + (address + byte) / 4 * lane_count + lane) + in_word;
      std::memcpy(writes ? word : bytes + byte, writes ? bytes + byte : word, part);
      byte += part;
    }
    return true;
  }
  default: {
    Memory& memory = *warp.block->launch->memory;
    if (writes) {
      std::byte* at = memory.write(address, count, warp.pc);
      if (at)
        std::memcpy(at, bytes, count);
      return at != nullptr;
    }
    const std::byte* at = memory.read(address, count);
    if (at)
      std::memcpy(bytes, at, count);
    return at != nullptr;
  }
  }
}

void load(Warp& warp, const Operation& o, Mask mask) {
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  const u32 bytes = o.operands->bytes;
  u32* d = warp.destination(o);
  warp.set_predicate(o.out[0], all_lanes, mask);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left);
    u32 words[4] = {};
    if (!access(warp, o.operands->space, addresses[lane], lane, reinterpret_cast<std::byte*>(words), bytes,
                false))
      return fault(warp, o, addresses[lane]);
    words[0] = extended(*o.operands, words[0]);
    for (u32 word = 0; word < (bytes + 3) / 4; ++word)
      d[word * lane_count + lane] = words[word];
  }
}

/// LDG.256: words that are not wanted take no register.
void load_wide(Warp& warp, const Operation& o, Mask mask) {
  const Operands& x = *o.operands;
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  u32* to[2] = {warp.destination(o), reinterpret_cast<u32*>(warp.rows + sizeof(Row) * x.second_destination)};
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left);
    u32 words[8] = {};
    if (!access(warp, x.space, addresses[lane], lane, reinterpret_cast<std::byte*>(words), x.bytes, false))
      return fault(warp, o, addresses[lane]);
    u32 rows[2] = {0, 0};
    for (u32 word = 0; word < 8; ++word)
      if ((x.function >> word & 1) != 0)
        to[word / 4][rows[word / 4]++ * lane_count + lane] = words[word];
  }
}

/// Stores up to 32 bytes, of which B has the first 16 and C the others.
void store(Warp& warp, const Operation& o, Mask mask) {
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  const u32 bytes = o.operands->bytes;
  const u32* from[2] = {warp.row(o.b), warp.row(o.c)};
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left);
    u32 words[8] = {};
    for (u32 word = 0; word < (bytes + 3) / 4; ++word)
      words[word] = from[word / 4][word % 4 * lane_count + lane];
    if (!access(warp, o.operands->space, addresses[lane], lane, reinterpret_cast<std::byte*>(words), bytes,
                true))
      return fault(warp, o, addresses[lane]);
  }
}

u32 combine_halves(const Operands& x, u32 old, u32 value) {
  u32 result = 0;
  for (const u32 shift : {0u, 16u}) {
    const auto p = static_cast<std::uint16_t>(old >> shift), q = static_cast<std::uint16_t>(value >> shift);
    const bool bf16 = x.atomic_type == sass::AtomicType::bf16x2;
    const float sum = combine_floats(x.atomic, bf16 ? bfloat_to_float(p) : half_to_float(p),
                                     bf16 ? bfloat_to_float(q) : half_to_float(q));
    result |= u32{bf16 ? float_to_bfloat(sum) : float_to_half(sum)} << shift;
  }
  return result;
}

/// Returns what an atomic operation writes.
u64 combined(const Operands& x, u64 old, u64 value) {
  const auto old_word = static_cast<u32>(old), word = static_cast<u32>(value);
  using enum sass::AtomicType; // some of which have names of types here
  switch (x.atomic_type) {
  case u32: return combine_integers(x.atomic, old_word, word);
  case s32:
    if (x.atomic == sass::AtomicOperation::min || x.atomic == sass::AtomicOperation::max)
      return static_cast<machine::Mask>(
          combine_integers(x.atomic, static_cast<i32>(old_word), static_cast<i32>(word)));
    return combine_integers(x.atomic, old_word, word);
  case u64: return combine_integers(x.atomic, old, value);
  case s64:
    if (x.atomic == sass::AtomicOperation::min || x.atomic == sass::AtomicOperation::max)
      return static_cast<std::uint64_t>(
          combine_integers(x.atomic, static_cast<i64>(old), static_cast<i64>(value)));
    return combine_integers(x.atomic, old, value);
  case f32: {
    if (x.atomic == sass::AtomicOperation::exch)
      return word;
    float p = as_float(old_word), q = as_float(word);
    if (x.ftz) {
      p = flush(p);
      q = flush(q);
    }
    const float sum = combine_floats(x.atomic, p, q);
    return canonical(x.ftz ? flush(sum) : sum);
  }
  case f16x2:
  case bf16x2: return combine_halves(x, old_word, word);
  case f64: {
    const double p = as_double(old), q = as_double(value);
    switch (x.atomic) {
    case sass::AtomicOperation::add: return canonical(p + q);
    case sass::AtomicOperation::min: return bits_of(std::fmin(p, q));
    case sass::AtomicOperation::max: return bits_of(std::fmax(p, q));
    default: return value;
    }
  }
  }
  return value;
}

u64 word_pair(const u32* row, u32 lane, u32 bytes) {
  return row[lane] | (bytes == 8 ? u64{row[lane_count + lane]} << 32 : 0);
}

void atomic(Warp& warp, const Operation& o, Mask mask) {
  const Operands& x = *o.operands;
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  const u32 *value = warp.row(o.b), *swap = warp.row(o.c);
  Mask done = mask, swapped = 0;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left);
    u64 space_address = addresses[lane];
    // A generic operation with a predicate is not done on shared memory: the predicate says so, and the code
    // has another path. One without is done there, also in another block of the cluster.
    if (x.space == Space::generic && o.out[0] != discarded_predicate &&
        resolve(x.space, space_address) != Space::global) {
      done &= ~(Mask{1} << lane);
      continue;
    }
    u64 old = 0;
    if (!access(warp, x.space, addresses[lane], lane, reinterpret_cast<std::byte*>(&old), x.bytes, false))
      return fault(warp, o, addresses[lane]);
    const u64 operand = x.opcode == Opcode::atoms_popc_inc ? 1 : word_pair(value, lane, x.bytes);
    u64 result = 0, returned = old;
    bool writes = true;
    if (x.opcode == Opcode::atom_cas) {
      writes = old == operand;
      result = word_pair(swap, lane, x.bytes);
      swapped |= static_cast<u32>(writes) << lane;
      if (x.function != 0) // whether it has swapped
        returned = writes;
    } else if (x.opcode == Opcode::atoms_popc_inc)
      result = static_cast<u32>(old + 1);
    else
      result = combined(x, old, operand);
    if (writes &&
        !access(warp, x.space, addresses[lane], lane, reinterpret_cast<std::byte*>(&result), x.bytes, true))
      return fault(warp, o, addresses[lane]);
    if (x.has_return && x.destination_words != 0) {
      u32* d = warp.destination(o);
      d[lane] = static_cast<u32>(returned);
      if (x.destination_words == 2)
        d[lane_count + lane] = static_cast<u32>(returned >> 32);
    }
  }
  warp.set_predicate(o.out[0], x.space == Space::shared ? swapped : done, mask);
}

/// A compare-and-swap of 128 bits.
void swap_wide(Warp& warp, const Operation& o, Mask mask) {
  const Operands& x = *o.operands;
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  const u32 *expected = warp.row(o.b), *swap = warp.row(o.c);
  u32* d = warp.destination(o);
  Mask swapped = 0;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left);
    u32 old[4], result[4];
    if (!access(warp, x.space, addresses[lane], lane, reinterpret_cast<std::byte*>(old), x.bytes, false))
      return fault(warp, o, addresses[lane]);
    bool is_equal = true;
    for (u32 word = 0; word < 4; ++word) {
      is_equal = is_equal && old[word] == expected[word * lane_count + lane];
      result[word] = swap[word * lane_count + lane];
    }
    if (is_equal &&
        !access(warp, x.space, addresses[lane], lane, reinterpret_cast<std::byte*>(result), x.bytes, true))
      return fault(warp, o, addresses[lane]);
    swapped |= static_cast<u32>(is_equal) << lane;
    for (u32 word = 0; word < 4 && x.destination_words == 4; ++word)
      d[word * lane_count + lane] = old[word];
  }
  warp.set_predicate(o.out[0], x.space == Space::shared ? swapped : mask, mask);
}

/// An atomic operation on several words, each by itself.
void vector_atomic(Warp& warp, const Operation& o, Mask mask) {
  const Operands& x = *o.operands;
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  const u32* value = warp.row(o.b);
  u32* d = warp.destination(o);
  const u32 words = u32{x.bytes} / 4;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left);
    u32 old[4] = {}, result[4] = {};
    if (!access(warp, x.space, addresses[lane], lane, reinterpret_cast<std::byte*>(old), x.bytes, false))
      return fault(warp, o, addresses[lane]);
    for (u32 word = 0; word < words; ++word)
      result[word] = static_cast<u32>(combined(x, old[word], value[word * lane_count + lane]));
    access(warp, x.space, addresses[lane], lane, reinterpret_cast<std::byte*>(result), x.bytes, true);
    if (x.has_return)
      for (u32 word = 0; word < words; ++word)
        d[word * lane_count + lane] = old[word];
  }
  warp.set_predicate(o.out[0], mask, mask);
}

/// Returns whether an atomic operation is on several words of 32 bits, or exchanges 128 bits.
bool is_vector(const Operands& x) {
  using enum sass::AtomicType;
  return x.opcode == Opcode::atom && x.bytes > 4 &&
         (x.bytes == 16 || x.atomic_type == f32 || x.atomic_type == f16x2 || x.atomic_type == bf16x2);
}

/// QSPC: whether a generic address is one of shared memory.
void query_space(Warp& warp, const Operation& o, Mask mask) {
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  Mask shared = 0;
  for (u32 lane = 0; lane < lane_count; ++lane)
    shared |= u32{window_of(addresses[lane]) == shared_window} << lane;
  warp.set_predicate(o.out[0], shared, mask);
}

void load_constant(Warp& warp, const Operation& o, Mask mask) {
  const Operands& x = *o.operands;
  const std::span<const std::byte> bank = warp.block->launch->bank(x.b.bank, o.bank);
  const u32* a = warp.row(o.a);
  u32* d = warp.destination(o);
  // Offsets have 16 bits and wrap within the 64 KiB of a bank.
  const auto read = [&](u32 address, u32 bytes) -> u32 {
    u32 value = 0;
    if (u64{address} + bytes <= bank.size())
      std::memcpy(&value, bank.data() + address, bytes);
    return value;
  };
  const auto read_lane = [&](u32 lane, u32 word) {
    const u32 address = (a[lane] + static_cast<u32>(o.offset)) & 0xffff;
    if (x.bytes >= 4)
      return read(address + 4 * word, 4);
    const u32 value = read(address, x.bytes);
    return extended(x, value);
  };
  const u32 words = (u32{x.bytes} + 3) / 4;
  u32 results[4][lane_count];
  for (u32 word = 0; word < words; ++word)
    if (x.destination_uniform)
      std::fill_n(results[word], lane_count, read_lane(0, word));
    else
      for (Mask left = mask; left != 0; left &= left - 1)
        results[word][first_lane(left)] = read_lane(first_lane(left), word);
  const Mask written = x.destination_uniform ? all_lanes : mask;
  for (u32 word = 0; word < words; ++word)
    for (Mask left = written; left != 0; left &= left - 1)
      d[word * lane_count + first_lane(left)] = results[word][first_lane(left)];
}

/// Returns an element of a row of 16 bytes as it lies in a byte: 6 bits in its lower ones, 4 with two zeros
/// below (PTX ISA, "ldmatrix", .b8x16.b4x16_p64 and .b8x16.b6x16_p32).
u32 byte_of_row(const std::byte* row, u32 bits, u32 column) {
  if (bits == 8)
    return std::to_integer<u32>(row[column]);
  const u32 first = bits * column;
  const u32 two = std::to_integer<u32>(row[first / 8]) | std::to_integer<u32>(row[first / 8 + 1]) << 8;
  const u32 element = two >> first % 8 & ((1u << bits) - 1);
  return bits == 4 ? element << 2 : element;
}
/// Matrices of 8 × 16 bytes, or of 16 × 16 that are transposed: a lane gets four bytes of row lane / 4, and
/// then of the row 8 below.
void load_matrices_of_bytes(Warp& warp, const Operation& o, Mask mask, const Addresses& addresses) {
  const bool is_transposed = o.operands->function == 4;
  const u32 rows = is_transposed ? 16 : 8, words_of_each = rows / 8;
  const u32 count = o.operands->bytes / 4u / words_of_each;
  u32* d = warp.destination(o);
  for (u32 matrix = 0; matrix < count; ++matrix) {
    const std::byte* row_at[16];
    for (u32 row = 0; row < rows; ++row) {
      const u64 address = addresses[rows * matrix + row];
      row_at[row] = shared_bytes_at(warp, address, 16);
      if (!row_at[row])
        return fault(warp, o, address);
    }
    for (Mask left = mask; left != 0; left &= left - 1)
      for (u32 word = 0; word < words_of_each; ++word) {
        const u32 lane = first_lane(left), row = lane / 4 + 8 * word;
        u32 bytes = 0;
        for (u32 i = 0; i < 4; ++i) {
          const u32 column = lane % 4 * 4 + i;
          bytes |= (is_transposed ? byte_of_row(row_at[column], o.operands->type, row)
                                  : byte_of_row(row_at[row], o.operands->type, column))
                   << 8 * i;
        }
        d[(words_of_each * matrix + word) * lane_count + lane] = bytes;
      }
  }
}
/// Matrices of 16 × 8 bytes, transposed: a lane has two columns of row lane / 4, and then of the row 8 below.
void store_matrices_of_bytes(Warp& warp, const Operation& o, const Addresses& addresses) {
  const u32 count = u32{o.operands->bytes} / 4;
  const u32* from = warp.row(o.b);
  for (u32 matrix = 0; matrix < count; ++matrix)
    for (u32 column = 0; column < 8; ++column) {
      const u64 address = addresses[8 * matrix + column];
      std::byte* const at = shared_bytes_at(warp, address, 16);
      if (!at)
        return fault(warp, o, address);
      for (u32 row = 0; row < 16; ++row) {
        const u32 lane = row % 8 * 4 + column / 2, byte = row / 8 * 2 + column % 2;
        at[row] = std::byte(from[matrix * lane_count + lane] >> 8 * byte);
      }
    }
}

/// LDSM: lane l of the k-th group of eight gives the address of row l of the k-th matrix of 8 × 8 halves.
void load_matrices(Warp& warp, const Operation& o, Mask mask) {
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  if (o.operands->type != 16)
    return load_matrices_of_bytes(warp, o, mask, addresses);
  const u32 count = u32{o.operands->bytes} / 4;
  u32* d = warp.destination(o);
  for (u32 matrix = 0; matrix < count; ++matrix) {
    std::uint16_t halves[8][8];
    for (u32 row = 0; row < 8; ++row) {
      const u64 address = addresses[8 * matrix + row];
      const std::byte* at = shared_bytes_at(warp, address, 16);
      if (!at)
        return fault(warp, o, address);
      std::memcpy(halves[row], at, 16);
    }
    for (Mask left = mask; left != 0; left &= left - 1) {
      const u32 lane = first_lane(left), row = lane / 4, column = 2 * (lane % 4);
      const u32 first = o.operands->function != 0 ? halves[column][row] : halves[row][column];
      const u32 second = o.operands->function != 0 ? halves[column + 1][row] : halves[row][column + 1];
      d[matrix * lane_count + lane] = first | second << 16;
    }
  }
}
void store_matrices(Warp& warp, const Operation& o, Mask mask) {
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  if (o.operands->type != 16)
    return store_matrices_of_bytes(warp, o, addresses);
  const u32 count = u32{o.operands->bytes} / 4;
  const u32* from = warp.row(o.b);
  static_cast<void>(mask);
  for (u32 matrix = 0; matrix < count; ++matrix) {
    std::uint16_t halves[8][8];
    for (u32 lane = 0; lane < lane_count; ++lane) {
      const u32 row = lane / 4, column = 2 * (lane % 4), word = from[matrix * lane_count + lane];
      const bool transposed = o.operands->function != 0;
      (transposed ? halves[column][row] : halves[row][column]) = static_cast<std::uint16_t>(word);
      (transposed ? halves[column + 1][row] : halves[row][column + 1]) =
          static_cast<std::uint16_t>(word >> 16);
    }
    for (u32 row = 0; row < 8; ++row) {
      const u64 address = addresses[8 * matrix + row];
      std::byte* at = shared_bytes_at(warp, address, 16);
      if (!at)
        return fault(warp, o, address);
      std::memcpy(at, halves[row], 16);
    }
  }
}
/// MOVM: the transpose of a matrix of 8 × 8 halves that the lanes hold.
void transpose(Warp& warp, const Operation& o, Mask mask) {
  Row from;
  std::memcpy(&from, warp.row(o.a), sizeof from);
  const auto element = [&](u32 row, u32 column) {
    return from.lane[row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff;
  };
  u32* d = warp.destination(o);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left), row = lane / 4, column = 2 * (lane % 4);
    d[lane] = element(column, row) | element(column + 1, row) << 16;
  }
}

/// LDGSTS: copies from global to shared memory, at once; where its predicate is false zeros are written.
void copy_to_shared(Warp& warp, const Operation& o, Mask mask) {
  const Operands& x = *o.operands;
  const u32 *from = warp.row(o.a), *to = warp.row(o.c);
  const Mask copies = warp.predicate_in(o, 0);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left);
    const u64 address = (u64{from[lane_count + lane]} << 32 | from[lane]) + static_cast<u64>(o.offset);
    const u64 shared = u32(to[lane] + static_cast<u32>(x.second_offset));
    std::byte bytes[16] = {};
    if ((copies >> lane & 1) != 0 && !access(warp, Space::global, address, lane, bytes, x.bytes, false))
      return fault(warp, o, address);
    if (!access(warp, Space::shared, shared, lane, bytes, x.bytes, true))
      return fault(warp, o, shared);
  }
}

/// Stores to shared memory of the cluster, and completes the bytes at a barrier there.
void store_asynchronously(Warp& warp, const Operation& o, Mask mask) {
  const u32 *addresses = warp.row(o.a), *from = warp.row(o.b), bytes = o.operands->bytes;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left), address = addresses[lane];
    std::byte* const to = shared_bytes_at(warp, address, bytes);
    if (!to)
      return fault(warp, o, address);
    for (u32 word = 0; word < bytes / 4; ++word)
      std::memcpy(to + 4 * word, &from[word * lane_count + lane], 4);
    complete_bytes(warp, o, addresses[lane_count + lane], bytes);
    if (warp.is_stopped)
      return;
  }
}

// ---- lanes

void vote(Warp& warp, const Operation& o, Mask mask) {
  const Mask votes = warp.predicate_in(o, 0) & mask;
  const u32 function = o.operands->function;
  const bool result = function == 0   ? votes == mask
                      : function == 1 ? votes != 0
                                      : votes == mask || votes == 0;
  const Mask written = o.operands->destination_uniform ? all_lanes : mask;
  u32* d = warp.destination(o);
  for (Mask left = written; left != 0; left &= left - 1)
    d[first_lane(left)] = votes;
  warp.set_predicate(o.out[0], result ? all_lanes : 0, written);
}

void shuffle(Warp& warp, const Operation& o, Mask mask) {
  Row from;
  std::memcpy(&from, warp.row(o.a), sizeof from);
  const u32 *b = warp.row(o.b), *c = warp.row(o.c);
  u32* d = warp.destination(o);
  Row lanes, limits;
  std::memcpy(&lanes, b, sizeof lanes);
  std::memcpy(&limits, c, sizeof limits);
  Mask inside = 0;
  for (u32 lane = 0; lane < lane_count; ++lane) {
    const i32 operand = static_cast<i32>(lanes.lane[lane] & 31), self = static_cast<i32>(lane);
    const i32 segment = static_cast<i32>(limits.lane[lane] >> 8 & 31),
              clamp = static_cast<i32>(limits.lane[lane] & 31);
    const i32 least = self & segment, most = least | (clamp & ~segment);
    i32 source = 0;
    bool in_bounds = false;
    switch (o.operands->function) {
    case 0:
      source = least | (operand & ~segment);
      in_bounds = source <= most;
      break;
    case 1:
      source = self - operand;
      in_bounds = source >= most;
      break;
    case 2:
      source = self + operand;
      in_bounds = source <= most;
      break;
    default:
      source = self ^ operand;
      in_bounds = source <= most;
      break;
    }
    inside |= u32{in_bounds} << lane;
    if ((mask >> lane & 1) != 0)
      d[lane] = from.lane[(in_bounds ? source : self) & 31];
  }
  warp.set_predicate(o.out[0], inside, mask);
}

void match(Warp& warp, const Operation& o, Mask mask) {
  const bool wide = o.operands->wide;
  const u32* a = warp.row(o.a);
  u64 values[lane_count];
  for (u32 lane = 0; lane < lane_count; ++lane)
    values[lane] = word_pair(a, lane, wide ? 8 : 4);
  u32* d = warp.destination(o);
  Mask all = 0;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left);
    Mask equal = 0;
    for (Mask others = mask; others != 0; others &= others - 1)
      equal |= u32{values[first_lane(others)] == values[lane]} << first_lane(others);
    if (o.operands->function != 0)
      d[lane] = equal;
    else {
      d[lane] = equal == mask ? mask : 0;
      all |= u32{equal == mask} << lane;
    }
  }
  warp.set_predicate(o.out[0], all, mask);
}

/// CREDUX.F32: the least or largest float. A NaN is the result if all are, or if the operation says so.
void reduce_floats(Warp& warp, const Operation& o, Mask mask) {
  const u32* a = warp.row(o.a);
  const bool is_least = o.operands->function == 4, keeps_nan = o.operands->selector != 0;
  std::optional<float> result;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const float lane = as_float(a[first_lane(left)]);
    const float value = o.operands->a.absolute ? std::fabs(lane) : lane;
    if (std::isnan(value)) {
      if (keeps_nan)
        return set_uniform(warp, o, canonical(value));
      continue;
    }
    const bool less =
        result && (value < *result || (value == *result && std::signbit(value) && !std::signbit(*result)));
    if (!result || less == is_least)
      result = value;
  }
  set_uniform(warp, o, canonical(result.value_or(std::numeric_limits<float>::quiet_NaN())));
}

void reduce(Warp& warp, const Operation& o, Mask mask) {
  if (o.operands->float_result)
    return reduce_floats(warp, o, mask);
  const u32* a = warp.row(o.a);
  u32 result = a[first_lane(mask)];
  for (Mask left = mask & (mask - 1); left != 0; left &= left - 1) {
    const u32 value = a[first_lane(left)];
    const bool less =
        o.operands->is_signed ? static_cast<i32>(value) < static_cast<i32>(result) : value < result;
    switch (o.operands->function) {
    case 0: result &= value; break;
    case 1: result |= value; break;
    case 2: result ^= value; break;
    case 3: result += value; break;
    case 4: result = less ? value : result; break;
    default: result = less || value == result ? result : value; break;
    }
  }
  set_uniform(warp, o, result);
}

void elect(Warp& warp, const Operation& o, Mask mask) {
  set_uniform(warp, o, first_lane(mask));
  warp.set_predicate(o.out[0], Mask{1} << first_lane(mask), mask);
}

/// USETMAXREG: there are always registers.
void get_registers(Warp& warp, const Operation& o, Mask) {
  warp.set_predicate(o.out[0], all_lanes, all_lanes);
}

/// R2UR: the first lane's value; the predicate says which lanes have another one, so that a loop can go on
/// with them. With .OR it keeps those that it has.
void to_uniform(Warp& warp, const Operation& o, Mask mask) {
  const u32* a = warp.row(o.a);
  const u32 value = a[first_lane(mask)];
  Mask others = o.operands->function != 0 ? warp.predicates[o.out[0]] : 0;
  for (Mask left = mask; left != 0; left &= left - 1)
    others |= static_cast<u32>(a[first_lane(left)] != value) << first_lane(left);
  set_uniform(warp, o, value);
  warp.set_predicate(o.out[0], others, mask);
}

/// FSWZADD: each lane of a quad adds with the signs that two bits of a table say.
void swizzled_add(Warp& warp, const Operation& o, Mask mask) {
  const u32 *a = warp.row(o.a), *c = warp.row(o.c);
  u32* d = warp.destination(o);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left), function = u32{o.operands->lut} >> (2 * (lane % 4)) & 3;
    float x = as_float(a[lane]), y = as_float(c[lane]);
    if (o.operands->ftz) {
      x = flush(x);
      y = flush(y);
    }
    const float sums[4] = {x + y, x - y, y - x, 0.0f};
    d[lane] = canonical(o.operands->ftz ? flush(sums[function]) : sums[function]);
  }
}

// ---- special registers

u32 special_register(const Warp& warp, u32 number, u32 lane, bool& is_known) {
  const Block& block = *warp.block;
  const Launch& launch = *block.launch->launch;
  const u32 thread = warp.index * lane_count + lane;
  const u32 x = thread % launch.block.x, y = thread / launch.block.x % launch.block.y,
            z = thread / launch.block.x / launch.block.y;
  switch (number) {
  case 0x00: return lane;
  case 0x03: return warp.index << 8; // VIRTID
  case 0x20: return x | y << 16 | z << 26;
  case 0x21: return x;
  case 0x22: return y;
  case 0x23: return z;
  case 0x25: return block.id[0];
  case 0x26: return block.id[1];
  case 0x27: return block.id[2];
  case 0x28: return static_cast<u32>(launch.block.count());
  case 0x2e: return static_cast<u32>(local_window >> 32);
  case 0x2f: return static_cast<u32>(shared_window >> 32);
  case 0x30: return static_cast<u32>(shared_window);
  case 0x31: return block.shared_bytes;
  case 0x32: return block.shared_bytes;
  case 0x34: return static_cast<u32>(local_window);
  case 0x35: return warp.local_bytes;
  case 0x38: return 1u << lane;
  case 0x39: return (1u << lane) - 1;
  case 0x3a: return static_cast<u32>((u64{2} << lane) - 1);
  case 0x3b: return ~static_cast<u32>((u64{2} << lane) - 1);
  case 0x3c: return ~((1u << lane) - 1);
  case 0x43: return 0; // VIRTUALSMID
  case 0x44: return 0;
  case 0x50:
  case 0x52: return static_cast<u32>(warp.executed);
  case 0x51:
  case 0x53: return static_cast<u32>(warp.executed >> 32);
  case 0x88: return block.rank;
  case 0x89: return block.rank;
  case 0x8a: return 0; // from sm_100 on where in bank 0 the launch's %envreg begin, beyond their usual place
  case 0xff: return 0;
  default: is_known = false; return 0;
  }
}

void read_special(Warp& warp, const Operation& o, Mask mask) {
  const u32 number = o.operands->selector;
  u32* d = warp.destination(o);
  bool is_known = true;
  if (o.operands->destination_uniform)
    set_uniform(warp, o, special_register(warp, number, first_lane(mask), is_known));
  else
    for (Mask left = mask; left != 0; left &= left - 1)
      d[first_lane(left)] = special_register(warp, number, first_lane(left), is_known);
  if (!is_known)
    warp.stop(Outcome::Kind::refused, fmt::format("special register {:#x} is not known", number));
}

/// CS2R: a counter of 32 or 64 bits.
void read_counter(Warp& warp, const Operation& o, Mask mask) {
  const u32 number = o.operands->selector;
  bool is_known = true;
  u64 value = special_register(warp, number, 0, is_known);
  if (o.operands->wide && (number == 0x50 || number == 0x52))
    value = warp.executed;
  if (!is_known)
    return warp.stop(Outcome::Kind::refused, fmt::format("special register {:#x} is not known", number));
  const Mask written = o.operands->destination_uniform ? all_lanes : mask;
  u32* d = warp.destination(o);
  for (Mask left = written; left != 0; left &= left - 1) {
    d[first_lane(left)] = static_cast<u32>(value);
    if (o.operands->wide)
      d[lane_count + first_lane(left)] = static_cast<u32>(value >> 32);
  }
}

void read_barrier_result(Warp& warp, const Operation& o, Mask mask) {
  u32* d = warp.destination(o);
  for (Mask left = mask; left != 0; left &= left - 1)
    d[first_lane(left)] = warp.barrier_result;
  warp.set_predicate(o.out[0], warp.barrier_result != 0 ? all_lanes : 0, mask);
}

// ---- arithmetic by its definition

void by_lane(Warp& warp, const Operation& o, Mask mask) {
  const Operands& x = *o.operands;
  const u32 *a = warp.row(o.a), *b = warp.row(o.b), *c = warp.row(o.c);
  const auto words = [](const sass::Source& source) -> u32 { return source.words == 2 ? 8 : 4; };
  Mask in[3];
  for (u32 which = 0; which < 3; ++which)
    in[which] = warp.predicate_in(o, which);
  u64 results[lane_count];
  Mask out[2] = {0, 0};
  for (Mask left = mask; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left);
    Lane values;
    values.a = word_pair(a, lane, words(x.a));
    values.b = word_pair(b, lane, words(x.b));
    values.c = word_pair(c, lane, words(x.c));
    for (u32 which = 0; which < 3; ++which)
      values.in[which] = (in[which] >> lane & 1) != 0;
    if (x.opcode == Opcode::p2r || x.opcode == Opcode::r2p)
      for (u32 predicate = 0; predicate < 7; ++predicate)
        values.predicates = static_cast<std::uint8_t>(values.predicates |
                                                      (warp.predicates[predicate] >> lane & 1) << predicate);
    compute_lane(x, values);
    results[lane] = values.result;
    for (u32 which = 0; which < 2; ++which)
      out[which] |= u32{values.out[which]} << lane;
    if (x.opcode == Opcode::r2p)
      for (u32 predicate = 0; predicate < 7; ++predicate)
        warp.set_predicate(static_cast<std::uint8_t>(predicate),
                           (values.predicates >> predicate & 1) != 0 ? all_lanes : 0, Mask{1} << lane);
  }
  u32* d = warp.destination(o);
  if (x.destination_words != 0)
    for (Mask left = mask; left != 0; left &= left - 1) {
      d[first_lane(left)] = static_cast<u32>(results[first_lane(left)]);
      if (x.destination_words == 2)
        d[lane_count + first_lane(left)] = static_cast<u32>(results[first_lane(left)] >> 32);
    }
  warp.set_predicate(o.out[0], out[0], mask);
  warp.set_predicate(o.out[1], out[1], mask);
}

void nothing(Warp&, const Operation&, Mask) {}

} // namespace

void fault(Warp& warp, const Operation& o, u64 address) {
  const u32 bytes = o.operands->bytes;
  const bool misaligned = bytes != 0 && address % bytes != 0;
  warp.stop(Outcome::Kind::fault,
            fmt::format("{} of {} bytes at {:#x}",
                        misaligned ? "misaligned access" : "access outside of memory", bytes, address),
            address);
}

Block* block_of_shared(Warp& warp, u64 address) {
  Block& own = *warp.block;
  const u32 rank = static_cast<u32>(address >> 24) & 0xff;
  if (rank == own.rank)
    return &own;
  return rank < own.cluster.size() ? &own.cluster[rank] : nullptr;
}

std::byte* shared_bytes_at(Warp& warp, u64 address, u32 bytes) {
  const Block* const block = block_of_shared(warp, address);
  const u64 offset = address & shared_offset_mask;
  if (block == nullptr || offset + bytes > block->shared_bytes || offset % bytes != 0)
    return nullptr;
  return block->shared + offset;
}

void compute_addresses(const Warp& warp, const Operation& o, Addresses& addresses) {
  const Operands& x = *o.operands;
  const u32* a = warp.row(o.a);
  u64 base = static_cast<u64>(o.offset);
  bool is_long = x.address_is_wide;
  if (x.base.kind != sass::Source::Kind::none) {
    const u32* row = warp.row(o.base);
    base += word_pair(row, 0, x.base.words == 2 ? 8 : 4);
    is_long = is_long || x.base.words == 2;
  }
  for (u32 lane = 0; lane < lane_count; ++lane) {
    const u64 address = (x.address_is_wide ? word_pair(a, lane, 8) : u64{a[lane] << x.shift}) + base;
    addresses[lane] = is_long ? address : static_cast<u32>(address);
  }
}

Handler select_warp_operation(const Operands& x) {
  if (is_lane_operation(x.opcode))
    return by_lane;
  switch (x.opcode) {
  case Opcode::nop: return nothing;
  case Opcode::fswzadd: return swizzled_add;
  case Opcode::vote: return vote;
  case Opcode::shfl: return shuffle;
  case Opcode::match: return match;
  case Opcode::redux: return reduce;
  case Opcode::elect: return elect;
  case Opcode::setmaxreg: return get_registers;
  case Opcode::r2ur: return to_uniform;
  case Opcode::s2r: return read_special;
  case Opcode::cs2r: return read_counter;
  case Opcode::b2r: return read_barrier_result;
  case Opcode::ldc: return load_constant;
  case Opcode::load:
    if (x.bytes == 32)
      return load_wide;
    return load;
  case Opcode::store: return store;
  case Opcode::atom:
    if (is_vector(x))
      return vector_atomic;
    return atomic;
  case Opcode::atom_cas:
    if (x.bytes == 16)
      return swap_wide;
    return atomic;
  case Opcode::atoms_popc_inc: return atomic;
  case Opcode::qspc: return query_space;
  case Opcode::ldsm: return load_matrices;
  case Opcode::stsm: return store_matrices;
  case Opcode::movm: return transpose;
  case Opcode::ldgsts: return copy_to_shared;
  case Opcode::stas: return store_asynchronously;
  default:
    if (is_product(x.opcode))
      return select_product(x.opcode);
    if (const Handler handler = select_tensor_memory_operation(x.opcode))
      return handler;
    if (const Handler handler = select_barrier_operation(x.opcode))
      return handler;
    return is_image(x.opcode) ? select_image_operation(x.opcode) : select_bulk_operation(x.opcode);
  }
}

} // namespace warplens::machine
