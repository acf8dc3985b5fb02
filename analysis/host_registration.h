// The host half's registration of its kernels and variables with CUDA's runtime, as nvcc's objects make it.
#pragma once

#include <clang/Basic/CodeGenOptions.h>
#include <string>

namespace warplens::analysis {

/// Makes Clang's code generation change the module before it is optimised, where nvcc's objects differ:
///
///   - Kernels and variables are registered before the file's own objects are made, whose constructors may
///     launch. Clang registers them last.
///   - Stubs of kernels and the host's copies of variables are hidden, so that a program and its libraries
///     each launch their own (nvcc's -device-entity-has-hidden-visibility). `hide_entities` is that option.
///   - __managed__ variables get the names by which device code finds them. `cuid` is what Clang names the
///   device's
///     static variables by in relocatable code, else empty.
void register_as_nvcc_does(clang::CodeGenOptions& options, const std::string& cuid, bool hide_entities);

} // namespace warplens::analysis
