#include "model/clock/tensor_pipe.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace warplens::model {
namespace {

using sass::MatrixProduct;

/// The figures that differ by architecture besides ExecutionPipes::tensor_cycles, in cycles of a scheduler.
/// All but the products of doubles of sm_80 are the distances that ptxas keeps between independent products.
struct TensorTimes {
  int from; ///< the architecture
  double shortest;
  double shortest_sparse;
  double sparse;           ///< a sparse product, of a dense one with as many bits of A
  double integers;         ///< at least
  double doubles_per_fp64; ///< multiplications and additions, per one of the pipe of double precision
  double large_doubles;    ///< likewise, of 16 rows
};
constexpr TensorTimes times[] = {
    {75, 4, 6, 1, 4, 1, 1},
    {80, 4, 6, 1, 4, 2, 2}, // Abdelkhalik et al., arXiv:2208.11174: DMMA
                            // every 16 cycles
    {86, 4, 6, 1, 4, 1, 1},
    {90, 4, 6, 8.0 / 6, 4, 1, 2},
    {100, 8, 9, 9.0 / 8, 8, 1, 1},
    {103, 8, 9, 9.0 / 8, 64, 1, 1},
    {110, 8, 9, 9.0 / 8, 8, 1, 1},
    {120, 16, 16, 1, 16, 1, 1},
};

const TensorTimes& times_of(int architecture) {
  const auto* const above = std::ranges::upper_bound(times, architecture, {}, &TensorTimes::from);
  return above == std::begin(times) ? times[0] : above[-1];
}

/// A warp group's product takes two sums of each row in a cycle, whatever its elements are, and waits for
/// its operands in shared memory, which delivers 128 bytes in a cycle to the four warps together. Both are
/// as measured on an H800: 128 cycles for 256 columns, 144 for sparse ones with A in shared memory
/// (Luo et al., arXiv:2402.13499 and arXiv:2501.12084).
double warp_group_interval(const MatrixProduct& product) {
  constexpr double bytes_per_cycle = 128, warps = 4;
  const double a = warps * product.rows * product.depth_bits() / 8 * product.reads_shared_a;
  const double b = double(product.columns) * product.depth * product.bits / 8;
  return std::max(product.columns / 2.0, (a + b) / bytes_per_cycle);
}

constexpr double shared_bytes_per_cycle = 128;

/// Returns the cycles in which A of a product of tensor memory comes from shared memory to one SM.
double cycles_of_a(const MatrixProduct& product) {
  const double rows = product.rows / (product.of_two_blocks ? 2.0 : 1.0);
  return product.reads_shared_a ? rows * product.depth_bits() / 8 / shared_bytes_per_cycle : 0;
}

} // namespace

Cycle tensor_interval(const MatrixProduct& product, int architecture, const ExecutionPipes& of) {
  constexpr double full_rows = 16, full_depth_bits = 256, schedulers = 4;
  if (product.by_warp_group)
    return Cycle(std::ceil(warp_group_interval(product)));
  const TensorTimes& own = times_of(architecture);
  if (product.sums_doubles) {
    const double per_cycle =
        of.fp64 * (product.rows == full_rows ? own.large_doubles : own.doubles_per_fp64) / schedulers;
    return Cycle(std::ceil(product.operations() / 2 / per_cycle));
  }
  double cycles = of.tensor_cycles * (product.rows / full_rows) * (product.depth_bits() / full_depth_bits);
  if (of.tensor_singles_halved && product.sums_singles && !product.is_scaled)
    cycles *= 2;
  if (product.is_sparse)
    cycles = std::max(cycles * own.sparse, own.shortest_sparse);
  return Cycle(std::ceil(std::max({cycles, own.shortest, product.is_float ? 0 : own.integers})));
}

Cycle tensor_latency(const MatrixProduct& product, int architecture, const ExecutionPipes& of) {
  if (of.tensor_result_cycles != 0)
    return of.tensor_result_cycles;
  const Cycle interval = tensor_interval(product, architecture, of);
  // DMMA of sm_80: 25 cycles, every 16; HMMA of sm_75: 14, every 8; IMMA of sm_75: 10, every 4 (Mesa's NAK
  // compiler). HMMA of sm_90: 24, every 6; taken for warp groups and for all others.
  return interval + (product.sums_doubles ? 9 : architecture < 80 ? 6 : 18);
}

// As warp groups' products, these take two sums of each row in a cycle, or as long as their factors come from
// shared memory: 128 cycles for 256 columns, 64 for 128 (SemiAnalysisAI/microbench-blackwell, on a B200).
Cycle tensor_memory_interval(const MatrixProduct& product) {
  const double columns = product.columns / (product.of_two_blocks ? 2.0 : 1.0);
  const double b = columns * product.depth_bits() / 8 / shared_bytes_per_cycle;
  return Cycle(std::ceil(std::max(product.columns / 2.0, cycles_of_a(product) + b)));
}

// A comes first, and the last sums behind all others: by the products of 128 columns of BF16 and of 256
// columns of bytes, which take 200 and 263 cycles from their issue to the end of the wait for their commit.
Cycle tensor_memory_latency(const MatrixProduct& product) {
  constexpr Cycle behind_last = 51;
  return tensor_memory_interval(product) + Cycle(cycles_of_a(product)) + behind_last;
}

Cycle tensor_interlock(const MatrixProduct& product, int architecture, const ExecutionPipes& of) {
  // Measured on an RTX 5070 Ti: 35 cycles for QMMA, where the compiler keeps 29 and the pipe 32.
  if (architecture >= 120 && of.tensor_singles_halved && product.sums_singles && !product.is_scaled)
    return tensor_interval(product, architecture, of) + 3;
  // Measured on an A100 (Luo et al., arXiv:2402.13499): 26 cycles, where the compiler keeps 24.
  if (architecture == 80 && !product.is_float && product.rows == 16 && product.depth_bits() == 256)
    return 26;
  return 0;
}

} // namespace warplens::model
