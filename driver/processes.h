// The processes that `mpirun` started together to work out one result. There is one if this warplens was
// built without MPI or not started by mpirun.
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

  /// Returns whether this is the first process, which prints for all.
  bool is_first() const { return ranks_.rank == 0; }
  const model::Ranks& ranks() const { return ranks_; }

  /// Must be called with the error of a process that failed. If several fail, the one with the lowest rank
  /// gets its error back; the others end here, and so do those that have not failed, once they wait for this
  /// one.
  Error failed(Error error) const;

private:
  model::Ranks ranks_;
};

} // namespace warplens::driver
