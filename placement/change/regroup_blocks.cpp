// A launch with its warps in blocks of another size, for SMs that the blocks do not fill.
#include "placement/change/rewrite.h"
#include "trace/changed_source.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace warplens::placement {
namespace {

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

LaunchChange regroup(const trace::AccessSource& trace, std::uint32_t index, const Move& move,
                     const model::Gpu& gpu, std::uint64_t blocks) {
  const std::uint32_t threads = move.number;
  const trace::Launch& launch = trace.launches()[index];
  if (launch.grid.y * launch.grid.z != 1 || launch.block.y * launch.block.z != 1)
    return refused_launch("its blocks have more than one dimension");
  if (launch.block.x % warp_lanes != 0 || threads % warp_lanes != 0 || threads > gpu.max_threads_per_block ||
      launch.first_block != 0 || launch.grid.count() * launch.block.x % threads != 0 ||
      blocks * launch.block.x < threads)
    return refused_launch("its threads are no whole blocks of that size");
  bool meets = false;
  const auto read =
      trace.for_each_access(launch.id, [&](std::uint64_t, std::uint32_t, const trace::WarpAccess& access) {
        meets |= access.kind == AccessKind::barrier || access.space == Space::shared;
      });
  if (!read)
    return refused_launch(read.error().message);
  if (meets || launch.static_shared_bytes + launch.dynamic_shared_bytes != 0)
    return refused_launch("the threads of a block work together (shared memory, barriers)");
  auto regrouped = std::make_unique<RegroupedBlocks>(trace, index, threads);
  const std::uint64_t snapshot = regrouped->scaled(blocks);
  return {std::move(regrouped), {}, snapshot};
}

std::vector<Move> worth_regrouping(const TracedKernel& kernel, std::uint32_t /*array*/) {
  const bool is_full = kernel.sample.occupancy.warps_per_sm * warp_lanes == kernel.gpu.max_threads_per_sm;
  std::vector<Move> sizes;
  for (const std::uint32_t threads : {128u, 256u, 512u})
    if (!is_full && threads != kernel.launch.block.count())
      sizes.push_back({.rewrite = Rewrite::regrouped, .number = threads});
  return sizes;
}

std::string regrouping_words(const Suggested& suggested) {
  return fmt::format("launch blocks of {} threads ({} per SM)", suggested.move.number,
                     suggested.result.occupancy.blocks_per_sm);
}

} // namespace

constinit const RewriteTraits regrouped_rewrite{
    .worth_trying = worth_regrouping,
    .change_launch = regroup,
    .words = regrouping_words,
    .counter = RuleCounter::occupancy,
};

} // namespace warplens::placement
