// The snooper ends complete, or early with a reason that it reports, and never leaves a producer waiting.
#include "runtime/host/channel_memory.h"
#include "runtime/host/snooper.h"
#include "test/catch.h"

#include <atomic>
#include <thread>

using namespace warplens;
using namespace std::chrono_literals;
using runtime::SnooperState;

namespace {

struct Fixture {
  ring::Extent extent{.blocks = 1, .buffers = 1, .warps = 1, .capacity = 8, .first_choices = 1};
  ring::HostMemory local{extent.local_bytes()}, shared{extent.shared_bytes()};
  ring::Channel channel = ring::lay_out(extent, local.data(), shared.data());
  std::uint64_t appended = 0; // written by the snooper's thread, read after its end
  std::atomic<std::uint64_t> flushed = 0;
  SnooperState end_state = SnooperState::running;

  runtime::Sink sink(std::uint64_t capacity = ~std::uint64_t{0}) {
    return {.append =
                [this, capacity](std::uint32_t, std::uint64_t, std::uint32_t,
                                 std::span<const trace::WarpAccess> accesses) {
                  appended += accesses.size();
                  return appended <= capacity;
                },
            .flush =
                [this](std::uint32_t) {
                  ++flushed;
                  return true;
                },
            .ended_early = [this](SnooperState state) { end_state = state; }};
  }

  /// Gives the channel that many blocks, each with a buffer.
  void use_buffers(std::uint32_t buffers) {
    extent.buffers = extent.blocks = extent.first_choices = buffers;
    local = ring::HostMemory(extent.local_bytes());
    shared = ring::HostMemory(extent.shared_bytes());
    channel = ring::lay_out(extent, local.data(), shared.data());
  }

  void push(std::uint64_t lines, std::uint64_t block = 0) {
    ring::BlockBuffer* const buffer = ring::enter(&channel, block, 32);
    ring::Line line{};
    line.active = ~0u;
    for (line.site = 1; line.site <= lines && buffer; ++line.site)
      ring::push(buffer, 0, line);
    if (buffer)
      ring::leave(buffer, 32);
  }
};

} // namespace

TEST_CASE("finish() takes out everything") {
  Fixture fixture;
  runtime::Snooper snooper(fixture.channel, fixture.sink(), {});
  fixture.push(1000);
  CHECK(snooper.finish() == SnooperState::complete);
  CHECK(fixture.appended == 1000);
  CHECK(fixture.end_state == SnooperState::running);
}

TEST_CASE("After finish() no producer waits: another launch may have taken the channel, and continue") {
  Fixture fixture;
  runtime::Snooper snooper(fixture.channel, fixture.sink(), {});
  fixture.push(5);
  CHECK(snooper.finish() == SnooperState::complete);
  std::thread late([&] { fixture.push(1000); });
  late.join();
  CHECK(fixture.appended == 5);
}

TEST_CASE("Producers that find their ring full do the snooper's work, one at a time") {
  Fixture fixture;
  fixture.use_buffers(2);
  std::uint64_t next[2] = {1, 1}, out_of_order[2] = {};
  auto sink = fixture.sink();
  sink.append = [&](std::uint32_t part, std::uint64_t block, std::uint32_t,
                    std::span<const trace::WarpAccess> accesses) {
    for (const trace::WarpAccess& access : accesses)
      out_of_order[part] += access.site != next[block]++;
    return true;
  };
  // The thread itself would only look once an hour.
  runtime::Snooper snooper(fixture.channel, sink,
                           {.stall = 2h, .parts = 2, .first_pause = 1h, .longest_pause = 1h});
  constexpr std::uint64_t lines = 20'000;
  const auto produce = [&](std::uint64_t block) {
    ring::BlockBuffer* const buffer = ring::enter(&fixture.channel, block, 32);
    ring::Line line{};
    line.active = ~0u;
    for (line.site = 1; line.site <= lines && buffer; ++line.site) {
      while (ring::is_full(buffer, 0))
        snooper.help(buffer->index);
      ring::push(buffer, 0, line);
    }
    if (buffer)
      ring::leave(buffer, 32);
  };
  std::thread other([&] { produce(1); });
  produce(0);
  other.join();
  CHECK(snooper.finish() == SnooperState::complete);
  CHECK(out_of_order[0] + out_of_order[1] == 0);
  CHECK(next[0] == lines + 1);
  CHECK(next[1] == lines + 1);
  snooper.help(0); // too late: nothing happens
}

TEST_CASE("Several threads of the snooper each drain the rings of their parts, in order") {
  Fixture fixture;
  constexpr std::uint32_t blocks = 7;
  fixture.use_buffers(blocks);
  const std::pair chosen = GENERATE(std::pair(3u, 3u), std::pair(5u, 2u), std::pair(1u, 1u));
  const std::uint32_t parts = chosen.first, threads = chosen.second;
  std::uint64_t next[blocks] = {};
  std::atomic<std::uint64_t> out_of_order = 0, in_wrong_part = 0;
  auto sink = fixture.sink();
  sink.append = [&](std::uint32_t part, std::uint64_t block, std::uint32_t,
                    std::span<const trace::WarpAccess> accesses) {
    in_wrong_part += block % parts != part;
    for (const trace::WarpAccess& access : accesses)
      out_of_order += access.site != ++next[block];
    return true;
  };
  runtime::Snooper snooper(fixture.channel, sink, {.flush_interval = 1h, .parts = parts, .threads = threads});
  constexpr std::uint64_t lines = 5000;
  std::vector<std::thread> producers;
  for (std::uint64_t block = 0; block < blocks; ++block)
    producers.emplace_back([&, block] { fixture.push(lines, block); });
  for (std::thread& producer : producers)
    producer.join();
  CHECK(snooper.finish() == SnooperState::complete);
  CHECK(out_of_order + in_wrong_part == 0);
  for (const std::uint64_t taken : next)
    CHECK(taken == lines);
  CHECK(fixture.flushed == parts);
  CHECK(fixture.end_state == SnooperState::running);
}

TEST_CASE("A last write that fails shows, whichever thread it is of") {
  Fixture fixture;
  fixture.use_buffers(3);
  auto sink = fixture.sink();
  sink.append = [](std::uint32_t, std::uint64_t, std::uint32_t, std::span<const trace::WarpAccess>) {
    return true;
  };
  const std::uint32_t failing = GENERATE(0u, 1u, 2u);
  sink.flush = [failing](std::uint32_t part) { return part != failing; };
  runtime::Snooper snooper(fixture.channel, sink, {.flush_interval = 1h, .parts = 3, .threads = 3});
  for (std::uint64_t block = 0; block < 3; ++block)
    fixture.push(5, block);
  CHECK(snooper.finish() == SnooperState::sink_failed);
}

TEST_CASE("One thread of several that is stuck ends the tracing") {
  static std::atomic<bool> entered = false, released = false;
  static auto* const fixture = new Fixture; // it and the snooper outlive the test, as below
  fixture->use_buffers(3);
  runtime::Sink sink = fixture->sink();
  sink.append = [](std::uint32_t part, std::uint64_t, std::uint32_t, std::span<const trace::WarpAccess>) {
    entered = entered || part == 1;
    while (part == 1 && !released)
      std::this_thread::sleep_for(1ms);
    return true;
  };
  static auto* const snooper =
      new runtime::Snooper(fixture->channel, std::move(sink), {.stall = 200ms, .parts = 3, .threads = 3});
  std::atomic<bool> stopped = false;
  std::thread other([&] { // its lines are drained all the time
    while (!stopped) {
      fixture->push(1, 0);
      std::this_thread::sleep_for(1ms);
    }
  });
  fixture->push(5, 1);
  while (!entered)
    std::this_thread::sleep_for(1ms);
  while (!snooper->is_stuck())
    std::this_thread::sleep_for(1ms);
  stopped = true;
  other.join();
  CHECK(snooper->finish() == SnooperState::stuck);
  CHECK(fixture->end_state == SnooperState::stuck);
  released = true;
}

TEST_CASE("Drained lines are flushed while the kernel runs") {
  Fixture fixture;
  runtime::Snooper snooper(fixture.channel, fixture.sink(), {.flush_interval = 5ms});
  fixture.push(3);
  std::this_thread::sleep_for(100ms);
  snooper.abandon();
  CHECK(fixture.flushed == 1);
}

TEST_CASE("A kernel without accesses ends its tracing") {
  Fixture fixture;
  runtime::Snooper snooper(fixture.channel, fixture.sink(), {.stall = 30ms});
  while (snooper.state() == SnooperState::running)
    std::this_thread::sleep_for(1ms);
  fixture.push(100); // eight fit: this returns only because of the stop word
  CHECK(snooper.finish() == SnooperState::stalled);
  CHECK(fixture.end_state == SnooperState::stalled);
}

TEST_CASE("A kernel without accesses is waited for where no producer waits for another") {
  Fixture fixture;
  runtime::Snooper snooper(fixture.channel, fixture.sink(), {.stall = 10ms, .ends_at_silence = false});
  std::this_thread::sleep_for(100ms);
  fixture.push(100);
  CHECK(snooper.finish() == SnooperState::complete);
}

TEST_CASE("A sink that takes no more ends the tracing") {
  Fixture fixture;
  runtime::Snooper snooper(fixture.channel, fixture.sink(20), {});
  fixture.push(10000);
  CHECK(snooper.finish() == SnooperState::sink_failed);
  CHECK(fixture.appended < 10000);
}

TEST_CASE("The number of accesses is bounded") {
  Fixture fixture;
  runtime::Snooper snooper(fixture.channel, fixture.sink(), {.accesses = 50});
  fixture.push(10000);
  CHECK(snooper.finish() == SnooperState::limit_reached);
  CHECK(fixture.appended >= 50);
  CHECK(fixture.appended < 100);
  CHECK(fixture.end_state == SnooperState::limit_reached);
}

TEST_CASE("A sink that never returns ends the tracing, and neither producers nor the program wait for it") {
  static std::atomic<bool> entered = false, released = false;
  static auto* const fixture =
      new Fixture; // it and the snooper outlive the test: the thread stays in its sink
  runtime::Sink sink = fixture->sink();
  sink.append = [](std::uint32_t, std::uint64_t, std::uint32_t, std::span<const trace::WarpAccess>) {
    entered = true;
    while (!released)
      std::this_thread::sleep_for(1ms);
    return true;
  };
  static auto* const snooper = new runtime::Snooper(fixture->channel, std::move(sink), {.stall = 50ms});
  std::thread producer([&] { fixture->push(100); }); // eight fit
  while (!entered)
    std::this_thread::sleep_for(1ms);
  CHECK(snooper->finish() == SnooperState::stuck);
  producer.join();
  CHECK(snooper->is_stuck());
  CHECK(snooper->abandon() == SnooperState::stuck);
  CHECK(fixture->end_state == SnooperState::stuck);
  released = true;
}

TEST_CASE("Nor do they wait for a sink whose last write never returns") {
  struct Stuck {
    Fixture fixture;
    std::atomic<bool> drained = false, entered = false, released = false;
    std::unique_ptr<runtime::Snooper> snooper;
  };
  static std::vector<Stuck*> outlive_the_test; // the threads stay in their sinks
  for (const bool abandoned : {false, true}) {
    Stuck& its = *outlive_the_test.emplace_back(new Stuck);
    runtime::Sink sink = its.fixture.sink();
    sink.flush = [&its](std::uint32_t) {
      its.entered = true;
      while (!its.released)
        std::this_thread::sleep_for(1ms);
      return true;
    };
    sink.append = [&its](std::uint32_t, std::uint64_t, std::uint32_t, std::span<const trace::WarpAccess>) {
      return its.drained = true;
    };
    its.snooper = std::make_unique<runtime::Snooper>(
        its.fixture.channel, std::move(sink), runtime::SnooperLimits{.stall = 50ms, .flush_interval = 1h});
    its.fixture.push(5);
    while (!its.drained)
      std::this_thread::sleep_for(1ms);
    CHECK((abandoned ? its.snooper->abandon() : its.snooper->finish()) == SnooperState::stuck);
    CHECK(its.entered);
    CHECK(its.fixture.end_state == SnooperState::stuck);
    its.released = true;
  }
}

TEST_CASE("A snooper that has ended by itself is not stuck") {
  Fixture fixture;
  runtime::Snooper snooper(fixture.channel, fixture.sink(), {.stall = 500ms});
  while (snooper.state() == SnooperState::running)
    CHECK_FALSE(snooper.is_stuck());
  CHECK(snooper.state() == SnooperState::stalled);
  CHECK_FALSE(snooper.is_stuck());
}

TEST_CASE("abandon() frees producers that wait") {
  Fixture fixture;
  auto snooper =
      std::make_unique<runtime::Snooper>(fixture.channel, fixture.sink(), runtime::SnooperLimits{});
  std::thread producer([&] { fixture.push(3'000'000); });
  std::this_thread::sleep_for(10ms);
  CHECK(snooper->abandon() == SnooperState::abandoned);
  producer.join();
  CHECK(fixture.end_state == SnooperState::running);
}

TEST_CASE("A program that exits while a launch ends: finish() and abandon() at the same time both return") {
  for (int round = 0; round < 300; ++round) {
    Fixture fixture;
    runtime::Snooper snooper(fixture.channel, fixture.sink(), {});
    fixture.push(20);
    std::atomic<int> ready = 0;
    const auto together = [&] {
      for (++ready; ready < 3;)
        std::this_thread::yield();
    };
    SnooperState finished{}, abandoned{};
    std::thread ends([&] {
      together();
      finished = snooper.finish();
    });
    std::thread exits([&] {
      together();
      abandoned = snooper.abandon();
    });
    together();
    static_cast<void>(snooper.is_stuck()); // the launch hook queries this, too
    ends.join();
    exits.join();
    CHECK(finished == abandoned);
    CHECK((finished == SnooperState::complete || finished == SnooperState::abandoned));
    CHECK(fixture.appended <= 20);
  }
}
