// The execution time of a kernel by Huang and Li ("Performance modeling for optimal data placement on GPU
// with heterogeneous memory systems"), their equations 1 to 5 and 13 to 19. They lean on the model of Sim,
// Dasgupta, Kim and Vuduc (PPoPP 2012) without printing it; its parts here are by its published equations.
#pragma once

#include "placement/paper/reading.h"

namespace warplens::placement {

/// The figures of a GPU that the estimators take. Cycles are those of the SM's clock.
struct Machine {
  double sms = 0; ///< that have blocks
  double clock_hz = 0;
  double bytes_per_second = 0;       ///< of its memory
  double simd_width = 0;             ///< single-precision lanes of an SM
  double issue_width = 0;            ///< instructions that an SM issues per cycle
  double special_function_width = 1; ///< special functions of an SM per cycle
  double instruction_latency = 0;    ///< cycles of a dependent floating-point operation
  double memory_latency = 0;         ///< cycles from the SM to memory and back, on an idle machine
  double l2_latency = 0;             ///< cycles of a hit in the L2
  double shared_latency = 0;         ///< cycles of an access to shared memory
  double departure_delay = 0;        ///< cycles between two requests that leave an SM
};

/// The work of each warp of a launch, in the mean.
struct WarpWorkload {
  double warps = 0;                   ///< of the launch
  double resident_warps = 0;          ///< of an SM
  double instructions = 0;            ///< issued: executed and replayed
  double instruction_parallelism = 1; ///< independent instructions of a warp
  double requests = 0;                ///< to global, texture, constant and shared memory
  double memory_parallelism = 1;      ///< requests of a warp that are on their way together
  double bytes_per_request = 0;
  double barriers = 0;
  double special_functions = 0; ///< instructions of that unit
};

/// Returns the cycles per instruction of an SM: the paper's "effective throughput" (13 to 15). The corrected
/// reading lets no SM issue more than it can: 192 lanes of a K80 alone would be 6 instructions per cycle.
double cycles_per_instruction(const Machine& machine, const WarpWorkload& work, Reading reading);

/// Returns the cycles that barriers add to the computation (Sim et al.'s O_sync). As printed, each warp waits
/// at each barrier for 64 latencies of memory times the share of its instructions that access it, one warp
/// after the other; corrected, the warps of an SM wait together, and at most for one latency.
double barrier_cycles(const Machine& machine, const WarpWorkload& work, double memory_latency,
                      Reading reading);

/// Returns the cycles that special functions add, which the other instructions do not cover (O_SFU).
double special_function_cycles(const Machine& machine, const WarpWorkload& work);

/// Returns the cycles of computation (2).
double computation_cycles(const Machine& machine, const WarpWorkload& work, Reading reading,
                          double serial_cycles);

/// The parallelism of warps in memory and in computation (Sim et al.).
struct WarpParallelism {
  double memory_peak = 0;     ///< MWP_peak: warps whose requests saturate the memory
  double memory = 0;          ///< MWP: warps that can wait for memory at once
  double computation = 0;     ///< CWP: warps that can compute while one waits
  double memory_requests = 0; ///< ITMLP: requests of an SM on their way together (18, 19)
};

/// `access_latency` is the mean latency of a request in cycles (AMAT).
WarpParallelism warp_parallelism(const Machine& machine, const WarpWorkload& work, double access_latency,
                                 double cycles_per_instruction);

/// Returns ITMLP of given parts (18, 19).
double memory_requests_in_flight(double memory_parallelism, double computation, double memory,
                                 double memory_peak);

/// Returns the cycles that an SM waits for memory (4, 17).
double memory_cycles(const Machine& machine, const WarpWorkload& work, double requests_in_flight,
                     double access_latency);

/// The events that the mean latency of a request follows from, as shares of all requests.
struct AccessMix {
  double misses = 0; ///< of the L2, by global, constant and texture requests
  double shared = 0; ///< requests to shared memory
};

/// Returns the mean latency of a request in cycles (5). As printed, requests to shared memory pay the L2's
/// hit latency as well, and misses pay it twice, as the latency of DRAM is measured from end to end.
double access_latency(const AccessMix& mix, double dram_latency, const Machine& machine, Reading reading);

/// Returns the cycles that overlap without a regression (Sim et al.): all but one warp's part of
/// the computation while memory bounds the kernel.
double overlap_without_regression(const WarpParallelism& parallelism, double resident_warps,
                                  double computation_cycles, double memory_cycles);

/// The parts of a kernel's time in cycles of an SM, and their sum (1). `initialisation`: shared memory is
/// filled, as the paper takes it.
struct TimeParts {
  double computation = 0, memory = 0, overlap = 0, initialisation = 0;
  double total() const { return computation + memory - overlap + initialisation; }
};

} // namespace warplens::placement
