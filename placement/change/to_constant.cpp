// Constant memory: all of the array behind the constants that there are, a look-up for each address.
#include "placement/change/place.h"
#include "placement/change/source_loads.h"
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

Planned to_constant(const Array& array, const Move&, ChangeContext& context) {
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

constexpr double min_alike = 0.9; ///< of the accesses to constant memory, which serves an address at a time

/// Returns whether nearly all accesses to the array are loads of one address by all lanes of a warp.
bool is_read_alike(const Array& array) {
  const auto alike = array.lane_strides.find(0);
  return alike != array.lane_strides.end() &&
         double(alike->second) >= min_alike * double(array.loads + array.stores + array.atomics);
}

bool is_read_alike_there(const Array& array, const model::Gpu&) {
  return is_read_alike(array);
}

Expected<std::string> move_to_constant(const TracedKernel& kernel, const Suggested& suggested,
                                       const std::string& source) {
  return source_with_moved(source_with_constant, kernel, suggested.array, source);
}

std::string_view constant_memory(const model::Gpu&) {
  return "constant memory";
}

std::string constant_words(const TracedKernel&, const Suggested& suggested) {
  return fmt::format("put {} ({} B) into __constant__ memory", suggested.array.name, suggested.array.bytes);
}

} // namespace

constinit const PlaceTraits constant_place{
    .plan = to_constant,
    .words = constant_words,
    .edit = move_to_constant,
    .has_better_cache = is_read_alike_there,
    .memory_behind = constant_memory,
};

} // namespace warplens::placement
