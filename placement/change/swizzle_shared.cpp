// A shared array with the elements of each row exchanged by the row's number (XOR), so that those of a column
// are in different banks, without further memory.
#include "placement/change/rewrite.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>

namespace warplens::placement {
namespace {

/// Exchanges the elements of each row within the width of the banks, by the row's number.
class SwizzleShared final : public Transformation {
public:
  SwizzleShared(std::uint64_t base, std::uint64_t row_bytes, std::uint64_t element_bytes)
      : base_(base), row_bytes_(row_bytes), element_bytes_(element_bytes) {}
  double further_instructions() const override { return 1; } // LOP3 of the column and the row
  void change(Site&) const override {}
  void change(std::uint64_t, trace::WarpAccess& access) const override {
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      const std::uint64_t row = (address - base_) / row_bytes_;
      address = base_ + ((address - base_) ^ (row * element_bytes_) % line_bytes);
    }
  }

private:
  std::uint64_t base_, row_bytes_, element_bytes_;
};

Planned swizzle_shared(const Array& array, std::uint32_t /*index*/, ChangeContext& context) {
  const std::uint64_t row_bytes = conflicting_row_bytes(array);
  const std::uint64_t element_bytes = std::max<std::uint64_t>(array.element_bytes, bank_bytes);
  if (row_bytes == 0)
    return {nullptr, {context.because(array.first_access, "no warp accesses a column of it")}};
  // Elements stay in their row, and each in its own place, where both are powers of two.
  if (row_bytes < line_bytes || !std::has_single_bit(row_bytes) || !std::has_single_bit(element_bytes) ||
      array.base % line_bytes != 0)
    return {nullptr,
            {context.because(array.first_access, fmt::format("its rows of {} B are no power of two of at "
                                                             "least 128 B",
                                                             row_bytes))}};
  return {std::make_unique<SwizzleShared>(array.base, row_bytes, element_bytes), {}};
}

std::vector<Move> worth_swizzling(const TracedKernel& kernel, std::uint32_t array) {
  if (conflicting_row_bytes(kernel.arrays[array]) == 0)
    return {};
  return {{.array = array, .rewrite = Rewrite::swizzled}};
}

std::string swizzling_words(const Suggested& suggested) {
  return fmt::format("access {}[row][column ^ row] (within the {} B of the banks) in place of column: what "
                     "lies below one another is then in different banks, without further memory",
                     suggested.array.name, line_bytes);
}

} // namespace

constinit const RewriteTraits swizzled_rewrite{
    .worth_trying = worth_swizzling,
    .plan = swizzle_shared,
    .words = swizzling_words,
    .counter = RuleCounter::bank_conflicts,
    .serves_purpose_above = true,
};

} // namespace warplens::placement
