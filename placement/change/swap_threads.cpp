// A launch whose blocks have x and y of their threads exchanged: other threads are neighbours in a warp.
#include "placement/change/rewrite.h"
#include "trace/changed_source.h"
#include "vocabulary/geometry.h"

#include <optional>
#include <utility>
#include <vector>

namespace warplens::placement {
namespace {

/// More accesses would take more than half a gigabyte.
constexpr std::uint64_t max_accesses = 1'500'000;

class SwappedThreads final : public trace::ChangedSource {
public:
  /// `launch`: index into the trace's launches, of which the first `blocks` blocks are kept. References must
  /// outlive it.
  SwappedThreads(const trace::AccessSource& trace, std::uint32_t launch, std::uint64_t blocks);

  /// Returns why the launch cannot be changed so; none if it can. It reads the launch's accesses.
  std::optional<Reason> objection() const;

  const std::vector<trace::Launch>& launches() const override { return launches_; }
  Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const override;

private:
  struct Block;
  std::optional<Reason> read(std::vector<Block>& blocks) const;
  void emit(std::uint64_t block, const Block& accesses, const Visit& visit) const;

  std::size_t launch_;
  std::uint64_t blocks_;
  std::vector<trace::Launch> launches_;
};

/// The accesses of a block's warps, each in program order.
struct SwappedThreads::Block {
  std::vector<std::vector<trace::WarpAccess>> warps;
};

SwappedThreads::SwappedThreads(const trace::AccessSource& trace, std::uint32_t launch, std::uint64_t blocks)
    : ChangedSource(trace), launch_(launch), blocks_(blocks), launches_(trace.launches()) {
  std::swap(launches_[launch_].block.x, launches_[launch_].block.y);
}

std::optional<Reason> SwappedThreads::objection() const {
  std::vector<Block> blocks;
  return read(blocks);
}

std::optional<Reason> SwappedThreads::read(std::vector<Block>& blocks) const {
  const trace::Launch& launch = trace_.launches()[launch_];
  const trace::Dim3& block = launch.block;
  if (block.x < 2 || block.y < 2 || block.z != 1 || block.count() % warp_lanes != 0)
    return Reason{{}, 0, "its blocks are not of two dimensions and whole warps"};
  const std::size_t warps = block.count() / warp_lanes;
  blocks.resize(blocks_);
  for (Block& one : blocks)
    one.warps.resize(warps);
  std::uint64_t count = 0;
  const auto read = trace_.for_each_access(
      launch.id, [&](std::uint64_t number, std::uint32_t warp, const trace::WarpAccess& access) {
        const std::uint64_t index = number - launch.first_block;
        if (index < blocks_ && warp < warps && ++count <= max_accesses)
          blocks[index].warps[warp].push_back(access);
      });
  if (!read)
    return Reason{{}, 0, read.error().message};
  if (count > max_accesses)
    return Reason{{}, 0, fmt::format("{} accesses are too many to reorder", count)};
  for (const Block& one : blocks)
    for (const auto& warp : one.warps) {
      const auto& first = one.warps.front();
      for (std::size_t i = 0; i < std::max(warp.size(), first.size()); ++i)
        if (i >= warp.size() || i >= first.size() || warp[i].site != first[i].site ||
            warp[i].kind != first[i].kind || warp[i].space != first[i].space ||
            warp[i].bytes != first[i].bytes)
          return Reason{{}, 0, "its warps do not execute the same accesses in the same order"};
    }
  return std::nullopt;
}

void SwappedThreads::emit(std::uint64_t number, const Block& block, const Visit& visit) const {
  const trace::Dim3& before = trace_.launches()[launch_].block;
  for (std::uint32_t warp = 0; warp < block.warps.size(); ++warp)
    for (std::size_t i = 0; i < block.warps.front().size(); ++i) {
      trace::WarpAccess access = block.warps.front()[i];
      if (!is_access(access.kind)) { // barriers and marks are the warp's own
        visit(number, warp, block.warps[warp][i]);
        continue;
      }
      access.active = 0;
      access.addresses = {};
      for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const std::uint32_t now = warp * warp_lanes + lane;
        const std::uint32_t was = now / before.y + now % before.y * before.x;
        const trace::WarpAccess& from = block.warps[was / warp_lanes][i];
        if ((from.active >> was % warp_lanes & 1) == 0)
          continue;
        access.active |= 1u << lane;
        access.addresses[lane] = from.addresses[was % warp_lanes];
      }
      if (access.active != 0)
        visit(number, warp, access);
    }
}

Expected<void> SwappedThreads::for_each_access(std::uint32_t launch, const Visit& visit) const {
  if (launch != launches_[launch_].id)
    return trace_.for_each_access(launch, visit);
  std::vector<Block> blocks;
  if (const auto reason = read(blocks))
    return fail("threads cannot be exchanged: {}", reason->text);
  for (std::uint64_t block = 0; block < blocks.size(); ++block)
    emit(launches_[launch_].first_block + block, blocks[block], visit);
  return {};
}

/// Returns the array with most accesses to global memory whose lanes are a row or more apart; none if there
/// is none.
std::optional<std::uint32_t> stepping_array(const Arrays& arrays) {
  constexpr std::int64_t row = 128;
  std::optional<std::uint32_t> found;
  std::uint64_t most = 0;
  for (std::uint32_t index = 0; index < arrays.size(); ++index) {
    std::uint64_t steps = 0;
    for (const auto& [stride, count] : arrays[index].lane_strides)
      steps += stride >= row || stride <= -row ? count : 0;
    if (arrays[index].space == Space::global && steps > most) {
      most = steps;
      found = index;
    }
  }
  return found;
}

LaunchChange swap_threads(const trace::AccessSource& trace, std::uint32_t launch, const Move&,
                          const model::Gpu&, std::uint64_t blocks) {
  auto swapped = std::make_unique<SwappedThreads>(trace, launch, blocks);
  if (auto reason = swapped->objection())
    return {nullptr, std::move(*reason), 0};
  return {std::move(swapped), {}, blocks};
}

std::vector<Move> worth_swapping(const TracedKernel& kernel, std::uint32_t /*array*/) {
  const auto array = stepping_array(kernel.arrays);
  if (!array)
    return {};
  return {{.array = *array, .rewrite = Rewrite::swapped}};
}

std::string swapping_words(const Suggested& suggested) {
  return fmt::format(
      "exchange x and y of the block's threads (and of its dimensions), so that the lanes of a "
      "warp, which step by rows of {}, access neighbours; it must not use warp functions",
      suggested.array.name);
}

} // namespace

constinit const RewriteTraits swapped_rewrite{
    .worth_trying = worth_swapping,
    .change_launch = swap_threads,
    .words = swapping_words,
    .counter = RuleCounter::excess_sectors,
};

} // namespace warplens::placement
