#include "runtime/cpu/cudart/library_call.h"

#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/error.h"
#include "runtime/host/recorder.h"

#include <string>

using namespace warplens::cpu;

namespace {

struct LibraryCall {
  std::string function;
  std::function<void()> work;
};

void perform_library_call(void* data) {
  const auto& call = *static_cast<const LibraryCall*>(data);
  call.work();
  warplens::runtime::Recorder::instance().note_unseen("a call of " + call.function);
}

} // namespace

extern "C" {

cudaError_t __warplens_cpu_library_call(const char* function, cudaStream_t stream,
                                        const std::function<void()>& work) {
  return cuda_entry([&] {
    LibraryCall call{function, work};
    const StreamState state = state_of(stream);
    if (state.error != cudaSuccess)
      return state.error;
    if (!state.captured) {
      perform_library_call(&call);
      return cudaSuccess;
    }
    // Graphs copy their nodes and may be launched until the process ends, so the call lives as long.
    return add_to_capture(stream, cudaHostNodeParams{perform_library_call, new LibraryCall(std::move(call))});
  });
}

void __warplens_cpu_refuse_library_call(const char* function, const char* why) {
  say_refused(function, why);
}

} // extern "C"
