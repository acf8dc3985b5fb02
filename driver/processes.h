// The processes that `mpirun` started together to work out one result. Where this warplens was built without
// MPI, or was not started by mpirun, there is one.
#pragma once

#include "model/model.h"
#include "support/expected.h"

namespace warplens::driver {

class Processes {
public:
  Processes();
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// The first one speaks for all.
  bool is_first() const { return ranks_.rank == 0; }
  const model::Ranks& ranks() const { return ranks_; }

  /// To be called with what a process failed of. Of several that fail, the one with the lowest rank gets its
  /// error back; the others end here, and so do those that have not failed, once they wait for this one.
  Error failed(Error error) const;

private:
  model::Ranks ranks_;
};

} // namespace warplens::driver
