// A GPU's figures in cycles of its SM clock.
#pragma once

#include "model/gpu/gpu.h"
#include "model/memory/server.h"
#include "model/sm/sm_figures.h"

namespace warplens::model {

struct ClockFigures {
  explicit ClockFigures(const Gpu& gpu)
      : ns_per_cycle(gpu.ns_per_cycle()), l1(cycles(gpu.l1.latency_ns)),
        shared(cycles(gpu.shared.latency_ns)), constant(cycles(gpu.constant.latency_ns)),
        read_only(cycles(gpu.read_only.latency_ns)), texture(cycles(gpu.texture.latency_ns)),
        constant_pass(std::max<Cycle>(1, cycles(gpu.constant.pass_ns))), turnover(gpu.issue.turnover_cycles),
        sector_read(ticks(sector_bytes / gpu.lsu.l2_bytes_per_cycle)),
        sector_written(ticks(sector_bytes / gpu.lsu.l2_write_bytes_per_cycle)), misses(gpu.lsu.misses),
        stores(gpu.lsu.stores), delay(std::uint16_t(gpu.issue.cycles_per_access)) {
    sm.schedulers = gpu.issue.schedulers;
    sm.policy = gpu.issue.policy;
    sm.barrier = gpu.issue.barrier_cycles;
    sm.barrier_interval = gpu.issue.barrier_interval;
    sm.queue = {.entries = gpu.lsu.queue_entries,
                .own_interval = gpu.lsu.scheduler_cycles,
                .shared_interval = gpu.lsu.cycles};
    sm.pipes.resize(first_execution_pipe);
    sm.pipes[memory_pipe] = {.uses_queue = true, .needs_mshr = true};
    // The first address of an access takes no more than the issue: it is an operand.
    sm.pipes[constant_pipe] = {.interval = constant_pass, .shared = true};
  }
  Cycle cycles(double ns) const { return Cycle(std::llround(ns / ns_per_cycle)); }

  /// The cycles that a warp waits behind a branch that is taken, and behind a reconvergence (BSYNC), besides
  /// those that the compiler puts there: from the state branch_resolving of 11 kernels on an H100, and
  /// assumed for other GPUs.
  static constexpr std::uint8_t taken_branch_cycles = 3, reconvergence_cycles = 9;
  /// The cycles from one SM of a cluster to another one, on the way of a load of its shared memory, which
  /// takes 181 on an H800 there and back, and the bytes that a copy moves in a cycle: 3.27 TB/s of 114 SMs at
  /// 1755 MHz (Luo et al., arXiv:2402.13499, with logs at HPMLL/NVIDIA-Hopper-Benchmark). Assumed for other
  /// GPUs.
  Cycle between_blocks() const {
    constexpr Cycle load_latency = 181;
    return (load_latency - std::min(load_latency, shared)) / 2;
  }
  static constexpr Cycle bytes_between_blocks = 16;
  static constexpr std::int16_t memory_pipe = 0, constant_pipe = 1;
  static constexpr std::int16_t first_execution_pipe = 2; ///< from here on: model/clock/timed_code.h
  double ns_per_cycle;
  SmFigures sm;
  Cycle l1, shared, constant, read_only, texture, constant_pass; ///< latencies of hits
  Cycle turnover;                    ///< from a block's end to the begin of the next one in its place
  Ticks sector_read, sector_written; ///< the time of a sector in the port to the L2
  std::uint32_t misses;              ///< entries for what is on its way; 0: any number
  std::uint32_t stores;              ///< requests on their way for which no warp waits
  std::uint16_t delay;               ///< between a warp's accesses
};

} // namespace warplens::model
