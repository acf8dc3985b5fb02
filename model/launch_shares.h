// For how many of a program's launches each traced one stands.
#pragma once

#include "result/result.h"
#include "trace/access_source.h"

#include <cstdint>
#include <vector>

namespace warplens::model {

/// The launches of a kernel for which a traced one stands.
struct LaunchShare {
  std::uint64_t launches = 0;        ///< itself included; 0: the trace does not say
  double times = 0;                  ///< their work in that of the traced one
  std::uint64_t kernel_launches = 0; ///< launches of the kernel in all
};

/// Returns the shares of the trace's launches, in their order. Each launch that was counted goes to the
/// traced one of its kernel whose grid, block and work are most like its own, or in equal parts to several
/// that are equally like it (stratified sampling of launches, as in Sieve: Naderan-Tahan et al., ISPASS
/// 2023).
std::vector<LaunchShare> launch_shares(const trace::AccessSource& trace);

/// Says in a kernel's result which launch it is, and for which others it stands.
void set_launch(KernelResult& kernel, std::uint32_t launch, const LaunchShare& share);

} // namespace warplens::model
