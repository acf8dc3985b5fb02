// The interface between a program and the GPU back end's runtime, which the program loads when it starts.
#pragma once

#include "cuda_calls.h"
#include "site_record.h"

#include <cuda_runtime_api.h>

namespace warplens {
namespace detail {

using AnyFunction = void (*)();

/// The runtime's functions for a program; all null if the runtime is not loaded.
struct Runtime {
  void (*register_sites)(const SiteRecord* records, unsigned long long count);
  void (*register_channel)(const void* channel);
#define WARPLENS_MEMBER(result, name, parameters, arguments) result(*call_##name) parameters;
  WARPLENS_REDIRECTED_CALLS(WARPLENS_MEMBER)
#undef WARPLENS_MEMBER
};

/// The runtime's only entry; its name changes with its parameters. It receives the program's CUDA functions,
/// in the order of cuda_calls.h.
using Attach = Runtime (*)(const AnyFunction* cuda);
#define WARPLENS_ATTACH "__warplens_attach_3"

} // namespace detail
} // namespace warplens
