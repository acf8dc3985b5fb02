#include "machine/phase_spins.h"

namespace warplens::machine {
namespace {

using sass::Opcode;

bool is_idle(const Operation& o) {
  const Opcode opcode = o.operands->opcode;
  return opcode == Opcode::nop || opcode == Opcode::yield || opcode == Opcode::nanosleep;
}

bool always_executes(const Operation& o) {
  return o.guard == sass::true_predicate && o.guard_negation == 0;
}

/// How a branch depends on a check.
enum class Taken : std::uint8_t { always, when_over, when_not_over, by_something_else };

Taken taken(const Operation& branch, const Operation& check) {
  const auto is_true = [](std::uint8_t predicate, Mask negation) {
    return predicate == sass::true_predicate && negation == 0;
  };
  const bool has_guard = !is_true(branch.guard, branch.guard_negation),
             has_condition = !is_true(branch.in[0], branch.in_negation[0]);
  if (!has_guard && !has_condition)
    return Taken::always;
  const std::uint8_t predicate = has_guard ? branch.guard : branch.in[0];
  if ((has_guard && has_condition) || predicate != check.out[0])
    return Taken::by_something_else;
  return (has_guard ? branch.guard_negation : branch.in_negation[0]) != 0 ? Taken::when_not_over
                                                                          : Taken::when_over;
}

/// Returns the only check of a loop that has no other effect and goes round until the phase is over; null if
/// the instructions are no such loop. The last one branches to the first one.
Operation* check_of_spin(Code& code, std::uint32_t first, std::uint32_t last) {
  Operation* check = nullptr;
  bool leaves_when_over = false;
  for (std::uint32_t i = first; i <= last; ++i) {
    Operation& o = code.operations[i];
    if (is_idle(o))
      continue;
    if (o.operands->opcode == Opcode::syncs_phase && check == nullptr && always_executes(o)) {
      check = &o;
      continue;
    }
    if (o.operands->opcode != Opcode::bra || check == nullptr)
      return nullptr;
    const Taken how = taken(o, *check);
    const bool goes_back = o.target == first, leaves = o.target > last || o.target < first;
    if (i == last && goes_back)
      leaves_when_over |= how == Taken::when_not_over;
    if (i == last)
      return leaves_when_over && (how == Taken::when_not_over || how == Taken::always) ? check : nullptr;
    if (!leaves || how != Taken::when_over)
      return nullptr;
    leaves_when_over = true;
  }
  return nullptr;
}

} // namespace

void let_spins_wait(Code& code) {
  for (const CodeSection& section : code.sections)
    for (std::uint32_t i = section.begin; i < section.end; ++i) {
      const Operation& o = code.operations[i];
      if (o.operands->opcode != Opcode::bra || o.kind != OperationKind::control || o.target > i)
        continue;
      if (Operation* const check = check_of_spin(code, o.target, i);
          check != nullptr && check->kind == OperationKind::memory)
        check->kind = OperationKind::wait;
    }
}

} // namespace warplens::machine
