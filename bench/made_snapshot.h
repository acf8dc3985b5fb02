// Snapshots of 2^22 transactions of which nearly all miss, made in memory.
#pragma once

#include "model/snapshot/snapshot.h"

namespace warplens::bench {

inline constexpr std::uint32_t snapshot_transactions = 1u << 22; ///< the default

/// Makes a snapshot in which each warp access loads the next whole line.
model::Snapshot streaming(std::uint32_t transactions = snapshot_transactions);
/// Makes a snapshot in which each of a warp access's 32 lanes loads one sector of a random line in 64 MiB.
model::Snapshot random_over_64_mb(std::uint32_t transactions = snapshot_transactions);
/// Makes a snapshot of two streams of whole lines, indices and values, and for each pair a gather of one
/// sector for each lane.
model::Snapshot spmv_like(std::uint32_t transactions = snapshot_transactions);

/// Makes the same as streaming(), with machine code: a loop of a load and seven other instructions.
model::Snapshot streaming_with_code(std::uint32_t transactions = snapshot_transactions);
/// Makes a snapshot with machine code that computes: in a loop each warp loads a line that mostly stays in
/// the L1 and executes 39 other instructions, and after every fourth iteration all warps of a block meet.
model::Snapshot computing_with_code(std::uint32_t transactions = snapshot_transactions / 16);

/// Makes a snapshot of the paper's matrix U on a Tesla C2050: CSR, a thread per row, 51 random non-zeros in
/// each, and four times as many rows as 14 SMs run threads at once. Its accesses are coalesced.
model::Snapshot paper_spmv();

} // namespace warplens::bench
