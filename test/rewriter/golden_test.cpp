// Tests that each golden/NAME.cu becomes golden/NAME.cu.expected (its headers alike), and that the result
// compiles. With WARPLENS_UPDATE_GOLDEN set, the expected files are written instead: look at the difference
// before you keep it.
#include "test/catch.h"
#include "test/rewriter/fixture.h"

#include <cstdlib>

using namespace warplens;

namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// Returns the text without the table of sites (sites.cpp tests those) and this machine's folders.
std::string comparable(std::string text, const std::filesystem::path& copies) {
  if (const std::size_t table = text.find("#ifndef __CUDA_ARCH__\nnamespace { namespace warplens_sites {");
      table != std::string::npos)
    text.resize(table);
  replace_all(text, copies.string(), "COPIES");
  replace_all(text, std::filesystem::current_path().string(), "HERE");
  return text;
}

} // namespace

TEST_CASE("rewritten sources are as expected and compile") {
  const std::string name =
      GENERATE("accesses.cu", "macros.cu", "templates.cu", "library.cu", "constructs.cu", "hoisted.cu",
               "unrolled.cu", "joined.cu", "textures.cu", "barriers.cu", "bodies.cu", "copies.cu");
  CAPTURE(name);
  const bool is_optimised = name == "hoisted.cu" || name == "unrolled.cu" || name == "joined.cu";
  const bool several_architectures = name == "templates.cu";
  const TemporaryDirectory copies = test::folder();
  const auto instrumented = test::rewrite(
      name, copies.path(),
      several_architectures ? std::vector<std::string>{"--cuda-gpu-arch=sm_75"} : std::vector<std::string>{},
      !is_optimised);
  REQUIRE(!instrumented.files.empty());
  CHECK(instrumented.files.front().original == name);
  for (const rewriter::RewrittenFile& file : instrumented.files) {
    const std::filesystem::path expected = file.original.string() + ".expected";
    const std::string text = comparable(file.text, copies.path());
    if (std::getenv("WARPLENS_UPDATE_GOLDEN"))
      test::write(std::filesystem::absolute(expected), text);
    CAPTURE(expected);
    CHECK(text == test::read(expected));
  }
  CHECK(test::complaints_of_clang(instrumented.files.front().copy) == "");
  if (name != "library.cu" && name != "constructs.cu") // their headers take nvcc long
    CHECK(test::complaints_of_nvcc(instrumented.files.front().copy, copies.path() / "object.o") == "");
}

TEST_CASE("the same source gives the same bytes") {
  const TemporaryDirectory copies = test::folder();
  const auto once = test::rewrite("macros.cu", copies.path()),
             twice = test::rewrite("macros.cu", copies.path());
  CHECK(once.files.front().text == twice.files.front().text);
}

TEST_CASE("lines keep their numbers") {
  const TemporaryDirectory copies = test::folder();
  for (const rewriter::RewrittenFile& file : test::rewrite("macros.cu", copies.path()).files) {
    const std::string body = comparable(file.text, copies.path());
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    CHECK(lines(body) == lines(file.unchanged) + 2); // the probe's header and #line
  }
}
