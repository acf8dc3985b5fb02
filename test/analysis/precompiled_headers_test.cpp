// The trees of headers that are kept: they change nothing but the time that a compilation takes.
#include "analysis/clang_invocation.h"
#include "support/files.h"
#include "support/temporary.h"
#include "test/catch.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;
using namespace warplens;

constexpr const char* kernel =
    "__global__ void twice(float* a) { a[threadIdx.x] = 2 * sinf(a[threadIdx.x]); }\n"
    "int main() { float* a; cudaMalloc(&a, 4); twice<<<1, 1>>>(a); }\n";

/// A source, compiled again and again with one cache.
class Compiled {
public:
  Compiled() : folder_(TemporaryDirectory::create().value()) { write("source.cu", kernel); }

  fs::path path(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(path(name).parent_path());
    REQUIRE(write_file(path(name), text));
  }

  /// Returns Clang's error, or an empty text.
  std::string compile(analysis::Half half, std::vector<std::string> further = {}) const {
    const std::string cuda = WARPLENS_TEST_CUDA, compatibility = WARPLENS_TEST_COMPATIBILITY;
    std::vector<std::string> arguments{"-x",
                                       "cuda",
                                       "--cuda-path=" + cuda,
                                       "-std=c++17",
                                       "-isystem",
                                       compatibility,
                                       "-isystem",
                                       cuda + "/include/cccl",
                                       "--cuda-gpu-arch=sm_80",
                                       "-w",
                                       "-include",
                                       compatibility + "/warplens_compatibility.h",
                                       "-D__WARPLENS_CPU__",
                                       "-c",
                                       "-MD",
                                       "-MF",
                                       path("rule").string(),
                                       "-o",
                                       path("object").string()};
    if (half == analysis::Half::device)
      arguments.insert(arguments.end(), {"-emit-llvm", "-nogpulib", "-Xclang", "-disable-llvm-passes"});
    arguments.insert(arguments.end(), further.begin(), further.end());
    const auto done = analysis::compile(arguments, path("source.cu").string(), half, true, path("cache"));
    return done ? "" : done.error().message;
  }

  std::string object() const { return read_file(path("object")).value_or(""); }

  /// Returns the files that the last compilation depends on.
  std::set<std::string> read() const {
    std::istringstream words(read_file(path("rule")).value_or(""));
    std::set<std::string> files;
    for (std::string word; words >> word;)
      if (word != "\\" && !word.ends_with(':'))
        files.insert(word);
    return files;
  }

  std::size_t trees() const {
    const fs::recursive_directory_iterator all(path("cache"));
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [](const auto& entry) { return entry.path().extension() == ".headers"; }));
  }

private:
  TemporaryDirectory folder_;
};

} // namespace

TEST_CASE("code is the same with precompiled headers", "[toolkit]") {
  for (const auto half : {analysis::Half::device, analysis::Half::host}) {
    const Compiled compiled;
    REQUIRE(compiled.compile(half) == "");
    const auto object = compiled.object();
    const auto read = compiled.read();
    CHECK(compiled.trees() == 0); // options that are used once get none
    CHECK(std::ranges::any_of(read, [](const auto& file) { return file.ends_with("/cuda_runtime.h"); }));
    for (int round = 0; round < 2; ++round) {
      REQUIRE(compiled.compile(half) == "");
      CHECK(compiled.trees() == 1);
      CHECK(compiled.object() == object);
      // A header that __has_include alone looks for is no longer among them: it is not read.
      const auto now = compiled.read();
      CHECK(std::ranges::includes(read, now));
      CHECK(now.size() + 1 >= read.size());
    }
  }
}

TEST_CASE("precompiled headers are made of the headers that a compilation would read", "[toolkit]") {
  const Compiled compiled;
  const std::vector<std::string> folder{"-I", compiled.path("include").string()};
  for (int round = 0; round < 3; ++round)
    REQUIRE(compiled.compile(analysis::Half::host, folder) == "");
  CHECK(compiled.trees() == 1);

  SECTION("a header of the user's comes before the toolkit's") {
    compiled.write("include/curand_mtgp32_kernel.h", "#define OF_THE_USER 1\n");
    compiled.write("source.cu", std::string(kernel) + "#ifndef OF_THE_USER\n#error not read\n#endif\n");
    CHECK(compiled.compile(analysis::Half::host, folder) == "");
    CHECK(compiled.read().contains(compiled.path("include/curand_mtgp32_kernel.h").string()));
  }
  SECTION("a macro on the command line is another set of options") {
    compiled.write("source.cu", std::string(kernel) + "static_assert(CHOSEN == 3);\n");
    for (int round = 0; round < 3; ++round)
      CHECK(compiled.compile(analysis::Half::host, {"-DCHOSEN=3"}) == "");
    CHECK(compiled.trees() == 2);
    CHECK(compiled.compile(analysis::Half::host, {"-DCHOSEN=4"}).find("static assertion failed") !=
          std::string::npos);
  }
  SECTION("a damaged tree is not read") {
    for (const auto& entry : fs::recursive_directory_iterator(compiled.path("cache")))
      if (entry.path().extension() == ".headers")
        fs::resize_file(entry.path(), 1000);
    CHECK(compiled.compile(analysis::Half::host, folder) == "");
  }
  SECTION("an error reads as it does without") {
    compiled.write("source.cu", "int main() { return unknown; }\n");
    CHECK(compiled.compile(analysis::Half::host, folder) ==
          compiled.path("source.cu").string() + ":1:21: use of undeclared identifier 'unknown'");
  }
}
