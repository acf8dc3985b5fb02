#include "test/trace/patterns.h"

#include <map>

using namespace warplens;
using namespace warplens::trace;
using namespace warplens::trace::test;

namespace {

using Place = std::pair<std::uint64_t, std::uint32_t>; ///< block and warp

struct Executed {
  std::map<Place, std::vector<ExecutedRun>> runs;
  std::map<Place, std::vector<WarpAccess>> accesses;
  friend bool operator==(const Executed&, const Executed&) = default;
};

/// Returns what a random kernel's warps executed: most of them the same.
Executed random_execution(std::uint32_t seed) {
  std::mt19937 random(seed);
  Executed executed;
  for (std::uint64_t block = 0; block < 5; ++block)
    for (std::uint32_t warp = 0; warp < 3; ++warp) {
      const Place place{block * 1000, warp};
      std::mt19937 shared(warp == 2 ? seed + std::uint32_t(block) : 1);
      for (std::uint32_t i = 0; i < 50; ++i)
        executed.runs[place].push_back(
            {std::uint32_t(shared() % 4000), std::uint32_t(1 + shared() % 30), std::uint32_t(shared()) | 1});
      for (std::uint32_t i = 0; i < random() % 20; ++i) {
        WarpAccess access;
        access.site = random() % 4000 | (random() % 4 == 0 ? continues_access : 0) |
                      (random() % 4 == 0 ? stores_copy : 0);
        access.active = std::uint32_t(random()) | 1;
        access.bytes = 4;
        for_each_lane(access.active, [&](unsigned lane) { access.addresses[lane] = random(); });
        executed.accesses[place].push_back(access);
      }
    }
  return executed;
}

/// Writes it as launch 0's for two capabilities, in several chunks, and reads the first one's back.
Executed written_and_read(const Executed& executed, const std::string& name) {
  const auto path = scratch_file(name);
  {
    Writer writer = good(Writer::create(path, sample_program()));
    good(writer.begin_launch(sample_launch(0)));
    Packer packer;
    for (const std::uint32_t capability : {80u, 90u}) {
      ExecutedEncoder encoder(capability);
      const auto flush = [&] {
        const std::uint32_t records = encoder.records();
        good(writer.append_executed(0, good(packer.pack(records, encoder.take()))));
      };
      for (const auto& [place, runs] : executed.runs) {
        const std::size_t half = runs.size() / 2;
        encoder.add_runs(place.first, place.second, {runs.begin(), runs.begin() + std::ptrdiff_t(half)});
        if (place.second == 1)
          flush();
        if (const auto accesses = executed.accesses.find(place); accesses != executed.accesses.end())
          for (const WarpAccess& access : accesses->second)
            encoder.add_access(place.first, place.second, access);
        encoder.add_runs(place.first, place.second, {runs.begin() + std::ptrdiff_t(half), runs.end()});
      }
      flush();
    }
    good(
        writer.add_execution({.launch = 0, .capability = 80, .sections = {{"_Z1kv", 0, 4096}}, .blocks = 5}));
    good(writer.end_launch({0, true}));
    good(writer.finish({}));
  }
  const Reader reader = good(Reader::open(path));
  REQUIRE(reader.execution_of(0, 80) != nullptr);
  CHECK(reader.execution_of(0, 80)->sections == std::vector<Execution::Section>{{"_Z1kv", 0, 4096}});
  CHECK(reader.execution_of(0, 90) == nullptr);
  Executed read;
  good(reader.for_each_executed(
      0, 80,
      [&](std::uint64_t block, std::uint32_t warp, std::span<const ExecutedRun> runs) {
        auto& of = read.runs[{block, warp}];
        of.insert(of.end(), runs.begin(), runs.end());
      },
      [&](std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
        read.accesses[{block, warp}].push_back(access);
      }));
  return read;
}

} // namespace

TEST_CASE("what warps executed is read back unchanged, each warp in its order") {
  for (std::uint32_t seed = 1; seed < 6; ++seed) {
    const Executed executed = random_execution(seed);
    CHECK(written_and_read(executed, "executed") == executed);
  }
}

TEST_CASE("a damaged record of what was executed is refused with one line") {
  ExecutedEncoder encoder(80);
  encoder.add_runs(0, 0, {{0, 4, ~0u}, {2, 2, 1}});
  Bytes whole;
  for (const Bytes& part : encoder.take())
    whole.insert(whole.end(), part.begin(), part.end());
  const auto decoded = [](const Bytes& bytes) {
    ExecutedDecoder decoder;
    return decoder.decode(
        bytes, [](std::uint64_t, std::uint32_t, std::span<const ExecutedRun>) {},
        [](std::uint64_t, std::uint32_t, const WarpAccess&) {});
  };
  CHECK(decoded(whole).has_value());
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK_FALSE(decoded(Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(length))).has_value());
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) { // none may crash; some are still possible
    Bytes damaged = whole;
    damaged[random() % damaged.size()] = std::uint8_t(random());
    if (const auto result = decoded(damaged); !result)
      CHECK(result.error().message.find('\n') == std::string::npos);
  }
}
