// Tests which launches are traced, and how all of them are counted.
#include "runtime/host/launch_choice.h"
#include "test/catch.h"

using namespace warplens;

namespace {

trace::Launch launch(std::uint32_t blocks, const std::string& symbol = "k") {
  trace::Launch made;
  made.kernel = made.symbol = symbol;
  made.grid = {blocks, 1, 1};
  made.block = {256, 1, 1};
  return made;
}

/// Begins and ends a launch; returns whether it was traced.
bool runs_traced(runtime::LaunchChoice& choice, const trace::Launch& one, std::uint64_t accesses) {
  const bool traced = choice.wants(one);
  if (traced)
    choice.begin_traced(one);
  choice.count(one, {accesses, 4 * accesses}, traced);
  return traced;
}

std::uint64_t launches_of(const runtime::LaunchChoice& choice) {
  std::uint64_t launches = 0;
  for (const trace::KernelLaunches& counted : choice.counts())
    launches += counted.launches;
  return launches;
}

} // namespace

TEST_CASE("Of launches that do the same, the first is traced") {
  runtime::LaunchChoice choice(std::nullopt);
  CHECK(runs_traced(choice, launch(10), 1000));
  for (int i = 0; i < 500; ++i)
    CHECK_FALSE(runs_traced(choice, launch(10), 1000 + std::uint64_t(i) % 50));
  CHECK(launches_of(choice) == 501);
  CHECK(choice.counts().size() <= 3);
}

TEST_CASE("Launches whose work changes are traced while it does") {
  runtime::LaunchChoice choice(std::nullopt);
  std::vector<bool> traced;
  for (const std::uint64_t frontier : {1u, 8u, 70u, 600u, 4000u, 3900u, 3800u, 200u})
    traced.push_back(runs_traced(choice, launch(100), frontier));
  // What a launch will do is not known: the second is not traced, nor is the one after two that were alike.
  CHECK(traced == std::vector<bool>{true, false, true, true, true, true, false, false});
  CHECK(launches_of(choice) == 8);
}

TEST_CASE("A launch with another grid is traced, until only those that differ much are") {
  runtime::LaunchChoice choice(std::nullopt);
  std::uint32_t traced = 0;
  for (std::uint32_t blocks = 1000; blocks > 0; --blocks) // as an elimination's steps do
    traced += runs_traced(choice, launch(blocks), blocks * 10u);
  CHECK(traced >= 16);
  CHECK(traced <= 24);
  CHECK(launches_of(choice) == 1000);
}

TEST_CASE("Where the first launches of each kernel are asked for, they are traced whatever they do") {
  runtime::LaunchChoice choice(3);
  for (const char* kernel : {"a", "b"})
    for (int i = 0; i < 5; ++i)
      CHECK(runs_traced(choice, launch(10, kernel), 1000) == (i < 3));
  CHECK_FALSE(choice.wants_more_of("a"));
  CHECK(choice.wants_more_of("c"));
}

TEST_CASE("Launches of which nothing is known are counted by their shape") {
  runtime::LaunchChoice choice(std::nullopt);
  for (int i = 0; i < 4; ++i) {
    const trace::Launch one = launch(i % 2 == 0 ? 10 : 20);
    const bool traced = choice.wants(one);
    CHECK(traced == (i < 2));
    if (traced)
      choice.begin_traced(one);
    choice.count(one, {}, traced);
  }
  REQUIRE(choice.counts().size() == 2);
  CHECK(choice.counts()[0].launches == 2);
  CHECK(choice.name_of("k") == "k");
}
