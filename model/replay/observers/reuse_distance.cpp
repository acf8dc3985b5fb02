#include "model/replay/observers/reuse_distance.h"

#include <algorithm>

namespace warplens::model {

std::optional<std::uint32_t> ReuseDistances::access(std::uint32_t line) {
  if (next_ >= tree_.size())
    squeeze();
  const std::uint32_t now = next_++;
  const auto [found, fresh] = latest_.try_emplace(line, now);
  std::optional<std::uint32_t> distance;
  if (!fresh) {
    distance = std::uint32_t(latest_.size()) - marks_until(found->second);
    change(found->second, -1);
    found->second = now;
  }
  change(now, 1);
  return distance;
}

void ReuseDistances::squeeze() {
  std::vector<std::uint32_t*> positions;
  for (auto& [line, position] : latest_)
    positions.push_back(&position);
  std::sort(positions.begin(), positions.end(), [](const auto* a, const auto* b) { return *a < *b; });
  next_ = 1;
  for (std::uint32_t* position : positions)
    *position = next_++;
  tree_.assign(std::max<std::size_t>(1024, 2 * positions.size()), 0);
  for (std::uint32_t i = 1; i < tree_.size(); ++i) {
    const std::uint32_t first = i - (i & -i); // the stretch is (first, i]
    tree_[i] = std::min(i, next_ - 1) - std::min(first, next_ - 1);
  }
}

void ReuseDistances::change(std::uint32_t position, int by) {
  for (; position < tree_.size(); position += position & -position)
    tree_[position] += std::uint32_t(by);
}

std::uint32_t ReuseDistances::marks_until(std::uint32_t position) const {
  std::uint32_t marks = 0;
  for (; position != 0; position &= position - 1)
    marks += tree_[position];
  return marks;
}

} // namespace warplens::model
