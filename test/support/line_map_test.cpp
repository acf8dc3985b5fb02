#include "support/line_map.h"
#include "test/catch.h"

#include <algorithm>
#include <random>
#include <string>

using warplens::unchanged_lines;

namespace {

using Lines = std::vector<std::string>;
using Places = std::vector<std::optional<std::size_t>>;

Lines letters(const std::string& text) {
  Lines lines;
  for (const char letter : text)
    lines.emplace_back(1, letter);
  return lines;
}

std::size_t matched(const Places& places) {
  return std::size_t(std::ranges::count_if(places, [](const auto& place) { return place.has_value(); }));
}

/// Returns the length of a longest common subsequence, by the table of all prefixes.
std::size_t longest_common(const Lines& before, const Lines& after) {
  std::vector<std::vector<std::size_t>> table(before.size() + 1, std::vector<std::size_t>(after.size() + 1));
  for (std::size_t i = 1; i <= before.size(); ++i)
    for (std::size_t j = 1; j <= after.size(); ++j)
      table[i][j] = before[i - 1] == after[j - 1] ? table[i - 1][j - 1] + 1
                                                  : std::max(table[i - 1][j], table[i][j - 1]);
  return table[before.size()][after.size()];
}

void check_is_a_match(const Lines& before, const Lines& after, const Places& places) {
  REQUIRE(places.size() == before.size());
  std::size_t next = 0;
  for (std::size_t line = 0; line < before.size(); ++line)
    if (places[line]) {
      REQUIRE(*places[line] >= next);
      REQUIRE(*places[line] < after.size());
      REQUIRE(after[*places[line]] == before[line]);
      next = *places[line] + 1;
    }
}

} // namespace

TEST_CASE("unchanged lines: nothing, an insertion, a removal, a change") {
  CHECK(unchanged_lines({}, {}).empty());
  CHECK(unchanged_lines(letters("abc"), {}) == Places(3));
  CHECK(unchanged_lines(letters("abc"), letters("abc")) == Places{0, 1, 2});
  CHECK(unchanged_lines(letters("abc"), letters("xabyc")) == Places{1, 2, 4});
  CHECK(unchanged_lines(letters("abcd"), letters("ad")) == Places{0, std::nullopt, std::nullopt, 1});
  CHECK(unchanged_lines(letters("abc"), letters("axc")) == Places{0, std::nullopt, 2});
}

TEST_CASE("unchanged lines: lines that are there once keep their neighbours together") {
  CHECK(unchanged_lines(letters("{f}"), letters("{g}{f}")) == Places{0, 4, 5});
  CHECK(unchanged_lines(letters("x{f}y"), letters("{f}{g}")) == Places{std::nullopt, 0, 1, 2, std::nullopt});
  CHECK(unchanged_lines(letters("x{f}{g}"), letters("{f}{h}{g}y")) == Places{std::nullopt, 0, 1, 2, 3, 7, 8});
}

TEST_CASE("unchanged lines: of repeated lines, the shortest edit decides") {
  // The example of Myers' paper.
  const Lines before = letters("ABCABBA"), after = letters("CBABAC");
  const Places places = unchanged_lines(before, after);
  check_is_a_match(before, after, places);
  CHECK(matched(places) == 4);
  // Each letter twice or more between the ends, which differ: no line is an anchor.
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Lines left{"l1", "l1"}, right{"r1", "r1"};
    for (int i = 0; i < 24; ++i) {
      left.emplace_back(1, "ab"[random() % 2]);
      right.emplace_back(1, "ab"[random() % 2]);
    }
    left.insert(left.end(), {"a", "a", "b", "b", "l2", "l2"});
    right.insert(right.end(), {"b", "b", "a", "a", "r2", "r2"});
    const Places found = unchanged_lines(left, right);
    check_is_a_match(left, right, found);
    REQUIRE(matched(found) == longest_common(left, right));
  }
}

TEST_CASE("unchanged lines: random edits of different lines leave all others") {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    Lines before, after;
    std::size_t kept = 0;
    for (int line = 0; line < 60; ++line) {
      before.push_back("line " + std::to_string(line));
      switch (random() % 6) {
      case 0: break; // removed
      case 1: after.push_back("changed " + std::to_string(line)); break;
      case 2: after.push_back("added " + std::to_string(line)); [[fallthrough]];
      default: after.push_back(before.back()); ++kept;
      }
    }
    const Places places = unchanged_lines(before, after);
    check_is_a_match(before, after, places);
    REQUIRE(matched(places) == kept);
  }
}

TEST_CASE("unchanged lines: a text that is quite another one ends soon, without a match but the ends") {
  Lines before{"first"}, after{"first"};
  for (int line = 0; line < 4000; ++line) {
    before.push_back(line % 2 ? "a" : "b");
    after.push_back(line % 2 ? "c" : "d");
  }
  const Places places = unchanged_lines(before, after);
  CHECK(places[0] == 0);
  CHECK(matched(places) == 1);
}
