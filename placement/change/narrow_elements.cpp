// An array of elements of half the size: floats as halves, doubles as floats. Its accesses move half the
// bytes, and each takes one more instruction, which converts.
#include "placement/change/rewrite.h"

#include <algorithm>
#include <bit>

namespace warplens::placement {
namespace {

class NarrowElements final : public Transformation {
public:
  explicit NarrowElements(std::uint64_t base) : base_(base) {}
  double further_instructions() const override { return 1; }
  void change(Site& site) const override { site.element_bytes /= 2; }
  void change(std::uint64_t, trace::WarpAccess& access) const override {
    access.bytes = std::uint16_t(std::max(access.bytes / 2, 1));
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      address = base_ + (address - base_) / 2;
    }
  }

private:
  std::uint64_t base_;
};

Planned narrow_elements(const Array& array, std::uint32_t /*index*/, ChangeContext& context) {
  const auto refused = [&](std::string why) {
    return Planned{nullptr, {context.because(array.first_access, std::move(why))}};
  };
  if (array.space != Space::global || array.is_cuda_array || array.is_fetched)
    return refused("it is not in global memory");
  if (array.atomics != 0)
    return refused("it has atomics, which there are for few narrow types");
  if (array.element_bytes != 4 && array.element_bytes != 8)
    return refused(fmt::format("its elements have {} B", array.element_bytes));
  return {std::make_unique<NarrowElements>(array.base), {}};
}

/// Returns whether the accesses to the array are a good part of those to global memory.
bool moves_much(const Array& array, const Arrays& arrays) {
  constexpr double good_part = 0.2;
  std::uint64_t all = 0;
  for (const Array& one : arrays.all())
    all += one.space == Space::global ? one.lane_bytes : 0;
  return double(array.lane_bytes) >= good_part * double(all);
}

std::vector<Move> worth_narrowing(const TracedKernel& kernel, std::uint32_t index) {
  const Array& array = kernel.arrays[index];
  if (array.space != Space::global || !moves_much(array, kernel.arrays))
    return {};
  return {{.array = index, .rewrite = Rewrite::narrowed}};
}

std::string narrowing_words(const Suggested& suggested) {
  const Array& array = suggested.array;
  return fmt::format("store {} by {} B for each {}, if its values allow that, and convert where it is loaded "
                     "and stored",
                     array.name, array.element_bytes / 2, array.element_bytes);
}

} // namespace

constinit const RewriteTraits narrowed_rewrite{
    .worth_trying = worth_narrowing,
    .plan = narrow_elements,
    .words = narrowing_words,
    .changes_values = true,
};

} // namespace warplens::placement
