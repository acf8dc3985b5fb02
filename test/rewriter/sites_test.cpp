// Tests the properties of a site: its place as the programmer wrote it, the accessed object and the width.
#include "test/catch.h"
#include "test/rewriter/fixture.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

using namespace warplens;

namespace {

/// Returns the sites of a file's line, by column.
std::vector<Site> sites_of_line(const rewriter::Instrumented& instrumented, const std::string& file,
                                unsigned line) {
  std::vector<Site> result;
  std::copy_if(instrumented.sites.begin(), instrumented.sites.end(), std::back_inserter(result),
               [&](const Site& site) { return site.file == file && site.line == line; });
  return result;
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
  return text;
}

/// Returns the number of the only line that holds the text.
unsigned line_with(const std::string& file, const std::string& text) {
  const std::string source = test::read(file);
  const std::size_t at = source.find(text);
  REQUIRE(at != std::string::npos);
  REQUIRE(source.find(text, at + 1) == std::string::npos);
  return static_cast<unsigned>(
             std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
         1;
}

} // namespace

TEST_CASE("every site points at its expression, or at the macro around it") {
  const std::string source =
      GENERATE("accesses.cu", "macros.cu", "templates.cu", "library.cu", "hoisted.cu", "textures.cu");
  const TemporaryDirectory copies = test::folder();
  std::size_t in_macros = 0, in_templates = 0, in_headers = 0;
  for (const Site& site : test::rewrite(source, copies.path()).sites) {
    if (site.kind == AccessKind::mark) // it points at its body, of which the expression is the condition
      continue;
    std::istringstream lines(test::read(site.file));
    std::string text, line;
    for (unsigned number = 1; std::getline(lines, line); ++number)
      if (number == site.line)
        text = line.substr(site.column - 1);
      else if (number > site.line && number < site.line + 3) // an expression may go on
        text += ' ' + line;
    CAPTURE(site.file, site.line, site.column, site.expression, site.macro);
    CHECK(
        without_blanks(text).starts_with(without_blanks(site.macro.empty() ? site.expression : site.macro)));
    in_macros += !site.macro.empty();
    in_templates += site.in_template;
    in_headers += site.file != source;
  }
  if (source == "macros.cu")
    CHECK(in_macros > 0);
  if (source == "templates.cu")
    CHECK((in_templates > 0 && in_headers > 0));
}

TEST_CASE("sites point at the text as written") {
  const TemporaryDirectory copies = test::folder();
  const auto instrumented = test::rewrite("accesses.cu", copies.path());

  const auto nested = sites_of_line(instrumented, "accesses.cu",
                                    line_with("accesses.cu", "tile[threadIdx.x] = out[index[i]]"));
  REQUIRE(nested.size() == 3);
  CHECK(nested[0].expression == "tile[threadIdx.x]");
  CHECK(nested[0].kind == AccessKind::store);
  CHECK(nested[0].column == 3);
  CHECK(nested[0].object == "tile");
  CHECK(nested[0].element_bytes == 4);
  CHECK(nested[1].expression == "out[index[i]]");
  CHECK(nested[1].kind == AccessKind::load);
  CHECK(nested[1].column == 23);
  CHECK(nested[2].expression == "index[i]");
  CHECK(nested[2].column == 27);

  const auto vectors =
      sites_of_line(instrumented, "accesses.cu", line_with("accesses.cu", "vectors[1] = vectors[2]"));
  REQUIRE(vectors.size() == 2);
  CHECK(vectors[0].element_bytes == 16);

  const auto hinted =
      sites_of_line(instrumented, "accesses.cu", line_with("accesses.cu", "__ldg(out + 2) + __ldcs(out)"));
  REQUIRE(hinted.size() == 3);
  CHECK(hinted[1].cache_operator == CacheOperator::nc);
  CHECK(hinted[1].object == "out");
  CHECK(hinted[2].cache_operator == CacheOperator::cs);

  const auto stored =
      sites_of_line(instrumented, "accesses.cu", line_with("accesses.cu", "__stcg(&out[1], 2.f)"));
  REQUIRE(stored.size() == 1);
  CHECK(stored[0].kind == AccessKind::store);
  CHECK(stored[0].cache_operator == CacheOperator::cg);

  const auto uncached =
      sites_of_line(instrumented, "accesses.cu", line_with("accesses.cu", "flags[i] = flags[i + 1]"));
  REQUIRE(uncached.size() == 2); // of volatile words
  CHECK(uncached[0].cache_operator == CacheOperator::none);
  CHECK(uncached[1].cache_operator == CacheOperator::cv);

  const auto atomic = sites_of_line(instrumented, "accesses.cu", line_with("accesses.cu", "atomicCAS(wide"));
  REQUIRE(atomic.size() == 1);
  CHECK(atomic[0].kind == AccessKind::atomic);
  CHECK(atomic[0].element_bytes == 8);

  const auto member =
      sites_of_line(instrumented, "accesses.cu", line_with("accesses.cu", "p[i].tail[1] = (*p).tail[0]"));
  REQUIRE(member.size() == 2);
  CHECK(member[0].object == "tail");
}

TEST_CASE("sites in macros point at the invocation") {
  const TemporaryDirectory copies = test::folder();
  const auto instrumented = test::rewrite("macros.cu", copies.path());
  const auto sites = sites_of_line(instrumented, "macros.cu", line_with("macros.cu", "out[i] = AT(out, 3)"));
  REQUIRE(sites.size() == 5);
  CHECK(sites[0].expression == "out[i]");
  CHECK(sites[1].expression == "AT(out, 3)");
  CHECK(sites[1].column == 12);
  CHECK(sites[2].expression == "IN_PARENTHESES(out, 4)");
  CHECK(sites[3].column == 50);
  CHECK(sites[4].column == 50);

  const auto twice =
      sites_of_line(instrumented, "macros.cu", line_with("macros.cu", "INCREMENT(out[i + 1])"));
  REQUIRE(twice.size() == 2); // one argument, stored to and loaded
  CHECK(twice[0].column == twice[1].column);
  CHECK(twice[0].kind != twice[1].kind);
}

TEST_CASE("the instances of a template share their sites, and headers' sites keep their file") {
  const TemporaryDirectory copies = test::folder();
  const auto instrumented = test::rewrite("templates.cu", copies.path(), {"--cuda-gpu-arch=sm_75"});
  CHECK(sites_of_line(instrumented, "templates.cu", line_with("templates.cu", "T copy = tile[0]")).size() ==
        1);
  CHECK(
      sites_of_line(instrumented, "headers/matrix.h", line_with("headers/matrix.h", "sum += cells")).size() ==
      1);
  // The list covers both branches of a discarded `if constexpr`, and both of an #if on the architecture.
  CHECK(sites_of_line(instrumented, "templates.cu",
                      line_with("templates.cu", "tile[threadIdx.x] = in[threadIdx.x]"))
            .size() == 2);
  CHECK(sites_of_line(instrumented, "templates.cu", line_with("templates.cu", "tile[threadIdx.x] = in[0]"))
            .size() == 2);
  CHECK(sites_of_line(instrumented, "templates.cu", line_with("templates.cu", "out[0] = 8")).size() == 1);
  CHECK(sites_of_line(instrumented, "templates.cu", line_with("templates.cu", "out[1] = 7")).size() == 1);
  CHECK(sites_of_line(instrumented, "templates.cu", line_with("templates.cu", "never_used(T* p)")).empty());

  std::set<std::uint64_t> identities;
  for (const Site& site : instrumented.sites) {
    CHECK(site.id != 0);
    CHECK(identities.insert(site.id).second);
  }
}

TEST_CASE("a hoisted access that is counted in every iteration is listed with its reason") {
  const TemporaryDirectory copies = test::folder();
  std::vector<std::string> reasons;
  for (const rewriter::Unseen& repeated : test::rewrite("hoisted.cu", copies.path(), {}, false).repeated)
    reasons.push_back(repeated.expression + ": " + repeated.reason);
  CHECK(reasons ==
        std::vector<std::string>{"weight[i]: hoisted out of a loop around a call of its function",
                                 "a[i]: hoisted out of a loop, but a macro makes part of that loop",
                                 "a[i + 1]: hoisted out of a loop, but a label leads into that loop",
                                 "a[i + 2]: hoisted out of a loop, but that loop begins and ends under "
                                 "different #if"});
}

TEST_CASE("fetches and surface accesses are sites of their own") {
  const TemporaryDirectory copies = test::folder();
  const auto instrumented = test::rewrite("textures.cu", copies.path());
  const auto sites = [&](const char* text) {
    return sites_of_line(instrumented, "textures.cu", line_with("textures.cu", text));
  };
  const auto nested = sites("tex1Dfetch<float>(line, 5)");
  REQUIRE(nested.size() == 3);
  CHECK(nested[1].expression == "tex2D<float>(line, tex1Dfetch<float>(line, 5), 0)");
  CHECK(nested[1].column == 12);
  CHECK(nested[1].object == "line");
  CHECK(nested[1].kind == AccessKind::load);
  CHECK(nested[1].space == Space::global);
  CHECK(nested[1].cache_operator == CacheOperator::tex);
  CHECK(nested[1].element_bytes == 4);
  CHECK(nested[2].expression == "tex1Dfetch<float>(line, 5)");
  CHECK(nested[1].depends_on == std::vector<std::uint64_t>{nested[2].id}); // a coordinate

  const auto through_pointer = sites("tex2DLayered(&value");
  REQUIRE(through_pointer.size() == 3);
  CHECK(through_pointer[0].expression == "tex2DLayered(&value, several[2], 1.f, 2.f, order[2])");
  CHECK(through_pointer[0].element_bytes == 8);
  CHECK(through_pointer[0].depends_on.size() == 2); // several[2] and order[2]

  const auto written = sites("surf2Dwrite(out[1]");
  REQUIRE(written.size() == 2);
  CHECK(written[0].kind == AccessKind::store);
  CHECK(written[0].cache_operator == CacheOperator::tex);
  CHECK(written[0].element_bytes == 4);
  CHECK(sites("surfCubemapwrite(pixel")[0].element_bytes == 4);
}

TEST_CASE("an access without a probe is listed with its reason") {
  const TemporaryDirectory copies = test::folder();
  const auto unseen_in = [&](const std::string& file) {
    std::vector<std::string> reasons;
    for (const rewriter::Unseen& unseen : test::rewrite(file, copies.path()).unseen)
      reasons.push_back(unseen.expression + ": " + unseen.reason);
    return reasons;
  };
  CHECK(unseen_in("accesses.cu") ==
        std::vector<std::string>{"p[i].bits: bit-field", "tight[0].value: packed member",
                                 "tight[1].tag: packed member", "tile: read by a range-based for"});
  CHECK(unseen_in("library.cu") ==
        std::vector<std::string>{"memcpy(out, out + 8, 16): block of memory copied or set by a function"});
  CHECK(unseen_in("textures.cu") ==
        std::vector<std::string>{
            "tex2D<float>(line, 0, 0, &resident): fetch that reports whether its texels are resident"});
}

TEST_CASE("a site says how many iterations have an access next to each other") {
  const TemporaryDirectory copies = test::folder();
  const auto instrumented = test::rewrite("unrolled.cu", copies.path(), {}, /*keep_removed=*/false);
  const auto sites = [&](const char* text) {
    return sites_of_line(instrumented, "unrolled.cu", line_with("unrolled.cu", text));
  };
  CHECK(sites("sum += a[j * n] * w[0]")[0].copies == 4);
  CHECK(sites("out[2 * n] = sum")[0].copies == 1);
  CHECK(sites("sum += a[k + o] * w[o + 4]")[0].copies == 1); // a loop with #pragma unroll 1
}

TEST_CASE("an atomic through a bare pointer is found by the analyses") {
  const TemporaryDirectory sources = test::folder(), copies = test::folder();
  const auto source = sources.path() / "counter.cu";
  test::write(source, "__global__ void count(int* out, int* counter) {\n"
                      "  out[threadIdx.x] = atomicAdd(counter, 1);\n"
                      "}\n"
                      "__global__ void sum(float* total, float x) { atomicAdd(total, x); }\n");
  const auto instrumented = test::rewrite(source, copies.path(), {}, false);
  REQUIRE(instrumented.sites.size() == 3);
  const auto atomic = std::ranges::find(instrumented.sites, AccessKind::atomic, &Site::kind);
  const auto store = std::ranges::find(instrumented.sites, AccessKind::store, &Site::kind);
  REQUIRE((atomic != instrumented.sites.end() && store != instrumented.sites.end()));
  CHECK(store->depends_on == std::vector<std::uint64_t>{atomic->id});
  CHECK(atomic->aggregation == LaneAggregation::added);
  CHECK_FALSE(atomic->is_reduction);
  CHECK_FALSE(atomic->is_floating);
  CHECK(std::ranges::count(instrumented.sites, true, &Site::is_floating) == 1);
  CHECK(std::ranges::count(instrumented.sites, true, &Site::waits) == 0);
}
