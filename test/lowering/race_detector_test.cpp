// The race detector's compact clocks against vector clocks of all threads and a full history, on random
// programs.
#include "runtime/cpu/execution/global_races.h"
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
      using enum RaceDetector::Access;
      const auto reads = [](RaceDetector::Access one) { return one == read || one == atomic_read; };
      const auto is_atomic = [](RaceDetector::Access one) { return one == atomic || one == atomic_read; };
      const bool harmless = (reads(past.kind) && reads(kind)) || (is_atomic(past.kind) && is_atomic(kind));
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
  /// A fence of one, and what it makes known to another.
  void pass_on(std::uint32_t from, std::uint32_t to) { join(clocks_[to], clocks_[from]); }

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
  explicit Program(std::uint64_t seed) : random_(seed), in_global_(seed % 2 == 1) {
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
      case 4: {
        const std::uint32_t from = pick(threads), to = pick(threads);
        const Knowledge published = detector_.publish(from);
        if (from != to) {
          detector_.learn(to, published);
          reference_.pass_on(from, to);
        }
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
                      : pick(5) == 0  ? RaceDetector::Access::atomic_read
                                      : RaceDetector::Access::read;
    found_ = false;
    if (in_global_)
      detector_.access_global(thread, 4096 + offset, bytes, kind, "a.cu:1");
    else
      detector_.access(thread, offset, bytes, kind, "a.cu:1");
    const bool races = reference_.access(thread, offset, bytes, kind);
    CHECK((!found_ || races));
    if (!raced_before_)
      CHECK(found_ == races);
    raced_before_ |= races;
  }

  std::mt19937_64 random_;
  bool in_global_; ///< the memory that it accesses
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

namespace {

/// Runs the detector on accesses by hand.
struct ByHand {
  RaceDetector detector;
  std::vector<Race> races;
  ByHand() {
    detector.begin(64, 256, [this](const Race& race) { races.push_back(race); });
  }
  void barrier() {
    for (std::uint32_t thread = 0; thread < 64; ++thread)
      detector.arrive(0, thread);
    for (std::uint32_t thread = 0; thread < 64; ++thread)
      detector.leave(0, thread, 64);
  }
  /// Returns the number of races that the access is in.
  std::size_t access(std::uint32_t thread, std::uint64_t offset, RaceDetector::Access kind) {
    races.clear();
    detector.access(thread, offset, 4, kind, "b.cu:2");
    return races.size();
  }
};

} // namespace

TEST_CASE("bytes of an asynchronous copy belong to no thread until its thread has waited") {
  using enum RaceDetector::Access;
  ByHand program;
  program.detector.begin_copy(3, 0, 16, "a.cu:1");
  program.detector.end_copies(3);
  program.detector.begin_copy(3, 32, 4, "a.cu:2");
  program.detector.end_copies(3);
  CHECK(program.access(3, 0, read) == 1); // its own thread
  CHECK(program.races[0].first_is_copy);
  CHECK(program.races[0].kind == RaceKind::read_after_write);
  program.detector.wait_for_copies(3, 1, false); // all but the last group
  CHECK(program.access(3, 0, read) == 0);
  CHECK(program.access(40, 8, read) == 1); // no barrier yet
  CHECK_FALSE(program.races[0].first_is_copy);
  CHECK(program.access(3, 32, read) == 1);
  program.barrier();
  CHECK(program.access(40, 12, read) == 0);
  CHECK(program.access(40, 32, read) == 1); // a barrier does not wait for copies
  program.detector.wait_for_copies(3, 0, false);
  program.barrier();
  CHECK(program.access(40, 32, write) == 0);
}

TEST_CASE("copies in no group are waited for by waiting for all") {
  using enum RaceDetector::Access;
  ByHand program;
  program.detector.begin_copy(5, 64, 8, "a.cu:1");
  program.detector.wait_for_copies(5, 0, false);
  CHECK(program.access(5, 64, read) == 1);
  program.detector.wait_for_copies(5, 0, true);
  CHECK(program.access(5, 68, read) == 0);
}

TEST_CASE("intervals do not come round after 2^32 synchronisations") {
  using enum RaceDetector::Access;
  static_assert(sizeof(Interval) == 8);
  // A clock of 32 bits would take an interval of long ago for one that is to come.
  const Knowledge late{{.all = (Interval{1} << 32) + 5, .warp = {}, .each = {}}, 0, (Interval{1} << 32) + 5};
  CHECK(late.covers(63, 7));
  CHECK(late.covers(63, Interval{1} << 32));
  CHECK_FALSE(late.covers(63, (Interval{1} << 32) + 5));
}

TEST_CASE("blocks race in global memory, unless one publishes and the other learns it") {
  using enum RaceDetector::Access;
  GlobalRaces& races = GlobalRaces::instance();
  const auto access = [&](std::uint64_t block, RaceDetector::Access kind, std::uint64_t address = 4096) {
    return races.access(address, 4, {block, 0, kind, 0, block, "a.cu:1"});
  };
  races.begin_launch();
  CHECK(access(0, write).empty());
  CHECK(access(0, read).empty()); // its own
  CHECK(access(1, read, 4100).empty());
  CHECK(access(1, read).size() == 1);
  CHECK(access(2, read).size() == 1);
  CHECK(access(2, atomic).size() == 2); // the write and a read of others
  CHECK(access(3, atomic).size() >= 2);
  CHECK(access(3, atomic, 5000).empty());
  CHECK(access(4, atomic, 5000).empty()); // both atomic
  CHECK(access(4, atomic_read, 5000).empty());
  CHECK(access(5, read, 5000).size() == 2);
  races.begin_launch();
  CHECK(access(1, write).empty()); // another launch
  // Whatever block comes next, an access of another block is still there.
  for (std::uint64_t block = 0; block < 20; ++block)
    access(block, read, 6000);
  for (std::uint64_t block = 0; block < 20; ++block) {
    races.begin_launch();
    for (std::uint64_t other = 0; other < 20; ++other)
      access(other, read, 6000);
    CHECK_FALSE(access(block, write, 6000).empty());
  }
}

TEST_CASE("what a block learns, it passes on") {
  RaceDetector detector;
  detector.begin(64, 0, [](const Race&) {});
  const auto first = std::make_shared<Publication>(Publication{1, detector.publish(7), nullptr});
  KnownBlocks known_to_second;
  join(known_to_second, first, 2);
  CHECK(covers(known_to_second, 1, 7, 0));
  CHECK_FALSE(covers(known_to_second, 1, 8, 0)); // another thread, which nothing ordered
  CHECK_FALSE(covers(known_to_second, 1, 7, 1)); // after the fence
  CHECK_FALSE(covers(known_to_second, 3, 7, 0));
  const auto second = std::make_shared<Publication>(
      Publication{2, detector.publish(0), std::make_shared<KnownBlocks>(known_to_second)});
  KnownBlocks known_to_third;
  join(known_to_third, second, 3);
  CHECK(covers(known_to_third, 1, 7, 0));
  CHECK(covers(known_to_third, 2, 0, 0));
  GlobalRaces::instance().publish(8192, second);
  CHECK(GlobalRaces::instance().published(8194).size() == 1); // the same word
  CHECK(GlobalRaces::instance().published(8196).empty());
}
