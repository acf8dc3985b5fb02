// Constant memory: all of the array behind the constants that there are, a look-up for each address.
#include "placement/change/transformation.h"
#include "vocabulary/round_up.h"

#include <bit>

namespace warplens::placement {
namespace {

constexpr std::uint64_t max_constant_bytes = 65536; // CUDA C++ Programming Guide, Compute Capabilities

class ToConstant final : public Transformation {
public:
  ToConstant(std::uint64_t from, std::uint64_t to) : from_(from), to_(to) {}
  void change(Site& site) const override {
    site.space = Space::constant;
    site.cache_operator = CacheOperator::none;
  }
  void change(std::uint64_t, trace::WarpAccess& access) const override {
    access.space = Space::constant;
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      address = to_ + (address - from_);
    }
  }

private:
  std::uint64_t from_, to_;
};

} // namespace

Planned to_constant(const Array& array, ChangeContext& context) {
  if (array.space != Space::global)
    return {nullptr, {context.because(array.first_access, "it is not in global memory")}};
  std::vector<Reason> reasons = context.written(array, "constant memory");
  const std::uint64_t taken = context.constant_taken;
  const std::uint64_t first = context.constant_end;
  const std::uint64_t begin = round_up(first, allocation_alignment);
  if (array.bytes > max_constant_bytes || taken + array.bytes > max_constant_bytes)
    reasons.push_back(context.because(
        array.first_access, fmt::format("{} B of {}{}", array.bytes, max_constant_bytes,
                                        taken == 0 ? "" : fmt::format(", of which {} are in use", taken))));
  if (!reasons.empty())
    return {nullptr, std::move(reasons)};
  context.constant_end = begin + array.bytes;
  context.constant_taken = taken + round_up(array.bytes, allocation_alignment);
  return {std::make_unique<ToConstant>(array.base, begin), {}};
}

} // namespace warplens::placement
