#include "placement/change/launch_change.h"

#include "model/gpu/machine_code.h"
#include "model/gpu/occupancy.h"
#include "placement/change/swap_threads.h"
#include "vocabulary/geometry.h"

#include <algorithm>

namespace warplens::placement {
namespace {

constexpr std::uint32_t min_registers = 16; ///< no compiler does with fewer

class CoarsenedThreads final : public trace::ChangedSource {
public:
  CoarsenedThreads(const trace::AccessSource& trace, const trace::Coarsening& coarsening)
      : ChangedSource(trace) {
    alteration_.coarsening = coarsening;
  }
  Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const override {
    return trace_.for_each_access(launch, visit);
  }
};

class LimitedRegisters final : public trace::ChangedSource {
public:
  LimitedRegisters(const trace::AccessSource& trace, std::uint32_t launch, std::uint32_t registers)
      : ChangedSource(trace), launches_(trace.launches()) {
    for (trace::MachineCode& code : launches_[launch].machine_code)
      code.registers = std::min(code.registers, registers);
  }
  const std::vector<trace::Launch>& launches() const override { return launches_; }
  Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const override {
    return trace_.for_each_access(launch, visit);
  }

private:
  std::vector<trace::Launch> launches_;
};

/// The launch with its warps in blocks of another size.
class RegroupedBlocks final : public trace::ChangedSource {
public:
  RegroupedBlocks(const trace::AccessSource& trace, std::uint32_t launch, std::uint32_t threads)
      : ChangedSource(trace), launch_(trace.launches()[launch].id), launches_(trace.launches()) {
    trace::Launch& changed = launches_[launch];
    was_ = changed.block.x / warp_lanes;
    is_ = threads / warp_lanes;
    changed.block.x = threads;
    changed.grid.x = std::uint32_t(scaled(changed.grid.x));
    changed.blocks = scaled(changed.blocks);
  }
  std::uint64_t scaled(std::uint64_t blocks) const { return std::max<std::uint64_t>(1, blocks * was_ / is_); }

  const std::vector<trace::Launch>& launches() const override { return launches_; }
  std::optional<trace::LaunchEnd> end_of(std::uint32_t launch) const override {
    auto end = trace_.end_of(launch);
    if (end && launch == launch_ && end->blocks != 0)
      end->blocks = scaled(end->blocks);
    return end;
  }
  Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const override {
    if (launch != launch_)
      return trace_.for_each_access(launch, visit);
    return trace_.for_each_access(
        launch, [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
          const std::uint64_t number = block * was_ + warp;
          visit(number / is_, std::uint32_t(number % is_), access);
        });
  }

private:
  std::uint32_t launch_;
  std::vector<trace::Launch> launches_;
  std::uint32_t was_ = 1, is_ = 1; ///< warps of a block
};

LaunchChange refused(std::string text) {
  return {nullptr, {{}, 0, std::move(text)}, 0};
}

LaunchChange regroup(const trace::AccessSource& trace, std::uint32_t index, std::uint32_t threads,
                     const model::Gpu& gpu, std::uint64_t blocks) {
  const trace::Launch& launch = trace.launches()[index];
  if (launch.grid.y * launch.grid.z != 1 || launch.block.y * launch.block.z != 1)
    return refused("its blocks have more than one dimension");
  if (launch.block.x % warp_lanes != 0 || threads % warp_lanes != 0 || threads > gpu.max_threads_per_block ||
      launch.first_block != 0 || launch.grid.count() * launch.block.x % threads != 0 ||
      blocks * launch.block.x < threads)
    return refused("its threads are no whole blocks of that size");
  bool meets = false;
  const auto read =
      trace.for_each_access(launch.id, [&](std::uint64_t, std::uint32_t, const trace::WarpAccess& access) {
        meets |= access.kind == AccessKind::barrier || access.space == Space::shared;
      });
  if (!read)
    return refused(read.error().message);
  if (meets || launch.static_shared_bytes + launch.dynamic_shared_bytes != 0)
    return refused("the threads of a block work together (shared memory, barriers)");
  auto regrouped = std::make_unique<RegroupedBlocks>(trace, index, threads);
  const std::uint64_t snapshot = regrouped->scaled(blocks);
  return {std::move(regrouped), {}, snapshot};
}

} // namespace

LaunchChange change_launch(const trace::AccessSource& trace, std::uint32_t launch, const Move& move,
                           const model::Gpu& gpu, std::uint64_t blocks) {
  switch (move.rewrite) {
  case Rewrite::swapped: {
    auto swapped = std::make_unique<SwappedThreads>(trace, launch, blocks);
    if (auto reason = swapped->objection())
      return {nullptr, std::move(*reason), 0};
    return {std::move(swapped), {}, blocks};
  }
  case Rewrite::coarsened:
  case Rewrite::vectorised:
    return {std::make_unique<CoarsenedThreads>(
                trace, trace::Coarsening{move.number, move.rewrite == Rewrite::vectorised}),
            {},
            blocks};
  case Rewrite::regrouped: return regroup(trace, launch, move.number, gpu, blocks);
  case Rewrite::bounded: return {std::make_unique<LimitedRegisters>(trace, launch, move.number), {}, blocks};
  default: return refused("it is a change of one array");
  }
}

std::uint32_t registers_for_one_more_block(const trace::Launch& launch, const model::Gpu& gpu) {
  const auto compiled = model::compiled_for(gpu, launch);
  const auto occupied = model::occupancy(gpu, launch);
  if (!compiled || !occupied || launch.machine_code.empty() || compiled->registers <= min_registers)
    return 0;
  trace::Launch fewer = launch;
  for (std::uint32_t registers = compiled->registers; --registers >= min_registers;) {
    for (trace::MachineCode& code : fewer.machine_code)
      code.registers = registers;
    const auto with = model::occupancy(gpu, fewer);
    if (with && with->blocks_per_sm > occupied->blocks_per_sm)
      return registers;
  }
  return 0;
}

} // namespace warplens::placement
