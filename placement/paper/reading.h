// How the paper's equations are read.
#pragma once

#include <cstdint>

namespace warplens::placement {

/// How the estimators read the paper where it is in error. `corrected`: as its text means; `literal`: as its
/// equations are printed.
enum class Reading : std::uint8_t { corrected, literal };

} // namespace warplens::placement
