// A program's time by kernel: the launches that were modelled, and those for which they stand.
#pragma once

#include "result/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace warplens::judge {

/// Returns how many times its time the launches take for which the kernel's stands; 1 where their number is
/// not known.
double times_of(const KernelResult& kernel);

/// Returns ", launched 7 times" and for how many of them the launch stands; empty where it is not known.
std::string times_launched(const KernelResult& kernel);

/// The launches for which one that was modelled stands.
struct LaunchTotal {
  const KernelResult* kernel = nullptr;
  double microseconds = 0; ///< of all of them
  double half_width = 0;   ///< of its 95 % interval
  double share = 0;        ///< of the program's time in kernels
};

struct Application {
  std::string gpu;
  std::vector<LaunchTotal> totals; ///< most time first
  std::uint64_t launches = 0;
  double microseconds = 0, half_width = 0;
  std::size_t without_time = 0; ///< modelled launches whose time is not known
};

/// Returns the time of the program's kernels on each GPU, in the order of the result.
std::vector<Application> applications_of(const Result& result);

/// Returns whether a reader needs to see how kernels share the time: there are three launches or more, or
/// some stand for others.
bool is_worth_reporting(const Application& application);

} // namespace warplens::judge
