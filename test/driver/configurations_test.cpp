// The configurations of a sweep.

#include "driver/stages/configurations.h"
#include "driver/stages/sweep_folder.h"
#include "support/files.h"
#include "support/temporary.h"
#include "test/catch.h"

#include <random>

using namespace warplens;
using namespace warplens::driver;
using significance::Parameters;

TEST_CASE("ranges and lists of values") {
  CHECK(parse_varied("n=60:200:70")->values == std::vector<std::string>{"60", "130", "200"});
  CHECK(parse_varied("n=1:3")->values == std::vector<std::string>{"1", "2", "3"});
  CHECK(parse_varied("x=0:0.3:0.1")->values.size() == 4);
  CHECK(parse_varied("t=8,16")->values == std::vector<std::string>{"8", "16"});
  CHECK(parse_varied("deck=a:b,c")->values == std::vector<std::string>{"a:b", "c"});
  CHECK(parse_varied("t=8")->name == "t");
  for (const char* wrong : {"", "n", "n=", "=1", "n m=1", "n=2:1", "n=1:2:0", "n=1:2:-1", "n=1:x",
                            "n=1:2:3:4", "n=0:1e9", "n=0:inf", "n=nan:1"}) {
    INFO(wrong);
    CHECK_FALSE(parse_varied(wrong).has_value());
  }
}

TEST_CASE("all combinations, the last parameter fastest") {
  const auto all = configurations_of({{"n", {"1", "2"}}, {"t", {"8", "16"}}});
  REQUIRE(all.has_value());
  REQUIRE(all->size() == 4);
  CHECK((*all)[1] == Parameters{{"n", "1"}, {"t", "16"}});
  CHECK_FALSE(configurations_of({{"n", {"1"}}, {"n", {"2"}}}).has_value());
  const std::vector<std::string> thousand(1000, "1");
  CHECK_FALSE(configurations_of({{"a", thousand}, {"b", thousand}}).has_value());
}

TEST_CASE("names in braces are filled in, and other braces stay") {
  const Parameters parameters = {{"n", "60"}, {"t", "8"}};
  CHECK(fill_in("{n} --{t}{t} {} {a b} {", parameters).value() == "60 --88 {} {a b} {");
  CHECK(fill_in("", parameters).value().empty());
  CHECK_FALSE(fill_in("{m}", parameters).has_value());
  CHECK(mentions("-DTILE={t}", "t"));
  CHECK_FALSE(mentions("-DTILE=t", "t"));
}

TEST_CASE("parameters in files' names") {
  CHECK(parameters_in("ncu/gemm_60_8.csv", "gemm_{n}_{t}.csv").value() ==
        Parameters{{"n", "60"}, {"t", "8"}});
  CHECK(parameters_in("a+b.csv", "{x}+{y}.csv").value() == Parameters{{"x", "a"}, {"y", "b"}});
  CHECK_FALSE(parameters_in("gemm.csv", "gemm_{n}.csv").has_value());
  CHECK_FALSE(parameters_in("gemm_60xcsv", "gemm_{n}.csv").has_value());
  CHECK_FALSE(parameters_in(std::string(5000, 'a'), "{n}").has_value());
}

TEST_CASE("files of configurations are names, and no paths") {
  CHECK(file_of({{"n", "60"}, {"t", "8"}}, 3) == "n=60,t=8.json");
  CHECK(file_of({{"deck", "../x"}}, 3) == "deck=.._x-3.json");
  CHECK(file_of({{"n", std::string(500, '1')}}, 7).size() < 120);
  CHECK(file_of({}, 1) == "-1.json");
}

TEST_CASE("a sweep is read as it was written, and a damaged one refused or read") {
  auto directory = TemporaryDirectory::create();
  REQUIRE(directory.has_value());
  const Sweep sweep{"a.cu --run '{n}'", "00ff", {{{{"n", "1"}}, "n=1.json"}, {{{"n", "2"}}, "n=2.json"}}};
  REQUIRE(write_sweep(sweep, directory->path()).has_value());
  const auto again = read_sweep(directory->path());
  REQUIRE(again.has_value());
  CHECK(again->identity == "00ff");
  REQUIRE(again->runs.size() == 2);
  CHECK(again->runs[1].parameters == Parameters{{"n", "2"}});
  CHECK(again->runs[1].result == "n=2.json");

  const std::string text = read_file(directory->path() / "runs.json").value();
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text;
    for (unsigned count = 1 + random() % 3; count > 0; --count)
      damaged[random() % damaged.size()] = "\"{}[],:0n\xff"[random() % 10];
    REQUIRE(write_file(directory->path() / "runs.json", damaged).has_value());
    const auto read = read_sweep(directory->path());
    CHECK((read.has_value() || !read.error().message.empty()));
    const auto profiles = read_profiles(directory->path()); // whose results are not there
    CHECK_FALSE(profiles.has_value());
  }
}
