// Links PTX and cubins to one cubin: CUDA Driver API, "Module Management", cuLink*. The linker is the
// toolkit's nvJitLink, which needs no driver; the program loads it when it links for the first time.
#include "runtime/cpu/cudart/device_properties.h"
#include "runtime/cpu/driver/result.h"
#include "support/files.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <string>
#include <vector>

using namespace warplens;
using namespace warplens::cpu;

struct CUlinkState_st {
  void* linker = nullptr;      ///< nvJitLink's handle
  std::vector<char> cubin;     ///< the result
  char* error_log = nullptr;   ///< the caller's, which gets the linker's messages
  std::size_t error_bytes = 0; ///< of the caller's log
};

namespace {

/// nvJitLink's functions (nvJitLink.h), whose result is 0 for success.
struct Linker {
  int (*create)(void** handle, std::uint32_t count, const char** options) = nullptr;
  int (*destroy)(void** handle) = nullptr;
  int (*add)(void* handle, int type, const void* data, std::size_t bytes, const char* name) = nullptr;
  int (*complete)(void* handle) = nullptr;
  int (*size)(void* handle, std::size_t* bytes) = nullptr;
  int (*cubin)(void* handle, void* to) = nullptr;
  int (*log_size)(void* handle, std::size_t* bytes) = nullptr;
  int (*log)(void* handle, char* to) = nullptr;
  bool found = false;
};

template <class Function> bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Returns the linker; it is not found without a toolkit where the program runs.
const Linker& linker() {
  static const Linker found = [] {
    Linker functions;
    void* library = nullptr;
    for (const char* name :
         {"libnvJitLink.so.13", "libnvJitLink.so", "/usr/local/cuda/lib64/libnvJitLink.so"})
      if (!library)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    functions.found = library && find(library, "nvJitLinkCreate", functions.create) &&
                      find(library, "nvJitLinkDestroy", functions.destroy) &&
                      find(library, "nvJitLinkAddData", functions.add) &&
                      find(library, "nvJitLinkComplete", functions.complete) &&
                      find(library, "nvJitLinkGetLinkedCubinSize", functions.size) &&
                      find(library, "nvJitLinkGetLinkedCubin", functions.cubin) &&
                      find(library, "nvJitLinkGetErrorLogSize", functions.log_size) &&
                      find(library, "nvJitLinkGetErrorLog", functions.log);
    if (!functions.found)
      std::fputs("warplens: cuLinkCreate needs libnvJitLink.so.13 of the CUDA Toolkit: add its folder to "
                 "LD_LIBRARY_PATH\n",
                 stderr);
    return functions;
  }();
  return found;
}

/// Returns nvJitLink's number of a kind of input, 0 if it has none.
int kind_of(CUjitInputType type) {
  switch (type) {
  case CU_JIT_INPUT_CUBIN: return 1;
  case CU_JIT_INPUT_PTX: return 2;
  case CU_JIT_INPUT_FATBINARY: return 4;
  case CU_JIT_INPUT_OBJECT: return 5;
  case CU_JIT_INPUT_LIBRARY: return 6;
  default: return 0;
  }
}

/// Copies the linker's messages to the caller, or prints them where there is no place for them.
void report(const CUlinkState_st& state) {
  std::size_t bytes = 0;
  linker().log_size(state.linker, &bytes);
  std::string log(bytes, '\0');
  linker().log(state.linker, log.data());
  if (state.error_log && state.error_bytes != 0)
    std::snprintf(state.error_log, state.error_bytes, "%s", log.c_str());
  else
    std::fprintf(stderr, "warplens: a module cannot be linked: %s\n", log.c_str());
}

} // namespace

extern "C" {

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return driver_entry([&] {
    if (!state || (count != 0 && (!options || !values)))
      return CUDA_ERROR_INVALID_VALUE;
    if (!linker().found)
      return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    auto* const made = new CUlinkState_st;
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
        made->error_log = static_cast<char*>(values[i]);
      else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        made->error_bytes = reinterpret_cast<std::size_t>(values[i]);
    const std::string architecture = fmt::format("-arch=sm_{}", capability());
    const char* const words[] = {architecture.c_str()};
    if (linker().create(&made->linker, 1, const_cast<const char**>(words)) != 0) {
      delete made;
      return CUDA_ERROR_INVALID_VALUE;
    }
    *state = made;
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes,
                       const char* name, unsigned, CUjit_option*, void**) {
  return driver_entry([&] {
    if (!state || !data || kind_of(type) == 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (linker().add(state->linker, kind_of(type), data, bytes, name ? name : "input") == 0)
      return CUDA_SUCCESS;
    report(*state);
    return type == CU_JIT_INPUT_PTX ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE;
  });
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                       CUjit_option* options, void** values) {
  if (!path)
    return CUDA_ERROR_INVALID_VALUE;
  auto bytes = read_file(path);
  return bytes ? cuLinkAddData(state, type, bytes->data(), bytes->size(), path, count, options, values)
               : CUDA_ERROR_FILE_NOT_FOUND;
}

CUresult cuLinkComplete(CUlinkState state, void** cubin, std::size_t* bytes) {
  return driver_entry([&] {
    if (!state || !cubin)
      return CUDA_ERROR_INVALID_VALUE;
    std::size_t size = 0;
    if (linker().complete(state->linker) != 0 || linker().size(state->linker, &size) != 0) {
      report(*state);
      return CUDA_ERROR_UNKNOWN;
    }
    state->cubin.resize(size);
    if (linker().cubin(state->linker, state->cubin.data()) != 0)
      return CUDA_ERROR_UNKNOWN;
    *cubin = state->cubin.data();
    if (bytes)
      *bytes = size;
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return driver_entry([&] {
    if (!state)
      return CUDA_ERROR_INVALID_VALUE;
    linker().destroy(&state->linker);
    delete state;
    return CUDA_SUCCESS;
  });
}

} // extern "C"
