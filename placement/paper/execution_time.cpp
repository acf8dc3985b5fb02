#include "placement/paper/execution_time.h"

#include "vocabulary/geometry.h"

#include <algorithm>

namespace warplens::placement {

double cycles_per_instruction(const Machine& machine, const WarpWorkload& work, Reading reading) {
  const double latency = machine.instruction_latency;
  const double max_parallelism = latency / (double(warp_lanes) / machine.simd_width); // (15)
  const double parallelism =
      std::min(work.instruction_parallelism * work.resident_warps, max_parallelism); // (14)
  const double cycles = latency / parallelism;                                       // (13)
  return reading == Reading::literal ? cycles : std::max(cycles, 1 / machine.issue_width);
}

double barrier_cycles(const Machine& machine, const WarpWorkload& work, double memory_latency,
                      Reading reading) {
  constexpr double departures_per_barrier = 64; // Sim et al.'s Gamma
  if (work.instructions <= 0)
    return 0;
  const double latencies = departures_per_barrier * work.requests / work.instructions;
  const double barrier_cycles = work.barriers * work.warps / machine.sms * memory_latency;
  return reading == Reading::literal
             ? barrier_cycles * latencies
             : barrier_cycles / std::max(1.0, work.resident_warps) * std::min(1.0, latencies);
}

double special_function_cycles(const Machine& machine, const WarpWorkload& work) {
  if (work.instructions <= 0)
    return 0;
  const double uncovered = std::clamp(work.special_functions / work.instructions -
                                          machine.special_function_width / machine.simd_width,
                                      0.0, 1.0);
  return work.special_functions * work.warps / machine.sms * warp_lanes / machine.special_function_width *
         uncovered;
}

double computation_cycles(const Machine& machine, const WarpWorkload& work, Reading reading,
                          double serial_cycles) {
  return work.instructions * work.warps / machine.sms * cycles_per_instruction(machine, work, reading) +
         serial_cycles;
}

double memory_requests_in_flight(double memory_parallelism, double computation, double memory,
                                 double memory_peak) {
  const double warp_parallelism = std::min(std::max(1.0, computation - 1), memory); // (19)
  return std::min(memory_parallelism * warp_parallelism, memory_peak);              // (18)
}

WarpParallelism warp_parallelism(const Machine& machine, const WarpWorkload& work, double access_latency,
                                 double cycles_per_instruction) {
  WarpParallelism result;
  // The bandwidth that each warp takes with one request per latency, of each of the SMs.
  const double barrier_cycles =
      machine.sms * work.bytes_per_request * machine.clock_hz / std::max(access_latency, 1e-9);
  result.memory_peak = barrier_cycles > 0 ? machine.bytes_per_second / barrier_cycles : work.resident_warps;
  result.memory = std::min(
      {access_latency / std::max(machine.departure_delay, 1e-9), result.memory_peak, work.resident_warps});
  const double waiting = work.requests * access_latency / std::max(work.memory_parallelism, 1e-9);
  const double computing = work.instructions * cycles_per_instruction;
  result.computation =
      computing > 0 ? std::min(work.resident_warps, (waiting + computing) / computing) : work.resident_warps;
  result.memory_requests = memory_requests_in_flight(work.memory_parallelism, result.computation,
                                                     result.memory, result.memory_peak);
  return result;
}

double memory_cycles(const Machine& machine, const WarpWorkload& work, double requests_in_flight,
                     double access_latency) {
  if (work.requests <= 0)
    return 0;
  const double effective_requests = work.requests * work.warps / (machine.sms * requests_in_flight); // (17)
  return effective_requests * access_latency;                                                        // (4)
}

double access_latency(const AccessMix& mix, double dram_latency, const Machine& machine, Reading reading) {
  if (reading == Reading::literal)
    return dram_latency * mix.misses + machine.l2_latency + machine.shared_latency * mix.shared;
  return (1 - mix.shared) * machine.l2_latency + mix.misses * (dram_latency - machine.l2_latency) +
         mix.shared * machine.shared_latency;
}

double overlap_without_regression(const WarpParallelism& parallelism, double resident_warps,
                                  double computation_cycles, double memory_cycles) {
  const double not_hidden = parallelism.computation <= parallelism.memory ? 1 : 0;
  return std::min(computation_cycles * (resident_warps - not_hidden) / resident_warps, memory_cycles);
}

} // namespace warplens::placement
