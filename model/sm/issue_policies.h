// The order in which a scheduler looks for a warp that can issue: a policy is a row of the table.
#pragma once

#include "vocabulary/access.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warplens::model {

/// Indices into issue_policy_table.
enum class IssuePolicy : std::uint8_t {
  loose_round_robin,
  greedy_then_oldest,
  greedy_then_youngest,
  greedy_then_least_recent,
  two_level_oldest,
  two_level_least_recent,
  greedy_two_level_least_recent,
};

/// A warp that can issue, as policies see it.
struct IssueCandidate {
  std::int64_t slot = 0;             ///< ascends with its arrival
  std::int64_t block = 0;            ///< likewise
  std::int64_t idle_since = 0;       ///< the cycle of its own last issue, or of its arrival
  std::int64_t waiting_in_block = 0; ///< warps of its block that are at a barrier or have ended
  bool is_other = true;              ///< the scheduler issued last from another warp, or from none yet
  bool is_other_of_block = true;     ///< of its block, another warp issued last, or none yet
  bool is_behind_last = false;       ///< it arrived later than the warp from which the scheduler issued last
};

/// The scheduler issues from the candidate with the lowest rank, as words are ordered in a dictionary.
using IssueRank = std::array<std::int64_t, 4>;

/// How a scheduler finds the lowest rank where ages and its last warp decide it, without looking at others.
enum class IssueShortcut : std::uint8_t {
  none,
  next_behind_last,
  last_then_oldest,
  last_then_youngest,
  last_then_least_recent
};

struct IssuePolicyTraits {
  std::string_view name;
  std::string_view description; ///< what it chooses, and where that comes from, for --help
  IssueRank (*rank)(const IssueCandidate&);
  IssueShortcut shortcut = IssueShortcut::none; ///< finds the same warp as `rank`
};

/// Rogers et al., MICRO 2012, describe the first two; Huerta et al., MICRO 2025, measured the third; the
/// others are of Xu, Minnesota 2016.
inline constexpr std::array<IssuePolicyTraits, 7> issue_policy_table{{
    {"loose_round_robin", "each warp in turn: as counters of a V100 say, assumed of all GPUs from Volta on",
     [](const IssueCandidate& warp) { return IssueRank{!warp.is_behind_last, warp.slot}; },
     IssueShortcut::next_behind_last},
    {"greedy_then_oldest",
     "the warp that issued last, then the oldest: GPGPU-Sim's for Fermi and Kepler, not measured",
     [](const IssueCandidate& warp) { return IssueRank{warp.is_other, warp.slot}; },
     IssueShortcut::last_then_oldest},
    {"greedy_then_youngest", "the warp that issued last, then the youngest: measured on GA102 (Ampere)",
     [](const IssueCandidate& warp) { return IssueRank{warp.is_other, -warp.slot}; },
     IssueShortcut::last_then_youngest},
    {"greedy_then_least_recent",
     "the warp that issued last, then the one whose own last issue is longest ago",
     [](const IssueCandidate& warp) { return IssueRank{warp.is_other, warp.idle_since, warp.slot}; },
     IssueShortcut::last_then_least_recent},
    {"two_level_oldest", "the block with most warps at a barrier or at their end, in it greedy_then_oldest",
     [](const IssueCandidate& warp) {
       return IssueRank{-warp.waiting_in_block, warp.block, warp.is_other_of_block, warp.slot};
     }},
    {"two_level_least_recent", "that block, in it greedy_then_least_recent",
     [](const IssueCandidate& warp) {
       return IssueRank{-warp.waiting_in_block, warp.block, warp.is_other_of_block, warp.idle_since};
     }},
    {"greedy_two_level_least_recent", "the warp that issued last, then two_level_least_recent",
     [](const IssueCandidate& warp) {
       return IssueRank{warp.is_other, -warp.waiting_in_block, warp.block, warp.idle_since};
     }},
}};
inline constexpr int issue_policies = int(issue_policy_table.size());

constexpr const IssuePolicyTraits& traits_of(IssuePolicy policy) {
  return issue_policy_table[std::size_t(policy)];
}

} // namespace warplens::model

namespace warplens {

template <>
inline constexpr std::array<std::string_view, model::issue_policy_table.size()> names_of<model::IssuePolicy> =
    [] {
      std::array<std::string_view, model::issue_policy_table.size()> names;
      std::ranges::transform(model::issue_policy_table, names.begin(), &model::IssuePolicyTraits::name);
      return names;
    }();

} // namespace warplens
