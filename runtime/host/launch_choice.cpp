#include "runtime/host/launch_choice.h"

#include <algorithm>
#include <cmath>

namespace warplens::runtime {
namespace {

/// Every shape of a kernel is traced until there are some_launches; after these only shapes that differ much
/// from all others, until there are max_launches.
constexpr std::uint64_t some_launches = 8, max_launches = 24;
/// Launches whose work differs by less than this factor are alike.
constexpr double alike = 1.2;

/// Returns the number of whole steps of 5 % that lead from 1 to the number.
int steps_to(std::uint64_t number) {
  return number == 0 ? -1 : int(std::lround(std::log(double(number)) / std::log(1.05)));
}

bool is_within(double a, double b, double factor) {
  return a <= b * factor && b <= a * factor;
}

bool are_alike(const trace::LaunchWork& a, const trace::LaunchWork& b) {
  return is_within(double(a.accesses), double(b.accesses), alike) &&
         is_within(double(a.lines), double(b.lines), alike);
}

} // namespace

LaunchChoice::Shape LaunchChoice::shape_of(const trace::Launch& launch) {
  return {launch.grid.x,
          launch.grid.y,
          launch.grid.z,
          launch.block.x,
          launch.block.y,
          launch.block.z,
          launch.dynamic_shared_bytes};
}

/// Returns the first of the kernels with the symbol, or null.
const LaunchChoice::Kernel* LaunchChoice::find(const std::string& symbol) const {
  const auto found = kernels_.lower_bound({symbol, 0});
  return found == kernels_.end() || found->first.first != symbol ? nullptr : &found->second;
}

bool LaunchChoice::wants(const trace::Launch& launch) const {
  const auto kernel = kernels_.find(key_of(launch));
  if (first_of_each_)
    return kernel == kernels_.end() ? *first_of_each_ > 0 : kernel->second.traced < *first_of_each_;
  if (kernel == kernels_.end() || kernel->second.traced == 0)
    return true;
  if (kernel->second.traced >= max_launches)
    return false;
  const auto& shapes = kernel->second.shapes;
  const Shape shape = shape_of(launch);
  if (const auto known = shapes.find(shape); known != shapes.end() && known->second.traced)
    return known->second.last_was_new;
  const auto is_close = [&](const auto& other) {
    const Shape& is = other.first;
    return other.second.traced && std::equal(is.begin() + 3, is.end(), shape.begin() + 3) &&
           is_within(double(is[0]) * is[1] * is[2], double(launch.grid.count()), alike);
  };
  return kernel->second.traced < some_launches || std::ranges::none_of(shapes, is_close);
}

bool LaunchChoice::wants_more_of(const std::string& symbol) const {
  const Kernel* kernel = find(symbol);
  return !kernel || kernel->traced < first_of_each_.value_or(1);
}

void LaunchChoice::begin_traced(const trace::Launch& launch) {
  Kernel& kernel = kernels_[key_of(launch)];
  kernel.name = launch.kernel;
  ++kernel.traced;
  kernel.shapes[shape_of(launch)].traced = true;
}

trace::KernelLaunches& LaunchChoice::count(const trace::Launch& launch, const trace::LaunchWork& work,
                                           bool traced) {
  Kernel& kernel = kernels_[key_of(launch)];
  kernel.name = launch.kernel;
  OfShape& shape = kernel.shapes[shape_of(launch)];
  shape.last_was_new =
      !shape.works.empty() && std::ranges::none_of(shape.works, [&](const trace::LaunchWork& other) {
        return are_alike(work, other);
      });
  if (traced)
    shape.works.push_back(work);
  trace::KernelLaunches& alike_ones = shape.launches[{steps_to(work.accesses), steps_to(work.lines)}];
  if (alike_ones.launches++ == 0)
    alike_ones = {launch.kernel, launch.symbol, 1, launch.grid, launch.block, launch.dynamic_shared_bytes,
                  work};
  return alike_ones;
}

std::string LaunchChoice::name_of(const std::string& symbol) const {
  const Kernel* kernel = find(symbol);
  return kernel ? kernel->name : std::string();
}

std::vector<trace::KernelLaunches> LaunchChoice::counts() const {
  std::vector<trace::KernelLaunches> all;
  if (forgets_counts_)
    return all;
  for (const auto& [key, kernel] : kernels_)
    for (const auto& [dimensions, shape] : kernel.shapes)
      for (const auto& [steps, launches] : shape.launches)
        all.push_back(launches);
  return all;
}

} // namespace warplens::runtime
