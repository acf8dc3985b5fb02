#include "placement/not_measured.h"

#include "placement/changed_trace.h"

#include <algorithm>
#include <string_view>

namespace warplens::placement {
namespace {

/// Returns the word by which an accuracy names the memory behind a place; empty: global memory, which all
/// kernels have.
std::string_view memory_behind(PlacementSpace place, const model::Gpu& gpu) {
  switch (place) {
  case PlacementSpace::texture:
  case PlacementSpace::texture_2d: return "textures";
  case PlacementSpace::read_only: // on Kepler they go through the cache of the texture units
    return gpu.lanes.own_read_only_cache ? "textures" : "";
  case PlacementSpace::constant: return "constant memory";
  case PlacementSpace::shared: return "shared memory";
  case PlacementSpace::global:
  case PlacementSpace::persisting: return "";
  }
  return "";
}

} // namespace

std::vector<std::string> not_measured(std::span<const Move> moves, const Arrays& arrays,
                                      const model::Gpu& gpu) {
  std::vector<std::string> memories;
  const auto add = [&](PlacementSpace place) {
    const std::string memory(memory_behind(place, gpu));
    if (gpu.accuracy && std::ranges::count(gpu.accuracy->without, memory) != 0 &&
        std::ranges::count(memories, memory) == 0)
      memories.push_back(memory);
  };
  for (const Move& move : moves)
    if (move.rewrite == Rewrite::none) {
      add(place_of(arrays[move.array]));
      add(move.to);
    }
  return memories;
}

} // namespace warplens::placement
