// Global memory whose lines stay in a part of the L2 that is set aside for them: the accesses stay, and the
// kernel gets an access policy window (CUDA C++ Programming Guide, Device memory L2 access management).
#include "placement/change/place.h"

#include <algorithm>
#include <cmath>

namespace warplens::placement {
namespace {

constexpr std::uint64_t max_window = 134'213'632; ///< as an A100 says; an H200's has 4 KiB more
constexpr double steps = 16;                      ///< of the L2: what is set aside are ways

class ToPersisting final : public Transformation {
public:
  void change(Site&) const override {}
  void change(std::uint64_t, trace::WarpAccess&) const override {}
};

Planned to_persisting(const Array& array, const Move&, ChangeContext& context) {
  const auto refuse = [&](std::string why) {
    return Planned{nullptr, {context.because(array.first_access, std::move(why))}};
  };
  const model::Gpu& gpu = *context.gpu;
  if (array.space != Space::global || array.is_cuda_array || array.is_fetched)
    return refuse("it is not in global memory");
  if (gpu.l2.set_aside == 0)
    return refuse(fmt::format("nothing of the L2 of {} can be set aside", gpu.id));
  if (array.bytes > max_window)
    return refuse(fmt::format("{} B of {} of an access policy window", array.bytes, max_window));
  if (context.persisting)
    return refuse("a kernel has one access policy window");
  const double needed = double(array.bytes) / double(gpu.l2_bytes);
  const double set_aside = std::min(gpu.l2.set_aside, std::ceil(needed * steps) / steps);
  context.persisting = {.begin = array.base,
                        .end = array.base + array.bytes,
                        .hit_ratio = std::min(1.0, set_aside / needed),
                        .set_aside = set_aside};
  return {std::make_unique<ToPersisting>(), {}};
}

std::string persisting_words(const TracedKernel& kernel, const Suggested& suggested) {
  return fmt::format("let {} persist in the L2: set {:.1f} MB of it aside (cudaLimitPersistingL2CacheSize), "
                     "and give the stream an access policy window over these {} B with hitRatio {:.2f}, "
                     "hitProp persisting and missProp streaming",
                     suggested.array.name,
                     suggested.persisting->set_aside * double(kernel.gpu.l2_bytes) / 1e6,
                     suggested.array.bytes, suggested.persisting->hit_ratio);
}

} // namespace

constinit const PlaceTraits persisting_place{
    .plan = to_persisting,
    .words = persisting_words,
};

} // namespace warplens::placement
