// Stage of the drop-in nvcc: one source → its object, with probes where that is possible.
#pragma once

#include "driver/arguments/nvcc_arguments.h"
#include "driver/compilation_note.h"
#include "driver/toolkit.h"
#include "runtime/cpu/checks.h"
#include "support/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::driver {

struct SourceToCompile {
  std::string source;              ///< as the command line names it
  std::filesystem::path object;    ///< where it goes
  std::filesystem::path directory; ///< ours alone; what comes to lie there is gone afterwards
  bool for_cpu = false;            ///< the object is for the CPU back end
  cpu::Checks checks;              ///< … what its code checks while it runs
};

enum class Attempt { instrumented, nothing_to_instrument, impossible };

/// Writes the object, the dependency file that the command line asks for, and what nvcc said; or, unless it
/// is `instrumented`, nothing at all. The note tells why it was `impossible`.
struct Attempted {
  Attempt outcome;
  CompilationNote note;
  bool refused_by_clang = false; ///< it is a message of Clang's about the source
};
Expected<Attempted> compile_with_probes(const SourceToCompile& source, const NvccArguments& nvcc,
                                        const Toolkit& toolkit);

/// What -MD and its like ask for: the user's files, not our copies.
Expected<void> write_dependencies(const SourceToCompile& source, const NvccArguments& nvcc,
                                  const Toolkit& toolkit);

/// nvcc reads these by itself; they are part of the command line as parsed, too.
extern const std::vector<std::string> nvcc_variables;

} // namespace warplens::driver
