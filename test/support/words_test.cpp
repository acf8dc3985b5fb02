#include "support/hash.h"
#include "support/process.h"
#include "test/catch.h"

using namespace warplens;
using Words = std::vector<std::string>;

TEST_CASE("words are split as a POSIX shell splits them") {
  CHECK(split_words("") == Words{});
  CHECK(split_words("  a\tb\n c ") == Words{"a", "b", "c"});
  CHECK(split_words(R"(-DNAME="a b" -I'x y')") == Words{"-DNAME=a b", "-Ix y"});
  CHECK(split_words(R"(a\ b "c\"d" 'e\f' "g\h")") == Words{"a b", "c\"d", "e\\f", "g\\h"});
  CHECK(split_words(R"('' "")") == Words{"", ""});
  CHECK(split_words("a\\\nb \"c\\\nd\"") == Words{"ab", "cd"});
  CHECK(split_words("$HOME *.cu ~ # `x`") == Words{"$HOME", "*.cu", "~", "#", "`x`"});
}

TEST_CASE("a quote that is not closed is an error that names it") {
  REQUIRE_FALSE(split_words("-D'x"));
  CHECK(split_words("-D'x").error().message == "a single quote is not closed in the arguments: -D'x");
  CHECK(split_words("-D\"x").error().message == "a double quote is not closed in the arguments: -D\"x");
  CHECK_FALSE(split_words("x\\"));
}

TEST_CASE("quoted words pass the shell, and our own splitting, unchanged") {
  const Words words{"plain-1.0", "", "a b", "it's", "\"", "$HOME", "a\\b", "new\nline", "*", "-DX=1", "ü"};
  CHECK(split_words(quote(words)) == words);
  const auto echoed =
      run({.arguments = {"sh", "-c", "printf '%s|' " + quote(words)}, .capture_output = true});
  REQUIRE(echoed);
  CHECK(echoed->output == "plain-1.0||a b|it's|\"|$HOME|a\\b|new\nline|*|-DX=1|ü|");
}

TEST_CASE("the hash is XXH64") { // values of the reference implementation's test suite and of xxhsum -H64
  CHECK(stable_hash("") == 0xef46db3751d8e999);
  CHECK(stable_hash("a") == 0xd24ec4f1a98c6e5b);
}
