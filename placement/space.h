// The places that an array can be put, as the command line and the results name them.
#pragma once

#include "vocabulary/access.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace warplens::placement {

/// Each is described in its file, as placement/change/place.h lists them.
enum class PlacementSpace : std::uint8_t {
#define WARPLENS_PLACE(place, word, usage) place,
#include "placement/places.def"
#undef WARPLENS_PLACE
};

} // namespace warplens::placement

template <>
inline constexpr auto warplens::names_of<warplens::placement::PlacementSpace> =
    std::to_array<std::string_view>({
#define WARPLENS_PLACE(place, word, usage) word,
#include "placement/places.def"
#undef WARPLENS_PLACE
    });
