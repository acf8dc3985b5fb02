#include "placement/advice.h"

#include "placement/change/launch_change.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace warplens::placement {
namespace {

/// Returns the array with most accesses to global memory whose lanes are a row or more apart; none if there
/// is none.
std::optional<std::uint32_t> stepping_array(const Arrays& arrays) {
  constexpr std::int64_t row = 128;
  std::optional<std::uint32_t> found;
  std::uint64_t most = 0;
  for (std::uint32_t index = 0; index < arrays.size(); ++index) {
    std::uint64_t steps = 0;
    for (const auto& [stride, count] : arrays[index].lane_strides)
      steps += stride >= row || stride <= -row ? count : 0;
    if (arrays[index].space == Space::global && steps > most) {
      most = steps;
      found = index;
    }
  }
  return found;
}

constexpr double min_alike = 0.9; ///< of the accesses to constant memory, which serves an address at a time

/// Returns whether nearly all accesses to the array are loads of one address by all lanes of a warp.
bool is_read_alike(const Array& array) {
  const auto alike = array.lane_strides.find(0);
  return alike != array.lane_strides.end() &&
         double(alike->second) >= min_alike * double(array.loads + array.stores + array.atomics);
}

/// Changes that serve one purpose, the simplest first: at most one of them is suggested.
using Alternatives = std::vector<Move>;

constexpr double min_reuse = 1.5; ///< of what a block would keep in shared memory
constexpr int unified_l1 = 70;    ///< from this architecture on, textures and read-only loads use the L1

/// Returns whether the place has a cache that may serve the array better than the L1: read-only loads and 1D
/// textures where they have one of their own, and constant memory where the lanes of a warp read alike.
bool has_better_cache(PlacementSpace place, const Array& array, const model::Gpu& gpu) {
  switch (place) {
  case PlacementSpace::read_only:
  case PlacementSpace::texture: return gpu.capability() < unified_l1;
  case PlacementSpace::texture_2d: return true;
  case PlacementSpace::constant: return is_read_alike(array);
  default: return false;
  }
}

Alternatives cached_places(const Array& array, std::uint32_t index, const model::Gpu& gpu) {
  Alternatives places;
  for (const Move& move : moves_of(array, index))
    if (has_better_cache(move.to, array, gpu))
      places.push_back(move);
  return places;
}

/// Returns the lines that the L2 would keep longest: of an array that is read again and again, while what the
/// launch touches is more than the L2 holds.
Alternatives persistence(const Array& array, std::uint32_t index, const Experiment& experiment) {
  const model::Gpu& gpu = experiment.gpu();
  if (array.space != Space::global || gpu.l2.set_aside == 0 ||
      experiment.arrays().global_bytes() * gpu.l2.partitions < gpu.l2_bytes ||
      double(array.lane_bytes) < min_reuse * double(array.touched.bytes()))
    return {};
  return {{.array = index, .to = PlacementSpace::persisting}};
}

/// Returns the ways of staging an array through shared memory.
Alternatives staging(const Array& array, std::uint32_t index) {
  const auto by = [&](SharedPart part) {
    return Move{.array = index, .to = PlacementSpace::shared, .part = part};
  };
  const double reuse = array.reuse_in_block();
  if (array.space != Space::global || (reuse != 0 && reuse < min_reuse && !has_distant_lanes(array)))
    return {};
  Alternatives ways;
  if (reuse != 0)
    ways.push_back(by(SharedPart::touched));
  if (reuse != 0 && has_distant_lanes(array))
    ways.push_back(by(SharedPart::padded));
  if (array.stores + array.atomics == 0)
    ways.push_back(by(SharedPart::tile));
  return ways;
}

/// Returns the changes of the launch as a whole, each with its alternatives.
std::vector<Alternatives> changes_of_launch(const Experiment& experiment) {
  const trace::Launch& launch = experiment.launch();
  std::vector<Alternatives> changes;
  if (const auto array = stepping_array(experiment.arrays()))
    changes.push_back({{.array = *array, .rewrite = Rewrite::swapped}});
  std::uint32_t widest = 0;
  for (const Array& array : experiment.arrays().all())
    widest = array.space == Space::global ? std::max(widest, array.element_bytes) : widest;
  Alternatives more_work;
  if (widest != 0 && widest <= 8)
    more_work.push_back({.rewrite = Rewrite::vectorised, .number = 16 / std::max(widest, 4u)});
  for (const std::uint32_t threads : {2u, 4u})
    more_work.push_back({.rewrite = Rewrite::coarsened, .number = threads});
  changes.push_back(std::move(more_work));
  // Blocks of another size are for SMs that these do not fill.
  const bool is_full =
      experiment.sample().result->occupancy.warps_per_sm * warp_lanes == experiment.gpu().max_threads_per_sm;
  Alternatives sizes;
  for (const std::uint32_t threads : {128u, 256u, 512u})
    if (!is_full && threads != launch.block.count())
      sizes.push_back({.rewrite = Rewrite::regrouped, .number = threads});
  changes.push_back(std::move(sizes));
  if (const std::uint32_t registers = registers_for_one_more_block(launch, experiment.gpu()))
    changes.push_back({{.rewrite = Rewrite::bounded, .number = registers}});
  return changes;
}

/// Returns whether the accesses to the array are a good part of those to global memory.
bool moves_much(const Array& array, const Arrays& arrays) {
  constexpr double good_part = 0.2;
  std::uint64_t all = 0;
  for (const Array& one : arrays.all())
    all += one.space == Space::global ? one.lane_bytes : 0;
  return double(array.lane_bytes) >= good_part * double(all);
}

std::vector<Alternatives> changes_of(const Experiment& experiment) {
  if (experiment.arrays().size() == 0)
    return {};
  std::vector<Alternatives> changes = changes_of_launch(experiment);
  for (std::uint32_t index = 0; index < experiment.arrays().size(); ++index) {
    const Array& array = experiment.arrays()[index];
    if (conflicting_row_bytes(array) != 0)
      changes.push_back(
          {{.array = index, .rewrite = Rewrite::padded}, {.array = index, .rewrite = Rewrite::swizzled}});
    if (structure_bytes(array) != 0)
      changes.push_back({{.array = index, .rewrite = Rewrite::split}});
    if (array.space == Space::global && array.atomics != 0)
      changes.push_back({{.array = index, .rewrite = Rewrite::privatised}});
    if (array.space == Space::global && array.loads != 0)
      changes.push_back({{.array = index, .rewrite = Rewrite::uncached}});
    if (array.space == Space::global && moves_much(array, experiment.arrays()))
      changes.push_back({{.array = index, .rewrite = Rewrite::narrowed}});
    if (place_of(array) != PlacementSpace::global && array.space != Space::global)
      changes.push_back({{.array = index, .to = PlacementSpace::global}});
    changes.push_back(cached_places(array, index, experiment.gpu()));
    changes.push_back(persistence(array, index, experiment));
    changes.push_back(staging(array, index));
  }
  return changes;
}

bool survives(const Candidate& candidate) {
  return candidate.is_legal() && is_gain(candidate.change);
}

/// Returns the best of the candidates, or the simplest of those that tie with it; none if none has a gain.
/// The legal ones without a gain are appended to `without_gain`.
std::optional<std::vector<Move>> best_of(std::span<Candidate> candidates,
                                         std::vector<Candidate>& without_gain) {
  std::vector<const Candidate*> gains;
  for (Candidate& candidate : candidates)
    if (survives(candidate))
      gains.push_back(&candidate);
    else if (candidate.is_legal())
      without_gain.push_back(std::move(candidate));
  if (gains.empty())
    return std::nullopt;
  const auto share = [](const Candidate* one) { return one->change.share; };
  const double best = share(*std::ranges::min_element(gains, {}, share));
  return (*std::ranges::find_if(gains,
                                [&](const Candidate* one) { return share(one) - best < tie * (1 + best); }))
      ->moves;
}

/// Models all alternatives by a few trials, then of each purpose's the best one by all.
Expected<std::vector<Candidate>> best_changes(const std::vector<Alternatives>& purposes,
                                              const Experiment& experiment, std::uint32_t quick,
                                              std::vector<Candidate>& without_gain) {
  std::vector<std::vector<Move>> all, chosen;
  for (const Alternatives& alternatives : purposes)
    for (const Move& move : alternatives)
      all.push_back({move});
  TRY_LET(candidates, experiment.model_each(std::move(all), quick));
  std::span<Candidate> left = *candidates;
  for (const Alternatives& alternatives : purposes) {
    if (auto moves = best_of(left.first(alternatives.size()), without_gain))
      chosen.push_back(std::move(*moves));
    left = left.subspan(alternatives.size());
  }
  TRY_LET(again, experiment.model_each(std::move(chosen), experiment.trials()));
  std::vector<Candidate> best;
  for (Candidate& candidate : *again)
    (survives(candidate) ? best : without_gain).push_back(std::move(candidate));
  return best;
}

std::string staging_of(const Move& move, const Array& array) {
  const std::string& name = array.name;
  if (move.part == SharedPart::tile)
    return fmt::format("stage {} through a tile in shared memory: the block's threads copy what the next "
                       "steps of the loop load, side by side, between two barriers",
                       name);
  const char* const rows =
      move.part == SharedPart::padded ? ", in rows one element longer than they are" : "";
  if (array.loads == 0)
    return fmt::format("let each block store {} to a tile in shared memory{}, and copy that to memory behind "
                       "a barrier, neighbouring lanes side by side",
                       name, rows);
  return fmt::format("copy what a block accesses of {} to shared memory at its begin{}, neighbouring lanes "
                     "side by side",
                     name, rows);
}

std::string edit_of(const Move& move, const Array& array, const Candidate& candidate,
                    std::uint64_t l2_bytes) {
  const std::string& name = array.name;
  switch (move.rewrite) {
  case Rewrite::padded:
    return fmt::format(
        "declare the rows of {} one element longer ({} B for {}): lanes that step by a row then "
        "access different banks",
        name, conflicting_row_bytes(array) + std::max<std::uint64_t>(array.element_bytes, 4),
        conflicting_row_bytes(array));
  case Rewrite::swizzled:
    return fmt::format("access {}[row][column ^ row] (within the {} B of the banks) in place of column: what "
                       "lies below one another is then in different banks, without further memory",
                       name, line_bytes);
  case Rewrite::uncached:
    return fmt::format("load {} by __ldcg(): it then takes no room in the L1 from other arrays", name);
  case Rewrite::coarsened:
    return fmt::format("let each thread do the work of {} that lie {} threads apart, in an unrolled loop; a "
                       "block then has {} threads",
                       move.number, candidate.result->block.count(), candidate.result->block.count());
  case Rewrite::vectorised:
    return fmt::format("let each thread do the work of {} neighbours, and access global memory by vectors "
                       "of {} elements (as float{})",
                       move.number, move.number, move.number);
  case Rewrite::regrouped:
    return fmt::format("launch blocks of {} threads ({} per SM)", move.number,
                       candidate.result->occupancy.blocks_per_sm);
  case Rewrite::bounded:
    return fmt::format("bound the kernel's registers to {} by __launch_bounds__({}, {}): an SM then has {} "
                       "blocks",
                       move.number, candidate.result->block.count(),
                       candidate.result->occupancy.blocks_per_sm, candidate.result->occupancy.blocks_per_sm);
  case Rewrite::split:
    return fmt::format("store {} as an array for each member: a warp then accesses neighbouring elements, "
                       "where it now steps by structures of {} B",
                       name, structure_bytes(array));
  case Rewrite::privatised:
    return fmt::format(
        "let each block add to a copy of {} in shared memory ({} B), and add that to {} at its "
        "end",
        name, array.touched.bytes(), name);
  case Rewrite::swapped:
    return fmt::format(
        "exchange x and y of the block's threads (and of its dimensions), so that the lanes of a "
        "warp, which step by rows of {}, access neighbours; it must not use warp functions",
        name);
  case Rewrite::narrowed:
    return fmt::format(
        "store {} by {} B for each {}, if its values allow that, and convert where it is loaded "
        "and stored",
        name, array.element_bytes / 2, array.element_bytes);
  case Rewrite::none: break;
  }
  switch (move.to) {
  case PlacementSpace::global: return fmt::format("keep {} in global memory", name);
  case PlacementSpace::read_only:
    return fmt::format("load {} by __ldg(), or declare the pointer const and __restrict__", name);
  case PlacementSpace::texture: return fmt::format("fetch {} by tex1Dfetch() from a linear texture", name);
  case PlacementSpace::texture_2d: return fmt::format("fetch {} from a 2D texture", name);
  case PlacementSpace::constant:
    return fmt::format("put {} ({} B) into __constant__ memory", name, array.bytes);
  case PlacementSpace::shared: return staging_of(move, array);
  case PlacementSpace::persisting:
    return fmt::format(
        "let {} persist in the L2: set {:.1f} MB of it aside (cudaLimitPersistingL2CacheSize), "
        "and give the stream an access policy window over these {} B with hitRatio {:.2f}, "
        "hitProp persisting and missProp streaming",
        name, candidate.persisting->set_aside * double(l2_bytes) / 1e6, array.bytes,
        candidate.persisting->hit_ratio);
  }
  return "";
}

} // namespace

bool is_gain(const TimeChange& change) {
  return change.share + change.half_width < -tie;
}

Expected<KernelAdvice> advise(const Experiment& experiment, const AdviceOptions& options) {
  KernelAdvice advice;
  advice.experiment = &experiment;
  const KernelTime& time = *experiment.sample().result->time;
  advice.min_us = (time.microseconds.mean - time.launch_us) * *std::ranges::max_element(time.busy);
  const std::uint32_t quick = std::min(options.quick_trials, experiment.trials());
  TRY_LET(best, best_changes(changes_of(experiment), experiment, quick, advice.without_gain));
  for (Candidate& candidate : *best) {
    Suggestion suggestion;
    suggestion.candidate = std::move(candidate);
    const Move& change = suggestion.candidate.moves.front();
    const Array& array = experiment.arrays()[change.array];
    const std::uint32_t at = change.rewrite == Rewrite::privatised ? array.first_atomic : array.first_access;
    if (at != no_site) {
      suggestion.file = experiment.trace().sites()[at].file;
      suggestion.line = experiment.trace().sites()[at].line;
    }
    suggestion.edit = edit_of(change, array, suggestion.candidate, experiment.gpu().l2_bytes);
    suggestion.rule = rule_estimate(change, experiment);
    suggestion.needs_patch = change.rewrite == Rewrite::bounded;
    advice.suggestions.push_back(std::move(suggestion));
  }
  // What changes the values that are stored comes last: only the reader knows whether they allow it.
  std::ranges::stable_sort(advice.suggestions, {}, [](const Suggestion& one) {
    return std::pair(one.candidate.moves.front().rewrite == Rewrite::narrowed, one.candidate.change.share);
  });
  return advice;
}

} // namespace warplens::placement
