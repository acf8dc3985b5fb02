// Chooses which of a kernel's machine codes stands for a GPU: one rule for the model and for the program's
// CUDA runtime.
#pragma once

#include "trace/records.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>

namespace warplens::trace {

/// Returns whether the code was made for GPUs of this capability (89 is 8.9), and not as a substitute for an
/// architecture without a compiler.
inline bool is_own(const MachineCode& code, int capability) {
  return static_cast<int>(code.capability) == capability && static_cast<int>(code.architecture) <= capability;
}

/// The number of registers of a thread that current compilers assume at least. Their code says nothing about
/// the code for a GPU with fewer.
inline constexpr std::uint32_t registers_of_todays_threads = 255;

/// Returns the code for this capability, else that for the closest one, which is an assumption. Null: nothing
/// is known, or nothing about a GPU whose threads have at most `registers_per_thread` registers.
inline const MachineCode* machine_code_for(std::span<const MachineCode> all, int capability,
                                           std::uint32_t registers_per_thread) {
  const auto distance = [&](const MachineCode& code) {
    return std::abs(static_cast<int>(code.capability) - capability);
  };
  const auto closest = std::ranges::min_element(all, {}, distance);
  if (closest == all.end() ||
      (!is_own(*closest, capability) && registers_per_thread < registers_of_todays_threads))
    return nullptr;
  return &*closest;
}

/// Returns the architecture of a capability with all of its features, also those that later ones lack, as
/// nvcc names it: "sm_90a".
inline std::string architecture_with_all_features(int capability) {
  constexpr int oldest = 75, first_with_own_features = 90;
  return "sm_" + std::to_string(std::max(capability, oldest)) +
         (capability >= first_with_own_features ? "a" : "");
}

} // namespace warplens::trace
