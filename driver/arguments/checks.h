// --memcheck, --racecheck and their like as arguments.
#pragma once

#include "runtime/cpu/checks.h"

#include <string>
#include <vector>

namespace warplens::driver {

/// The options that ask for them.
std::vector<std::string> options_of(cpu::Checks checks);

/// What to do on a GPU in place of a check, to end a message with.
std::string on_a_gpu(cpu::Check check);

} // namespace warplens::driver
