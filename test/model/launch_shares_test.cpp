// Tests for how many launches a traced one stands.
#include "model/launch_shares.h"
#include "test/catch.h"

#include <cmath>

using namespace warplens;

namespace {

/// A trace of launches without accesses.
class Launches : public trace::AccessSource {
public:
  void traced(std::uint32_t blocks, trace::LaunchWork work) {
    trace::Launch& launch = launches_.emplace_back();
    launch.id = std::uint32_t(launches_.size() - 1);
    launch.symbol = "k";
    launch.grid.x = blocks;
    launch.block.x = 256;
    ends_.push_back({.launch = launch.id, .complete = true, .work = work});
  }
  void counted(std::uint64_t launches, std::uint32_t blocks, trace::LaunchWork work,
               std::uint32_t threads = 256) {
    records_.kernel_launches.push_back({"k", "k", launches, {blocks, 1, 1}, {threads, 1, 1}, 0, work});
  }

  bool truncated() const override { return false; }
  const trace::Program& program() const override { return program_; }
  const std::vector<Site>& sites() const override { return sites_; }
  const std::vector<trace::Launch>& launches() const override { return launches_; }
  const trace::RecordLists& records() const override { return records_; }
  std::optional<trace::LaunchEnd> end_of(std::uint32_t launch) const override { return ends_[launch]; }
  Expected<void> for_each_access(std::uint32_t, const Visit&) const override { return {}; }

private:
  trace::Program program_;
  std::vector<Site> sites_;
  std::vector<trace::Launch> launches_;
  std::vector<trace::LaunchEnd> ends_;
  trace::RecordLists records_;
};

} // namespace

TEST_CASE("A launch stands for those that are most like it, as often as their work is its own") {
  Launches made;
  made.traced(100, {1000, 4000});
  made.traced(100, {9000, 36000});
  made.counted(1, 100, {1000, 4000});
  made.counted(3, 100, {1500, 6000});
  made.counted(2, 100, {9000, 36000});
  made.counted(1, 100, {4000, 18000}); // nearer to the second
  const std::vector<model::LaunchShare> shares = model::launch_shares(made);
  REQUIRE(shares.size() == 2);
  CHECK(shares[0].launches == 4);
  CHECK(shares[0].times == Approx(1 + 3 * 1.5));
  CHECK(shares[1].launches == 3);
  CHECK(shares[1].times == Approx(2 + std::sqrt(4.0 / 9 * 0.5)));
  CHECK(shares[0].kernel_launches == 7);
  CHECK(shares[1].kernel_launches == 7);
}

TEST_CASE("Launches that are equal share the others among them") {
  Launches made;
  for (int i = 0; i < 3; ++i)
    made.traced(100, {1000, 4000});
  made.counted(11, 100, {1000, 4000});
  const std::vector<model::LaunchShare> shares = model::launch_shares(made);
  CHECK(shares[0].launches == 4);
  CHECK(shares[1].launches == 4);
  CHECK(shares[2].launches == 3);
}

TEST_CASE("Each traced launch stands for itself at least") {
  Launches made;
  made.traced(100, {1000, 4000});
  made.traced(100, {1040, 4160});
  made.traced(104, {1040, 4160});
  made.counted(1, 100, {1000, 4000});
  made.counted(1, 100, {1040, 4160});
  made.counted(1, 104, {1040, 4160});
  for (const model::LaunchShare& share : model::launch_shares(made))
    CHECK(share.launches == 1);
}

TEST_CASE("Where no work is known, grids tell; and blocks of the same size are preferred") {
  Launches made;
  made.traced(100, {});
  made.traced(400, {});
  made.counted(1, 100, {});
  made.counted(2, 300, {});
  made.counted(1, 400, {});
  made.counted(5, 90, {}, 128);
  const std::vector<model::LaunchShare> shares = model::launch_shares(made);
  CHECK(shares[0].launches == 6);
  CHECK(shares[0].times == Approx(1 + 5 * 0.9));
  CHECK(shares[1].launches == 3);
  CHECK(shares[1].times == Approx(1 + 2 * 0.75));
}
