#include "placement/change/swap_threads.h"

#include "vocabulary/geometry.h"

#include <utility>

namespace warplens::placement {
namespace {

/// More accesses would take more than half a gigabyte.
constexpr std::uint64_t max_accesses = 1'500'000;

} // namespace

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

} // namespace warplens::placement
