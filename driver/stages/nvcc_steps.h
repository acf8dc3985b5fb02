// The programs that nvcc would start to make an object, as it tells with --dryrun: run side by side where
// they do not need each other, and with a step of ours in between.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace warplens::driver {

/// A program, as nvcc names it, and its arguments.
using Step = std::vector<std::string>;

/// From a source to the device code of one architecture.
struct DeviceSteps {
  std::vector<Step> to_ptx;
  std::vector<Step> rest;
  std::filesystem::path ptx;
};

struct NvccSteps {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<Step> host;
  std::vector<DeviceSteps> devices;
  std::vector<Step> rest; ///< need all of the above
  std::filesystem::path module_id;
  std::string told;     ///< all of it, as nvcc -v has it
  std::string warnings; ///< what of that is not about commands
};

/// What `command`, a command line of nvcc's that compiles one source, would do; temporary files go to
/// `directory`. The commands do not make the file `module_id`: it is to hold what tells this source from
/// others of a program.
Expected<NvccSteps> plan_steps(const std::vector<std::string>& command,
                               const std::filesystem::path& directory);

/// One after the other, without a shell, which would run what file names hold in $( ); returns what they
/// said. The error is the first of the one that fails.
Expected<std::string> run_steps(const NvccSteps& plan, const std::vector<Step>& steps);

} // namespace warplens::driver
