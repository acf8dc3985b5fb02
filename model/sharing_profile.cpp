#include "model/sharing_profile.h"

#include "model/clock/clocked_trial.h"
#include "model/events.h"
#include "model/replay/observers/l2_distances.h"
#include "result/names.h"
#include "sharing/mixing.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tbb/parallel_for.h>

namespace warplens::model {
namespace {

constexpr std::uint32_t max_cuts = 4; ///< numbers of ways with which a trial runs
constexpr double fixed_latency_cycles =
    4; ///< of arithmetic that compilers schedule by a fixed time, since Volta
constexpr std::size_t max_distance = 64; ///< longer ones count as none

/// Returns the numbers of ways: about evenly spread, the last one all of them.
std::vector<std::uint32_t> ways_of_cuts(std::uint32_t ways) {
  std::set<std::uint32_t> numbers;
  for (std::uint32_t cut = 1; cut <= max_cuts; ++cut)
    numbers.insert(std::max(1u, ways * cut / max_cuts));
  return {numbers.begin(), numbers.end()};
}

Gpu with_ways(const Gpu& gpu, std::uint32_t ways) {
  Gpu cut = gpu;
  cut.l2_bytes = gpu.l2_bytes / gpu.l2.ways * ways;
  cut.l2.ways = ways;
  cut.machines.clear();
  return cut;
}

double busy_share(const TrialCounts& trial, Resource resource) {
  return std::min(1.0, trial.time.mean_busy[std::size_t(resource)] / double(trial.time.cycles));
}

SharingProfile::L2 l2_profile(const Snapshot& snapshot, const trace::Launch& launch, const Gpu& gpu,
                              const Occupancy& occupied, const Options& options) {
  SharingProfile::L2 l2;
  l2.ways = gpu.l2.ways;
  const std::vector<std::uint32_t> numbers = ways_of_cuts(gpu.l2.ways);
  std::vector<TrialCounts> trials(numbers.size());
  L2Distances distances(gpu);
  const Random random(options.seed, launch.id, 0);
  tbb::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t cut) {
    const bool is_whole = numbers[cut] == gpu.l2.ways;
    trials[cut] = run_clocked_trial(snapshot, with_ways(gpu, numbers[cut]), occupied, random, {},
                                    is_whole ? &distances : nullptr);
  });
  l2.requests = distances.requests();
  l2.instructions = double(trials.back().time.instructions);
  l2.misses = distances.misses();
  for (std::size_t cut = 0; cut < numbers.size(); ++cut)
    l2.cuts.push_back({numbers[cut], double(trials[cut].time.cycles) * gpu.ns_per_cycle() * 1e-9,
                       l2.misses[numbers[cut] - 1], busy_share(trials[cut], Resource::dram)});
  return l2;
}

/// Returns the resource that instructions of a kind hold; none but the issue.
std::optional<Resource> pipe_of(InstructionKind kind, const ExecutionPipes& pipes) {
  if (kind == InstructionKind::memory)
    return Resource::memory_pipeline;
  if (kind == InstructionKind::multiply_add && pipes.multiply_add_in_fp32)
    return Resource::fp32_pipe;
  const auto pipe = std::ranges::find(execution_pipes, kind, &ExecutionPipe::kind);
  return pipe == std::end(execution_pipes) ? std::nullopt : std::optional(pipe->resource);
}

/// Returns the registers that an instruction reads and writes, as numbers.
template <std::size_t capacity>
std::vector<std::uint32_t> numbers_of(const sass::RegisterList<capacity>& list) {
  std::vector<std::uint32_t> numbers;
  for (const sass::RegisterSpan& span : list)
    for (unsigned i = 0; i < span.count; ++i)
      numbers.push_back(unsigned(span.file) << 16 | (span.first + i));
  return numbers;
}

/// Returns the distance from each instruction of a block to the one that waits for it.
std::vector<std::uint32_t> distances_in(const sass::Kernel& kernel, const sass::Block& block) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> uses;
  std::map<std::uint32_t, std::uint32_t> writer; // of a register
  const std::uint32_t count = block.end - block.begin;
  const auto accesses_memory = std::make_unique<bool[]>(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const sass::Instruction& instruction = kernel.instructions[block.begin + i];
    accesses_memory[i] = kind_of(instruction.kind) == InstructionKind::memory;
    for (const std::uint32_t number : numbers_of(instruction.reads))
      if (const auto found = writer.find(number); found != writer.end())
        uses.emplace_back(found->second, i);
    for (const std::uint32_t number : numbers_of(instruction.writes))
      writer[number] = i;
  }
  return sharing::critical_distances(uses, {accesses_memory.get(), count});
}

/// The instructions of one pipe.
struct PipeSums {
  double instructions = 0;
  std::vector<double> distances;
};

/// Returns the mean latency of the kernel's accesses in cycles.
double access_latency(const KernelResult& result, const Gpu& gpu) {
  double sum = 0, executions = 0;
  for (const SiteResult& site : result.sites)
    if (site.latency_ns) {
      sum += double(site.executions) * site.latency_ns->mean;
      executions += double(site.executions);
    }
  return executions == 0 ? gpu.cycles(gpu.l1.latency_ns) : gpu.cycles(sum / executions);
}

/// Returns the first of the pipes that results report as the resource; none: it is no execution pipe.
const ExecutionPipe* execution_pipe_of(Resource resource) {
  const auto pipe = std::ranges::find(execution_pipes, resource, &ExecutionPipe::resource);
  return pipe == std::end(execution_pipes) ? nullptr : pipe;
}

double interval_of(Resource resource, const Gpu& gpu, const KernelResult& result) {
  const ExecutionPipe* const pipe = execution_pipe_of(resource);
  if (pipe != nullptr && pipe->results != nullptr)
    return double(warp_lanes) * gpu.issue.schedulers / std::max(1u, *gpu.pipes.*pipe->results);
  // How long a product holds its pipe, or an access the memory pipeline, which serves all schedulers, follows
  // from the trials.
  const InstructionKind kind = pipe != nullptr ? pipe->kind : InstructionKind::memory;
  const double instructions = result.events->instructions[std::size_t(kind)].warps / gpu.sms;
  const double busy = result.time->mean_busy[std::size_t(resource)] * result.time->cycles.mean;
  return gpu.issue.schedulers * (instructions == 0 ? 1 : std::max(0.0, busy / instructions));
}

double latency_of(Resource resource, const Gpu& gpu, const KernelResult& result) {
  if (resource == Resource::memory_pipeline)
    return access_latency(result, gpu);
  const ExecutionPipe* pipe = execution_pipe_of(resource);
  return pipe != nullptr && pipe->latency != nullptr ? double(*gpu.pipes.*pipe->latency)
                                                     : fixed_latency_cycles;
}

std::vector<SharingProfile::Pipe> pipes_of(const Snapshot& snapshot, const trace::Launch& launch,
                                           const Gpu& gpu, const KernelResult& result) {
  const sass::Kernel& kernel = snapshot.code->kernel;
  const std::vector<Instructions> executions = executions_of_blocks(snapshot, launch.block.count());
  std::map<Resource, PipeSums> sums;
  double all = 0;
  for (std::size_t number = 0; number < executions.size(); ++number) {
    const double warps = executions[number].warps;
    if (warps == 0)
      continue;
    const sass::Block& block = kernel.blocks[number];
    const std::vector<std::uint32_t> distances = distances_in(kernel, block);
    for (std::uint32_t i = 0; i < distances.size(); ++i) {
      all += warps;
      const auto pipe = pipe_of(kind_of(kernel.instructions[block.begin + i].kind), *gpu.pipes);
      if (!pipe)
        continue;
      PipeSums& pipe_sums = sums[*pipe];
      pipe_sums.instructions += warps;
      if (const std::uint32_t distance = distances[i]; distance != 0 && distance <= max_distance) {
        pipe_sums.distances.resize(std::max<std::size_t>(pipe_sums.distances.size(), distance + 1));
        pipe_sums.distances[distance] += warps;
      }
    }
  }
  std::vector<SharingProfile::Pipe> pipes;
  for (auto& [resource, pipe_sums] : sums) {
    for (double& share : pipe_sums.distances)
      share /= pipe_sums.instructions;
    pipes.push_back({std::string(name_of(resource)), pipe_sums.instructions / all,
                     interval_of(resource, gpu, result), latency_of(resource, gpu, result),
                     std::move(pipe_sums.distances)});
  }
  return pipes;
}

} // namespace

SharingProfile sharing_profile(const Snapshot& snapshot, const trace::Launch& launch, const Gpu& gpu,
                               const Occupancy& occupied, const Options& options,
                               const KernelResult& result) {
  SharingProfile profile;
  const SmShare block = block_resources(gpu, launch);
  profile.block = {block.warps, block.registers, block.shared_bytes};
  if (snapshot.code && gpu.pipes && result.time && result.events)
    profile.pipes = pipes_of(snapshot, launch, gpu, result);
  if (result.warps) {
    profile.warps = result.warps->resident;
    profile.held_share = result.warps->states[std::size_t(WarpState::barrier)] +
                         result.warps->states[std::size_t(WarpState::branch_resolving)];
  }
  profile.l2 = l2_profile(snapshot, launch, gpu, occupied, options);
  return profile;
}

} // namespace warplens::model
