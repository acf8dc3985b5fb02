#include "runtime/gpu/device_channel.h"

#include <mutex>
#include <new>
#include <vector>

namespace warplens::gpu {
namespace {

/// The size has 16 lines for each of 29000 warps, 3 times what an H100 keeps in flight.
constexpr std::size_t shared_bytes = std::size_t{128} << 20;
constexpr std::size_t local_bytes = std::size_t{16} << 20;

/// Other pinned data.
struct Pinned {
  ring::Channel opened, closed;
  std::uint32_t unknown_texture;
  TextureTable textures;
};

struct Modules {
  std::mutex mutex;
  std::vector<const void*> symbols;
};

/// Returns the modules; constructed at first use, since modules register before main() in no particular
/// order.
Modules& modules() {
  static Modules registered;
  return registered;
}

} // namespace

void register_module_channel(const void* symbol) {
  const std::scoped_lock lock(modules().mutex);
  modules().symbols.push_back(symbol);
}

cudaError_t DeviceChannel::create() {
  // An allocation must not invalidate a capture elsewhere in the program (CUDA Runtime API,
  // cudaThreadExchangeStreamCaptureMode).
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  if (const cudaError_t error = cudaThreadExchangeStreamCaptureMode(&mode); error != cudaSuccess)
    return error;
  const auto allocate = [&]() -> cudaError_t {
    if (const cudaError_t error = cudaGetDevice(&device_); error != cudaSuccess)
      return error;
    if (const cudaError_t error = cudaEventCreateWithFlags(&kernel_ended_, cudaEventDisableTiming);
        error != cudaSuccess)
      return error;
    if (const cudaError_t error = cudaMalloc(&placement_.local, local_bytes + sizeof(TextureTable));
        error != cudaSuccess)
      return error;
    void* pinned = nullptr;
    const unsigned flags = cudaHostAllocMapped | cudaHostAllocPortable;
    if (const cudaError_t error = cudaHostAlloc(&pinned, shared_bytes + sizeof(Pinned), flags);
        error != cudaSuccess)
      return error;
    placement_.shared = pinned;
    placement_.local_bytes = local_bytes;
    placement_.shared_bytes = shared_bytes;
    auto* const rest = new (static_cast<std::byte*>(pinned) + shared_bytes) Pinned{};
    opened_ = &rest->opened;
    closed_ = &rest->closed;
    unknown_texture_ = &rest->unknown_texture;
    textures_ = &rest->textures;
    device_textures_ =
        reinterpret_cast<TextureTable*>(static_cast<std::byte*>(placement_.local) + local_bytes);
    return cudaSuccess;
  };
  const cudaError_t error = allocate();
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
  return error;
}

cudaError_t DeviceChannel::open(const ring::Channel& channel, cudaStream_t stream) {
  *opened_ = channel;
  opened_->textures = device_textures_;
  opened_->unknown_texture = unknown_texture_;
  *unknown_texture_ = 0;
  fill_table(*textures_);
  if (const cudaError_t error = cudaMemsetAsync(placement_.local, 0, local_bytes, stream);
      error != cudaSuccess)
    return error;
  if (const cudaError_t error =
          cudaMemcpyAsync(device_textures_, textures_, sizeof *textures_, cudaMemcpyHostToDevice, stream);
      error != cudaSuccess)
    return error;
  return set_modules(opened_, stream);
}

cudaError_t DeviceChannel::close(cudaStream_t stream) {
  const cudaError_t error = set_modules(closed_, stream);
  const cudaError_t recorded = cudaEventRecord(kernel_ended_, stream);
  return error != cudaSuccess ? error : recorded;
}

cudaError_t DeviceChannel::set_modules(const ring::Channel* pinned, cudaStream_t stream) {
  const std::scoped_lock lock(modules().mutex);
  for (const void* symbol : modules().symbols)
    if (const cudaError_t error =
            cudaMemcpyToSymbolAsync(symbol, pinned, sizeof *pinned, 0, cudaMemcpyHostToDevice, stream);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}

} // namespace warplens::gpu

extern "C" void __warplens_register_channel(const void* channel) {
  warplens::gpu::register_module_channel(channel);
}
