#include "support/pattern.h"
#include "test/catch.h"

using warplens::Pattern;
using Groups = Pattern::Groups;

TEST_CASE("a pattern is found in any part of a text") {
  const Pattern pattern("b+$");
  CHECK(pattern.is_found_in("abb"));
  CHECK_FALSE(pattern.is_found_in("bba"));
  CHECK_FALSE(pattern.is_found_in(""));
}

TEST_CASE("the first match has its own text and its groups") {
  const Pattern pattern("(\\w+)=(\\d+)?");
  CHECK(pattern.first_match("-- a=1, b=2") == Groups{"a=1", "a", "1"});
  CHECK(pattern.first_match("a=b") == Groups{"a=", "a", ""});
  CHECK_FALSE(pattern.first_match("a: 1"));
}

TEST_CASE("all matches come from left to right without overlaps") {
  CHECK(Pattern("a(.)a").all_matches("abaca, ada") == std::vector<Groups>{{"aba", "b"}, {"ada", "d"}});
  CHECK(Pattern("a").all_matches("").empty());
}

TEST_CASE("a match at the start ends within the text") {
  const Pattern pattern("a*b|b?");
  CHECK(pattern.length_at_start("aabaab") == 3);
  CHECK(pattern.length_at_start("cab") == 0);
  CHECK(Pattern("a+").length_at_start(std::string_view("aaa").substr(0, 2)) == 2);
  CHECK_FALSE(Pattern("a+").length_at_start("ba"));
}

TEST_CASE("a text that is no regular expression is an error with a reason") {
  const auto broken = Pattern::compile("a(");
  REQUIRE_FALSE(broken);
  CHECK_FALSE(broken.error().message.empty());
  CHECK_THROWS(Pattern("a("));
}

TEST_CASE("a copy outlives its original") {
  auto pattern = Pattern::compile("a");
  REQUIRE(pattern);
  const Pattern copy = *pattern;
  pattern = Pattern("b");
  CHECK(copy.is_found_in("a"));
  CHECK_FALSE(copy.is_found_in("b"));
}
