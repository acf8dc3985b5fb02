#include "report/preview.h"

#include "judge/costly_sites.h"
#include "judge/headroom_text.h"
#include "report/machine_code.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <filesystem>
#include <fmt/format.h>

namespace warplens::report {
namespace {

constexpr std::size_t preview_width = 100, max_sites = 6;

} // namespace

std::string print_preview(const KernelResult& kernel) {
  std::string text;
  const auto add = [&](const std::string& line, std::size_t indent) {
    std::string before(indent, ' ');
    for (const std::string& part : wrapped(printable(line), preview_width - indent - 2)) {
      text += before + part + "\n";
      before.assign(indent + 2, ' ');
    }
  };
  add(fmt::format("{} on {}: {}; registers {}", display_name(kernel.name), kernel.gpu,
                  judge::occupancy_text(kernel), registers(kernel.compiled)),
      2);
  for (const judge::CostlySite& costly : judge::costly_sites(kernel, max_sites))
    add(fmt::format("{}:{}  {}: {}", std::filesystem::path(costly.site->site.file).filename().string(),
                    costly.site->site.line, cut(costly.site->site.expression, 40), costly.cost),
        4);
  return text;
}

} // namespace warplens::report
