#include "report/application_text.h"

#include "result/figure_text.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <set>

namespace warplens::report {
namespace {

constexpr std::size_t rows_shown = 12;

std::string shape(const trace::Dim3& size) {
  std::string text = fmt::format("{}", size.x);
  if (size.y != 1 || size.z != 1)
    text += fmt::format("×{}", size.y);
  return size.z == 1 ? text : text + fmt::format("×{}", size.z);
}

} // namespace

std::string print_application(const judge::Application& application, unsigned width) {
  const auto time = [](double microseconds, double half_width) {
    return duration(Statistic{.mean = microseconds, .std_deviation = half_width / 2});
  };
  std::set<std::string> names;
  for (const judge::LaunchTotal& total : application.totals)
    names.insert(total.kernel->name);
  const std::size_t modelled = application.totals.size() + application.without_time;
  std::string head = fmt::format("{} launches of {} kernel{} take {} on {}", grouped(application.launches),
                                 names.size(), names.size() == 1 ? "" : "s",
                                 time(application.microseconds, application.half_width), application.gpu);
  if (application.without_time != 0)
    head += fmt::format(", without {} of which no time is known", application.without_time);
  if (modelled < application.launches)
    head += fmt::format(", of which {} were modelled and stand for the others like them", modelled);
  std::string text;
  for (const std::string& line : wrapped(printable(head), width))
    text += line + "\n";
  constexpr unsigned figures = 7 + 16 + 10 + 16;
  text += pad_left("%", 5) + "  " + pad_left("total", 16) + pad_left("launches", 10) + pad_left("each", 16) +
          "  kernel\n";
  for (std::size_t i = 0; i < std::min(rows_shown, application.totals.size()); ++i) {
    const judge::LaunchTotal& total = application.totals[i];
    const std::string grid = fmt::format("  grid {}", shape(total.kernel->grid));
    const std::size_t room = std::max<std::size_t>(width, figures + 30) - figures - 2;
    std::string name = display_name(printable(total.kernel->name), room);
    if (width_of(name) + width_of(grid) <= room)
      name += grid;
    text += without_trailing_blanks(
                pad_left(share(total.share), 5) + "  " +
                pad_left(time(total.microseconds, total.half_width), 16) +
                pad_left(total.kernel->launches == 0 ? "-" : grouped(total.kernel->launches), 10) +
                pad_left(duration(total.kernel->time->microseconds), 16) + "  " + name) +
            "\n";
  }
  if (application.totals.size() > rows_shown) {
    double rest = 0;
    for (std::size_t i = rows_shown; i < application.totals.size(); ++i)
      rest += application.totals[i].share;
    text += fmt::format("{}  {} further ones\n", pad_left(share(rest), 5),
                        application.totals.size() - rows_shown);
  }
  return text;
}

} // namespace warplens::report
