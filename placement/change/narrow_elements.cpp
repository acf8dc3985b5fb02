// An array of elements of half the size: floats as halves, doubles as floats. Its accesses move half the
// bytes, and each takes one more instruction, which converts.
#include "placement/change/transformation.h"

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

} // namespace

Planned narrow_elements(const Array& array, ChangeContext& context) {
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

} // namespace warplens::placement
