// Records what the warps of a launch executed in one of its kernel's machine codes, instruction by
// instruction, and encodes it into the payload of a chunk, which is self-contained.
#pragma once

#include "support/expected.h"
#include "trace/access_codec.h"
#include "trace/records.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace warplens::trace {

/// Instructions that a warp executed one after the other, with the same lanes.
struct ExecutedRun {
  std::uint32_t first = 0, count = 0; ///< by the numbers of Execution::sections
  std::uint32_t lanes = 0;            ///< that were active, a bit for each

  friend auto operator<=>(const ExecutedRun&, const ExecutedRun&) = default;
};

// WarpAccess::site of an executed access: the instruction's number, and these bits.
/// It is a further part of the access before, which is too large for one record.
inline constexpr std::uint64_t continues_access = std::uint64_t{1} << 32;
/// It is the store of a copy to shared memory, of which the access before is the load.
inline constexpr std::uint64_t stores_copy = std::uint64_t{1} << 33;
/// It is an operand in constant memory, which the run of instructions read whose accesses come before.
inline constexpr std::uint64_t is_operand = std::uint64_t{1} << 34;
/// It is no access: iterations of a loop, which begins with the instruction, are left out here. The first
/// lanes' addresses are how many, how many measured ones stand for them, and behind how many of the warp's
/// accesses these began.
inline constexpr std::uint64_t leaves_out = std::uint64_t{1} << 35;
/// It is an access of the iterations that are left out: of the first of them, or, where the record before is
/// that, of the last.
inline constexpr std::uint64_t is_left_out = std::uint64_t{1} << 36;
/// It is no access: the first lanes' addresses are a number of iterations behind those left out, and behind
/// how many of the warp's accesses these had ended.
inline constexpr std::uint64_t ends_check = std::uint64_t{1} << 37;
/// It is no access: the first lanes' addresses are a barrier, in shared memory or for a part of a block's
/// warps, the number of the phase of it that the instruction's access, which is the next one of the warp,
/// arrives in, completes bytes of, or waits for, the block whose barrier it is, and the bytes that a copy
/// within the shared memory of a cluster has. There are several of them where an access has several phases.
inline constexpr std::uint64_t is_in_phase = std::uint64_t{1} << 38;
/// With that: the warp arrives and waits for the others.
inline constexpr std::uint64_t waits_for_phase = std::uint64_t{1} << 39;
/// It is no access: the first lanes' addresses are the shape of the products of tensor memory that the
/// instruction makes: rows, columns, depth, bits of an element, and whether these are floats, sums are of
/// single precision, A is in shared memory, and two blocks make them. It comes once in a block.
inline constexpr std::uint64_t is_product = std::uint64_t{1} << 40;
/// The most iterations that one record leaves out: a reader follows their addresses.
inline constexpr std::uint64_t max_left_out = std::uint64_t{1} << 24;
/// A record with one of these bits is no access of its own.
inline constexpr std::uint64_t not_an_access =
    stores_copy | leaves_out | is_left_out | ends_check | is_in_phase | is_product;

/// Encodes what one machine code of one launch executed.
class ExecutedEncoder {
public:
  explicit ExecutedEncoder(std::uint32_t capability) : capability_(capability) {}

  /// Adds what a warp executed next.
  void add_runs(std::uint64_t block, std::uint32_t warp, std::vector<ExecutedRun> runs);
  /// Adds an access, whose site is that of an instruction. A warp's are in the order of execution.
  void add_access(std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
    accesses_.add(block, warp, access);
  }
  bool is_empty() const { return pieces_.empty() && accesses_.records() == 0; }
  /// Returns whether a chunk is complete. A warp's runs and accesses may go on in the next one.
  bool is_full() const { return accesses_.full() || run_count_ >= max_runs; }
  /// Returns the number of accesses that the payload will have.
  std::uint32_t records() const { return accesses_.records(); }
  /// Returns the payload, whose parts compress better apart, valid until the next call. Starts afresh.
  std::span<const Bytes> take();

private:
  static constexpr std::size_t max_runs = 1u << 19;
  struct Piece {
    std::uint64_t block = 0;
    std::uint32_t warp = 0, sequence = 0;
  };

  std::uint32_t capability_;
  std::map<std::vector<ExecutedRun>, std::uint32_t> sequences_; ///< each once, since most warps do the same
  std::vector<Piece> pieces_;
  std::size_t run_count_ = 0; ///< of the sequences
  Bytes encoded_sequences_;
  AccessEncoder accesses_;
  std::vector<Bytes> payload_;
};

class ExecutedDecoder {
public:
  using VisitRuns =
      std::function<void(std::uint64_t block, std::uint32_t warp, std::span<const ExecutedRun>)>;
  using VisitAccess = AccessDecoder::Visit;

  /// Returns the capability of the machine code that a payload is about.
  static Expected<std::uint32_t> capability_of(std::span<const std::uint8_t> payload);
  /// Decodes a payload: first all runs, some of a warp at once, then all accesses, each in order within a
  /// warp. The error names the fault; some may have been visited by then.
  Expected<void> decode(std::span<const std::uint8_t> payload, const VisitRuns& visit_runs,
                        const VisitAccess& visit_access);

private:
  AccessDecoder accesses_;
};

} // namespace warplens::trace
