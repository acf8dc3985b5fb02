// Global memory by other loads: the address stays. Read-only ones (ld.global.nc), and those that skip the L1
// (ld.global.cg).
#include "placement/change/transformation.h"

namespace warplens::placement {
namespace {

class ToReadOnly final : public Transformation {
public:
  void change(Site& site) const override {
    site.space = Space::global;
    site.cache_operator = CacheOperator::nc;
  }
  void change(std::uint64_t, trace::WarpAccess& access) const override { access.space = Space::global; }
};

class SkipL1 final : public Transformation {
public:
  void change(Site& site) const override {
    if (site.kind == AccessKind::load)
      site.cache_operator = CacheOperator::cg;
  }
  void change(std::uint64_t, trace::WarpAccess&) const override {}
};

} // namespace

Planned skip_l1(const Array& array, ChangeContext& context) {
  if (array.space != Space::global || array.loads == 0 || array.is_cuda_array || array.is_fetched)
    return {nullptr, {context.because(array.first_access, "it is not loaded from global memory")}};
  return {std::make_unique<SkipL1>(), {}};
}

Planned to_read_only(const Array& array, ChangeContext& context) {
  if (array.space != Space::global)
    return {nullptr, {context.because(array.first_access, "it is not in global memory")}};
  if (auto reasons = context.written(array, "data of read-only loads"); !reasons.empty())
    return {nullptr, std::move(reasons)};
  return {std::make_unique<ToReadOnly>(), {}};
}

} // namespace warplens::placement
