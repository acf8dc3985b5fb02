// The origin of a result: hashes of sources and GPU files, options, the version.
#pragma once

#include "driver/options.h"
#include "result/result.h"

#include <string>
#include <vector>

namespace warplens::driver {

/// Returns the manifest of a result on these GPUs, whose names or files are those of --gpu. Sources are there
/// where the result is made from them. A file that cannot be read is left out: it was read before.
Manifest make_manifest(const std::vector<std::string>& gpus, const std::vector<std::string>& sources = {},
                       const std::string& nvcc = "");

} // namespace warplens::driver
