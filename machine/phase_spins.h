// Finds the loops in which warps do nothing but check a phase of a barrier in shared memory, again and again
// (PTX ISA, "mbarrier.test_wait"): how often they go round says nothing but how long the phase takes.
#pragma once

#include "machine/code.h"

namespace warplens::machine {

/// Makes each check in such a loop one that waits until its phase is over, as `mbarrier.try_wait` does: the
/// warp then goes through the loop once. A loop that does anything else between its checks stays as it is.
/// The operations have their kinds and targets.
void let_spins_wait(Code& code);

} // namespace warplens::machine
