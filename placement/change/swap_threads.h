// A launch whose blocks have x and y of their threads exchanged: other threads are neighbours in a warp.
#pragma once

#include "placement/change/transformation.h"
#include "trace/changed_source.h"

#include <optional>
#include <vector>

namespace warplens::placement {

class SwappedThreads final : public trace::ChangedSource {
public:
  /// `launch`: index into the trace's launches, of which the first `blocks` blocks are kept. References must
  /// outlive it.
  SwappedThreads(const trace::AccessSource& trace, std::uint32_t launch, std::uint64_t blocks);

  /// Returns why the launch cannot be changed so; none if it can. It reads the launch's accesses.
  std::optional<Reason> objection() const;

  const std::vector<trace::Launch>& launches() const override { return launches_; }
  Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const override;

private:
  struct Block;
  std::optional<Reason> read(std::vector<Block>& blocks) const;
  void emit(std::uint64_t block, const Block& accesses, const Visit& visit) const;

  std::size_t launch_;
  std::uint64_t blocks_;
  std::vector<trace::Launch> launches_;
};

} // namespace warplens::placement
