// NCCL with one rank, the process's one device: what is sent is what is received.
#include "runtime/cpu/cudart/library_call.h"
#include "runtime/cpu/libraries/numbers.h"

#include <cstring>
#include <cuda_runtime_api.h>
#include <nccl.h>

struct ncclComm {};

namespace {

ncclResult_t refuse(const char* function) {
  __warplens_cpu_refuse_library_call(function, "there is one device, so that a communicator has one rank");
  return ncclInvalidUsage;
}

std::size_t bytes_of(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
  case ncclUint8:
  case ncclFloat8e4m3:
  case ncclFloat8e5m2: return 1;
  case ncclFloat16:
  case ncclBfloat16: return 2;
  case ncclInt32:
  case ncclUint32:
  case ncclFloat32: return 4;
  case ncclInt64:
  case ncclUint64:
  case ncclFloat64: return 8;
  default: return 0;
  }
}

/// Collectives of one rank: a copy, unless it is in place. Its mean, sum, product and extremes are the values
/// themselves.
ncclResult_t collective(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                        ncclComm_t communicator, cudaStream_t stream) {
  if (!communicator || root != 0 || bytes_of(type) == 0)
    return ncclInvalidArgument;
  const cudaError_t error = from == to || count == 0 ? cudaSuccess
                                                     : cudaMemcpyAsync(to, from, count * bytes_of(type),
                                                                       cudaMemcpyDeviceToDevice, stream);
  return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t reduction(const void* from, void* to, std::size_t count, ncclDataType_t type,
                       ncclRedOp_t operation, int root, ncclComm_t communicator, cudaStream_t stream,
                       const char* function) {
  if (operation >= ncclNumOps) {
    __warplens_cpu_refuse_library_call(function, "it has no operators of the program");
    return ncclInvalidUsage;
  }
  return collective(from, to, count, type, root, communicator, stream);
}

template <class T> ncclResult_t write_out(ncclComm_t communicator, T* to, T value) {
  if (!communicator || !to)
    return ncclInvalidArgument;
  *to = value;
  return ncclSuccess;
}

} // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  if (!version)
    return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (!id)
    return ncclInvalidArgument;
  std::memset(id, 0, sizeof *id);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId, int rank) {
  if (!communicator || rank < 0 || rank >= ranks)
    return ncclInvalidArgument;
  if (ranks != 1)
    return refuse("ncclCommInitRank");
  *communicator = new ncclComm;
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t*) {
  return ncclCommInitRank(communicator, ranks, id, rank);
}
ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int devices, const int*) {
  return devices == 1 ? ncclCommInitRank(communicators, 1, {}, 0) : refuse("ncclCommInitAll");
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  return ncclCommDestroy(communicator);
}
ncclResult_t ncclCommFinalize(ncclComm_t) {
  return ncclSuccess;
}
ncclResult_t ncclCommCount(const ncclComm_t communicator, int* count) {
  return write_out(communicator, count, 1);
}
ncclResult_t ncclCommCuDevice(const ncclComm_t communicator, int* device) {
  return write_out(communicator, device, 0);
}
ncclResult_t ncclCommUserRank(const ncclComm_t communicator, int* rank) {
  return write_out(communicator, rank, 0);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  return write_out(communicator, error, ncclSuccess);
}
const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess: return "no error";
  case ncclUnhandledCudaError: return "unhandled cuda error";
  case ncclSystemError: return "unhandled system error";
  case ncclInternalError: return "internal error";
  case ncclInvalidArgument: return "invalid argument";
  case ncclInvalidUsage: return "invalid usage";
  case ncclRemoteError: return "remote process exited or there was a network error";
  case ncclInProgress: return "NCCL operation in progress";
  default: return "unknown result code";
  }
}
const char* ncclGetLastError(ncclComm_t) {
  return "";
}
ncclResult_t ncclMemAlloc(void** pointer, std::size_t bytes) {
  return cudaMalloc(pointer, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclMemFree(void* pointer) {
  return cudaFree(pointer) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclGroupStart() {
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
  return reduction(from, to, count, type, operation, 0, communicator, stream, "ncclAllReduce");
}
ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t communicator, cudaStream_t stream) {
  return reduction(from, to, count, type, operation, root, communicator, stream, "ncclReduce");
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
  return reduction(from, to, count, type, operation, 0, communicator, stream, "ncclReduceScatter");
}
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t communicator, cudaStream_t stream) {
  return collective(from, to, count, type, root, communicator, stream);
}
ncclResult_t ncclBcast(void* data, std::size_t count, ncclDataType_t type, int root, ncclComm_t communicator,
                       cudaStream_t stream) {
  return collective(data, data, count, type, root, communicator, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
  return collective(from, to, count, type, 0, communicator, stream);
}
ncclResult_t ncclAlltoAll(const void* from, void* to, std::size_t count, ncclDataType_t type,
                          ncclComm_t communicator, cudaStream_t stream) {
  return collective(from, to, count, type, 0, communicator, stream);
}

} // extern "C"
