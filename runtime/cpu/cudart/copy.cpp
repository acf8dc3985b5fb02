// Copies and fills: CUDA Runtime API, "Memory Management". Each is complete when the call returns.
#include "runtime/cpu/memory/copy.h"

#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/device/registry.h"

using namespace warplens::cpu;

namespace {

/// Calls `then` with the address `offset` bytes into a variable, if `bytes` bytes fit there.
template <class Then>
cudaError_t at_symbol(const void* symbol, std::size_t offset, std::size_t bytes, Then then) {
  const VariableRecord* variable = find_variable(symbol);
  if (!variable)
    return cudaErrorInvalidSymbol;
  if (offset > variable->bytes || bytes > variable->bytes - offset)
    return cudaErrorInvalidValue;
  return then(static_cast<char*>(variable->address) + offset);
}

bool leads_to_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}
bool leads_from_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

} // namespace

namespace warplens::cpu {

cudaError_t describe_copy_to_symbol(cudaMemcpy3DParms& box, const void* symbol, const void* from,
                                    std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  if (!leads_to_device(kind))
    return cudaErrorInvalidMemcpyDirection;
  return at_symbol(symbol, offset, bytes, [&](char* place) {
    box = linear_copy(place, from, bytes, kind);
    return cudaSuccess;
  });
}

cudaError_t describe_copy_from_symbol(cudaMemcpy3DParms& box, void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind) {
  if (!leads_from_device(kind))
    return cudaErrorInvalidMemcpyDirection;
  return at_symbol(symbol, offset, bytes, [&](char* place) {
    box = linear_copy(to, place, bytes, kind);
    return cudaSuccess;
  });
}

} // namespace warplens::cpu

namespace {

/// Issues an asynchronous call. Other calls use the legacy default stream.
cudaError_t on(cudaStream_t stream, const Operation& operation) {
  return cuda_entry([&] { return issue(stream, operation); });
}
constexpr cudaStream_t legacy = nullptr;

cudaError_t copy_to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream) {
  return cuda_entry([&] {
    cudaMemcpy3DParms box{};
    const cudaError_t error = describe_copy_to_symbol(box, symbol, from, bytes, offset, kind);
    return error == cudaSuccess ? issue(stream, box) : error;
  });
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                             cudaMemcpyKind kind, cudaStream_t stream) {
  return cuda_entry([&] {
    cudaMemcpy3DParms box{};
    const cudaError_t error = describe_copy_from_symbol(box, to, symbol, bytes, offset, kind);
    return error == cudaSuccess ? issue(stream, box) : error;
  });
}

cudaMemsetParams byte_fill(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return {to, pitch, static_cast<unsigned>(value) & 0xff, 1, width, height};
}

/// Fills the box slice by slice.
cudaError_t fill_box(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return cuda_entry([&] {
    cudaError_t error = is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
      return error;
    std::size_t slice = 0, all = 0;
    if (__builtin_mul_overflow(to.ysize, to.pitch, &slice) ||
        __builtin_mul_overflow(slice, extent.depth - 1, &all))
      return cudaErrorInvalidValue;
    for (std::size_t z = 0; z < extent.depth && error == cudaSuccess; ++z) {
      char* const start = to.ptr ? static_cast<char*>(to.ptr) + z * slice : nullptr;
      error = issue(stream, byte_fill(start, to.pitch, value, extent.width, extent.height));
    }
    return error;
  });
}

} // namespace

extern "C" {

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return on(stream, linear_copy(to, from, bytes, kind));
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, legacy);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return on(stream, plane_copy(to, to_pitch, from, from_pitch, width, height, kind));
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, legacy);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* box, cudaStream_t stream) {
  return box ? on(stream, *box) : report(cudaErrorInvalidValue);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* box) {
  return cudaMemcpy3DAsync(box, legacy);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  return to_device == 0 && from_device == 0
             ? on(stream, linear_copy(to, from, bytes, cudaMemcpyDeviceToDevice))
             : report(cudaErrorInvalidDevice);
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, legacy);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* box, cudaStream_t stream) {
  if (!box)
    return report(cudaErrorInvalidValue);
  if (box->srcDevice != 0 || box->dstDevice != 0)
    return report(cudaErrorInvalidDevice);
  return on(stream, cudaMemcpy3DParms{box->srcArray, box->srcPos, box->srcPtr, box->dstArray, box->dstPos,
                                      box->dstPtr, box->extent, cudaMemcpyDefault});
}
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* box) {
  return cudaMemcpy3DPeerAsync(box, legacy);
}

/// Copies one after the other; pointers show the direction, so the attributes add nothing.
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* bytes,
                                 std::size_t count, cudaMemcpyAttributes*, std::size_t*, std::size_t,
                                 cudaStream_t stream) {
  return cuda_entry([&] {
    if (count == 0 || !to || !from || !bytes)
      return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    for (std::size_t i = 0; i < count && error == cudaSuccess; ++i)
      error = issue(stream, linear_copy(to[i], from[i], bytes[i], cudaMemcpyDefault));
    return error;
  });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to_symbol(symbol, from, bytes, offset, kind, stream);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  return copy_to_symbol(symbol, from, bytes, offset, kind, legacy);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_from_symbol(to, symbol, bytes, offset, kind, stream);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
  return copy_from_symbol(to, symbol, bytes, offset, kind, legacy);
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return cuda_entry([&] {
    if (!address)
      return cudaErrorInvalidValue;
    return at_symbol(symbol, 0, 0, [&](char* place) {
      *address = place;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return cuda_entry([&] {
    const VariableRecord* variable = find_variable(symbol);
    if (!bytes || !variable)
      return bytes ? cudaErrorInvalidSymbol : cudaErrorInvalidValue;
    *bytes = variable->bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return on(stream, byte_fill(to, bytes, value, bytes, 1));
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, legacy);
}

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  return on(stream, byte_fill(to, pitch, value, width, height));
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, legacy);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return fill_box(to, value, extent, stream);
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_box(to, value, extent, legacy);
}

} // extern "C"

PER_THREAD_NAME(cudaMemcpy, ptds)
PER_THREAD_NAME(cudaMemcpyAsync, ptsz)
PER_THREAD_NAME(cudaMemcpy2D, ptds)
PER_THREAD_NAME(cudaMemcpy2DAsync, ptsz)
PER_THREAD_NAME(cudaMemcpy3D, ptds)
PER_THREAD_NAME(cudaMemcpy3DAsync, ptsz)
PER_THREAD_NAME(cudaMemcpy3DPeer, ptds)
PER_THREAD_NAME(cudaMemcpy3DPeerAsync, ptsz)
PER_THREAD_NAME(cudaMemcpyBatchAsync, ptsz)
PER_THREAD_NAME(cudaMemcpyToSymbol, ptds)
PER_THREAD_NAME(cudaMemcpyToSymbolAsync, ptsz)
PER_THREAD_NAME(cudaMemcpyFromSymbol, ptds)
PER_THREAD_NAME(cudaMemcpyFromSymbolAsync, ptsz)
PER_THREAD_NAME(cudaMemset, ptds)
PER_THREAD_NAME(cudaMemsetAsync, ptsz)
PER_THREAD_NAME(cudaMemset2D, ptds)
PER_THREAD_NAME(cudaMemset2DAsync, ptsz)
PER_THREAD_NAME(cudaMemset3D, ptds)
PER_THREAD_NAME(cudaMemset3DAsync, ptsz)
