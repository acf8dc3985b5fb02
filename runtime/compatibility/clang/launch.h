// The function by which Clang checks <<<…>>> if CUDA's version is unknown, as under -nogpulib. It is never
// called: the host half knows the version and uses __cudaPushCallConfiguration.
#pragma once

extern "C" cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                         cudaStream_t stream = 0);
