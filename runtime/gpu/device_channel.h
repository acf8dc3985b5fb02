// The channel on the GPU's side: its memory, and every module's variable that points kernels to it.
#pragma once

#include "runtime/gpu/textures.h"
#include "runtime/host/recorder.h"

#include <cuda_runtime_api.h>

namespace warplens::gpu {

/// Every module of the program has a ring::Channel variable (device/warplens/gpu_probe.h); all are set for a
/// traced launch, since with separable compilation a kernel of one file may run probes of another.
void register_module_channel(const void* symbol);

/// One GPU's memory for one traced launch at a time. Made at the first launch that may be traced and kept to
/// the program's end. Every error is a cudaError_t; none of the calls waits for the device.
class DeviceChannel {
public:
  /// For the current device.
  cudaError_t create();
  int device() const { return device_; }
  const runtime::ChannelPlacement& placement() const { return placement_; }

  /// Has the last traced kernel used a texture or a surface that nobody has told us of?
  bool met_unknown_texture() const { return *unknown_texture_ != 0; }

  /// Has the last traced kernel ended? cudaErrorNotReady: not yet.
  cudaError_t query() const { return cudaEventQuery(kernel_ended_); }

  /// In the stream's order: clears the device's part and shows the channel to the kernels that follow.
  cudaError_t open(const ring::Channel& channel, cudaStream_t stream);
  /// In the stream's order: hides the channel and marks the kernel's end for query().
  cudaError_t close(cudaStream_t stream);

private:
  cudaError_t set_modules(const ring::Channel* pinned, cudaStream_t stream);

  int device_ = -1;
  runtime::ChannelPlacement placement_;
  ring::Channel* opened_ =
      nullptr; ///< pinned, as is closed_: copies from elsewhere could wait for the stream
  ring::Channel* closed_ = nullptr;
  std::uint32_t* unknown_texture_ = nullptr; ///< pinned: kernels set it
  TextureTable* textures_ = nullptr;         ///< pinned, on its way to the device's own
  TextureTable* device_textures_ = nullptr;
  cudaEvent_t kernel_ended_ = nullptr;
};

} // namespace warplens::gpu

/// As a loaded program calls it (device/warplens/gpu_probe.h).
extern "C" void __warplens_register_channel(const void* channel);
