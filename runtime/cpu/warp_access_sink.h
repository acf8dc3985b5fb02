// Where a traced block's warp accesses go.
#pragma once

#include <cstdint>
#include <warplens/ring.h>

namespace warplens::cpu {

/// One block's. Called by the OS thread that runs the block.
class WarpAccessSink {
public:
  virtual ~WarpAccessSink() = default;
  virtual void access(std::uint32_t warp, const ring::Line& line) = 0;
};

} // namespace warplens::cpu
