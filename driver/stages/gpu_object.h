// Source → object with probes for NVIDIA GPUs, which links wherever the user's own would.
#pragma once

#include "driver/arguments/nvcc_arguments.h"
#include "driver/stages/nvcc_steps.h"
#include "driver/toolkit.h"
#include "support/expected.h"
#include "support/process.h"

#include <filesystem>
#include <future>
#include <string>
#include <vector>

namespace warplens::driver {

/// Is the argument an input, or does it say what comes out of the command and where that goes?
bool describes_result(const NvccArgument& argument);

/// -MD and its like.
bool concerns_dependencies(Meaning meaning);

/// -c, -dc or -dw: the one with which a source becomes the object that the command line needs of it.
std::string phase_of_object(const NvccArguments& nvcc);

/// One source on its way to an object.
struct GpuSource {
  const Toolkit& toolkit;
  const NvccArguments& nvcc;
  std::filesystem::path original;  ///< the user's file; in its folder quoted includes are looked for
  std::filesystem::path probed;    ///< the copy with probes; need not be there before finish()
  std::filesystem::path directory; ///< ours alone, for intermediate files
};

struct GpuObject {
  std::string said;     ///< by nvcc's parts
  std::string one_form; ///< why its kernels have no form without probes; empty: they have
};

/// The compilation of one source by nvcc's own parts with the user's own flags. All but the form with probes
/// is made of the user's own source: the host half and the form without probes, which begin at once, while
/// the probes are still being planned.
class GpuCompilation {
public:
  GpuCompilation(const GpuSource& source, const std::filesystem::path& object);
  /// Ends what still runs.
  ~GpuCompilation();
  GpuCompilation(const GpuCompilation&) = delete;
  GpuCompilation& operator=(const GpuCompilation&) = delete;

  /// Takes the sites in C++, as the copy with probes has them, or an empty path where it has none. Writes the
  /// object, which holds each kernel with and without probes where the two can be joined. Its launches and
  /// allocations go through ours. Nothing in it depends on when it was made.
  Expected<GpuObject> finish(const std::filesystem::path& site_table);

private:
  struct HostHalf {
    std::string cpp_said, compiler_said;
    std::string section; ///< of the object, for the device code
  };
  struct DeviceCode {
    std::string said;
    Expected<void> joined; ///< the error says why there is one form
  };
  Expected<HostHalf> compile_host(const NvccSteps& steps, const std::filesystem::path& site_table);
  Expected<DeviceCode> compile_device(const NvccSteps& steps);
  Expected<void> finish_object(const HostHalf& host, const NvccSteps& steps, bool has_two_forms) const;

  const GpuSource source_;
  const std::filesystem::path object_;
  Cancellation cancellation_;
  // A future of std::async waits for its end when it goes; later ones use earlier ones.
  std::shared_future<Expected<NvccSteps>> steps_;   ///< for the user's own source
  std::future<Expected<NvccSteps>> probed_steps_;   ///< for the copy with probes
  std::shared_future<Expected<std::string>> plain_; ///< device code without probes → PTX; what was said
  std::shared_future<Expected<std::string>> cpp_;   ///< host half → C++; what was said
};

} // namespace warplens::driver
