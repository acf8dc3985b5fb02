// What the environment asks kernels to check.
#pragma once

#include "runtime/cpu/checks.h"

namespace warplens::cpu {

/// By the variables of check_names. A kernel that was built without one of these checks is an error.
Checks checks_wanted();

} // namespace warplens::cpu
