#include "runtime/host/settings.h"
#include "test/catch.h"

#include <cstdlib>
#include <string>
#include <vector>

using warplens::runtime::Settings;

namespace {

/// Sets the environment for one test, and restores it afterwards.
class Environment {
public:
  explicit Environment(std::vector<std::pair<std::string, std::string>> variables)
      : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_)
      setenv(name.c_str(), value.c_str(), 1);
  }
  Environment(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : variables_)
      unsetenv(name.c_str());
  }

private:
  std::vector<std::pair<std::string, std::string>> variables_;
};

} // namespace

TEST_CASE("Without WARPLENS_TRACE nothing is traced") {
  const Environment environment{{{"WARPLENS_LAUNCHES", "nonsense"}}};
  const auto settings = Settings::from_environment();
  REQUIRE(settings);
  CHECK(settings->trace.empty());
}

TEST_CASE("The environment configures the recorder") {
  const Environment environment({{"WARPLENS_TRACE", "some where.trace"},
                                 {"WARPLENS_KERNEL", "^sp.*r$"},
                                 {"WARPLENS_LAUNCHES", "3"},
                                 {"WARPLENS_SNAPSHOT_THREADS", "4096"},
                                 {"WARPLENS_SNAPSHOT_WAVE", "2048"},
                                 {"WARPLENS_SNAPSHOT_SMS", "7"},
                                 {"WARPLENS_SNAPSHOT_MOST_THREADS", "8192"},
                                 {"WARPLENS_SNAPSHOT_ENOUGH", "1000"},
                                 {"WARPLENS_SNAPSHOT_BLOCKS", "7"},
                                 {"WARPLENS_SNAPSHOT_ACCESSES", "99"},
                                 {"WARPLENS_SNAPSHOT_WHOLE", "66"},
                                 {"WARPLENS_STALL_SECONDS", "5"},
                                 {"WARPLENS_LOG_TIMES", "1"}});
  const auto settings = Settings::from_environment();
  REQUIRE(settings);
  CHECK(settings->trace == "some where.trace");
  REQUIRE(settings->kernel);
  CHECK(settings->kernel->is_found_in("spmv_scalar"));
  CHECK_FALSE(settings->kernel->is_found_in("spmv_vector4"));
  CHECK(settings->launches == 3);
  CHECK(settings->snapshot_threads == 4096);
  CHECK(settings->snapshot_wave_threads == 2048);
  CHECK(settings->snapshot_sms == 7);
  CHECK(settings->snapshot_max_threads == 8192);
  CHECK(settings->snapshot_enough_accesses == 1000);
  CHECK(settings->snapshot_blocks == 7u);
  CHECK(settings->snapshot_accesses == 99);
  CHECK(settings->snapshot_whole_accesses == 66);
  CHECK(settings->log_times);
  CHECK(settings->stall == std::chrono::seconds(5));
}

TEST_CASE("A malformed variable is named") {
  const std::string name =
      GENERATE("WARPLENS_LAUNCHES", "WARPLENS_SNAPSHOT_THREADS", "WARPLENS_SNAPSHOT_BLOCKS",
               "WARPLENS_SNAPSHOT_ACCESSES", "WARPLENS_SNAPSHOT_MOST_THREADS", "WARPLENS_SNAPSHOT_ENOUGH",
               "WARPLENS_SNAPSHOT_WHOLE", "WARPLENS_STALL_SECONDS");
  const std::string value = GENERATE("0", "-1", "3x", "99999999999999999999", " 1");
  const Environment environment({{"WARPLENS_TRACE", "t"}, {name, value}});
  const auto settings = Settings::from_environment();
  REQUIRE_FALSE(settings);
  CHECK(settings.error().message.find(name + "=" + value) == 0);
}

TEST_CASE("A broken regular expression is named") {
  const Environment environment({{"WARPLENS_TRACE", "t"}, {"WARPLENS_KERNEL", "a("}});
  const auto settings = Settings::from_environment();
  REQUIRE_FALSE(settings);
  CHECK(settings.error().message.find("WARPLENS_KERNEL=a(") == 0);
}
