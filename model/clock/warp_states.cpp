#include "model/clock/warp_states.h"

namespace warplens::model {

using sass::InstructionClass;

WarpStates::WarpStates(const Snapshot& snapshot, const TimedCode* code)
    : first_site_(code == nullptr ? 0 : std::uint32_t(code->code().kernel.instructions.size())) {
  if (code != nullptr)
    for (const sass::Instruction& instruction : code->code().kernel.instructions)
      kinds_.push_back(kind_of(instruction.kind));
  for (const SiteSummary& site : snapshot.sites)
    kinds_.push_back(kind_of(site));
  kinds_.emplace_back();
  counts_.resize(kinds_.size());
}

/// Global and local memory and textures answer by the long scoreboard, all else that takes a varying time by
/// the short one (Kernel Profiling Guide, "Warp Stall Reasons").
WarpStates::Kind WarpStates::kind_of(InstructionClass instruction) {
  constexpr Kind global{.for_result = WarpState::long_scoreboard, .for_pipe = WarpState::lg_throttle};
  switch (instruction) {
  case InstructionClass::load_global:
  case InstructionClass::load_local:
  case InstructionClass::load_generic:
  case InstructionClass::store_global:
  case InstructionClass::store_local:
  case InstructionClass::store_generic:
  case InstructionClass::copy_to_shared:
  case InstructionClass::copy_to_global:
  case InstructionClass::atomic_global:
  case InstructionClass::atomic_generic:
  case InstructionClass::reduction_global: return global;
  case InstructionClass::load_texture:
  case InstructionClass::store_surface:
  case InstructionClass::atomic_surface:
    return {.for_result = WarpState::long_scoreboard, .for_pipe = WarpState::tex_throttle};
  case InstructionClass::load_shared:
  case InstructionClass::store_shared:
  case InstructionClass::atomic_shared:
  case InstructionClass::load_constant:
  case InstructionClass::shuffle: return {.for_pipe = WarpState::mio_throttle};
  case InstructionClass::branch: return {.after = WarpState::branch_resolving};
  default: return {};
  }
}

WarpStates::Kind WarpStates::kind_of(const SiteSummary& site) {
  return site.cached != 0 ? kind_of(InstructionClass::load_global) : kind_of(InstructionClass::load_shared);
}

} // namespace warplens::model
