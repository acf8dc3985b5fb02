// Threads that do the work of several: of some that lie a block apart, in an unrolled loop, or of neighbours,
// by wide accesses. The model's decoder merges their instructions.
#include "placement/change/rewrite.h"
#include "trace/changed_source.h"

#include <algorithm>

namespace warplens::placement {
namespace {

class CoarsenedThreads final : public trace::ChangedSource {
public:
  CoarsenedThreads(const trace::AccessSource& trace, const trace::Coarsening& coarsening)
      : ChangedSource(trace) {
    alteration_.coarsening = coarsening;
  }
  Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const override {
    return trace_.for_each_access(launch, visit);
  }
};

LaunchChange coarsen(const trace::AccessSource& trace, std::uint32_t /*launch*/, const Move& move,
                     const model::Gpu&, std::uint64_t blocks) {
  const bool by_vectors = move.rewrite == Rewrite::vectorised;
  return {std::make_unique<CoarsenedThreads>(trace, trace::Coarsening{move.number, by_vectors}), {}, blocks};
}

std::vector<Move> worth_vectorising(const TracedKernel& kernel, std::uint32_t /*array*/) {
  std::uint32_t widest = 0;
  for (const Array& array : kernel.arrays.all())
    widest = array.space == Space::global ? std::max(widest, array.element_bytes) : widest;
  if (widest == 0 || widest > 8)
    return {};
  return {{.rewrite = Rewrite::vectorised, .number = 16 / std::max(widest, 4u)}};
}

std::vector<Move> worth_coarsening(const TracedKernel&, std::uint32_t /*array*/) {
  return {{.rewrite = Rewrite::coarsened, .number = 2}, {.rewrite = Rewrite::coarsened, .number = 4}};
}

std::string vectorising_words(const Suggested& suggested) {
  const std::uint32_t number = suggested.move.number;
  return fmt::format("let each thread do the work of {} neighbours, and access global memory by vectors "
                     "of {} elements (as float{})",
                     number, number, number);
}

std::string coarsening_words(const Suggested& suggested) {
  const auto threads = suggested.result.block.count();
  return fmt::format("let each thread do the work of {} that lie {} threads apart, in an unrolled loop; a "
                     "block then has {} threads",
                     suggested.move.number, threads, threads);
}

} // namespace

constinit const RewriteTraits vectorised_rewrite{
    .worth_trying = worth_vectorising,
    .change_launch = coarsen,
    .words = vectorising_words,
};

constinit const RewriteTraits coarsened_rewrite{
    .worth_trying = worth_coarsening,
    .change_launch = coarsen,
    .words = coarsening_words,
    .serves_purpose_above = true,
};

} // namespace warplens::placement
