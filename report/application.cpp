#include "report/application.h"

#include "report/figures.h"
#include "report/terminal_text.h"
#include "support/display_name.h"
#include "vocabulary/number_text.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warplens::report {
namespace {

constexpr std::size_t rows_shown = 12;
constexpr double notable_difference = 0.02; // of the launches' work from the modelled one's

std::string shape(const trace::Dim3& size) {
  std::string text = fmt::format("{}", size.x);
  if (size.y != 1 || size.z != 1)
    text += fmt::format("×{}", size.y);
  return size.z == 1 ? text : text + fmt::format("×{}", size.z);
}

} // namespace

double times_of(const KernelResult& kernel) {
  return kernel.launches_of_kernel != 0 ? kernel.times_this_launch : std::max(1.0, double(kernel.launches));
}

std::string times_launched(const KernelResult& kernel) {
  const std::uint64_t of_kernel = std::max(kernel.launches_of_kernel, kernel.launches);
  if (of_kernel == 0)
    return "";
  if (of_kernel == 1)
    return ", launched once";
  std::string text = fmt::format(", launched {} times", grouped(of_kernel));
  if (kernel.launches != of_kernel)
    text += fmt::format(": this one stands for {} of them", grouped(kernel.launches));
  const double mean = kernel.launches == 0 ? 1 : times_of(kernel) / double(kernel.launches);
  if (std::abs(mean - 1) > notable_difference)
    text += fmt::format(", which do {:.2f} × its work in the mean", mean);
  return text;
}

std::vector<Application> applications_of(const Result& result) {
  std::vector<Application> applications;
  for (const KernelResult& kernel : result.kernels) {
    auto found = std::ranges::find(applications, kernel.gpu, &Application::gpu);
    if (found == applications.end())
      found = applications.insert(applications.end(), Application{kernel.gpu});
    found->launches += kernel.launches;
    if (!kernel.time) {
      ++found->without_time;
      continue;
    }
    const Statistic& each = kernel.time->microseconds;
    const double times = times_of(kernel);
    found->totals.push_back({&kernel, times * each.mean, times * (each.ci95[1] - each.ci95[0]) / 2, 0});
  }
  for (Application& application : applications) {
    for (const LaunchTotal& total : application.totals) {
      application.microseconds += total.microseconds;
      application.half_width = std::hypot(application.half_width, total.half_width);
    }
    for (LaunchTotal& total : application.totals)
      total.share = application.microseconds > 0 ? total.microseconds / application.microseconds : 0;
    std::ranges::stable_sort(application.totals, std::ranges::greater(), &LaunchTotal::microseconds);
  }
  return applications;
}

bool is_worth_telling(const Application& application) {
  const std::size_t modelled = application.totals.size();
  return modelled > 2 || (modelled == 2 && application.launches > 2);
}

std::string print_application(const Application& application, unsigned width) {
  const auto time = [](double microseconds, double half_width) {
    return duration(Statistic{.mean = microseconds, .std_deviation = half_width / 2});
  };
  std::set<std::string> names;
  for (const LaunchTotal& total : application.totals)
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
    const LaunchTotal& total = application.totals[i];
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
