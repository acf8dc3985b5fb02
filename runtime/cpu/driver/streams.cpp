// Streams and events: CUDA Driver API, "Stream Management" and "Event Management". The handles are the
// runtime's.
#include "runtime/cpu/driver/result.h"

using namespace warplens::cpu;

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
