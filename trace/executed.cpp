#include "trace/executed.h"

#include <utility>

namespace warplens::trace {
namespace {

/// Warps mostly execute the same runs: each sequence of them is written once.
void put_runs(Bytes& bytes, std::span<const ExecutedRun> runs) {
  put_varint(bytes, runs.size());
  std::uint32_t expected = 0, lanes = ~std::uint32_t{0};
  for (const ExecutedRun& run : runs) {
    put_signed(bytes, std::int64_t{run.first} - std::int64_t{expected});
    put_varint(bytes, run.count);
    put_varint(bytes, run.lanes ^ lanes);
    expected = run.first + run.count;
    lanes = run.lanes;
  }
}

Expected<std::vector<ExecutedRun>> read_runs(ByteReader& reader) {
  const std::uint64_t count = reader.varint();
  if (count > reader.left() / 3)
    return fail("it has more runs of instructions than bytes");
  std::vector<ExecutedRun> runs;
  runs.reserve(count);
  std::int64_t expected = 0;
  std::uint32_t lanes = ~std::uint32_t{0};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t first = expected + reader.signed_varint();
    const std::uint32_t length = reader.varint32();
    lanes ^= reader.varint32();
    if (!reader.ok() || first < 0 || length == 0 || first + length > max_executed_instructions || lanes == 0)
      return fail("run {} of instructions is impossible", i);
    runs.push_back({std::uint32_t(first), length, lanes});
    expected = first + length;
  }
  return runs;
}

} // namespace

void ExecutedEncoder::add_runs(std::uint64_t block, std::uint32_t warp, std::vector<ExecutedRun> runs) {
  const auto [found, is_new] = sequences_.emplace(std::move(runs), std::uint32_t(sequences_.size()));
  if (is_new) {
    put_runs(encoded_sequences_, found->first);
    run_count_ += found->first.size();
  }
  pieces_.push_back({block, warp, found->second});
}

std::span<const Bytes> ExecutedEncoder::take() {
  Bytes head, warps;
  std::uint64_t last_block = 0;
  std::uint32_t last_warp = 0;
  for (const Piece& piece : pieces_) {
    put_signed(warps, std::int64_t(piece.block - last_block));
    put_signed(warps, std::int64_t{piece.warp} - std::int64_t{last_warp});
    put_varint(warps, piece.sequence);
    last_block = piece.block;
    last_warp = piece.warp;
  }
  put_varint(head, capability_);
  put_varint(head, sequences_.size());
  put_varint(head, pieces_.size());
  put_varint(head, encoded_sequences_.size());
  put_varint(head, warps.size());
  put_varint(head, records());
  payload_.clear();
  payload_.push_back(std::move(head));
  payload_.push_back(std::exchange(encoded_sequences_, {}));
  payload_.push_back(std::move(warps));
  const std::span<const Bytes> accesses = accesses_.take();
  payload_.insert(payload_.end(), accesses.begin(), accesses.end());
  sequences_.clear();
  pieces_.clear();
  run_count_ = 0;
  return payload_;
}

Expected<std::uint32_t> ExecutedDecoder::capability_of(std::span<const std::uint8_t> payload) {
  ByteReader reader(payload);
  const std::uint32_t capability = reader.varint32();
  if (!reader.ok())
    return fail("it does not say which machine code was executed");
  return capability;
}

Expected<void> ExecutedDecoder::decode(std::span<const std::uint8_t> payload, const VisitRuns& visit_runs,
                                       const VisitAccess& visit_access) {
  ByteReader reader(payload);
  reader.varint32(); // the capability
  const std::uint64_t sequence_count = reader.varint(), warp_count = reader.varint();
  const std::uint64_t sequence_bytes = reader.varint(), warp_bytes = reader.varint();
  const std::uint32_t records = reader.varint32();
  ByteReader sequences(reader.take(sequence_bytes)), warps(reader.take(warp_bytes));
  if (!reader.ok() || sequence_count > sequence_bytes || warp_count > warp_bytes)
    return fail("the lengths of what warps executed do not add up");
  std::vector<std::vector<ExecutedRun>> known;
  for (std::uint64_t i = 0; i < sequence_count; ++i) {
    TRY_LET(runs, read_runs(sequences));
    known.push_back(std::move(*runs));
  }
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  for (std::uint64_t i = 0; i < warp_count; ++i) {
    block += static_cast<std::uint64_t>(warps.signed_varint());
    warp += static_cast<std::uint32_t>(warps.signed_varint());
    const std::uint64_t sequence = warps.varint();
    if (!warps.ok() || sequence >= known.size())
      return fail("a warp executed a sequence that is not there");
    visit_runs(block, warp, known[sequence]);
  }
  if (!sequences.at_end() || !warps.at_end())
    return fail("the lengths of what warps executed do not add up");
  return accesses_.decode(reader.take(reader.left()), records, visit_access);
}

} // namespace warplens::trace
