// The GPU file from which a GPU that was not measured in full takes its other figures.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <map>
#include <string>

namespace warplens::model {

struct GpuFigures {
  std::string name; ///< "A100 SXM4 80 GB"
  /// The figures as the file writes them, without their sources, by path: "value = 8, or = [4, 16]".
  std::map<std::string, std::string> figures;
};

/// Returns the figures of the GPU in the folder with the highest compute capability that is no higher than
/// this one (8.9); of several, of the one whose model was held against the most measured launches, else the
/// first by name. It is an error if there is none.
Expected<GpuFigures> nearest_gpu(double compute_capability, const std::filesystem::path& folder);

} // namespace warplens::model
