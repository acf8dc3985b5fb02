// Global memory by loads that skip the L1 (ld.global.cg, __ldcg): the address stays.
#include "placement/change/rewrite.h"
#include "placement/change/source_loads.h"

namespace warplens::placement {
namespace {

class SkipL1 final : public Transformation {
public:
  void change(Site& site) const override {
    if (site.kind == AccessKind::load)
      site.cache_operator = CacheOperator::cg;
  }
  void change(std::uint64_t, trace::WarpAccess&) const override {}
};

Planned skip_l1(const Array& array, std::uint32_t /*index*/, ChangeContext& context) {
  if (array.space != Space::global || array.loads == 0 || array.is_cuda_array || array.is_fetched)
    return {nullptr, {context.because(array.first_access, "it is not loaded from global memory")}};
  return {std::make_unique<SkipL1>(), {}};
}

std::vector<Move> worth_skipping(const TracedKernel& kernel, std::uint32_t index) {
  const Array& array = kernel.arrays[index];
  if (array.space != Space::global || array.loads == 0)
    return {};
  return {{.array = index, .rewrite = Rewrite::uncached}};
}

std::string skipping_words(const Suggested& suggested) {
  return fmt::format("load {} by __ldcg(): it then takes no room in the L1 from other arrays",
                     suggested.array.name);
}

Expected<std::string> skip_in_source(const TracedKernel& kernel, const Suggested& suggested,
                                     std::uint32_t /*line*/, const std::string& source) {
  return source_with_loads_by("__ldcg", kernel, suggested.array, source);
}

} // namespace

constinit const RewriteTraits uncached_rewrite{
    .worth_trying = worth_skipping,
    .plan = skip_l1,
    .words = skipping_words,
    .edit = skip_in_source,
};

} // namespace warplens::placement
