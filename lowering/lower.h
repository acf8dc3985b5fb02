// Lowers the NVPTX bitcode of a rewritten CUDA source's device half to an x86-64 object for runtime/cpu.
#pragma once

#include "runtime/abi/checks.h"
#include "support/expected.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warplens::lowering {

/// Bounds in LLVM instructions; tests set smaller ones.
struct Limits {
  /// A function that would grow beyond this keeps its largest callees as calls.
  std::uint64_t inlined = 10000;
  /// The minimum that is compiled together, where the module is large enough.
  std::uint64_t part = 3000;
};

struct Output {
  std::filesystem::path object;
  std::string
      module; ///< the module's name, which the host half knows, too; needed where files use the same names
  std::string source;        ///< the source's name in messages; empty: the one in the bitcode
  unsigned optimisation = 2; ///< 0 to 3
  cpu::Checks checks;        ///< the checks that the code makes while it runs
  /// Kernels with code that cannot be lowered stay, without it: their machine code is executed. Otherwise
  /// that is an error.
  bool keeps_refused = false;
  bool times = false;          ///< prints a table of the time of each step to stderr
  std::filesystem::path cache; ///< folder that keeps kernels' objects for later runs; empty: none
  Limits limits;
  /// Folders of headers that are not the user's: messages name the user's line that leads into them.
  std::vector<std::filesystem::path> system_folders;
  /// Symbols that the object refers to, so that the linker takes the objects that define them from archives.
  std::vector<std::string> referenced_symbols;
};

/// Lowers one file. `bitcode` is from clang --cuda-device-only -emit-llvm -c -O1 -Xclang -disable-llvm-passes
/// -nogpulib -gline-tables-only -D__WARPLENS_CPU__: unoptimised, so that blocks are in the source's order and
/// convergent operations have not moved. An error names a feature that the CPU back end lacks (an intrinsic,
/// inline PTX, …) with file and line.
Expected<void> lower(const std::filesystem::path& bitcode, const Output& output);

/// Does the device link of -rdc: lowers together the bitcode of many files, which objects and archives
/// contain in a section.
Expected<void> link(const std::vector<std::string>& files, const Output& output);

} // namespace warplens::lowering
