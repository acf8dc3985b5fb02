#include "placement/change/source_loads.h"

#include "support/lines.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace warplens::placement {

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += line + '\n';
  return text;
}

std::string base_name(const std::string& kernel) {
  std::string name = kernel.substr(0, kernel.find_first_of("(<"));
  if (const std::size_t space = name.find_last_of(" :"); space != std::string::npos)
    name = name.substr(space + 1);
  return name;
}

Expected<std::string> source_with_loads_by(const std::string& function, const TracedKernel& kernel,
                                           const Array& array, const std::string& source) {
  std::vector<std::string> lines = lines_of(source);
  std::vector<const Site*> sites;
  const std::string& file = kernel.trace.sites()[array.first_access].file;
  for (const std::uint32_t index : array.sites)
    if (const Site& site = kernel.trace.sites()[index]; site.kind == AccessKind::load)
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
  return joined_lines(lines);
}

Expected<std::string>
source_with_moved(Expected<std::string> (*moved)(const SourceArray&, const std::string&),
                  const TracedKernel& kernel, const Array& array, const std::string& source) {
  SourceArray in_source{base_name(kernel.launch.kernel), array.name, array.bytes, {}};
  const std::string& file = kernel.trace.sites()[array.first_access].file;
  for (const std::uint32_t index : array.sites) {
    const Site& site = kernel.trace.sites()[index];
    if (site.file != file || !site.macro.empty())
      return fail("a load of {} is in another file or a macro", array.name);
    in_source.loads.push_back({site.line, site.column, site.expression});
  }
  return moved(in_source, source);
}

} // namespace warplens::placement
