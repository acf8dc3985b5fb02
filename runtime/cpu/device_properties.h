// What the program is told of its device.
#pragma once

#include <cuda_runtime_api.h>
#include <optional>

namespace warplens::cpu {

/// The described device's (device_description.h).
const cudaDeviceProp& properties();

/// Nothing: there is no such attribute. Features and limits that are not there are 0.
std::optional<int> attribute(cudaDeviceAttr name);

} // namespace warplens::cpu
