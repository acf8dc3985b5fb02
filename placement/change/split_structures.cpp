// An array of structures becomes an array for each member: what neighbouring lanes access of the same member
// lies side by side.
#include "placement/change/split_structures.h"

#include "placement/change/rewrite.h"
#include "vocabulary/round_up.h"

#include <bit>

namespace warplens::placement {
namespace {

constexpr std::uint64_t max_structure_bytes = 256;
constexpr double min_structured_share = 0.5; ///< of whole warps' accesses that step by the structure

} // namespace

std::uint64_t structure_bytes(const Array& array) {
  if (array.space != Space::global || array.element_bytes == 0 || array.is_cuda_array)
    return 0;
  for (const auto& [stride, count] : array.lane_strides)
    if (stride > std::int64_t(array.element_bytes) && stride <= std::int64_t(max_structure_bytes) &&
        stride % std::int64_t(array.element_bytes) == 0 &&
        double(count) >= min_structured_share * double(array.whole_warps))
      return std::uint64_t(stride);
  return 0;
}

namespace {

class SplitStructures final : public Transformation {
public:
  SplitStructures(std::uint64_t from, std::uint64_t to, std::uint64_t structure_bytes,
                  std::uint64_t member_bytes, std::uint64_t count)
      : from_(from), to_(to), structure_bytes_(structure_bytes), member_bytes_(member_bytes),
        stride_(round_up(count * member_bytes, allocation_alignment)) {}
  void change(Site&) const override {}
  void change(std::uint64_t, trace::WarpAccess& access) const override {
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      const std::uint64_t index = (address - from_) / structure_bytes_;
      const std::uint64_t offset = (address - from_) % structure_bytes_;
      address = to_ + offset / member_bytes_ * stride_ + index * member_bytes_ + offset % member_bytes_;
    }
  }

private:
  std::uint64_t from_, to_, structure_bytes_, member_bytes_, stride_;
};

Planned split_structures(const Array& array, std::uint32_t /*index*/, ChangeContext& context) {
  const std::uint64_t bytes = structure_bytes(array);
  if (bytes == 0)
    return {nullptr, {context.because(array.first_access, "its lanes do not step by a structure")}};
  const std::uint64_t begin = round_up(context.device_end, allocation_alignment);
  const std::uint64_t count = (array.bytes + bytes - 1) / bytes;
  context.device_end =
      begin + bytes / array.element_bytes * round_up(count * array.element_bytes, allocation_alignment);
  return {std::make_unique<SplitStructures>(array.base, begin, bytes, array.element_bytes, count), {}};
}

std::vector<Move> worth_splitting(const TracedKernel& kernel, std::uint32_t array) {
  if (structure_bytes(kernel.arrays[array]) == 0)
    return {};
  return {{.array = array, .rewrite = Rewrite::split}};
}

std::string splitting_words(const Suggested& suggested) {
  return fmt::format("store {} as an array for each member: a warp then accesses neighbouring elements, "
                     "where it now steps by structures of {} B",
                     suggested.array.name, structure_bytes(suggested.array));
}

} // namespace

constinit const RewriteTraits split_rewrite{
    .worth_trying = worth_splitting,
    .plan = split_structures,
    .words = splitting_words,
    .counter = RuleCounter::excess_sectors,
};

} // namespace warplens::placement
