#include "placement/change/place.h"

#include <array>
#include <cstddef>

namespace warplens::placement {
namespace {

constexpr int unified_l1 = 70; ///< from this architecture on, textures and read-only loads use the L1

constexpr auto places = std::to_array<const PlaceTraits*>({
#define WARPLENS_PLACE(place, word) &place##_place,
#include "placement/places.def"
#undef WARPLENS_PLACE
});

} // namespace

const PlaceTraits& traits_of(PlacementSpace place) {
  return *places[std::size_t(place)];
}

bool has_texture_cache(const model::Gpu& gpu) {
  return gpu.capability() < unified_l1;
}

} // namespace warplens::placement
