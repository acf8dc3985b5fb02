// The options of `warplens nvcc` beside nvcc's own arguments.
#pragma once

#include "runtime/abi/checks.h"
#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::driver {

struct DropInOptions {
  std::vector<std::string> words; ///< the other words, nvcc's, as given; with --report, files
  bool strict = false;            ///< --strict or WARPLENS_STRICT
  bool for_cpu = false;           ///< --backend cpu or WARPLENS_BACKEND=cpu: objects for the CPU back end
  cpu::Checks checks;             ///< --memcheck or WARPLENS_MEMCHECK and their like, for the CPU back end
  bool report = false;            ///< --report, the first word
  bool json = false;              ///< --format json beside --report
};

/// Takes our options, which may stand anywhere, out of the words. The error names the option and its possible
/// values.
Expected<DropInOptions> take_drop_in_options(std::vector<std::string> words);

} // namespace warplens::driver
