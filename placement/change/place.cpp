#include "placement/change/place.h"

#include <array>
#include <cstddef>

namespace warplens::placement {
namespace {

constexpr int unified_l1 = 70; ///< from this architecture on, textures and read-only loads use the L1

constexpr auto places = std::to_array<const PlaceTraits*>({
#define WARPLENS_PLACE(place, word, usage) &place##_place,
#include "placement/places.def"
#undef WARPLENS_PLACE
});

} // namespace

const PlaceTraits& traits_of(PlacementSpace place) {
  return *places[std::size_t(place)];
}

std::string place_usage() {
  constexpr auto usages = std::to_array<std::string_view>({
#define WARPLENS_PLACE(place, word, usage) word usage,
#include "placement/places.def"
#undef WARPLENS_PLACE
  });
  std::string text;
  for (std::size_t i = 0; i < usages.size(); ++i)
    text += (i == 0 ? "" : i + 1 == usages.size() ? " and " : ", ") + std::string(usages[i]);
  return text;
}

bool has_texture_cache(const model::Gpu& gpu) {
  return gpu.capability() < unified_l1;
}

} // namespace warplens::placement
