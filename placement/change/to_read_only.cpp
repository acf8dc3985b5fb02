// Global memory by read-only loads (ld.global.nc, __ldg): the address stays.
#include "placement/change/place.h"
#include "placement/change/source_loads.h"

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

Planned to_read_only(const Array& array, const Move&, ChangeContext& context) {
  if (array.space != Space::global)
    return {nullptr, {context.because(array.first_access, "it is not in global memory")}};
  if (auto reasons = context.written(array, "data of read-only loads"); !reasons.empty())
    return {nullptr, std::move(reasons)};
  return {std::make_unique<ToReadOnly>(), {}};
}

Expected<std::string> load_by_ldg(const TracedKernel& kernel, const Suggested& suggested,
                                  const std::string& source) {
  return source_with_loads_by("__ldg", kernel, suggested.array, source);
}

bool has_own_read_only_cache(const Array&, const model::Gpu& gpu) {
  return has_texture_cache(gpu);
}

/// On Kepler read-only loads go through the cache of the texture units.
std::string_view memory_of_read_only_loads(const model::Gpu& gpu) {
  return gpu.lanes.own_read_only_cache ? "textures" : "";
}

std::string read_only_words(const TracedKernel&, const Suggested& suggested) {
  return fmt::format("load {} by __ldg(), or declare the pointer const and __restrict__",
                     suggested.array.name);
}

} // namespace

constinit const PlaceTraits read_only_place{
    .plan = to_read_only,
    .words = read_only_words,
    .edit = load_by_ldg,
    .has_better_cache = has_own_read_only_cache,
    .memory_behind = memory_of_read_only_loads,
};

} // namespace warplens::placement
