// Finds main memory's rows from loads whose addresses differ in one bit. The second of two dependent loads is
// fastest if the bit only changes the column (the row is open), slower in another bank or channel (a row is
// to be opened), slowest in another row of the same bank (the open one is to be closed first).
#include "calibration/analyse.h"

#include <algorithm>
#include <map>

namespace warplens::calibration {

std::optional<Rows> find_rows(const std::vector<Sample>& bits) {
  constexpr double clear_gap = 0.02; // share of the latency; less may be noise
  std::map<unsigned, std::vector<double>> samples;
  for (const Sample& sample : bits)
    samples[static_cast<unsigned>(sample.x)].push_back(sample.cycles);
  std::vector<std::pair<double, unsigned>> medians; // sorted by latency
  for (auto& [bit, cycles] : samples) {
    const auto middle = cycles.begin() + static_cast<std::ptrdiff_t>(cycles.size() / 2);
    std::nth_element(cycles.begin(), middle, cycles.end());
    medians.emplace_back(*middle, bit);
  }
  std::sort(medians.begin(), medians.end());
  std::vector<std::pair<double, std::size_t>> gaps; // the gap in front of the bit at this place
  for (std::size_t i = 1; i < medians.size(); ++i)
    gaps.emplace_back(medians[i].first - medians[i - 1].first, i);
  std::sort(gaps.rbegin(), gaps.rend());
  if (gaps.size() < 2 || gaps[1].first < clear_gap * medians.front().first)
    return std::nullopt; // there are not three kinds
  const std::size_t first = std::min(gaps[0].second, gaps[1].second),
                    second = std::max(gaps[0].second, gaps[1].second);
  Rows rows;
  const auto take = [&](std::size_t begin, std::size_t end, double& cycles, std::vector<unsigned>& into) {
    for (std::size_t i = begin; i < end; ++i) {
      cycles += medians[i].first / static_cast<double>(end - begin);
      into.push_back(medians[i].second);
    }
    std::sort(into.begin(), into.end());
  };
  take(0, first, rows.hit_cycles, rows.column_bits);
  take(first, second, rows.miss_cycles, rows.bank_bits);
  take(second, medians.size(), rows.conflict_cycles, rows.row_bits);
  return rows;
}

} // namespace warplens::calibration
