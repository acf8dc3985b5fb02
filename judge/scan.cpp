#include "judge/scan.h"

#include "judge/application.h"
#include "result/no_time.h"

#include <algorithm>

namespace warplens::judge {
namespace {

ScannedTime time_on(const std::string& gpu, const Result& result) {
  ScannedTime time;
  for (const KernelResult& kernel : result.kernels)
    if (kernel.gpu == gpu && !kernel.time && kernel.snapshot.warp_accesses != 0) {
      time.unknown = fmt::format("{}: {}", kernel.name, why_no_time(kernel));
      return time;
    }
  const std::vector<Application> applications = applications_of(result);
  const auto ours = std::ranges::find(applications, gpu, &Application::gpu);
  if (ours == applications.end() || !(ours->microseconds > 0)) {
    time.unknown = "no kernel of it has a time";
    return time;
  }
  time.microseconds = ours->microseconds;
  time.half_width = ours->half_width;
  return time;
}

std::optional<std::size_t> best_of(const std::vector<ScannedTime>& times) {
  std::optional<std::size_t> best;
  for (std::size_t index = 0; index < times.size(); ++index)
    if (times[index].unknown.empty() && (!best || times[index].microseconds < times[*best].microseconds))
      best = index;
  return best;
}

Speed beside(const Result& best, const Result& other, const std::string& gpu, double tolerance) {
  const Difference difference = judge::compare(best, other, {});
  const SpeedComparison comparison = compare_speed(best, other, difference, tolerance);
  const auto total = std::ranges::find(comparison.totals, gpu, &TotalSpeed::gpu);
  return total == comparison.totals.end() ? Speed{.reason = "they have no time in common"} : total->speed;
}

} // namespace

std::vector<ScannedGpu> scan(const std::vector<const Result*>& results, double tolerance) {
  std::vector<ScannedGpu> gpus;
  for (const KernelResult& kernel : results.front()->kernels) {
    if (std::ranges::find(gpus, kernel.gpu, &ScannedGpu::gpu) != gpus.end())
      continue;
    ScannedGpu& gpu = gpus.emplace_back();
    gpu.gpu = kernel.gpu;
    for (const Result* result : results)
      gpu.times.push_back(time_on(gpu.gpu, *result));
    gpu.best = best_of(gpu.times);
    for (std::size_t index = 0; index < results.size(); ++index)
      if (gpu.times[index].unknown.empty())
        gpu.times[index].beside_best = beside(*results[*gpu.best], *results[index], gpu.gpu, tolerance);
  }
  return gpus;
}

} // namespace warplens::judge
