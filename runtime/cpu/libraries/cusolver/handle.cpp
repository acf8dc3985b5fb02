// Handles of cuSOLVER: streams and modes. cuSOLVER Library, "cuSolverDN Helper Function Reference".
#include "runtime/cpu/libraries/cusolver/handle.h"

#include "runtime/cpu/cudart/library_call.h"

namespace warplens::libraries {

cusolverStatus_t solve(cusolverDnHandle_t handle, bool valid, const char* function, int* info,
                       const std::function<int()>& work) {
  if (!handle)
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!valid)
    return CUSOLVER_STATUS_INVALID_VALUE;
  if (!has_lapack()) {
    __warplens_cpu_refuse_library_call(
        function, "it needs LAPACK's shared library, liblapack.so.3 (Debian's package liblapack3)");
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
  const cudaError_t error = __warplens_cpu_library_call(function, handle->stream, [=] {
    const int result = work();
    if (info)
      *info = result;
  });
  return error == cudaSuccess                 ? CUSOLVER_STATUS_SUCCESS
         : error == cudaErrorMemoryAllocation ? CUSOLVER_STATUS_ALLOC_FAILED
                                              : CUSOLVER_STATUS_EXECUTION_FAILED;
}

namespace {

template <class Object> cusolverStatus_t create(Object** object) {
  if (!object)
    return CUSOLVER_STATUS_INVALID_VALUE;
  *object = new Object;
  return CUSOLVER_STATUS_SUCCESS;
}
template <class Object> cusolverStatus_t destroy(Object* object) {
  delete object;
  return CUSOLVER_STATUS_SUCCESS;
}
template <class Object, class Value>
cusolverStatus_t set(Object* object, Value Object::* member, const std::type_identity_t<Value>& value) {
  if (!object)
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  object->*member = value;
  return CUSOLVER_STATUS_SUCCESS;
}
template <class Object, class Value>
cusolverStatus_t get(Object* object, Value Object::* member, Value* value) {
  if (!object)
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!value)
    return CUSOLVER_STATUS_INVALID_VALUE;
  *value = object->*member;
  return CUSOLVER_STATUS_SUCCESS;
}

} // namespace
} // namespace warplens::libraries

using namespace warplens::libraries;

extern "C" {

cusolverStatus_t cusolverGetVersion(int* version) {
  if (!version)
    return CUSOLVER_STATUS_INVALID_VALUE;
  *version = CUSOLVER_VERSION;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  if (!value)
    return CUSOLVER_STATUS_INVALID_VALUE;
  switch (type) {
  case MAJOR_VERSION: *value = CUSOLVER_VER_MAJOR; return CUSOLVER_STATUS_SUCCESS;
  case MINOR_VERSION: *value = CUSOLVER_VER_MINOR; return CUSOLVER_STATUS_SUCCESS;
  case PATCH_LEVEL: *value = CUSOLVER_VER_PATCH; return CUSOLVER_STATUS_SUCCESS;
  default: return CUSOLVER_STATUS_INVALID_VALUE;
  }
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  return create(handle);
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  return handle ? destroy(handle) : CUSOLVER_STATUS_NOT_INITIALIZED;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  return set(handle, &cusolverDnContext::stream, stream);
}
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  return get(handle, &cusolverDnContext::stream, stream);
}
cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t mode) {
  return set(handle, &cusolverDnContext::deterministic_mode, mode);
}
cusolverStatus_t cusolverDnGetDeterministicMode(cusolverDnHandle_t handle,
                                                cusolverDeterministicMode_t* mode) {
  return get(handle, &cusolverDnContext::deterministic_mode, mode);
}
cusolverStatus_t cusolverDnSetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t mode) {
  return set(handle, &cusolverDnContext::math_mode, mode);
}
cusolverStatus_t cusolverDnGetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t* mode) {
  return get(handle, &cusolverDnContext::math_mode, mode);
}

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
  return create(params);
}
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
  return destroy(params);
}
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t, cusolverAlgMode_t) {
  return params ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

#define JACOBI(name, Name)                                                                                   \
  cusolverStatus_t cusolverDnCreate##Name##Info(name##Info_t* info) {                                        \
    return create(info);                                                                                     \
  }                                                                                                          \
  cusolverStatus_t cusolverDnDestroy##Name##Info(name##Info_t info) {                                        \
    return destroy(info);                                                                                    \
  }                                                                                                          \
  cusolverStatus_t cusolverDnX##name##SetTolerance(name##Info_t info, double tolerance) {                    \
    return set<syevjInfo>(info, &syevjInfo::tolerance, tolerance);                                           \
  }                                                                                                          \
  cusolverStatus_t cusolverDnX##name##SetMaxSweeps(name##Info_t info, int sweeps) {                          \
    return set<syevjInfo>(info, &syevjInfo::max_sweeps, sweeps);                                             \
  }                                                                                                          \
  cusolverStatus_t cusolverDnX##name##SetSortEig(name##Info_t info, int sorts) {                             \
    return set<syevjInfo>(info, &syevjInfo::sorts, sorts);                                                   \
  }
JACOBI(syevj, Syevj)
JACOBI(gesvdj, Gesvdj)
#undef JACOBI

} // extern "C"
