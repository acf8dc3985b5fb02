// Which part of a GPU each of several kernels has beside the others.
#pragma once

#include "model/clock/corun_trial.h"
#include "model/gpu/gpu.h"
#include "result/corun.h"
#include "support/expected.h"

#include <optional>
#include <span>
#include <vector>

namespace warplens::model {

/// How kernels are to share a GPU.
struct Arrangement {
  Division division = Division::streams;
  /// Division::sms: the percentage of the SMs that each kernel has. Division::blocks: its blocks on each SM.
  /// Division::mig: the slices of its instance. Empty: equal shares of the SMs; as many blocks of each as
  /// ICMT-EVEN gives, where there are two; instances that are equal, and as large as there are.
  std::vector<double> shares;
  std::optional<Policy> policy; ///< of two kernels, in place of a division and shares
  CorunWhatIf what_if;          ///< beside what the policy has
};

/// An arrangement of certain kernels.
struct Places {
  Division division = Division::streams;
  CorunWhatIf what_if;
  std::vector<CorunKernel> kernels;
  std::vector<Gpu::Instance> instances; ///< of each kernel, by Division::mig only
};

/// Gives each kernel its part of the GPU, by what a block of each takes. The error says which shares are
/// impossible, or that the GPU has no room.
Expected<Places> arrange(const Arrangement& arrangement, std::span<const SmShare> blocks, const Gpu& gpu);

} // namespace warplens::model
