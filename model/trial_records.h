// What the loops of a trial hand on to each other.
#pragma once

#include "model/l2.h"
#include "model/snapshot.h"
#include "model/tape.h"
#include "model/trial.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace warplens::model {

/// An access that a warp has issued.
struct Issued {
  Access access;
  const Transaction* transactions;

  bool is_plain_load() const {
    // Both in one comparison: bytes that are not 0 otherwise.
    static_assert(std::endian::native == std::endian::little && offsetof(Access, kind) == 6 &&
                  offsetof(Access, skips_l1) == 7 && unsigned(trace::AccessKind::load) == 0);
    return std::bit_cast<std::uint64_t>(access) >> 48 == 0;
  }
};

/// What the SM waits for: the transactions of one access.
struct Request {
  std::uint32_t site : 23;
  std::uint32_t starts_bulk : 1;
  std::uint32_t level : 8; ///< where the slowest so far was served, a Level
  float latency_ns;        ///< of that one

  /// `starts`: a bulk, whatever the access says.
  static Request of(const Access& access, bool starts) {
    // In one word, as both have it: bit by bit, the compiler would take several.
    const auto words = std::bit_cast<std::uint64_t>(access);
    return std::bit_cast<Request>((words | std::uint64_t{starts} << 23) & 0xff'ffff);
  }
  void wait_for(Level where, float ns) {
    if (ns > latency_ns) {
      latency_ns = ns;
      level = unsigned(where);
    }
  }
};
static_assert(max_byte_masks <= 1u << 21);
static_assert(max_sites <= 1u << 23);

/// What a request asks of the L2, beside the line.
struct L2Request {
  std::uint32_t request;
  /// Four bits sectors; four bits those of them that are there as copies; two bits kind; one bit partition; a
  /// store's Transaction::mask, or the group whose constant cache is asked first, plus one.
  std::uint32_t what;

  static std::uint32_t asking(L2Kind kind, std::uint32_t partition) {
    return unsigned(kind) << 8 | partition << 10;
  }
  static std::uint32_t writing(std::uint32_t mask) { return mask << 11; }
  static std::uint32_t of_constants(std::uint32_t group) { return writing(group + 1); }
  bool is_of_constants() const { return kind() == L2Kind::load && mask() != 0; }
  std::uint32_t constant_group() const { return mask() - 1; }
  unsigned sectors() const { return what & 15; }
  unsigned near() const { return what >> 4 & 15; }
  L2Kind kind() const { return L2Kind(what >> 8 & 3); }
  std::uint32_t partition() const { return what >> 10 & 1; } ///< of the L2, the asker's
  std::uint32_t mask() const { return what >> 11; }
};

/// One of an SM's requests to the L2.
struct OfSm {
  std::uint32_t line;
  L2Request asked;
};

/// About as many as the host's memory brings at once.
inline constexpr std::size_t requests_ahead = 16;

/// Requests of all SMs to the L2, in its order. Lines lie side by side, as loops over several at once want
/// them.
struct MergedRequests {
  Tape<std::uint32_t> lines;
  Tape<L2Request> asked; ///< there is room for `requests_ahead` more

  struct Writer {
    std::uint32_t* line;
    L2Request* asked;

    void add(const OfSm& one) {
      *line++ = one.line;
      *asked++ = one.asked;
    }
  };
  /// To write at most so many, in place of what there was, until end().
  Writer begin(std::size_t most) {
    lines.clear();
    asked.clear();
    return {lines.room_for(most), asked.room_for(most + requests_ahead)};
  }
  void end(const Writer& written) {
    lines.written_to(written.line);
    asked.written_to(written.asked);
  }
  std::size_t size() const { return lines.size(); }
};

/// What goes to memory, beside the line: its sectors, for a request that waits for it, by the first two
/// reasons, or not.
struct ToMemory {
  enum class Reason : std::uint32_t { read, written, displaced, filled, of_update };
  static constexpr std::size_t reasons = 5;
  std::uint32_t request;
  std::uint32_t what; ///< four bits sectors, and a Reason

  static std::uint32_t asking(unsigned sectors, Reason reason) {
    return sectors | unsigned(reason) << sectors_per_line;
  }
  unsigned sectors() const { return what & whole_line; }
  Reason reason() const { return Reason(what >> sectors_per_line); }
};

/// What the L2 asks of memory, in its order and likewise.
struct MemoryRequests {
  Tape<std::uint32_t> lines;
  Tape<ToMemory> asked;

  struct Writer {
    std::uint32_t* lines;
    ToMemory* asked;
    std::size_t size = 0;

    /// If it is about any sectors.
    void add(std::uint32_t line, std::uint32_t request, unsigned sectors, ToMemory::Reason reason) {
      lines[size] = line;
      asked[size] = {request, ToMemory::asking(sectors, reason)};
      size += sectors != 0;
    }
  };
  Writer begin(std::size_t most) {
    lines.clear();
    asked.clear();
    return {lines.room_for(most), asked.room_for(most)};
  }
  void end(const Writer& written) {
    lines.written_to(written.lines + written.size);
    asked.written_to(written.asked + written.size);
  }
  std::size_t size() const { return lines.size(); }
};

/// A line read from memory, or written before the request is acknowledged.
struct InMemory {
  std::uint32_t request, bank;
  float ns; ///< without the waits that the round's end will tell
};

} // namespace warplens::model
