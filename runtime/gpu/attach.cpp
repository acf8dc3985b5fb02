// The GPU back end's runtime as the library that a program loads when it starts (see warplens/attach.h). It
// contains no CUDA runtime of its own: it calls the program's, which may be linked into it statically.

#include "runtime/gpu/device_channel.h"
#include "runtime/gpu/launch_hook.h"
#include "runtime/gpu/memory_hook.h"
#include "runtime/host/recorder.h"
#include "runtime/host/trace_file.h"

#include <cstring>
#include <mutex>
#include <warplens/runtime_table.h>

namespace {

using warplens::detail::AnyFunction;

#define WARPLENS_COUNT(result, name, parameters, arguments) index_##name,
enum : std::size_t {
  WARPLENS_REDIRECTED_CALLS(WARPLENS_COUNT) WARPLENS_OWN_CALLS(WARPLENS_COUNT) functions_of_cuda
};
#undef WARPLENS_COUNT

/// The program's CUDA functions, in the order of cuda_calls.h.
const AnyFunction* cuda = nullptr;

/// Returns whether this is the first CUDA runtime in the program. A second copy (a shared library's) knows
/// other kernels and streams, which stay untraced.
bool is_the_first(const AnyFunction* functions) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (!cuda) {
    cuda = functions;
    return true;
  }
  return std::memcmp(cuda, functions, functions_of_cuda * sizeof *cuda) == 0;
}

} // namespace

// The CUDA runtime's functions, as this library calls them.
#define WARPLENS_FORWARD(result, name, parameters, arguments)                                                \
  extern "C" result name parameters {                                                                        \
    using Function = result(*) parameters;                                                                   \
    return reinterpret_cast<Function>(cuda[index_##name]) arguments;                                         \
  }
WARPLENS_REDIRECTED_CALLS(WARPLENS_FORWARD)
WARPLENS_OWN_CALLS(WARPLENS_FORWARD)
#undef WARPLENS_FORWARD

extern "C" warplens::detail::Runtime __warplens_attach_3(const AnyFunction* functions) {
  warplens::detail::Runtime runtime{};
  if (!is_the_first(functions)) {
    warplens::runtime::warn("a shared library brings a CUDA runtime of its own (link with -cudart shared to "
                            "see it): its kernels are not traced");
    return runtime;
  }
  warplens::runtime::Recorder::instance().set_device("gpu", "none found"); // the value until a GPU is found
  runtime.register_sites = &__warplens_register_sites;
  runtime.register_channel = &__warplens_register_channel;
#define WARPLENS_GIVE(result, name, parameters, arguments) runtime.call_##name = &__warplens_##name;
  WARPLENS_REDIRECTED_CALLS(WARPLENS_GIVE)
#undef WARPLENS_GIVE
  return runtime;
}
