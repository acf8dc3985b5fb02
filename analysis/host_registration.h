// The host half's registration of its kernels and variables with CUDA's runtime, as nvcc's objects make it.
#pragma once

#include <clang/Basic/CodeGenOptions.h>

namespace warplens::analysis {

/// Makes Clang's code generation change the module before it is optimised, where nvcc's objects differ:
///
///   - Kernels and variables are registered before the file's own objects are made, whose constructors may
///     launch. Clang registers them last.
///   - Stubs of kernels and the host's copies of variables are hidden, so that a program and its libraries
///     each launch their own (nvcc's -device-entity-has-hidden-visibility). `hide_entities` is that option.
void register_as_nvcc_does(clang::CodeGenOptions& options, bool hide_entities);

} // namespace warplens::analysis
