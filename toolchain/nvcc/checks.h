// The command-line form of --memcheck, --racecheck and their like.
#pragma once

#include "runtime/abi/checks.h"

#include <string>
#include <vector>

namespace warplens::toolchain {

/// Returns the options that request the checks.
std::vector<std::string> options_of(cpu::Checks checks);

/// Returns the end of a message: the advice for a GPU in place of a check.
std::string on_a_gpu(cpu::Check check);

} // namespace warplens::toolchain
