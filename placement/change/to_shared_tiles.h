// An array in a block's shared memory a tile at a time.
#pragma once

#include "placement/change/transformation.h"

namespace warplens::placement {

/// Plans the move (SharedPart::tile) of an array that is in global memory without atomics.
Planned to_shared_tiles(const Array& array, const Move& move, ChangeContext& context);

} // namespace warplens::placement
