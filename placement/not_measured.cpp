#include "placement/not_measured.h"

#include "placement/change/place.h"
#include "placement/changed_trace.h"

#include <algorithm>
#include <string_view>

namespace warplens::placement {

std::vector<std::string> not_measured(std::span<const Move> moves, const Arrays& arrays,
                                      const model::Gpu& gpu) {
  std::vector<std::string> memories;
  const auto add = [&](PlacementSpace place) {
    const auto memory_behind = traits_of(place).memory_behind;
    const std::string memory(memory_behind == nullptr ? "" : memory_behind(gpu));
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
