#include "significance/suggest.h"

#include <algorithm>
#include <array>
#include <set>

namespace warplens::significance {
namespace {

constexpr double share_to_look_at = 0.8;
constexpr double min_touches = 1.5;
constexpr std::uint64_t shared_bytes_per_block = 48 * 1024; ///< of static shared memory, on any GPU
constexpr double min_conflicts = 0.5;
constexpr double max_active_lanes = 24;

/// The evidence of a profile on a suggestion: whether it applies, and why.
struct Finding {
  bool applies = true;
  std::string reason;
};

Finding on_reuse(const Observations& seen) {
  if (!seen.reuse || seen.reuse->touches_per_sector < min_touches)
    return {false, ""};
  const double kilobytes = static_cast<double>(seen.reuse->block_bytes) / 1024;
  const std::string touched = fmt::format("a block touches each sector of {} {:.1f} times",
                                          seen.reuse->object, seen.reuse->touches_per_sector);
  if (seen.reuse->block_bytes <= shared_bytes_per_block)
    return {true, fmt::format("{}, and its part of {:.1f} KiB fits shared memory", touched, kilobytes)};
  return {true, fmt::format("{}; its part of {:.0f} KiB does not fit shared memory: take a tile at a time",
                            touched, kilobytes)};
}

Finding on_conflicts(const Observations& seen) {
  if (!seen.bank_conflicts || seen.bank_conflicts->value < min_conflicts)
    return {false, ""};
  return {true,
          fmt::format("{} has {:.1f} extra passes per request; pad the rows of the array by one element "
                      "(banks of 8 bytes are Kepler's only)",
                      seen.bank_conflicts->line, seen.bank_conflicts->value)};
}

Finding on_l1_misses(const Observations& seen) {
  if (!seen.l1_misses)
    return {false, ""};
  return {true, fmt::format("{} misses the L1 in {:.0f} % of its sectors, and its array is reused",
                            seen.l1_misses->line, 100 * seen.l1_misses->value)};
}

Finding on_lanes(const Observations& seen) {
  if (!seen.active_lanes || seen.active_lanes->value >= max_active_lanes)
    return {false, ""};
  return {true,
          fmt::format("{} has {:.1f} of 32 lanes active", seen.active_lanes->line, seen.active_lanes->value)};
}

Finding on_nothing(const Observations&) {
  return {true, ""};
}

struct Row {
  char label;
  std::array<const char*, 4> resources;
  const char *action, *expects;
  Finding (*check)(const Observations&);
};

constexpr Row table[] = {
    {'A',
     {"DRAM", "SYSMEM"},
     "keep what is reused in __shared__ memory: copy it in at the start and out at the end",
     "speed",
     on_reuse},
    {'B',
     {"BANK"},
     "change the layout in shared memory, so that a warp's lanes use different banks",
     "speed and utilisation",
     on_conflicts},
    {'C',
     {"SMEM", "L2"},
     "inline small functions, and leave more of the memory to the L1",
     "speed and utilisation",
     on_l1_misses},
    {'D',
     {"STALL", "FP64", "FMA", "SMEM"},
     "replace short branches by selects, so that a warp's lanes do not diverge",
     "utilisation and speed",
     on_lanes},
    {'E',
     {"FP64", "FMA"},
     "unroll loops (#pragma unroll n), and keep branches out of them",
     "utilisation and speed",
     on_nothing},
};

} // namespace

std::vector<Suggestion> suggest(const std::vector<ResourceFigures>& resources,
                                const std::optional<Observations>& observations) {
  std::vector<Suggestion> suggestions;
  std::set<char> made;
  double share = 0;
  for (const ResourceFigures& resource : resources) {
    if (share >= share_to_look_at || !resource.significant)
      break;
    share += resource.share;
    for (const Row& row : table) {
      const auto is_resource = [&](const char* name) { return name != nullptr && resource.name == name; };
      if (!std::ranges::any_of(row.resources, is_resource) || made.contains(row.label))
        continue;
      const Finding finding = observations ? row.check(*observations) : Finding{};
      if (!finding.applies)
        continue;
      made.insert(row.label);
      suggestions.push_back({row.label, resource.name, row.action, row.expects, finding.reason});
    }
  }
  return suggestions;
}

} // namespace warplens::significance
