// How kernels share a cache that they run beside: CAMP, the model of Chi Xu's thesis ("Performance,
// Power Modeling and Optimization for High-Performance Computing Systems", University of Minnesota 2016,
// chapter 3), and the two proportional divisions that it is held against.
#pragma once

#include "sharing/growth.h"

#include <cstddef>
#include <span>
#include <vector>

namespace warplens::sharing {

/// The behaviour of a process that runs alone, in a stationary phase.
struct CacheProcess {
  MissCurve misses;
  double accesses_per_instruction = 0; ///< API: look-ups of the shared cache; above 0
  /// Seconds per instruction, SPI = alpha × the share of accesses that miss + beta; both at least 0, not both
  /// 0.
  double alpha = 0, beta = 0;

  double seconds_per_instruction(double ways) const { return alpha * misses(ways) + beta; }
};

/// A division of the ways in which every process takes as long to bring in the lines that it holds as any
/// other (Xu, 3.9).
struct Equilibrium {
  std::vector<double> ways; ///< of each process, mean over sets
  double seconds = 0;       ///< that time; infinite where all lines of all processes fit
  /// Says whether the ways return here after a small change. With more than two processes only stable ones
  /// are sought.
  bool is_stable = true;
};

struct Equilibria {
  std::vector<Equilibrium> all; ///< by the first process's ways, ascending; at least one
  std::size_t reached = 0;      ///< the one that Newton's method reaches from ways in proportion to accesses
  unsigned iterations = 0;      ///< of that method
};

/// Returns the equilibria of processes that share `ways` ways. Newton's method starts from ways in proportion
/// to accesses per second; for two processes a scan of 1000 points finds all equilibria, for more of them
/// further starts do. A process whose lines all fit holds no more than they are. There must be a process at
/// least.
Equilibria equilibria(std::span<const CacheProcess> processes, double ways);

/// Returns ways in proportion to the accesses per second that each process makes with its ways (Xu, 3.17:
/// AB).
std::vector<double> ways_by_accesses(std::span<const CacheProcess> processes, double ways);
/// Returns ways in proportion to the misses per second that each process has with its ways (Xu, 3.18: MB).
std::vector<double> ways_by_misses(std::span<const CacheProcess> processes, double ways);

} // namespace warplens::sharing
