// Stage of the drop-in nvcc: one source → its object, with probes if possible.
#pragma once

#include "runtime/abi/checks.h"
#include "support/expected.h"
#include "toolchain/nvcc/nvcc_arguments.h"
#include "toolchain/objects/compilation_note.h"
#include "toolchain/toolkit.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::toolchain {

struct SourceToCompile {
  std::string source;              ///< the name on the command line
  std::filesystem::path object;    ///< the object to write
  std::filesystem::path directory; ///< our own folder, which is removed afterwards
  bool for_cpu = false;            ///< the object is for the CPU back end
  cpu::Checks checks;              ///< the checks that the object's code makes while it runs
  std::vector<int> later = {};     ///< for the CPU back end: see start_machine_code_for_any_gpu()
};

enum class Attempt { instrumented, nothing_to_instrument, impossible };

/// The outcome of compile_with_probes(), which writes the object, the dependency file that the command line
/// requests, and nvcc's output; unless the outcome is `instrumented`, it writes nothing at all. The note says
/// why it was `impossible`.
struct Attempted {
  Attempt outcome;
  CompilationNote note;
  bool refused_by_clang = false; ///< the reason is a message of Clang's about the source
};
Expected<Attempted> compile_with_probes(const SourceToCompile& source, const NvccArguments& nvcc,
                                        const Toolkit& toolkit);

/// Writes the dependency file of -MD and its like: the user's files, not our copies.
Expected<void> write_dependencies(const SourceToCompile& source, const NvccArguments& nvcc,
                                  const Toolkit& toolkit);

/// Writes the files of -time and -fdevice-time-trace. They are about nvcc's own work, so nvcc does that: it
/// compiles the source once more, by itself.
Expected<void> write_timing(const SourceToCompile& source, const NvccArguments& nvcc, const Toolkit& toolkit);

/// The variables that nvcc reads by itself; their words are part of the parsed command line, too.
extern const std::vector<std::string> nvcc_variables;

} // namespace warplens::toolchain
