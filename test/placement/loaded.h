// The GPUs and the table of addressing that the tests of placements use.
#pragma once

#include "model/gpu/gpu.h"
#include "placement/paper/addressing.h"
#include "test/catch.h"

#include <vector>

namespace warplens::test {

inline model::Gpu gpu(const char* name) {
  auto loaded = model::load_gpu(name, WARPLENS_GPU_FOLDER);
  if (!loaded)
    FAIL(loaded.error().message);
  return *loaded;
}

inline const std::vector<placement::Addressing>& addressing() {
  static const std::vector<placement::Addressing> all = [] {
    auto loaded = placement::load_addressing(WARPLENS_ADDRESSING);
    if (!loaded)
      FAIL(loaded.error().message);
    return *loaded;
  }();
  return all;
}

} // namespace warplens::test
