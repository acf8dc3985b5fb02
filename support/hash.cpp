#include "support/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace warplens {

std::uint64_t stable_hash(std::string_view bytes) {
  return XXH64(bytes.data(), bytes.size(), 0);
}

} // namespace warplens
