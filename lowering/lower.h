// NVPTX bitcode of a rewritten CUDA source's device half → an x86-64 object that runs under runtime/cpu.
#pragma once

#include "runtime/cpu/checks.h"
#include "support/expected.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warplens::lowering {

/// Sizes in LLVM's instructions; tests set smaller ones.
struct Limits {
  /// A function that would grow beyond by what it calls keeps its largest callees as calls.
  std::uint64_t inlined = 10000;
  /// So many at least are compiled together, if there are so many.
  std::uint64_t part = 3000;
};

struct Output {
  std::filesystem::path object;
  std::string module; ///< a name that the host half knows it by, too; needed where files name things alike
  std::string source; ///< what messages call the source; empty: as the bitcode does
  unsigned optimisation = 2;   ///< 0 to 3
  cpu::Checks checks;          ///< what the code checks while it runs
  bool times = false;          ///< a table of what each step took goes to stderr
  std::filesystem::path cache; ///< folder that keeps kernels' objects for the next time; empty: none
  Limits limits;
  /// Where headers lie that are not the user's: messages name the user's line that leads into them.
  std::vector<std::filesystem::path> system_folders;
};

/// `bitcode` is from clang --cuda-device-only -emit-llvm -c -O1 -Xclang -disable-llvm-passes -nogpulib
/// -gline-tables-only -D__WARPLENS_CPU__: unoptimised, so that blocks stand in the source's order and nothing
/// convergent has moved. An error names what cannot be run here (an intrinsic, inline PTX, …) with file and
/// line.
Expected<void> lower(const std::filesystem::path& bitcode, const Output& output);

/// The device link of -rdc: the same for the bitcode of many files together, which objects and archives bring
/// along in a section.
Expected<void> link(const std::vector<std::string>& files, const Output& output);

} // namespace warplens::lowering
