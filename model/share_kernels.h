// The kernels of a result divided among the processes that compute it, each on each GPU by one process.
#pragma once

#include "model/model.h"
#include "result/result.h"
#include "support/expected.h"

#include <cstddef>
#include <vector>

namespace warplens::model {

class KernelShare {
public:
  /// `kernels` is the number of KernelResults of the whole result: launches times GPUs. Fewer kernels than
  /// processes are not divided: the processes then divide the trials of each kernel (share_trials.h).
  KernelShare(std::size_t kernels, const Ranks& ranks)
      : kernels_(kernels), ranks_(ranks), divides_(ranks.count > 1 && kernels >= ranks.count) {}

  bool divides_kernels() const { return divides_; }
  /// Returns whether this process models the kernel.
  bool is_mine(std::size_t kernel) const { return !divides_ || kernel % ranks_.count == ranks_.rank; }
  /// Returns all kernels in order; `mine` are this process's. Waits for the other processes. The error says
  /// that another process models something else.
  Expected<std::vector<KernelResult>> join(std::vector<KernelResult> mine) const;

private:
  std::size_t kernels_;
  const Ranks& ranks_;
  bool divides_;
};

} // namespace warplens::model
