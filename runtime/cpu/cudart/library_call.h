// The part of the runtime that the CUDA libraries of the CPU back end (runtime/cpu/libraries/) call: they are
// a shared library of their own.
#pragma once

#include <cuda_runtime_api.h>
#include <functional>

extern "C" {
/// Issues the work of a library's function to a stream: it is done at once, or becomes a node of the graph
/// that captures the stream. Traces say that the function accessed memory in ways that are not known.
cudaError_t __warplens_cpu_library_call(const char* function, cudaStream_t stream,
                                        const std::function<void()>& work);
/// Names a function of a library that the CPU back end refuses on stderr, once for each.
void __warplens_cpu_refuse_library_call(const char* function, const char* why);
}
