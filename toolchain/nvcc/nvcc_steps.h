// The programs that nvcc would start to make an object, as listed by --dryrun: they run side by side if they
// do not need each other, and with a step of ours in between.
#pragma once

#include "support/expected.h"
#include "support/process.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace warplens::toolchain {

/// A program, as nvcc names it, and its arguments.
using Step = std::vector<std::string>;

/// The commands from a source to the device code of one architecture.
struct DeviceSteps {
  std::vector<Step> to_ptx;
  std::vector<Step> rest;
  std::filesystem::path ptx;
  std::filesystem::path lto; ///< the file that -dlto links instead of it; empty: none
};

struct NvccSteps {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<Step> host; ///< the commands from the source to C++
  std::vector<DeviceSteps> devices;
  Step embed;   ///< all device code → `fatbinary`
  Step compile; ///< the host's C++ and the stub, which includes the device code → object
  std::filesystem::path stub_include; ///< the file that the stub includes in the device code's place
  std::filesystem::path fatbinary;
  std::filesystem::path module_id;
  std::string log;      ///< the whole log of --dryrun, as nvcc -v prints it
  std::string warnings; ///< the lines of the log that are not commands
};

/// Plans the steps of `command`, a command line of nvcc's with --keep that compiles one source; temporary
/// files go to `directory`. The steps make neither the file `module_id`, which is to hold a name that is
/// unique to this source in the program, nor `stub_include`: so the host half need not wait for the device
/// code.
Expected<NvccSteps> plan_steps(const std::vector<std::string>& command,
                               const std::filesystem::path& directory);

/// Runs the steps one after the other and returns their output. No shell is involved, which would execute $(
/// ) in file names. The error is the first of the step that fails.
Expected<std::string> run_steps(const NvccSteps& plan, const std::vector<Step>& steps,
                                Cancellation& cancellation);

/// The text of `stub_include` for an object whose device code is put into its section later.
struct Placeholder {
  std::string text;
  std::string section;
};
Expected<Placeholder> placeholder(const NvccSteps& plan, const std::filesystem::path& directory,
                                  Cancellation& cancellation);

} // namespace warplens::toolchain
