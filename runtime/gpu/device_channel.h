// The GPU's side of the channel: its memory, and every module's variable that points kernels to it.
#pragma once

#include "runtime/gpu/textures.h"
#include "runtime/host/recorder.h"

#include <cuda_runtime_api.h>

namespace warplens::gpu {

/// Registers a module's ring::Channel variable (device/warplens/gpu_probe.h); all are set for a traced
/// launch, since with separable compilation a kernel of one file may run probes of another.
void register_module_channel(const void* symbol);

/// One GPU's memory for one traced launch at a time. Made at the first launch that may be traced and kept to
/// the program's end. Every error is a cudaError_t; none of the calls waits for the device.
class DeviceChannel {
public:
  /// Allocates the memory on the current device.
  cudaError_t create();
  int device() const { return device_; }
  const runtime::ChannelPlacement& placement() const { return placement_; }

  /// Returns whether the last traced kernel used a texture or a surface that was never registered.
  bool met_unknown_texture() const { return *unknown_texture_ != 0; }

  /// Queries whether the last traced kernel has ended. cudaErrorNotReady: not yet.
  cudaError_t query() const { return cudaEventQuery(kernel_ended_); }

  /// Clears the device's part, in the stream's order, and shows the channel to the kernels that follow.
  cudaError_t open(const ring::Channel& channel, cudaStream_t stream);
  /// Hides the channel, in the stream's order, and marks the kernel's end for query().
  cudaError_t close(cudaStream_t stream);

private:
  cudaError_t set_modules(const ring::Channel* pinned, cudaStream_t stream);

  int device_ = -1;
  runtime::ChannelPlacement placement_;
  ring::Channel* opened_ = nullptr; ///< pinned, like closed_: other copies could wait for the stream
  ring::Channel* closed_ = nullptr;
  std::uint32_t* unknown_texture_ = nullptr; ///< pinned: kernels set it
  TextureTable* textures_ = nullptr;         ///< pinned; staging for the device's own table
  TextureTable* device_textures_ = nullptr;
  cudaEvent_t kernel_ended_ = nullptr;
};

} // namespace warplens::gpu

/// A loaded program calls this (device/warplens/gpu_probe.h).
extern "C" void __warplens_register_channel(const void* channel);
