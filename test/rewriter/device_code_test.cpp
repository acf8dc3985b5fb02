// Tests that sources without code for the device are distinguished from others without parsing them.
#include "rewriter/device_code.h"
#include "test/catch.h"
#include "test/rewriter/fixture.h"

using namespace warplens;

namespace {

/// Examines a source that may include "library/macros.h", a system header, and "own.h", one of the user's.
bool may_have_device_code(const std::string& text, const std::string& own_header = "",
                          std::vector<std::string> extra = {}) {
  const TemporaryDirectory place = test::folder();
  std::filesystem::create_directories(place.path() / "library");
  test::write(place.path() / "library/macros.h", "#define FOR_DEVICE __device__\n"
                                                 "__device__ inline int of_library(int a) { return a; }\n");
  test::write(place.path() / "own.h", own_header);
  test::write(place.path() / "main.cu", text);
  extra.insert(extra.end(), {"-isystem", place.path() / "library"});
  const auto answer =
      rewriter::may_have_device_code(test::clang_arguments(extra), (place.path() / "main.cu").string());
  REQUIRE(answer);
  return *answer;
}

} // namespace

TEST_CASE("a source has device code if the user marks it in any of the possible ways") {
  CHECK(may_have_device_code("__global__ void k() {}\n"));
  CHECK(may_have_device_code("#include \"own.h\"\nint main() {}\n", "__device__ int f() { return 1; }\n"));
  CHECK(may_have_device_code("#include <macros.h>\nFOR_DEVICE int f() { return 1; }\n"));
  CHECK(may_have_device_code("__attribute__((noinline, device)) int f() { return 1; }\n"));
  CHECK(may_have_device_code("#define PASTE(a, b) a##b\nPASTE(__glo, bal__) void k() {}\n"));
  CHECK(may_have_device_code("#if __CUDA_ARCH__ == 123\n__device__ int f() { return 1; }\n#endif\n"));
  CHECK(may_have_device_code("constexpr int f() { return 1; }\n", "", {"-DWARPLENS_RELAXED_CONSTEXPR"}));
  CHECK(may_have_device_code("#include \"nowhere.h\"\n")); // the parser complains about it
}

TEST_CASE("a source has none if only libraries have") {
  CHECK_FALSE(may_have_device_code("#include <macros.h>\n#include \"own.h\"\nint main() { return f(); }\n",
                                   "int f();\n"));
  CHECK_FALSE(may_have_device_code("struct device { int global; };\nconstexpr int f() { return 1; }\n"));
}

TEST_CASE("a source without device code is not parsed and stays unchanged") {
  const TemporaryDirectory place = test::folder();
  const std::string text = "int main() { return Clang::would(refuse, this); }\n";
  test::write(place.path() / "main.cu", text);
  const auto instrumented = rewriter::instrument(
      {place.path() / "main.cu", test::clang_arguments(), place.path() / "copies", false});
  REQUIRE(instrumented);
  CHECK(instrumented->sites.empty());
  CHECK(instrumented->unseen.empty());
  REQUIRE(instrumented->files.size() == 1);
  CHECK(instrumented->files.front().text.ends_with(text));
}
