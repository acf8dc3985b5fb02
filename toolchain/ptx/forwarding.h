// Device functions of other files. A kernel with probes calls the probed variant of such a function, but only
// the linker knows whether it exists: a weak function of that name is its fallback and calls the user's own.
#pragma once

#include "ptx/module.h"

#include <string>
#include <string_view>

namespace warplens::toolchain {

/// Returns whether the item declares a function that the user wrote, in another file. CUDA's own functions
/// have one variant.
bool is_users_elsewhere(const ptx::Item& item);

/// Returns a weak definition of `name` (PTX ISA, ".weak": another file's takes its place) that calls the
/// function declared by `item`, or an empty string if its parameters are not understood.
std::string forwarding_function(const ptx::Item& item, std::string_view name);

} // namespace warplens::toolchain
