// What a program and the GPU back end's runtime, which it loads when it starts, give to each other.
#pragma once

#include "cuda_calls.h"
#include "site_record.h"

#include <cuda_runtime_api.h>

namespace warplens {
namespace detail {

using AnyFunction = void (*)();

/// What the runtime gives to a program; all null where it is not there.
struct Runtime {
  void (*register_sites)(const SiteRecord* records, unsigned long long count);
  void (*register_channel)(const void* channel);
#define WARPLENS_MEMBER(result, name, parameters, arguments) result(*call_##name) parameters;
  WARPLENS_REDIRECTED_CALLS(WARPLENS_MEMBER)
#undef WARPLENS_MEMBER
};

/// The runtime's one entry; its name changes with what it takes. It gets the program's CUDA functions, in the
/// order of cuda_calls.h.
using Attach = Runtime (*)(const AnyFunction* cuda);
#define WARPLENS_ATTACH "__warplens_attach_3"

} // namespace detail
} // namespace warplens
