// Compiles a source to an object with probes for NVIDIA GPUs, which links wherever the user's own would.
#pragma once

#include "support/expected.h"
#include "support/process.h"
#include "toolchain/nvcc/nvcc_arguments.h"
#include "toolchain/nvcc/nvcc_steps.h"
#include "toolchain/toolkit.h"

#include <filesystem>
#include <future>
#include <string>
#include <vector>

namespace warplens::toolchain {

/// Returns whether the argument is an input, or determines the kind or the place of the command's output.
bool describes_result(const NvccArgument& argument);

/// Returns whether the option is -MD or one of its like.
bool concerns_dependencies(OptionKind kind);

/// Returns -c, -dc or -dw: the option that compiles a source to the object that the command line needs.
std::string phase_of_object(const NvccArguments& nvcc);

/// One source to be compiled to an object.
struct GpuSource {
  const Toolkit& toolkit;
  const NvccArguments& nvcc;
  std::filesystem::path original;  ///< the user's file; quoted includes are searched in its folder
  std::filesystem::path probed;    ///< the copy with probes; needed only in finish()
  std::filesystem::path directory; ///< our own folder, for intermediate files
};

struct GpuObject {
  std::string output; ///< the output of nvcc's parts
  std::string
      single_variant_reason; ///< the reason if its kernels have no variant without probes; empty: they have
};

/// The compilation of one source by nvcc's own parts with the user's own flags. All but the variant with
/// probes is made from the user's own source: the host half and the variant without probes, which begin at
/// once, while the probes are still being planned.
class GpuCompilation {
public:
  GpuCompilation(const GpuSource& source, const std::filesystem::path& object);
  /// Ends the commands that still run.
  ~GpuCompilation();
  GpuCompilation(const GpuCompilation&) = delete;
  GpuCompilation& operator=(const GpuCompilation&) = delete;

  /// Takes the sites in C++, as the copy with probes has them, or an empty path if it has none. Writes the
  /// object, which holds each kernel with and without probes if the two variants can be merged. Its launches
  /// and allocations go through ours. The object does not depend on the time of the compilation.
  Expected<GpuObject> finish(const std::filesystem::path& site_table);

private:
  struct HostHalf {
    std::string cpp_output, compiler_output;
    std::string section; ///< the object's section for the device code
  };
  struct DeviceCode {
    std::string output;
    Expected<void> merged; ///< the error says why there is only one variant
  };
  Expected<HostHalf> compile_host(const NvccSteps& steps, const std::filesystem::path& site_table);
  Expected<DeviceCode> compile_device(const NvccSteps& steps);
  Expected<void> finish_object(const HostHalf& host, const NvccSteps& steps, bool has_both_variants) const;

  const GpuSource source_;
  const std::filesystem::path object_;
  Cancellation cancellation_;
  // A future of std::async waits for its task in its destructor; later ones use earlier ones.
  std::shared_future<Expected<NvccSteps>> steps_;   ///< for the user's own source
  std::future<Expected<NvccSteps>> probed_steps_;   ///< for the copy with probes
  std::shared_future<Expected<std::string>> plain_; ///< device code without probes → PTX; yields the output
  std::shared_future<Expected<std::string>> cpp_;   ///< host half → C++; yields the output
};

} // namespace warplens::toolchain
