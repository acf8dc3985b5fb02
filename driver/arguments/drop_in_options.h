// What `warplens nvcc` takes beside nvcc's own arguments.
#pragma once

#include "runtime/cpu/checks.h"
#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::driver {

struct DropInOptions {
  std::vector<std::string> words; ///< the others, nvcc's, as given; with --report, files
  bool strict = false;            ///< --strict or WARPLENS_STRICT
  bool for_cpu = false;           ///< --backend cpu or WARPLENS_BACKEND=cpu: objects for the CPU back end
  cpu::Checks checks;             ///< --memcheck or WARPLENS_MEMCHECK and their like, for the CPU back end
  bool report = false;            ///< --report, the first word
  bool json = false;              ///< with it, --format json
};

/// Ours may stand anywhere. The error names the option and what it can be.
Expected<DropInOptions> take_drop_in_options(std::vector<std::string> words);

} // namespace warplens::driver
