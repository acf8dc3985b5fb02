// Other layouts of a shared array, so that what lies below one another is in different banks: rows an element
// longer, or with their elements exchanged.
#include "placement/change/transformation.h"
#include "vocabulary/geometry.h"
#include "vocabulary/round_up.h"

#include <bit>
#include <numeric>

namespace warplens::placement {
namespace {

constexpr std::uint64_t bank_bytes = 4;

class PadShared final : public Transformation {
public:
  PadShared(std::uint64_t from, std::uint64_t to, std::uint64_t row_bytes, std::uint64_t padding)
      : from_(from), to_(to), row_bytes_(row_bytes), padding_(padding) {}
  void change(Site&) const override {}
  void change(std::uint64_t, trace::WarpAccess& access) const override {
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      const std::uint64_t offset = address - from_;
      address = to_ + offset + offset / row_bytes_ * padding_;
    }
  }

private:
  std::uint64_t from_, to_, row_bytes_, padding_;
};

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

} // namespace

Planned swizzle_shared(const Array& array, ChangeContext& context) {
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

std::uint64_t conflicting_row_bytes(const Array& array) {
  if (array.space != Space::shared)
    return 0;
  std::uint64_t most = 0, row_bytes = 0;
  for (const auto& [stride, count] : array.lane_strides) {
    const auto distance = std::uint64_t(stride < 0 ? -stride : stride);
    const bool conflicts = distance % bank_bytes == 0 && distance >= 8 * bank_bytes &&
                           std::gcd(distance / bank_bytes, std::uint64_t{shared_banks}) > 1;
    if (conflicts && count > most) {
      most = count;
      row_bytes = distance;
    }
  }
  return row_bytes;
}

Planned pad_shared(const Array& array, ChangeContext& context) {
  const std::uint64_t row_bytes = conflicting_row_bytes(array);
  const std::uint64_t padding = std::max<std::uint64_t>(array.element_bytes, bank_bytes);
  if (row_bytes == 0 || row_bytes % padding != 0)
    return {nullptr, {context.because(array.first_access, "no warp accesses a column of it")}};
  const std::uint64_t added = (array.bytes + row_bytes - 1) / row_bytes * padding;
  // It goes behind all others, to a place in the same bank; the hole that it leaves is not counted.
  const std::uint64_t taken =
      std::uint64_t{context.launch.static_shared_bytes} + context.launch.dynamic_shared_bytes;
  const std::uint64_t to =
      round_up(std::max(taken, array.base + array.bytes), line_bytes) + array.base % line_bytes;
  const std::uint64_t most =
      context.gpu->shared.max_bytes_per_block - context.gpu->shared.reserved_bytes_per_block;
  if (taken + added > most)
    return {nullptr,
            {context.because(array.first_access,
                             fmt::format("{} B of shared memory of {}", taken + added, most))}};
  context.launch.static_shared_bytes += std::uint32_t(added);
  return {std::make_unique<PadShared>(array.base, to, row_bytes, padding), {}};
}

} // namespace warplens::placement
