// How a relocatable object (-rdc) for the CPU back end contains its device code until the device link.
#pragma once

namespace warplens::cpu {

/// The section with the bitcode of the device half.
inline constexpr char device_section[] = ".warplens_device";

/// The object defines a symbol of this prefix and its module's name. The object of the device link refers to
/// it, as nvcc's refers to __fatbinwrap_…, lest linkers leave an object with nothing but device code in its
/// archive: the sites of its accesses would not be registered.
inline constexpr char linked_symbol_prefix[] = "__warplens_linked_";

} // namespace warplens::cpu
