// The hits and lookups of a cache.
#pragma once

#include <cstdint>

namespace warplens::model {

/// A number of lookups and how many of them hit.
struct Lookups {
  std::uint64_t hits = 0, all = 0;
  friend bool operator==(const Lookups&, const Lookups&) = default;
  Lookups& operator+=(const Lookups& more) {
    hits += more.hits;
    all += more.all;
    return *this;
  }
};

} // namespace warplens::model
