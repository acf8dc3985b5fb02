// A shared array with rows an element longer, so that the elements of a column are in different banks.
#include "placement/change/rewrite.h"
#include "placement/change/source_loads.h"
#include "support/lines.h"
#include "support/pattern.h"
#include "vocabulary/geometry.h"
#include "vocabulary/round_up.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace warplens::placement {
namespace {

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

Planned pad_shared(const Array& array, std::uint32_t /*index*/, ChangeContext& context) {
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

/// Returns the source with a shared array's last dimension one longer: in the last declaration before the
/// line of its first access.
Expected<std::string> padded_source(const std::string& name, std::uint32_t line, const std::string& source) {
  const Pattern declaration(R"(__shared__\s+[A-Za-z_][\w:<> ]*\s)");
  std::vector<std::string> lines = lines_of(source);
  std::size_t found = lines.size(), open = 0, close = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(line, lines.size()); ++i) {
    if (!declaration.is_found_in(lines[i]))
      continue;
    const std::size_t shared = lines[i].find("__shared__");
    for (std::size_t at = lines[i].find(name + "[", shared); at != std::string::npos;
         at = lines[i].find(name + "[", at + 1)) {
      const char before = at == 0 ? ' ' : lines[i][at - 1];
      if (std::isalnum(static_cast<unsigned char>(before)) != 0 || before == '_')
        continue;
      // The last of the dimensions, which follow one another.
      open = at;
      for (std::size_t next = at + name.size(); next < lines[i].size() && lines[i][next] == '[';) {
        open = next;
        close = lines[i].find(']', next);
        if (close == std::string::npos)
          return fail("the declaration of {} does not end in its line", name);
        next = close + 1;
      }
      if (open <= at + name.size())
        return fail("{} has one dimension: its rows are computed where it is accessed", name);
      found = i;
    }
  }
  if (found == lines.size())
    return fail("no line declares __shared__ {}[...][...]", name);
  lines[found].insert(close, " + 1");
  return joined_lines(lines);
}

std::vector<Move> worth_padding(const TracedKernel& kernel, std::uint32_t array) {
  if (conflicting_row_bytes(kernel.arrays[array]) == 0)
    return {};
  return {{.array = array, .rewrite = Rewrite::padded}};
}

std::string padding_words(const Suggested& suggested) {
  const Array& array = suggested.array;
  return fmt::format("declare the rows of {} one element longer ({} B for {}): lanes that step by a row then "
                     "access different banks",
                     array.name,
                     conflicting_row_bytes(array) + std::max<std::uint64_t>(array.element_bytes, 4),
                     conflicting_row_bytes(array));
}

Expected<std::string> pad_source(const TracedKernel&, const Suggested& suggested, std::uint32_t line,
                                 const std::string& source) {
  return padded_source(suggested.array.name, line, source);
}

} // namespace

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

constinit const RewriteTraits padded_rewrite{
    .worth_trying = worth_padding,
    .plan = pad_shared,
    .words = padding_words,
    .edit = pad_source,
    .counter = RuleCounter::bank_conflicts,
};

} // namespace warplens::placement
