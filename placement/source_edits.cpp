// Edits of sources by their lines.
#include "placement/source_edits.h"

#include "placement/moved_source.h"
#include "support/lines.h"
#include "support/pattern.h"

#include <algorithm>

namespace warplens::placement {
namespace {

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

/// Returns the source with a function around each load of the array, which takes its address.
Expected<std::string> source_with_loads_by(const std::string& function, const Experiment& experiment,
                                           const Array& array, const std::string& source) {
  std::vector<std::string> lines = lines_of(source);
  std::vector<const Site*> sites;
  const std::string& file = experiment.trace().sites()[array.first_access].file;
  for (const std::uint32_t index : array.sites)
    if (const Site& site = experiment.trace().sites()[index]; site.kind == AccessKind::load)
      sites.push_back(&site);
    else if (site.kind == AccessKind::update)
      return fail("{} is read and written by one expression", site.expression);
  std::ranges::sort(sites, std::ranges::greater(),
                    [](const Site* site) { return std::pair(site->line, site->column); });
  for (const Site* site : sites) {
    if (site->file != file || !site->macro.empty())
      return fail("a load of {} is in another file or a macro", array.name);
    if (site->line == 0 || site->line > lines.size() || site->column == 0 ||
        lines[site->line - 1].compare(site->column - 1, site->expression.size(), site->expression) != 0)
      return fail("line {} does not hold {} in one piece", site->line, site->expression);
    lines[site->line - 1].replace(site->column - 1, site->expression.size(),
                                  fmt::format("{}(&{})", function, site->expression));
  }
  return joined(lines);
}

/// Returns the kernel's name without its namespaces, template arguments and parameters.
std::string base_name(const std::string& kernel) {
  std::string name = kernel.substr(0, kernel.find_first_of("(<"));
  if (const std::size_t space = name.find_last_of(" :"); space != std::string::npos)
    name = name.substr(space + 1);
  return name;
}

/// Returns the source with the blocks' size, and the number of them that an SM is to have, behind the
/// kernel's `__global__`.
Expected<std::string> bounded_source(const std::string& kernel, std::uint64_t threads, std::uint32_t blocks,
                                     const std::string& source) {
  if (source.find("__launch_bounds__") != std::string::npos ||
      source.find("__maxnreg__") != std::string::npos)
    return fail("the source has launch bounds already");
  const std::string name = base_name(kernel);
  std::vector<std::string> lines = lines_of(source);
  for (std::string& line : lines) {
    const std::size_t global = line.find("__global__"), at = line.find(name + "(");
    if (global == std::string::npos || at == std::string::npos || at < global ||
        (std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0 || line[at - 1] == '_'))
      continue;
    line.insert(global + std::string("__global__").size(),
                fmt::format(" __launch_bounds__({}, {})", threads, blocks));
    return joined(lines);
  }
  return fail("no line begins __global__ ... {}(", name);
}

/// Returns the source with the array, a parameter of the kernel, in the memory to which `moved` moves it.
Expected<std::string>
source_with_moved(Expected<std::string> (*moved)(const SourceArray&, const std::string&),
                  const Experiment& experiment, const Array& array, const std::string& source) {
  SourceArray in_source{base_name(experiment.launch().kernel), array.name, array.bytes, {}};
  const std::string& file = experiment.trace().sites()[array.first_access].file;
  for (const std::uint32_t index : array.sites) {
    const Site& site = experiment.trace().sites()[index];
    if (site.file != file || !site.macro.empty())
      return fail("a load of {} is in another file or a macro", array.name);
    in_source.loads.push_back({site.line, site.column, site.expression});
  }
  return moved(in_source, source);
}

} // namespace

Expected<std::string> edited_source(const Experiment& experiment, const Suggestion& suggestion,
                                    const std::string& source) {
  const Move& move = suggestion.candidate.moves.front();
  const Array& array = experiment.arrays()[move.array];
  if (move.rewrite == Rewrite::padded)
    return padded_source(array.name, suggestion.line, source);
  if (move.rewrite == Rewrite::none && move.to == PlacementSpace::read_only)
    return source_with_loads_by("__ldg", experiment, array, source);
  if (move.rewrite == Rewrite::none && move.to == PlacementSpace::constant)
    return source_with_moved(source_with_constant, experiment, array, source);
  if (move.rewrite == Rewrite::none && move.to == PlacementSpace::texture)
    return source_with_moved(source_with_texture, experiment, array, source);
  if (move.rewrite == Rewrite::uncached)
    return source_with_loads_by("__ldcg", experiment, array, source);
  if (move.rewrite == Rewrite::bounded)
    return bounded_source(experiment.launch().kernel, experiment.launch().block.count(),
                          suggestion.candidate.result->occupancy.blocks_per_sm, source);
  return fail("{}", not_mechanical);
}

} // namespace warplens::placement
