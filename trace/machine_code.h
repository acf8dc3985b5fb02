// Which of a kernel's machine codes stands for a GPU: one rule for the model and for the program's CUDA
// runtime.
#pragma once

#include "trace/records.h"

#include <algorithm>
#include <cstdlib>
#include <span>

namespace warplens::trace {

/// Was it made for GPUs of this capability (89 is 8.9), and not in the place of what no compiler is there
/// for?
inline bool is_own(const MachineCode& code, int capability) {
  return static_cast<int>(code.capability) == capability && static_cast<int>(code.architecture) <= capability;
}

/// Compilers of today count on so many registers of a thread at least. What they make says nothing of what a
/// compiler for a GPU with fewer makes.
inline constexpr std::uint32_t registers_of_todays_threads = 255;

/// That for this capability, else that for the closest one, which is an assumption. Null: nothing is known,
/// or nothing of a GPU whose threads have no more than so many registers.
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

} // namespace warplens::trace
