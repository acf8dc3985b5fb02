// Finds what of this machine Warplens can use, and says how to get the rest.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::driver {

/// `works`; `limited`: it works, with less than there could be; `absent`: what needs it does not work.
enum class Condition { works, limited, absent };

struct Diagnosis {
  std::string_view part; ///< "CUDA Toolkit"
  Condition condition = Condition::works;
  std::string found;  ///< a version and a place, or what is wrong
  std::string remedy; ///< how to get it; empty if it works
  std::string_view needed_for;
};

/// Looks at everything. It starts the compilers once each, profiles a kernel of one block, and changes
/// nothing outside of a temporary folder. It takes about three seconds.
std::vector<Diagnosis> diagnose();

/// Returns who may read the GPU's counters, from the text of /proc/driver/nvidia/params; Warplens itself
/// needs none, but recording counters to compare with does (docs/on-a-gpu.md).
Diagnosis counter_rights(std::string_view driver_parameters, bool is_root);

} // namespace warplens::driver
