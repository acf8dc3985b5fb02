// The properties and attributes that the program's device reports.
#pragma once

#include <cuda_runtime_api.h>
#include <optional>

namespace warplens::cpu {

/// Returns the properties of the described device (device_description.h).
const cudaDeviceProp& properties();

/// Returns the device's compute capability (80 is 8.0): the described one, or the newest that a kernel of the
/// program was compiled for, since a GPU runs no code for a newer one.
int capability();

/// Returns the attribute's value, or nothing if there is no such attribute. Features and limits that are
/// missing are 0.
std::optional<int> attribute(cudaDeviceAttr name);

} // namespace warplens::cpu
