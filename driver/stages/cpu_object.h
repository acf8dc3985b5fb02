// (Instrumented) source → object for the CPU back end, which links wherever the user's own would.
#pragma once

#include "driver/arguments/nvcc_arguments.h"
#include "driver/stages/machine_code.h"
#include "driver/toolkit.h"
#include "runtime/cpu/checks.h"
#include "support/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::driver {

struct CpuSource {
  std::filesystem::path source;    ///< what is compiled
  std::filesystem::path original;  ///< the user's file; its folder is where quoted includes are looked for
  std::filesystem::path directory; ///< ours alone
  cpu::Checks checks;              ///< what its code checks while it runs
  MachineCodes machine_code = {};  ///< goes along; not valid: nothing does
};

/// The host half and the device half in one object, for the first architecture that `clang_arguments` name,
/// or for the next older one of the command where the CPU back end lacks what the first needs. With -rdc the
/// device half is not lowered yet: it lies in the object as bitcode, since only together with that of the
/// other files is it complete.
Expected<void> compile_for_cpu(const CpuSource& source, const NvccArguments& nvcc,
                               const std::vector<std::string>& clang_arguments,
                               const std::filesystem::path& object);

/// What a program takes beside its own libraries since Clang, not gcc, compiled its host half.
std::vector<std::string> libraries_of_host_half(const NvccArguments& nvcc);

/// A source that is not CUDA: nvcc hands it to its host compiler, which takes more than Clang does.
Expected<void> compile_host_source(const std::filesystem::path& source, const NvccArguments& nvcc,
                                   const Toolkit& toolkit, const std::filesystem::path& object);

/// The device link: one object with all the device code that lies in objects and archives as bitcode; other
/// words (-lfoo) are passed over. Where there is none, `object` holds nothing.
Expected<void> link_device_code(const std::vector<std::string>& files, const std::filesystem::path& object,
                                cpu::Checks checks);

} // namespace warplens::driver
