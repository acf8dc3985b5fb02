#include "judge/application.h"

#include "result/figure_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace warplens::judge {
namespace {

constexpr double notable_difference = 0.02; // of the launches' work from the modelled one's

} // namespace

double times_of(const KernelResult& kernel) {
  return kernel.launches_of_kernel != 0 ? kernel.times_this_launch : std::max(1.0, double(kernel.launches));
}

std::string times_launched(const KernelResult& kernel) {
  const std::uint64_t kernel_launches = std::max(kernel.launches_of_kernel, kernel.launches);
  if (kernel_launches == 0)
    return "";
  if (kernel_launches == 1)
    return ", launched once";
  std::string text = fmt::format(", launched {} times", grouped(kernel_launches));
  if (kernel.launches != kernel_launches)
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

bool is_worth_reporting(const Application& application) {
  const std::size_t modelled = application.totals.size();
  return modelled > 2 || (modelled == 2 && application.launches > 2);
}

} // namespace warplens::judge
