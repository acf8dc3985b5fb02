// A trace with arrays of one launch elsewhere: what the model replays in place of the trace as it was
// recorded.
#pragma once

#include "placement/change/transformation.h"
#include "placement/paper/addressing.h"
#include "trace/changed_source.h"

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace warplens::placement {

/// Says which arrays of which launch go where, on which GPU.
struct ChangeRequest {
  std::uint32_t launch = 0; ///< index into AccessSource::launches()
  std::vector<Move> moves;  ///< at most one for each array
};

/// The trace with these moves, or the reasons against them.
class ChangedTrace final : public trace::ChangedSource {
public:
  /// All arguments must outlive the result. `addressing` holds the instruction counts of the code that the
  /// GPU executes. Sites of moved arrays are added to the trace's, each with its accesses to that array.
  ChangedTrace(const trace::AccessSource& trace, const Arrays& arrays, const model::Gpu& gpu,
               const Addressing& addressing, const ChangeRequest& request);

  /// Returns what forbids the moves, of each move in turn; without reasons the trace can be replayed.
  struct Refusal {
    Move move;
    std::vector<Reason> reasons;
  };
  const std::vector<Refusal>& refusals() const { return refusals_; }
  bool is_legal() const { return refusals_.empty(); }
  /// Returns the launch with the shared memory that the moves need.
  const trace::Launch& changed_launch() const { return launches_[launch_]; }

  const std::vector<Site>& sites() const override { return sites_; }
  const std::vector<trace::Launch>& launches() const override { return launches_; }
  Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const override;

private:
  void plan(const Move& move, ChangeContext& context);
  void add_sites(std::uint32_t array, const Transformation& change, double address_instructions);

  const Arrays& arrays_;
  std::size_t launch_;
  std::vector<Site> sites_;
  std::vector<trace::Launch> launches_;
  std::vector<std::unique_ptr<Transformation>> transformations_;           ///< null: it stays
  std::vector<std::unordered_map<std::uint64_t, std::uint64_t>> new_site_; ///< Site::id, by array and old id
  std::vector<Refusal> refusals_;
};

/// Returns the instructions that compute an address in the one place less those in the other.
double address_instructions(PlacementSpace to, const Array& array, const Addressing& of);

/// Returns the place where the trace has the array.
PlacementSpace place_of(const Array& array);

} // namespace warplens::placement
