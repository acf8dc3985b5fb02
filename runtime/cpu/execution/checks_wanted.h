// The checks that the environment requests.
#pragma once

#include "runtime/abi/checks.h"

namespace warplens::cpu {

/// Reads the variables of check_names. It is an error if a kernel was built without one of these checks.
Checks checks_wanted();

} // namespace warplens::cpu
