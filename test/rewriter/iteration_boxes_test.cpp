#include "rewriter/iteration_boxes.h"
#include "test/catch.h"

#include <algorithm>
#include <random>

using namespace warplens::rewriter;

namespace {

LeftIterations iterations(std::vector<unsigned> counts, std::set<std::vector<std::optional<unsigned>>> left) {
  LeftIterations result;
  for (const unsigned count : counts)
    result.loops.push_back({{}, {}, false, count});
  result.left = std::move(left);
  return result;
}

std::string condition(const LeftIterations& left) {
  return condition_of(left, boxes_of(left).value(), {"i", "j", "k"});
}

bool holds(const Box& box, const std::vector<unsigned>& vector) {
  for (std::size_t i = 0; i < box.size(); ++i)
    if (box[i] && (vector[i] < box[i]->first || vector[i] > box[i]->last))
      return false;
  return true;
}

} // namespace

TEST_CASE("iterations as a condition") {
  CHECK(condition(iterations({4}, {{0}, {1}, {2}, {3}})).empty());
  CHECK(condition(iterations({4}, {{std::nullopt}})).empty());
  CHECK(condition(iterations({16}, {{0}})) == "i == 0");
  CHECK(condition(iterations({16}, {{0}, {1}, {2}})) == "i <= 2");
  CHECK(condition(iterations({4}, {{1}, {2}, {3}})) == "i >= 1");
  CHECK(condition(iterations({8}, {{2}, {3}, {5}})) == "(i >= 2 && i <= 3) || i == 5");
  CHECK(condition(iterations({8, 5}, {{0, std::nullopt}, {std::nullopt, 4}})) == "i == 0 || j == 4");
  CHECK(condition(iterations({3, 2, 3}, {{0, 1, 1}, {0, 1, 2}, {2, 1, 1}, {2, 1, 2}, {1, 0, 0}})) ==
        "(i == 0 && j == 1 && k >= 1) || (i == 1 && j == 0 && k == 0) || (i == 2 && j == 1 && k >= 1)");
}

TEST_CASE("boxes cover the iterations left and nothing else") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<unsigned> counts{1 + static_cast<unsigned>(random() % 4),
                                       1 + static_cast<unsigned>(random() % 5),
                                       1 + static_cast<unsigned>(random() % 3)};
    const unsigned density = 1 + static_cast<unsigned>(random() % 5);
    std::set<std::vector<std::optional<unsigned>>> left;
    std::vector<std::vector<unsigned>> all;
    for (unsigned i = 0; i < counts[0]; ++i)
      for (unsigned j = 0; j < counts[1]; ++j)
        for (unsigned k = 0; k < counts[2]; ++k) {
          all.push_back({i, j, k});
          if (random() % 5 < density)
            left.insert({i, j, k});
        }
    const auto boxes = boxes_of(iterations(counts, left));
    if (!boxes)
      continue; // more than a person could read
    for (const std::vector<unsigned>& vector : all) {
      const bool covered =
          std::any_of(boxes->begin(), boxes->end(), [&](const Box& box) { return holds(box, vector); });
      CHECK(covered == left.contains({vector.begin(), vector.end()}));
    }
  }
}

TEST_CASE("too many iterations are not examined, nor are conditions that a person could not read") {
  CHECK_FALSE(boxes_of(iterations({70000}, {{0}})));
  CHECK_FALSE(boxes_of(iterations({1u << 31, 1u << 31, 1u << 31}, {{0, 0, 0}})));
  std::set<std::vector<std::optional<unsigned>>> every_other;
  for (unsigned i = 0; i < 100; i += 2)
    every_other.insert({i});
  CHECK_FALSE(boxes_of(iterations({100}, every_other)));
}
