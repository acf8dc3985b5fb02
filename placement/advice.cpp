#include "placement/advice.h"

#include "support/pattern.h"

#include <algorithm>
#include <sstream>

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

/// Returns the changes to try: each alone.
std::vector<Move> changes_of(const Experiment& experiment) {
  std::vector<Move> changes;
  if (const auto array = stepping_array(experiment.arrays()))
    changes.push_back({.array = *array, .rewrite = Rewrite::swapped});
  for (std::uint32_t index = 0; index < experiment.arrays().size(); ++index) {
    const Array& array = experiment.arrays()[index];
    if (conflicting_row_bytes(array) != 0)
      changes.push_back({.array = index, .rewrite = Rewrite::padded});
    if (structure_bytes(array) != 0)
      changes.push_back({.array = index, .rewrite = Rewrite::split});
    if (array.space == Space::global && array.atomics != 0)
      changes.push_back({.array = index, .rewrite = Rewrite::privatised});
    std::ranges::copy(moves_of(array, index), std::back_inserter(changes));
  }
  return changes;
}

bool survives(const Candidate& candidate) {
  return candidate.is_legal() && candidate.change.share + candidate.change.half_width < -tie;
}

std::string edit_of(const Move& move, const Array& array) {
  const std::string& name = array.name;
  switch (move.rewrite) {
  case Rewrite::padded:
    return fmt::format(
        "declare the rows of {} one element longer ({} B for {}): lanes that step by a row then "
        "access different banks",
        name, conflicting_row_bytes(array) + std::max<std::uint64_t>(array.element_bytes, 4),
        conflicting_row_bytes(array));
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
  case PlacementSpace::shared:
    return fmt::format("copy what a block accesses of {} to shared memory at its begin, 16 bytes a lane",
                       name);
  case PlacementSpace::persisting: return fmt::format("let the L2 keep {} longest", name);
  }
  return "";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += line + '\n';
  return text;
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
  return joined(lines);
}

/// Returns the source with __ldg() around each load of the array.
Expected<std::string> read_only_source(const Experiment& experiment, const Array& array,
                                       const std::string& source) {
  std::vector<std::string> lines = lines_of(source);
  std::vector<const Site*> sites;
  const std::string& file = experiment.trace().sites()[array.first_access].file;
  for (const std::uint32_t index : array.sites)
    sites.push_back(&experiment.trace().sites()[index]);
  std::ranges::sort(sites, std::ranges::greater(),
                    [](const Site* site) { return std::pair(site->line, site->column); });
  for (const Site* site : sites) {
    if (site->file != file || !site->macro.empty())
      return fail("a load of {} is in another file or a macro", array.name);
    if (site->line == 0 || site->line > lines.size() || site->column == 0 ||
        lines[site->line - 1].compare(site->column - 1, site->expression.size(), site->expression) != 0)
      return fail("line {} does not hold {} in one piece", site->line, site->expression);
    lines[site->line - 1].replace(site->column - 1, site->expression.size(),
                                  fmt::format("__ldg(&{})", site->expression));
  }
  return joined(lines);
}

} // namespace

Expected<KernelAdvice> advise(const Experiment& experiment, const AdviceOptions& options) {
  KernelAdvice advice;
  advice.experiment = &experiment;
  const KernelTime& time = *experiment.sample().result->time;
  advice.min_us = (time.microseconds.mean - time.launch_us) * *std::ranges::max_element(time.busy);
  const std::uint32_t quick = std::min(options.quick_trials, experiment.trials());
  for (const Move& change : changes_of(experiment)) {
    TRY_LET(candidate, experiment.model({change}, quick));
    if (survives(*candidate) && quick < experiment.trials()) {
      candidate = experiment.model({change}, experiment.trials());
      if (!candidate)
        return tl::unexpected(candidate.error());
    }
    if (!survives(*candidate)) {
      if (candidate->is_legal())
        advice.without_gain.push_back(std::move(*candidate));
      continue;
    }
    const Array& array = experiment.arrays()[change.array];
    Suggestion suggestion;
    suggestion.candidate = std::move(*candidate);
    const std::uint32_t at = change.rewrite == Rewrite::privatised ? array.first_atomic : array.first_access;
    if (at != no_site) {
      suggestion.file = experiment.trace().sites()[at].file;
      suggestion.line = experiment.trace().sites()[at].line;
    }
    suggestion.edit = edit_of(change, array);
    advice.suggestions.push_back(std::move(suggestion));
  }
  std::ranges::stable_sort(advice.suggestions, {},
                           [](const Suggestion& one) { return one.candidate.change.share; });
  return advice;
}

Expected<std::string> edited_source(const Experiment& experiment, const Suggestion& suggestion,
                                    const std::string& source) {
  const Move& move = suggestion.candidate.moves.front();
  const Array& array = experiment.arrays()[move.array];
  if (move.rewrite == Rewrite::padded)
    return padded_source(array.name, suggestion.line, source);
  if (move.rewrite == Rewrite::none && move.to == PlacementSpace::read_only)
    return read_only_source(experiment, array, source);
  return fail("the edit is not mechanical");
}

} // namespace warplens::placement
