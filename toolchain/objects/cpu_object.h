// Compiles an (instrumented) source to an object for the CPU back end, which links wherever the user's own
// would.
#pragma once

#include "runtime/abi/checks.h"
#include "support/expected.h"
#include "toolchain/nvcc/nvcc_arguments.h"
#include "toolchain/objects/machine_code.h"
#include "toolchain/toolkit.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::toolchain {

struct CpuSource {
  std::filesystem::path source;    ///< the source to compile
  std::filesystem::path original;  ///< the user's file; quoted includes are searched in its folder
  std::filesystem::path directory; ///< our own folder
  cpu::Checks checks;              ///< the checks that its code makes while it runs
  MachineCodes machine_code = {};  ///< goes into the object; not valid: nothing does
  bool debugged = false;           ///< whether debuggers see its variables (-G)
  /// Why Clang makes no code of some device function, whose machine code is executed instead; empty: it does
  /// of all.
  std::string refused = {};
};

/// Compiles the host half and the device half into one object, for the first architecture that
/// `clang_arguments` name, or for the next older one of the command if the CPU back end lacks what the first
/// needs. With -rdc the device half is not lowered yet: it lies in the object as bitcode, since it is
/// complete only together with that of the other files.
Expected<void> compile_for_cpu(const CpuSource& source, const NvccArguments& nvcc,
                               const std::vector<std::string>& clang_arguments,
                               const std::filesystem::path& object);

/// Returns the libraries that a program needs beside its own because Clang, not gcc, compiled its host half.
std::vector<std::string> libraries_of_host_half(const NvccArguments& nvcc);

/// Compiles a source that is not CUDA: nvcc passes it to its host compiler, which accepts more than Clang
/// does.
Expected<void> compile_host_source(const std::filesystem::path& source, const NvccArguments& nvcc,
                                   const Toolkit& toolkit, const std::filesystem::path& object);

/// Links the device code of all objects and archives, also those that -L and -l name, stored as bitcode, into
/// one object; other words are ignored. If there is no device code, `object` is empty.
Expected<void> link_device_code(const std::vector<std::string>& files, const std::filesystem::path& object,
                                cpu::Checks checks);

} // namespace warplens::toolchain
