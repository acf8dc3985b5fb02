// The records that the stages of a trial pass on to each other.
#pragma once

#include "model/cache/l2.h"
#include "model/replay/append_buffer.h"
#include "model/replay/tallies.h"
#include "model/replay/trial.h"
#include "model/snapshot/snapshot.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace warplens::model {

/// An access that a warp has issued.
struct IssuedAccess {
  Access access;
  const Transaction* transactions;

  bool is_plain_load() const { return access.kind == AccessKind::load && !access.skips_l1; }
};

/// The transactions of one access, for which its SM waits.
struct Request {
  std::uint32_t site : 23;
  std::uint32_t starts_bulk : 1;
  std::uint32_t level : 8; ///< the Level that served the slowest transaction so far
  float latency_ns;        ///< of that transaction

  static Request of(const Access& access) {
    // The access has the same fields in one word: copied bit by bit, the compiler would use several steps.
    const auto words = std::bit_cast<std::uint64_t>(access);
    return std::bit_cast<Request>(words & 0xff'ffff);
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

/// The fields of a request to the L2, without its line.
struct L2Request {
  std::uint32_t requester; ///< index of the Request that waits for it
  /// Four bits: sectors; two bits: kind; the rest: a store's Transaction::mask, or 1 + the group whose
  /// constant cache is looked up first.
  std::uint32_t fields;

  static std::uint32_t encode(L2Kind kind) { return unsigned(kind) << 4; }
  static std::uint32_t encode_mask(std::uint32_t mask) { return mask << 6; }
  static std::uint32_t encode_constant_group(std::uint32_t group) { return encode_mask(group + 1); }
  bool is_of_constants() const { return kind() == L2Kind::load && mask() != 0; }
  std::uint32_t constant_group() const { return mask() - 1; }
  unsigned sectors() const { return fields & 15; }
  L2Kind kind() const { return L2Kind(fields >> 4 & 3); }
  std::uint32_t mask() const { return fields >> 6; }
};

/// One of an SM's requests to the L2.
struct SmRequest {
  std::uint32_t line;
  L2Request request;
};

/// How many requests the L2's loops look ahead: about as many as the host's memory serves at once.
inline constexpr std::size_t requests_ahead = 16;

/// Requests of all SMs to the L2, in the order in which they reach it. Lines lie side by side, so that loops
/// can process several at once.
struct MergedRequests {
  AppendBuffer<std::uint32_t> lines;
  AppendBuffer<L2Request> requests; ///< with room for `requests_ahead` more

  struct Writer {
    std::uint32_t* line;
    L2Request* request;

    void add(const SmRequest& one) {
      *line++ = one.line;
      *request++ = one.request;
    }
  };
  /// Starts to replace the content by at most `limit` requests, until end().
  Writer begin(std::size_t limit) {
    lines.clear();
    requests.clear();
    return {lines.room_for(limit), requests.room_for(limit + requests_ahead)};
  }
  void end(const Writer& written) {
    lines.written_to(written.line);
    requests.written_to(written.request);
  }
  std::size_t size() const { return lines.size(); }
};

/// The fields of a request to memory, without its line. Its requester waits for the first two reasons only.
struct DramRequest {
  enum class Reason : std::uint32_t { read, written, evicted, filled, updated };
  static constexpr std::size_t reasons = 5;
  std::uint32_t requester;
  std::uint32_t fields; ///< four bits: sectors; the rest: a Reason

  static std::uint32_t encode(unsigned sectors, Reason reason) {
    return sectors | unsigned(reason) << sectors_per_line;
  }
  unsigned sectors() const { return fields & whole_line; }
  Reason reason() const { return Reason(fields >> sectors_per_line); }
};

/// Requests of the L2 to memory, in its order.
struct DramRequests {
  AppendBuffer<std::uint32_t> lines;
  AppendBuffer<DramRequest> requests;

  struct Writer {
    std::uint32_t* lines;
    DramRequest* requests;
    std::size_t size = 0;

    /// Adds a request, unless it has no sectors.
    void add(std::uint32_t line, std::uint32_t requester, unsigned sectors, DramRequest::Reason reason) {
      lines[size] = line;
      requests[size] = {requester, DramRequest::encode(sectors, reason)};
      size += sectors != 0;
    }
  };
  /// Starts to replace the content by at most `limit` requests, until end().
  Writer begin(std::size_t limit) {
    lines.clear();
    requests.clear();
    return {lines.room_for(limit), requests.room_for(limit)};
  }
  void end(const Writer& written) {
    lines.written_to(written.lines + written.size);
    requests.written_to(written.requests + written.size);
  }
  std::size_t size() const { return lines.size(); }
};

/// A line that is being read from memory, or written before its request is acknowledged.
struct PendingFill {
  std::uint32_t requester, bank;
  float ns; ///< without the wait for the bank and the bus, which the end of the round adds
};

/// The state that all stages of a trial share.
template <class Observer, bool by_site> struct TrialState {
  const Snapshot& snapshot;
  Observer& observer;
  Tallies<by_site> tallies;
  TrialCounts counts;
  AppendBuffer<Request> requests; ///< of the round
};

} // namespace warplens::model
