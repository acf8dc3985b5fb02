// The places that an array can be put, as the command line and the results name them.
#pragma once

#include "vocabulary/access.h"

#include <cstdint>

namespace warplens::placement {

/// `read_only` is global memory by read-only loads (ld.global.nc, __ldg); `texture` a texture of one
/// dimension; `texture_2d` one of two, whose texels lie in blocks; `persisting` global memory whose lines the
/// L2 keeps longest.
enum class PlacementSpace : std::uint8_t {
  global,
  read_only,
  texture,
  texture_2d,
  constant,
  shared,
  persisting
};

} // namespace warplens::placement

template <>
inline constexpr std::array<std::string_view, 7> warplens::names_of<warplens::placement::PlacementSpace>{
    "global", "ldg", "texture", "texture2d", "constant", "shared", "persist"};
