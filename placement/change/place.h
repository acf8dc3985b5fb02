// The places that arrays go to, in one table: what an array's accesses become there, what forbids it, the
// memory behind it, and the words and the edit of the source that suggest it. A new one is a file in this
// folder, a line of places.def and the instructions that compute its addresses (placement/paper/addressing).
#pragma once

#include "placement/change/suggested.h"
#include "support/expected.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::placement {

struct PlaceTraits {
  /// Returns the change of the trace, or what forbids it; takes the memory that it needs from the context.
  Planned (*plan)(const Array& array, const Move& move, ChangeContext& context);
  /// Returns the sentence that tells the user what to do.
  std::string (*words)(const TracedKernel& kernel, const Suggested& suggested);
  /// Returns the source with the array there. Null: the edit is not mechanical.
  Expected<std::string> (*edit)(const TracedKernel& kernel, const Suggested& suggested,
                                const std::string& source) = nullptr;
  /// Returns whether the place has a cache that may serve the array better than the L1. Null: it has none.
  bool (*has_better_cache)(const Array& array, const model::Gpu& gpu) = nullptr;
  /// Returns the word by which a GPU's accuracy names the memory behind it; empty: global memory, which all
  /// kernels have. Null stands for that, too.
  std::string_view (*memory_behind)(const model::Gpu& gpu) = nullptr;
  std::optional<RuleCounter> counter = std::nullopt; ///< of the rule that speaks for the move
};

#define WARPLENS_PLACE(place, word, usage) extern const PlaceTraits place##_place;
#include "placement/places.def"
#undef WARPLENS_PLACE

/// Returns the row of a place.
const PlaceTraits& traits_of(PlacementSpace place);

/// Returns the words of all places with what may follow them, as the help lists them.
std::string place_usage();

/// Returns whether textures and read-only loads have a cache of their own, not the L1.
bool has_texture_cache(const model::Gpu& gpu);

} // namespace warplens::placement
