// Snapshots of 2^22 transactions of which nearly all miss, made in memory.
#pragma once

#include "model/snapshot.h"

namespace warplens::bench {

inline constexpr std::uint32_t snapshot_transactions = 1u << 22; ///< unless told otherwise

/// Each warp access takes the next whole line.
model::Snapshot streaming(std::uint32_t transactions = snapshot_transactions);
/// Each of a warp access's 32 lanes takes one sector of any line in 64 MiB.
model::Snapshot random_over_64_mb(std::uint32_t transactions = snapshot_transactions);
/// Two streams of whole lines, indices and values, and for each pair a gather of one sector for each lane.
model::Snapshot spmv_like(std::uint32_t transactions = snapshot_transactions);

/// The paper's matrix U on a Tesla C2050: CSR, a thread per row, 51 random non-zeros in each, as many rows as
/// four times the threads that 14 SMs run at once. Lines are whole, as coalescing would leave them.
model::Snapshot paper_spmv();

} // namespace warplens::bench
