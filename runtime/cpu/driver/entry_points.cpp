// The driver's functions by their names: CUDA Driver API, "Driver Entry Point Access", and the runtime's part
// of it; names of errors.
#include "runtime/cpu/driver/result.h"

#include <dlfcn.h>
#include <string>
#include <utility>

using namespace warplens::cpu;

namespace {

/// Opens the library that this function is in. A program that was linked with an archive of it is one itself.
void* own_library() {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&own_library), &here) == 0)
    return nullptr;
  void* const library = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library ? library : dlopen(nullptr, RTLD_LAZY);
}

/// Returns the variant of the function that the header of a version of CUDA names, which is the newest of
/// all but one; null if there is none.
void* find(const std::string& name, unsigned cuda_version) {
  static void* const library = own_library();
  if (!library || !name.starts_with("cu"))
    return nullptr;
  if (name == "cuCtxCreate" && cuda_version < 13000)
    return dlsym(library, "cuCtxCreate_v2");
  for (const char* variant : {"_v4", "_v3", "_v2", ""})
    if (void* const found = dlsym(library, (name + variant).c_str()))
      return found;
  return nullptr;
}

cudaError_t get_entry_point(const char* name, void** function, unsigned cuda_version,
                            cudaDriverEntryPointQueryResult* status) {
  return cuda_entry([&] {
    if (!name || !function)
      return cudaErrorInvalidValue;
    *function = find(name, cuda_version);
    if (status)
      *status = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return *function || status ? cudaSuccess : cudaErrorSymbolNotFound;
  });
}

} // namespace

extern "C" {

CUresult cuGetProcAddress(const char* name, void** function, int cuda_version, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
  const cudaError_t error = get_entry_point(name, function, unsigned(cuda_version), nullptr);
  if (status)
    *status = error == cudaSuccess ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return error == cudaErrorSymbolNotFound ? CUDA_ERROR_NOT_FOUND : result_of(error);
}

#undef cudaGetDriverEntryPoint
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* status) {
  return get_entry_point(name, function, CUDA_VERSION, status);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned cuda_version,
                                             unsigned long long, cudaDriverEntryPointQueryResult* status) {
  return get_entry_point(name, function, cuda_version, status);
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  static constexpr std::pair<CUresult, const char*> of_driver[] = {
      {CUDA_SUCCESS, "CUDA_SUCCESS"},
      {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
      {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
      {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
      {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
      {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"}};
  for (const auto& [of, its_name] : of_driver)
    if (of == error) {
      *name = its_name;
      return CUDA_SUCCESS;
    }
  // The others have the runtime's names, with the driver's words in front: cudaErrorInvalidValue is
  // CUDA_ERROR_INVALID_VALUE.
  static thread_local std::string text;
  const std::string runtime = cudaGetErrorName(static_cast<cudaError_t>(error));
  if (runtime.starts_with("cudaError")) {
    text = "CUDA_ERROR";
    for (const char letter : runtime.substr(9))
      text += letter >= 'A' && letter <= 'Z'
                  ? std::string{'_', letter}
                  : std::string(1, char(letter >= 'a' && letter <= 'z' ? letter - 32 : letter));
  } else {
    *name = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
  }
  *name = text.c_str();
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

} // extern "C"

PER_THREAD_NAME(cudaGetDriverEntryPoint, ptsz)
PER_THREAD_NAME(cudaGetDriverEntryPointByVersion, ptsz)
