// Handles of cuBLAS: streams and modes. cuBLAS Library, "cuBLAS Helper Function Reference".
#include "runtime/cpu/libraries/cublas/handle.h"

#include "runtime/cpu/cudart/library_call.h"

#include <cstdio>

namespace warplens::libraries {

cublasStatus_t issue(cublasHandle_t handle, const char* function, const std::function<void()>& work) {
  switch (__warplens_cpu_library_call(function, handle->stream, work)) {
  case cudaSuccess: return CUBLAS_STATUS_SUCCESS;
  case cudaErrorMemoryAllocation: return CUBLAS_STATUS_ALLOC_FAILED;
  default: return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

cublasStatus_t refuse(const char* function, const char* why) {
  __warplens_cpu_refuse_library_call(function, why);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

} // namespace warplens::libraries

using namespace warplens::libraries;

namespace {

struct StatusText {
  cublasStatus_t status;
  const char *name, *description;
};
#define STATUS(status, description) {status, #status, description}
constexpr StatusText status_texts[] = {
    STATUS(CUBLAS_STATUS_SUCCESS, "success"),
    STATUS(CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized"),
    STATUS(CUBLAS_STATUS_ALLOC_FAILED, "the resource allocation failed"),
    STATUS(CUBLAS_STATUS_INVALID_VALUE, "an invalid value was used as an argument"),
    STATUS(CUBLAS_STATUS_ARCH_MISMATCH, "an absent device architectural feature is required"),
    STATUS(CUBLAS_STATUS_MAPPING_ERROR, "an access to GPU memory space failed"),
    STATUS(CUBLAS_STATUS_EXECUTION_FAILED, "the function failed to launch on the GPU"),
    STATUS(CUBLAS_STATUS_INTERNAL_ERROR, "an internal operation failed"),
    STATUS(CUBLAS_STATUS_NOT_SUPPORTED, "the functionality is not supported"),
    STATUS(CUBLAS_STATUS_LICENSE_ERROR, "an error was detected when checking the license"),
};

const StatusText* text_of(cublasStatus_t status) {
  for (const StatusText& text : status_texts)
    if (text.status == status)
      return &text;
  return nullptr;
}

/// Writes a property of the handle.
template <class T> cublasStatus_t get(cublasHandle_t handle, T* to, T cublasContext::* property) {
  return checked(handle, to != nullptr, [&] {
    *to = handle->*property;
    return CUBLAS_STATUS_SUCCESS;
  });
}

template <class T> cublasStatus_t set(cublasHandle_t handle, T value, T cublasContext::* property) {
  return checked(handle, true, [&] {
    handle->*property = value;
    return CUBLAS_STATUS_SUCCESS;
  });
}

} // namespace

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (!handle)
    return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return set(handle, stream, &cublasContext::stream);
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  return get(handle, stream, &cublasContext::stream);
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  return set(handle, mode, &cublasContext::pointer_mode);
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return get(handle, mode, &cublasContext::pointer_mode);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return set(handle, mode, &cublasContext::atomics_mode);
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return get(handle, mode, &cublasContext::atomics_mode);
}
/// Math modes allow lower precisions; here all is computed in the full one.
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return set(handle, mode, &cublasContext::math_mode);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return get(handle, mode, &cublasContext::math_mode);
}
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  return set(handle, count, &cublasContext::sm_count_target);
}
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return get(handle, count, &cublasContext::sm_count_target);
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, std::size_t) {
  return checked(handle, true, [] { return CUBLAS_STATUS_SUCCESS; });
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  if (!version)
    return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL)
    return CUBLAS_STATUS_INVALID_VALUE;
  *value = type == MAJOR_VERSION   ? CUBLAS_VER_MAJOR
           : type == MINOR_VERSION ? CUBLAS_VER_MINOR
                                   : CUBLAS_VER_PATCH;
  return CUBLAS_STATUS_SUCCESS;
}

std::size_t cublasGetCudartVersion() {
  return CUDART_VERSION;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  const StatusText* text = text_of(status);
  return text ? text->name : "unknown";
}

const char* cublasGetStatusString(cublasStatus_t status) {
  const StatusText* text = text_of(status);
  return text ? text->description : "unknown";
}

cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  if (!callback)
    return CUBLAS_STATUS_INVALID_VALUE;
  *callback = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}

void cublasXerbla(const char* function, int argument) {
  std::fprintf(stderr, "cuBLAS: argument %d of %s is wrong\n", argument, function);
}

} // extern "C"
