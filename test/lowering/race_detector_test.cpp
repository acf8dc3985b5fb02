// The race detector's compact clocks against vector clocks of all threads and a full history, on random
// programs.
#include "runtime/cpu/execution/race_detector.h"
#include "test/catch.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace warplens::cpu;

namespace {

constexpr std::uint32_t threads = 70, shared_bytes = 24;

/// The reference: each thread's clock holds, for every thread, how many of its accesses are known to be over.
class Reference {
public:
  bool access(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes, RaceDetector::Access kind) {
    const bool races = std::ranges::any_of(history_, [&](const Past& past) {
      const bool overlap = past.offset < offset + bytes && offset < past.offset + past.bytes;
      const bool harmless =
          (past.kind == RaceDetector::Access::read && kind == RaceDetector::Access::read) ||
          (past.kind == RaceDetector::Access::atomic && kind == RaceDetector::Access::atomic);
      return overlap && !harmless && past.thread != thread && past.number >= clocks_[thread][past.thread];
    });
    history_.push_back({thread, ++clocks_[thread][thread] - 1, offset, bytes, kind});
    return races;
  }
  /// Gives all threads of the group the knowledge of any of them.
  void meet(const std::vector<std::uint32_t>& group) {
    Clock joined(threads);
    for (const std::uint32_t thread : group)
      join(joined, clocks_[thread]);
    for (const std::uint32_t thread : group)
      clocks_[thread] = joined;
  }
  void arrive(std::uint32_t thread) { join(object_, clocks_[thread]); }
  void wait(std::uint32_t thread) { join(clocks_[thread], object_); }

private:
  using Clock = std::vector<std::uint64_t>;
  struct Past {
    std::uint32_t thread;
    std::uint64_t number, offset, bytes;
    RaceDetector::Access kind;
  };
  static void join(Clock& to, const Clock& from) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = std::max(to[i], from[i]);
  }
  std::vector<Clock> clocks_ = std::vector<Clock>(threads, Clock(threads));
  Clock object_ = Clock(threads);
  std::vector<Past> history_;
};

/// Runs both detectors side by side.
class Program {
public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    detector_.begin(threads, shared_bytes, [this](const Race&) { found_ = true; });
  }

  /// Checks that they agree until the first race. It may hide later ones, but none is reported wrongly.
  void run() {
    for (int step = 0; step < 300 && !ended_; ++step)
      switch (pick(12)) {
      case 0: meet(7, group([](std::uint32_t) { return true; })); break;
      case 1: {
        const std::uint32_t warp = pick(3), part = pick(3);
        const auto lanes =
            group([&](std::uint32_t t) { return t / 32 == warp && (part == 2 || t % 2 == part); });
        std::uint32_t mask = 0;
        for (const std::uint32_t lane : lanes)
          mask |= 1U << lane % 32;
        meet(RaceDetector::meeting_of_warp(warp, mask), lanes);
        break;
      }
      case 2: {
        const std::uint32_t without = pick(3);
        meet(1 + without, group([&](std::uint32_t t) { return t / 32 != without; }));
        break;
      }
      case 3: {
        const std::uint32_t one = pick(threads), other = pick(threads);
        detector_.arrive_at_object(4096, one);
        reference_.arrive(one);
        detector_.wait_for_object(4096, other);
        reference_.wait(other);
        break;
      }
      default: access(pick(threads));
      }
  }

private:
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  template <class Takes> std::vector<std::uint32_t> group(Takes takes) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      if (takes(thread))
        members.push_back(thread);
    std::ranges::shuffle(members, random_);
    return members;
  }

  /// Threads that have left continue while others are still to leave.
  void meet(std::uint64_t number, const std::vector<std::uint32_t>& members) {
    for (const std::uint32_t thread : members)
      detector_.arrive(number, thread);
    reference_.meet(members);
    for (const std::uint32_t thread : members) {
      detector_.leave(number, thread, number == 7 ? threads : threads + 1);
      if (pick(20) == 0)
        access(thread);
    }
  }

  void access(std::uint32_t thread) {
    // Most accesses are to the thread's own bytes or reads, or everything would race at once.
    const std::uint64_t bytes = 1U << pick(3), offset = pick(shared_bytes / 4) * 4 +
                                                        pick(4 / static_cast<std::uint32_t>(bytes)) * bytes;
    const auto kind = pick(25) == 0   ? RaceDetector::Access::write
                      : pick(25) == 0 ? RaceDetector::Access::atomic
                                      : RaceDetector::Access::read;
    found_ = false;
    detector_.access(thread, offset, bytes, kind, "a.cu:1");
    const bool races = reference_.access(thread, offset, bytes, kind);
    CHECK((!found_ || races));
    if (!raced_before_)
      CHECK(found_ == races);
    raced_before_ |= races;
  }

  std::mt19937_64 random_;
  RaceDetector detector_;
  Reference reference_;
  bool found_ = false, raced_before_ = false, ended_ = false;
};

} // namespace

TEST_CASE("races are found as by vector clocks") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Program(seed).run();
  }
}

TEST_CASE("a thread's own atomic access does not hide its write from those of others") {
  int races = 0;
  RaceDetector detector;
  detector.begin(64, 4, [&](const Race& race) {
    ++races;
    CHECK(race.kind == RaceKind::write_after_write);
    CHECK(race.first_thread == 0);
    CHECK(race.first_place == std::string("a.cu:1"));
  });
  detector.access(0, 0, 4, RaceDetector::Access::write, "a.cu:1"); // no barrier follows
  detector.access(0, 0, 4, RaceDetector::Access::atomic, "a.cu:2");
  CHECK(races == 0);
  detector.access(40, 0, 4, RaceDetector::Access::atomic, "a.cu:2");
  detector.access(41, 0, 4, RaceDetector::Access::atomic, "a.cu:2");
  CHECK(races == 2);
}
