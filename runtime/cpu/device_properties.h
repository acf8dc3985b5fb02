// What the program is told of its device.
#pragma once

#include <cuda_runtime_api.h>
#include <optional>

namespace warplens::cpu {

/// The described device's (device_description.h).
const cudaDeviceProp& properties();

/// The device's compute capability (80 is 8.0): the described one, or that which the program's newest kernel
/// was compiled for, since a GPU runs no code for a newer one.
int capability();

/// Nothing: there is no such attribute. Features and limits that are not there are 0.
std::optional<int> attribute(cudaDeviceAttr name);

} // namespace warplens::cpu
