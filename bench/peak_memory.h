// How much memory the program has asked for at once.
#pragma once

#include <cstddef>

namespace warplens::bench {

/// From now on, beyond what it had before. One at a time, and only while one thread allocates.
class PeakMemory {
public:
  PeakMemory();
  std::size_t bytes() const;

private:
  std::size_t before_;
};

} // namespace warplens::bench
