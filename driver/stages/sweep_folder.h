// The folder of a sweep: a profile per configuration, and runs.json, which names them.
#pragma once

#include "significance/from_results.h"
#include "support/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::driver {

inline constexpr const char* sweep_schema = "warplens-sweep/1";

/// A configuration that was profiled.
struct SweptRun {
  significance::Parameters parameters;
  std::string result; ///< the file, in the folder
};

struct Sweep {
  std::string what;     ///< what was swept, for people: "gemm.cu --gpu a100 --run '{n}'"
  std::string identity; ///< a hash of all that the profiles depend on, but for the configurations
  std::vector<SweptRun> runs;
};

/// Returns the sweep of a folder; an error if it has none, or a damaged one.
Expected<Sweep> read_sweep(const std::filesystem::path& folder);

/// Writes runs.json, which is whole at any time.
Expected<void> write_sweep(const Sweep& sweep, const std::filesystem::path& folder);

/// Reads the profiles of the sweep.
Expected<std::vector<significance::ProfiledRun>> read_profiles(const std::filesystem::path& folder);

/// Returns the name of a configuration's file: "n=60,t=8.json". Characters that file names may lack are
/// replaced, and a number keeps names apart.
std::string file_of(const significance::Parameters& parameters, std::size_t number);

} // namespace warplens::driver
