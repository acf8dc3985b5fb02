#include "support/display_name.h"
#include "test/catch.h"

using warplens::display_name;

namespace {

std::size_t length_of(const std::string& text) {
  std::size_t characters = 0;
  for (const char c : text)
    characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return characters;
}

} // namespace

TEST_CASE("Names that are short enough stay as they are") {
  for (const char* name : {"", "spmv(int const*, float*)", "void scale<float>(float*)", "a<b", ">>("})
    CHECK(display_name(name) == name);
}

TEST_CASE("Long names lose their signature first, then their arguments, the innermost first") {
  const std::string name = "void ns::reduce<ns::policy<4, 256>, float>(float const*, float*, unsigned int)";
  CHECK(display_name(name, 60) == "ns::reduce<ns::policy<4, 256>, float>");
  CHECK(display_name(name, 36) == "ns::reduce<ns::policy<…>, float>");
  CHECK(display_name(name, 31) == "ns::reduce<…>");
  CHECK(display_name(name, 9) == "ns::…e<…>");
  CHECK(display_name("apply<(Operation)2, 17>(float*)", 25) == "apply<(Operation)2, 17>");
  CHECK(display_name("(anonymous namespace)::hidden(float*, float*)", 40) == "(anonymous namespace)::hidden");
}

TEST_CASE("Signs of operators are no brackets") {
  CHECK(display_name("box<int>::operator()(int, long, long)", 30) == "box<int>::operator()");
  CHECK(display_name("run<&(ns::operator<(a, b))>(a, b, c)", 34) == "run<&(ns::operator<(a, b))>");
  CHECK(display_name("pick<decltype(x->y)>(int, int)", 25) == "pick<decltype(x->y)>");
}

TEST_CASE("No name is longer than the requested length") {
  std::string nested = "kernel";
  for (int depth = 0; depth < 200; ++depth)
    nested = "thrust::layer<" + nested + ", int>";
  nested = "void launch<" + nested + ">(float*)";
  CHECK(nested.size() > 1000);
  CHECK(display_name(nested).starts_with("launch<thrust::layer<"));
  const std::string broken(1000, '<'), wide = [] {
    std::string text;
    for (int i = 0; i < 500; ++i)
      text += "é";
    return text;
  }();
  for (const std::string& name : {nested, broken, wide, std::string(1000, '>'), std::string(1000, 'k')})
    for (const std::size_t longest : {1, 2, 20, 96}) {
      const std::string shown = display_name(name, longest);
      CHECK(length_of(shown) <= longest);
      CHECK(shown.find("…") != std::string::npos);
    }
}
