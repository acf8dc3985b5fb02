// The memory objects of a kernel: footprint, bytes and reuse distances of each of its arrays.
#pragma once

#include "model/counts/trial_observer.h"
#include "model/replay/observers/reuse_distance.h"
#include "model/snapshot/snapshot.h"
#include "result/result.h"

namespace warplens::model {

/// Collects figures for each Site::object; sites without one, and accesses to shared and constant memory, are
/// left out. The reuse distances are those of the first SM of the observed trial, in the order in which it
/// issues, with all of the kernel's accesses in between.
class Objects final : public TrialObserver {
public:
  /// `sites` are the trace's.
  Objects(const Snapshot& snapshot, const std::vector<Site>& sites);

  void issued(std::uint32_t sm, const Access& access, std::span<const Transaction> transactions,
              const Lookups& l1, Cycle at) override;

  /// Returns the objects in descending order of bytes moved.
  std::vector<ObjectResult> results() &&;

private:
  std::vector<ObjectResult> objects_;
  std::vector<std::uint32_t> object_of_; ///< in the order of Snapshot::sites; objects_.size(): none
  ReuseDistances distances_;
};

} // namespace warplens::model
