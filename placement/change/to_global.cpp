// Global memory, from shared or constant memory or from read-only loads: a range for all blocks, or one for
// each. Barriers stay.
#include "placement/change/place.h"
#include "vocabulary/round_up.h"

#include <bit>

namespace warplens::placement {
namespace {

class ToGlobal final : public Transformation {
public:
  /// `stride`: bytes from one block's copy to the next one's.
  ToGlobal(std::uint64_t from, std::uint64_t to, std::uint64_t stride)
      : from_(from), to_(to), stride_(stride) {}
  void change(Site& site) const override {
    site.space = Space::global;
    site.cache_operator = CacheOperator::none;
  }
  void change(std::uint64_t block, trace::WarpAccess& access) const override {
    access.space = Space::global;
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      address = to_ + block * stride_ + (address - from_);
    }
  }

private:
  std::uint64_t from_, to_, stride_;
};

Planned to_global(const Array& array, const Move&, ChangeContext& context) {
  if (array.space == Space::global && array.is_cuda_array)
    return {nullptr,
            {context.because(array.first_access, "its texels lie in blocks, and the trace does not have the "
                                                 "texture's view")}};
  if (array.space == Space::global)
    return {std::make_unique<ToGlobal>(0, 0, 0), {}};
  const std::uint64_t begin = round_up(context.device_end, allocation_alignment);
  const std::uint64_t stride = array.space == Space::shared ? round_up(array.bytes, allocation_alignment) : 0;
  context.device_end = begin + (stride == 0 ? array.bytes : stride * context.launch.grid.count());
  return {std::make_unique<ToGlobal>(array.base, begin, stride), {}};
}

std::string global_words(const TracedKernel&, const Suggested& suggested) {
  return fmt::format("keep {} in global memory", suggested.array.name);
}

} // namespace

constinit const PlaceTraits global_place{
    .plan = to_global,
    .words = global_words,
};

} // namespace warplens::placement
