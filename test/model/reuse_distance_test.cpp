#include "model/replay/observers/reuse_distance.h"
#include "numeric/random.h"
#include "test/catch.h"

#include <algorithm>
#include <list>

using namespace warplens;

namespace {

/// A slow reference: the lines in the order of their latest access, newest first.
class Reference {
public:
  std::optional<std::uint32_t> access(std::uint32_t line) {
    const auto found = std::find(lines_.begin(), lines_.end(), line);
    std::optional<std::uint32_t> distance;
    if (found != lines_.end()) {
      distance = std::uint32_t(std::distance(lines_.begin(), found));
      lines_.erase(found);
    }
    lines_.push_front(line);
    return distance;
  }

private:
  std::list<std::uint32_t> lines_;
};

} // namespace

TEST_CASE("Distances by hand") {
  model::ReuseDistances distances;
  CHECK_FALSE(distances.access(7));
  CHECK(*distances.access(7) == 0);
  CHECK_FALSE(distances.access(9));
  CHECK(*distances.access(9) == 0);
  CHECK_FALSE(distances.access(0));
  CHECK(*distances.access(9) == 1);
  CHECK(*distances.access(7) == 2); // 9 and 0, though 9 was there twice
}

TEST_CASE("Distances equal those of the slow reference") {
  // Few lines: positions are squeezed often. Many: most accesses are first ones. Skewed: some distances are
  // long, most are short.
  for (const std::uint32_t lines : {1u, 3u, 200u, 1500u, 100'000u})
    for (const bool skewed : {false, true}) {
      INFO(lines << " lines, skewed: " << skewed);
      model::ReuseDistances fast;
      Reference slow;
      Random random(lines, 0, skewed);
      unsigned differences = 0;
      for (unsigned i = 0; i < 6000; ++i) {
        std::uint32_t line = random.below(lines);
        if (skewed)
          line = random.below(line + 1);
        differences += fast.access(line) != slow.access(line);
      }
      CHECK(differences == 0);
    }
}
