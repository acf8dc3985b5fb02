// The peak of the program's heap memory.
#pragma once

#include <cstddef>

namespace warplens::bench {

/// Measures the peak since its construction, beyond the memory in use then. There may be one at a time, and
/// only while one thread allocates.
class PeakMemory {
public:
  PeakMemory();
  std::size_t bytes() const;

private:
  std::size_t before_;
};

} // namespace warplens::bench
