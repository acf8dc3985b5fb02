// Tests that bad input gives one clear line.
#include "test/catch.h"
#include "test/rewriter/fixture.h"

using namespace warplens;

namespace {

/// Returns the error, or why Clang makes no code of a device function, of which nvcc then has the last word.
std::string error_of(const std::filesystem::path& source) {
  const auto instrumented = rewriter::instrument({source, test::clang_arguments(), "copies", true});
  return instrumented ? instrumented->refused : instrumented.error().message;
}

} // namespace

TEST_CASE("a file that is not there") {
  CHECK(error_of("nowhere.cu") == "nowhere.cu: no such file");
}

TEST_CASE("a folder instead of a file") {
  CHECK(error_of("headers") == "headers: no such file");
}

TEST_CASE("a file that does not compile") {
  const TemporaryDirectory place = test::folder();
  const std::filesystem::path source = place.path() / "broken.cu";
  test::write(source, "__global__ void k(int* p) {\n  p[0] = undeclared;\n  q[0] = 1;\n}\n");
  CHECK(error_of(source) == source.string() + ":2:10: use of undeclared identifier 'undeclared'");
}

TEST_CASE("a missing header is named with the place of its include") {
  const TemporaryDirectory place = test::folder();
  const std::filesystem::path source = place.path() / "asks.cu";
  test::write(source, "#include \"absent.h\"\n");
  CHECK(error_of(source) == source.string() + ":1:10: 'absent.h' file not found");
}

TEST_CASE("bytes that are no program") {
  const TemporaryDirectory place = test::folder();
  const std::filesystem::path source = place.path() / "noise.cu";
  std::string noise;
  for (int i = 0; i < 1000; ++i)
    noise += static_cast<char>(i * 37 % 256);
  test::write(source, noise);
  CHECK(error_of(source).starts_with(source.string() + ":1:"));
}

TEST_CASE("an unknown architecture") {
  const auto instrumented =
      rewriter::instrument({"templates.cu", test::clang_arguments({"--cuda-gpu-arch=sm_1"}), "copies", true});
  REQUIRE(!instrumented);
  CHECK(instrumented.error().message == "unsupported CUDA gpu architecture: sm_1");
}
