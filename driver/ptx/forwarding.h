// Device functions of other files. A kernel with probes calls their form with probes, which only the linker
// knows to be there: where it is not, a weak function of that name stands in and calls the user's own.
#pragma once

#include "driver/ptx/module.h"

#include <string>
#include <string_view>

namespace warplens::driver::ptx {

/// Is it a declaration of a function that the user wrote, in another file? CUDA's own functions have one
/// form.
bool is_users_elsewhere(const Item& item);

/// A weak definition of `name` (PTX ISA, ".weak": another file's takes its place) that calls what `item`
/// declares. Empty where its parameters are not understood.
std::string forwarding_function(const Item& item, std::string_view name);

} // namespace warplens::driver::ptx
