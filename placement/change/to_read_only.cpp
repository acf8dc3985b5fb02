// Global memory by read-only loads: the address stays, the load becomes ld.global.nc.
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

} // namespace

Planned to_read_only(const Array& array, ChangeContext& context) {
  if (array.space != Space::global)
    return {nullptr, {context.because(array.first_access, "it is not in global memory")}};
  if (auto reasons = context.written(array, "data of read-only loads"); !reasons.empty())
    return {nullptr, std::move(reasons)};
  return {std::make_unique<ToReadOnly>(), {}};
}

} // namespace warplens::placement
