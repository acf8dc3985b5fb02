#include "model/clock/warp_states.h"

#include "sass/instruction_traits.h"

namespace warplens::model {

using sass::AddressSpace;
using sass::ExecutionUnit;
using sass::InstructionClass;

WarpStates::WarpStates(const Snapshot& snapshot, const TimedCode* code) {
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
  const sass::InstructionTraits& traits = sass::traits_of(instruction);
  switch (traits.space) {
  case AddressSpace::global:
  case AddressSpace::local:
  case AddressSpace::generic:
    return {.for_result = WarpState::long_scoreboard, .for_pipe = WarpState::lg_throttle};
  case AddressSpace::texture:
    return {.for_result = WarpState::long_scoreboard, .for_pipe = WarpState::tex_throttle};
  case AddressSpace::shared:
  case AddressSpace::constant: return {.for_pipe = WarpState::mio_throttle};
  case AddressSpace::none: break;
  }
  switch (traits.unit) {
  case ExecutionUnit::shuffle: return {.for_pipe = WarpState::mio_throttle};
  case ExecutionUnit::barrier: return {.for_result = WarpState::barrier};
  default: return {};
  }
}

WarpStates::Kind WarpStates::kind_of(const SiteSummary& site) {
  return site.cached != 0 ? kind_of(InstructionClass::load_global) : kind_of(InstructionClass::load_shared);
}

} // namespace warplens::model
