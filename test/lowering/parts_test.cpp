// A module's kernels are compiled in parts, in parallel, and looked up in a cache (lowering/parts.h).
#include "device_program.h"
#include "lowering/progress.h"
#include "test/catch.h"

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

using namespace warplens;
using namespace warplens::test;

namespace {

constexpr char three_kernels[] = R"(
  __device__ int counter = 5;
  static __device__ int hidden[2] = {1, 2};
  __constant__ int table[4] = {10, 20, 30, 40};
  __device__ int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }
  template <int N> __global__ void add(int* out) {
    counter += N;
    hidden[1] += table[N];
    *out = counter * 1000 + hidden[1] + recursive(10);
  }
  template __global__ void add<1>(int*);
  template __global__ void add<2>(int*);
  __global__ void fill(int* p, int n) { p[threadIdx.x] = n; })";

void check_three_kernels(const DeviceProgram& program) {
  int out = 0;
  REQUIRE(program.run("addILi1", {1}, {1}, 0, &out).status == cpu::BlockStatus::ok);
  CHECK(out == 6022 + 55);
  *static_cast<int*>(program.variable("counter")) = 7;
  static_cast<int*>(program.variable("table"))[2] = 5;
  REQUIRE(program.run("addILi2", {1}, {1}, 0, &out).status == cpu::BlockStatus::ok);
  CHECK(out == 9027 + 55);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files.push_back(entry.path());
  return files;
}

std::filesystem::path subfolder(const char* name) {
  static const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  return folder->path() / name;
}

} // namespace

TEST_CASE("kernels that are compiled apart share the module's variables") {
  check_three_kernels(DeviceProgram(three_kernels, {.limits = {.part = 1}}));
  check_three_kernels(DeviceProgram(three_kernels));
}

TEST_CASE("two programs with the same kernels in parts do not interfere") {
  const DeviceProgram one(three_kernels, {.limits = {.part = 1}}),
      other(three_kernels, {.limits = {.part = 1}});
  CHECK(one.variable("counter") != other.variable("counter"));
  check_three_kernels(one);
  check_three_kernels(other);
}

TEST_CASE("the same source gives the same bytes, in parts and from the cache") {
  const auto folder = subfolder("same"), cache = subfolder("same.cache");
  std::filesystem::create_directories(folder);
  const auto object = [&](const lowering::Output& options) {
    const auto path = folder / "program.o";
    const auto lowered = compile_and_lower(three_kernels, folder, path, options);
    INFO((lowered ? std::string() : lowered.error().message));
    REQUIRE(lowered);
    return bytes_of(path);
  };
  const auto first = object({.limits = {.part = 1}});
  CHECK((object({.limits = {.part = 1}}) == first));
  CHECK((object({.cache = cache, .limits = {.part = 1}}) == first));
  const auto kept = files_in(cache);
  CHECK(kept.size() == 3);
  CHECK((object({.cache = cache, .limits = {.part = 1}}) == first));
  CHECK(files_in(cache).size() == 3);
  for (const auto& path : kept) // a damaged file counts as missing
    std::ofstream(path, std::ios::binary | std::ios::app) << "x";
  CHECK((object({.cache = cache, .limits = {.part = 1}}) == first));
  // Other options make another object.
  object({.optimisation = 1, .cache = cache, .limits = {.part = 1}});
  CHECK(files_in(cache).size() == 6);
}

TEST_CASE("a cache that cannot be written to is no error") {
  const auto folder = subfolder("unwritable");
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "file") << "not a folder";
  check_three_kernels(DeviceProgram(three_kernels, {.cache = folder / "file"}));
}

TEST_CASE("a slow step is reported with its kernel") {
  std::FILE* out = std::tmpfile();
  REQUIRE(out);
  {
    lowering::Progress progress("sort.cu", false, out, 0.01);
    progress.expect(3);
    {
      const lowering::Progress::Track done(progress, "_Z5firstv", 1);
    }
    lowering::Progress::Track track(progress, "_Z6secondi", 2);
    track.next("optimise", 1234);
    const long before = std::ftell(out);
    while (std::ftell(out) == before)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::rewind(out);
  std::string last;
  for (char line[300]; std::fgets(line, sizeof line, out);)
    last = line;
  std::fclose(out);
  CHECK(last.starts_with("warplens: sort.cu: compiling for the CPU back end for 0."));
  CHECK(last.ends_with(" s, 1 of 3 kernels done; optimise of second(int) (1234 instructions)\n"));
}
