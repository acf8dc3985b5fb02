// Textures and surfaces by their handles: device code cannot query a handle's address, so the launch hook
// stores the program's objects, and traced kernels look them up.
#pragma once

#include "texels.h"

#if defined(__CUDACC__)
#define WARPLENS_TABLE __host__ __device__ inline
#else
#define WARPLENS_TABLE inline
#endif

namespace warplens {

/// A table with open addressing: an entry lies at its key's place or behind it, before the next free one.
struct TextureTable {
  enum : uint32_t { capacity = 4096, most = 3072 };
  struct Entry {
    uint64_t key; ///< 0: free
    texels::View view;
  };
  Entry entries[capacity];
};

/// Returns the key: textures and surfaces may have the same handles.
WARPLENS_TABLE uint64_t texture_key(uint64_t handle, bool is_surface) {
  return 2 * handle + (is_surface ? 1 : 0);
}

/// Returns the key's entry, or the free one for it. At most TextureTable::most are taken.
WARPLENS_TABLE uint32_t texture_place(const TextureTable& table, uint64_t key) {
  uint32_t place = static_cast<uint32_t>(key * 0x9E3779B97F4A7C15ull >> 52);
  while (table.entries[place].key != key && table.entries[place].key != 0)
    place = (place + 1) % TextureTable::capacity;
  return place;
}

} // namespace warplens

#undef WARPLENS_TABLE
