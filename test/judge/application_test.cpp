// Tests the program's time by kernel.
#include "judge/application.h"
#include "test/catch.h"

#include <cmath>

using namespace warplens;

namespace {

KernelResult launched(const char* name, double microseconds, std::uint64_t launches, double times) {
  KernelResult kernel;
  kernel.name = name;
  kernel.gpu = "a100";
  kernel.launches = kernel.launches_of_kernel = launches;
  kernel.times_this_launch = times;
  kernel.time.emplace();
  kernel.time->microseconds.mean = microseconds;
  kernel.time->microseconds.ci95[0] = microseconds - 1;
  kernel.time->microseconds.ci95[1] = microseconds + 1;
  return kernel;
}

} // namespace

TEST_CASE("A launch stands for others of its kernel; one of which the number is not known, for itself") {
  KernelResult kernel = launched("k", 10, 7, 7.5);
  CHECK(judge::times_of(kernel) == 7.5);
  CHECK(judge::times_launched(kernel) == ", launched 7 times, which do 1.07 × its work in the mean");
  kernel.launches_of_kernel = 9;
  CHECK(judge::times_launched(kernel) ==
        ", launched 9 times: this one stands for 7 of them, which do 1.07 × its work in the mean");
  kernel.launches_of_kernel = 0; // as in results of older versions
  CHECK(judge::times_of(kernel) == 7);
  kernel.launches = 0;
  CHECK(judge::times_of(kernel) == 1);
  CHECK(judge::times_launched(kernel).empty());
}

TEST_CASE("A program's time is that of all launches, ranked by kernel") {
  Result result;
  result.kernels = {launched("small", 10, 4, 4), launched("large", 5, 100, 100), launched("once", 20, 1, 1)};
  const std::vector<judge::Application> applications = judge::applications_of(result);
  REQUIRE(applications.size() == 1);
  const judge::Application& application = applications.front();
  CHECK(application.microseconds == Approx(560));
  CHECK(application.launches == 105);
  CHECK(application.half_width == Approx(std::sqrt(4.0 * 4 + 100.0 * 100 + 1)));
  REQUIRE(application.totals.size() == 3);
  CHECK(application.totals[0].kernel->name == "large");
  CHECK(application.totals[0].share == Approx(500.0 / 560));
  CHECK(application.totals[2].kernel->name == "once");
  CHECK(judge::is_worth_reporting(application));
}

TEST_CASE("A launch whose number is not known has its time in the program's") {
  Result result;
  result.kernels = {launched("k", 10, 0, 0)};
  CHECK(judge::applications_of(result).front().microseconds == Approx(10));
  CHECK_FALSE(judge::is_worth_reporting(judge::applications_of(result).front()));
}
