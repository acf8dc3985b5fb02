// Streams and events: CUDA Driver API, "Stream Management" and "Event Management". The handles are the
// runtime's.
#include "runtime/cpu/cudart/library_call.h"
#include "runtime/cpu/driver/result.h"

#include <atomic>

using namespace warplens::cpu;

namespace {

template <class Word> std::atomic_ref<Word> word_at(CUdeviceptr address) {
  return std::atomic_ref<Word>(*reinterpret_cast<Word*>(address));
}

/// Writes a word when the stream comes to it.
template <class Word> CUresult write_value(CUstream stream, CUdeviceptr address, Word value) {
  if (address == 0 || address % sizeof value != 0)
    return CUDA_ERROR_INVALID_VALUE;
  return result_of(__warplens_cpu_library_call("cuStreamWriteValue", stream,
                                               [=] { word_at<Word>(address).store(value); }));
}

template <class Word> bool is_reached(Word found, Word value, unsigned condition) {
  switch (condition & 3) {
  case CU_STREAM_WAIT_VALUE_GEQ: return std::make_signed_t<Word>(found - value) >= 0;
  case CU_STREAM_WAIT_VALUE_EQ: return found == value;
  case CU_STREAM_WAIT_VALUE_AND: return (found & value) != 0;
  default: return (~(found | value)) != 0;
  }
}

/// The work of a stream is done when it is issued. So a value that is not there yet would have to come from
/// another thread, or never comes: it is refused.
template <class Word>
CUresult wait_value(CUstream stream, CUdeviceptr address, Word value, unsigned condition) {
  if (address == 0 || address % sizeof value != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult before = cuStreamSynchronize(stream); before != CUDA_SUCCESS)
    return before;
  if (is_reached(word_at<Word>(address).load(), value, condition))
    return CUDA_SUCCESS;
  __warplens_cpu_refuse_library_call("cuStreamWaitValue", "a stream does not wait for what comes later");
  return CUDA_ERROR_NOT_SUPPORTED;
}

} // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return result_of(cudaStreamCreateWithFlags(stream, flags));
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return result_of(cudaStreamCreateWithPriority(stream, flags, priority));
}
CUresult cuStreamDestroy(CUstream stream) {
  return result_of(cudaStreamDestroy(stream));
}
CUresult cuStreamSynchronize(CUstream stream) {
  return result_of(cudaStreamSynchronize(stream));
}
CUresult cuStreamQuery(CUstream stream) {
  return result_of(cudaStreamQuery(stream));
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return result_of(cudaStreamWaitEvent(stream, event, flags));
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return result_of(cudaStreamGetFlags(stream, flags));
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return result_of(cudaStreamGetPriority(stream, priority));
}
CUresult cuStreamGetCtx(CUstream, CUcontext* context) {
  return cuCtxGetCurrent(context);
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned flags) {
  // Its status is an enumeration of the same numbers.
  return result_of(
      cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data, flags));
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return result_of(cudaLaunchHostFunc(stream, function, data));
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return result_of(cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status)));
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned) {
  return write_value<std::uint32_t>(stream, address, value);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned) {
  return write_value<std::uint64_t>(stream, address, value);
}
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned condition) {
  return wait_value<std::uint32_t>(stream, address, value, condition);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned condition) {
  return wait_value<std::uint64_t>(stream, address, value, condition);
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned) {
  if (!operations)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    const CUstreamBatchMemOpParams& one = operations[i];
    CUresult result = CUDA_SUCCESS;
    switch (one.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      result = cuStreamWaitValue32(stream, one.waitValue.address, one.waitValue.value, one.waitValue.flags);
      break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      result = cuStreamWaitValue64(stream, one.waitValue.address, one.waitValue.value64, one.waitValue.flags);
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      result =
          cuStreamWriteValue32(stream, one.writeValue.address, one.writeValue.value, one.writeValue.flags);
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      result =
          cuStreamWriteValue64(stream, one.writeValue.address, one.writeValue.value64, one.writeValue.flags);
      break;
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: break; // memory is one
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (result != CUDA_SUCCESS)
      return result;
  }
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return result_of(cudaEventCreateWithFlags(event, flags));
}
CUresult cuEventDestroy(CUevent event) {
  return result_of(cudaEventDestroy(event));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return result_of(cudaEventRecord(event, stream));
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return result_of(cudaEventRecordWithFlags(event, stream, flags));
}
CUresult cuEventSynchronize(CUevent event) {
  return result_of(cudaEventSynchronize(event));
}
CUresult cuEventQuery(CUevent event) {
  return result_of(cudaEventQuery(event));
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return result_of(cudaEventElapsedTime(milliseconds, begin, end));
}

} // extern "C"
