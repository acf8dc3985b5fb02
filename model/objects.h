// What a kernel does with each of its arrays.
#pragma once

#include "model/reuse_distance.h"
#include "model/snapshot.h"
#include "model/trial_observer.h"
#include "result/result.h"

namespace warplens::model {

/// Objects are told apart by Site::object; sites without one, and accesses to shared and constant memory, are
/// left out. Listens to a trial for the reuse distances: those of the first SM, in the order in which it
/// issues, with all of the kernel's accesses in between.
class Objects final : public TrialObserver {
public:
  /// `sites`: the trace's.
  Objects(const Snapshot& snapshot, const std::vector<trace::Site>& sites);

  void issued(std::uint32_t sm, const Access& access, std::span<const Transaction> transactions,
              const Lookups& l1) override;

  /// Ordered by bytes moved, most first.
  std::vector<ObjectResult> results() &&;

private:
  std::vector<ObjectResult> objects_;
  std::vector<std::uint32_t> object_of_; ///< by Snapshot::sites; objects_.size(): none
  ReuseDistances distances_;
};

} // namespace warplens::model
