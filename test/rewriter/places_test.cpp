// Tests that line and column of every site are those of the expression as the programmer wrote it; for an
// access in a macro, those of the invocation.
#include "test/catch.h"
#include "test/rewriter/fixture.h"

#include <algorithm>
#include <tuple>

using namespace warplens;

namespace {

/// A source without its marks (each @ in front of the place of a site), and the marks' places as line:column,
/// both from 1, the column in bytes.
struct Marked {
  std::string text;
  std::vector<std::string> places;
};

Marked without_marks(const std::string& marked) {
  Marked result;
  unsigned line = 1, column = 1;
  for (const char c : marked) {
    if (c == '@') {
      result.places.push_back(fmt::format("{}:{}", line, column));
      continue;
    }
    result.text += c;
    column = c == '\n' ? 1 : column + 1;
    line += c == '\n';
  }
  return result;
}

/// Returns the different places: an update through a macro that names its argument twice is two sites in one.
std::vector<std::string> places_in(const rewriter::Instrumented& instrumented, const std::string& file) {
  std::vector<std::string> places; // the sites are in this order
  for (const Site& site : instrumented.sites)
    if (std::filesystem::path(site.file).filename() == file)
      places.push_back(fmt::format("{}:{}", site.line, site.column));
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

struct Case {
  const char* name;
  std::string source, header = {};
};

std::string with_dos_line_ends(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '\n' ? "\r\n" : std::string(1, c);
  return result;
}

const std::string plain = "__global__ void k(float* a, int i) {\n"
                          "\t@a[i] =\t@a[i + 1] +\n"
                          "\t\t@a[\n"
                          "\t\t  i * 2\n"
                          "\t\t];\n"
                          "}\n";

const Case cases[] = {
    {"tabs, and an expression on several lines", plain},
    {"DOS line ends", with_dos_line_ends(plain)},
    {"no newline at the end", "__global__ void k(float* a) { @a[0] = 1; }"},
    {"letters of several bytes", "__global__ void k(float* größe) { /* ä */ @größe[0] = 1; }\n"},
    {"a macro's argument",
     "#define TWICE(x) (2 * (x))\n__global__ void k(float* a) { @a[0] = TWICE(@a[1] + TWICE(@a[2])); }\n"},
    {"a macro's body", "#define SECOND(p) p[1]\n__global__ void k(float* a) { @a[0] = 2 * @SECOND(a); }\n"},
    {"two accesses in a macro's body",
     "#define SUM(p) (p[1] + p[2])\n__global__ void k(float* a) { @a[0] = @SUM(a); }\n"},
    {"nested macros", "#define AT(p, i) p[i]\n#define SUM(p) (AT(p, 1) + AT(p, 2))\n__global__ void k(float* "
                      "a) { @a[0] = @SUM(a) + @AT(a, 3); }\n"},
    {"an argument of nested macros",
     "#define ONE(x) (x)\n#define TWO(x) ONE(x)\n__global__ void k(float* a) { @a[0] = TWO(@a[1]); }\n"},
    {"a macro without arguments", "#define DATA a\n__global__ void k(float* a) { @DATA[0] = @DATA[1]; }\n"},
    {"a macro over several lines",
     "#define SUM(p, q) (p[1] + \\\n  q[2])\n__global__ void k(float* a) {\n  @a[0] = @SUM(a,\n    a);\n}\n"},
    {"pasted tokens",
     "#define FIELD(n) a##n[0]\n__global__ void k(float* a1, float* a2) { @FIELD(1) = @FIELD(2); }\n"},
    {"a macro that makes a statement", "#define COPY(p, q) do { p[0] = q[0]; } while (0)\n__global__ void "
                                       "k(float* a, float* b) {\n  @COPY(a, b);\n}\n"},
    {"a macro that makes the kernel",
     "#define KERNEL(name) __global__ void name(float* a) { a[0] = 1; }\n@KERNEL(k)\n"},
    {"a macro of a header", "#include \"header.h\"\n__global__ void k(float* a) { @a[0] = @SECOND(a); }\n",
     "#define SECOND(p) p[1]\n"},
    {"a function of a header", "#include \"header.h\"\n__global__ void k(float* a) { @a[0] = second(a); }\n",
     "#pragma once\n__device__ inline float second(float* p) {\n  return @p[1];\n}\n"},
    {"a template with two instances",
     "template <class T> __device__ T first(const T* p) { return @p[0]; }\n"
     "__global__ void k(float* a, int* b) { @a[0] = first(a) + first(b); }\n"},
    {"default template arguments",
     "template <class T = float, int n = 2> struct Holder {\n  T* data;\n  __device__ T& at() { return "
     "data[n]; }\n"
     "  __device__ T get() { return @data[n]; }\n};\n"
     "template <class F = Holder<>> __global__ void k(F f) { @f.at() = f.get(); }\n"
     "int main() { k<<<1, 1>>>(Holder<>{}); }\n"},
    {"a default argument", "__device__ float shared_factor;\n__device__ float scaled(float x, float by = "
                           "@shared_factor) { return x * by; }\n"
                           "__global__ void k(float* a) { @a[0] = scaled(@a[1]); }\n"},
    {"a member's initialiser",
     "__device__ float start;\nstruct Sum {\n  float value = @start;\n  float other;\n  __device__ "
     "Sum(float* p) : other(@p[0]) {}\n};\n"
     "__global__ void k(float* a) { Sum sum(a); @a[1] = sum.value + sum.other; }\n"},
    {"a lambda", "template <class F> __device__ void apply(F f) { f(1); }\n__global__ void k(float* a) {\n"
                 "  apply([=](int i) {\n    @a[i] = @a[i + 1];\n  });\n}\n"},
    {"a generic lambda", "__global__ void k(float* a) {\n  auto copy = [=](auto i) { @a[i] = @a[i + 1]; };\n "
                         " copy(1);\n  copy(2u);\n}\n"},
    {"a line that goes on behind a backslash", "__global__ void k(float* a) { @a[0] = \\\n  @a[1]; }\n"},
    {"behind #line", "#line 100 \"other.cu\"\n__global__ void k(float* a) { @a[0] = 1; }\n"},
    {"conditions of the preprocessor",
     "__global__ void k(float* a) {\n#ifdef __CUDA_ARCH__\n  @a[0] = 1;\n#else\n  a[1] = 1;\n#endif\n}\n"},
};

} // namespace

TEST_CASE("sites point at what the programmer wrote") {
  const std::size_t index = GENERATE(range(std::size_t{0}, std::size(cases)));
  const Case& one = cases[index];
  CAPTURE(one.name);
  const TemporaryDirectory place = test::folder();
  const Marked source = without_marks(one.source), header = without_marks(one.header);
  test::write(place.path() / "source.cu", source.text);
  test::write(place.path() / "header.h", header.text);
  const auto instrumented = test::rewrite(place.path() / "source.cu", place.path() / "copies");
  CHECK(places_in(instrumented, "source.cu") == source.places);
  CHECK(places_in(instrumented, "header.h") == header.places);
  CHECK(instrumented.unseen.empty());
  CHECK(test::complaints_of_clang(instrumented.files.front().copy) == "");
}

TEST_CASE("columns count from behind a byte order mark") {
  const TemporaryDirectory place = test::folder();
  const Marked source = without_marks("__global__ void k(float* a) { @a[0] =\n  @a[1]; }\n");
  test::write(place.path() / "source.cu", "\xef\xbb\xbf" + source.text);
  const auto instrumented = test::rewrite(place.path() / "source.cu", place.path() / "copies");
  CHECK(places_in(instrumented, "source.cu") == source.places);
}

TEST_CASE("a header that two sources include has the same sites in both") {
  const TemporaryDirectory place = test::folder();
  const Marked header =
      without_marks("#pragma once\ntemplate <class T> __device__ T first(T* p) { return @p[0]; }\n");
  test::write(place.path() / "header.h", header.text);
  std::vector<std::uint64_t> identities;
  for (const char* type : {"float", "double"}) {
    const auto source = place.path() / fmt::format("{}.cu", type);
    test::write(
        source,
        fmt::format("#include \"header.h\"\n__global__ void k({0}* a, {0}* b) {{ *a = first(b); }}\n", type));
    const auto instrumented = test::rewrite(source, place.path() / type);
    CHECK(places_in(instrumented, "header.h") == header.places);
    for (const Site& site : instrumented.sites)
      if (std::filesystem::path(site.file).filename() == "header.h")
        identities.push_back(site.id);
  }
  REQUIRE(identities.size() == 2);
  CHECK(identities[0] == identities[1]);
}
