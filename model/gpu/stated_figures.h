// The figures of a GPU as its file states them, in words, for those who list them.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::model {

struct StatedFigure {
  std::string path, value; ///< "dram.banks", "16"; with alternatives or an interval, these, too
  std::string source;      ///< its key in [sources]; empty: it has none
};

/// Returns every figure that the GPU's file states, in the order of their paths. `name` and the errors are
/// those of load_gpu().
Expected<std::vector<StatedFigure>> stated_figures(const std::string& name,
                                                   const std::filesystem::path& folder);

} // namespace warplens::model
