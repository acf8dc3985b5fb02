// Copies and fills: CUDA Runtime API, "Memory Management". Every one has happened when the call returns.
#include "runtime/cpu/copy.h"
#include "runtime/cpu/cudart_error.h"
#include "runtime/cpu/registry.h"
#include "runtime/cpu/stream.h"

using namespace warplens::cpu;

namespace {

/// `then` with the place `offset` bytes into a variable, if `bytes` fit there.
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

/// An asynchronous call's body, once its stream is known to be one.
template <class Body> cudaError_t on(cudaStream_t stream, Body body) {
  return api([&] { return is_stream(stream) ? body() : cudaErrorInvalidResourceHandle; });
}

cudaError_t copy_to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                           cudaMemcpyKind kind) {
  if (!leads_to_device(kind))
    return cudaErrorInvalidMemcpyDirection;
  return at_symbol(symbol, offset, bytes,
                   [&](char* place) { return copy({place, bytes}, {from, bytes}, bytes, 1, kind); });
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                             cudaMemcpyKind kind) {
  if (!leads_from_device(kind))
    return cudaErrorInvalidMemcpyDirection;
  return at_symbol(symbol, offset, bytes,
                   [&](char* place) { return copy({to, bytes}, {place, bytes}, bytes, 1, kind); });
}

cudaError_t fill_box(cudaPitchedPtr to, int value, cudaExtent extent) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* const start = to.ptr ? static_cast<char*>(to.ptr) + z * to.ysize * to.pitch : nullptr;
    const cudaError_t error = fill({start, to.pitch}, value, extent.width, extent.height);
    if (error != cudaSuccess)
      return error;
  }
  return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return api([&] { return copy({to, bytes}, {from, bytes}, bytes, 1, kind); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return on(stream, [&] { return copy({to, bytes}, {from, bytes}, bytes, 1, kind); });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return api([&] { return copy({to, to_pitch}, {from, from_pitch}, width, height, kind); });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return on(stream, [&] { return copy({to, to_pitch}, {from, from_pitch}, width, height, kind); });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* box) {
  return api([&] { return copy_box(box); });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* box, cudaStream_t stream) {
  return on(stream, [&] { return copy_box(box); });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  return on(stream, [&] {
    if (to_device != 0 || from_device != 0)
      return cudaErrorInvalidDevice;
    return copy({to, bytes}, {from, bytes}, bytes, 1, cudaMemcpyDeviceToDevice);
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  return api([&] { return copy_to_symbol(symbol, from, bytes, offset, kind); });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return on(stream, [&] { return copy_to_symbol(symbol, from, bytes, offset, kind); });
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
  return api([&] { return copy_from_symbol(to, symbol, bytes, offset, kind); });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return on(stream, [&] { return copy_from_symbol(to, symbol, bytes, offset, kind); });
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return api([&] {
    if (!address)
      return cudaErrorInvalidValue;
    return at_symbol(symbol, 0, 0, [&](char* place) {
      *address = place;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return api([&] {
    const VariableRecord* variable = find_variable(symbol);
    if (!bytes || !variable)
      return bytes ? cudaErrorInvalidSymbol : cudaErrorInvalidValue;
    *bytes = variable->bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return api([&] { return fill({to, bytes}, value, bytes, 1); });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return on(stream, [&] { return fill({to, bytes}, value, bytes, 1); });
}

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return api([&] { return fill({to, pitch}, value, width, height); });
}

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  return on(stream, [&] { return fill({to, pitch}, value, width, height); });
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return api([&] { return fill_box(to, value, extent); });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return on(stream, [&] { return fill_box(to, value, extent); });
}

} // extern "C"

PER_THREAD_FORM(cudaMemcpy, ptds)
PER_THREAD_FORM(cudaMemcpyAsync, ptsz)
PER_THREAD_FORM(cudaMemcpy2D, ptds)
PER_THREAD_FORM(cudaMemcpy2DAsync, ptsz)
PER_THREAD_FORM(cudaMemcpy3D, ptds)
PER_THREAD_FORM(cudaMemcpy3DAsync, ptsz)
PER_THREAD_FORM(cudaMemcpyToSymbol, ptds)
PER_THREAD_FORM(cudaMemcpyToSymbolAsync, ptsz)
PER_THREAD_FORM(cudaMemcpyFromSymbol, ptds)
PER_THREAD_FORM(cudaMemcpyFromSymbolAsync, ptsz)
PER_THREAD_FORM(cudaMemset, ptds)
PER_THREAD_FORM(cudaMemsetAsync, ptsz)
PER_THREAD_FORM(cudaMemset2D, ptds)
PER_THREAD_FORM(cudaMemset2DAsync, ptsz)
PER_THREAD_FORM(cudaMemset3D, ptds)
PER_THREAD_FORM(cudaMemset3DAsync, ptsz)
