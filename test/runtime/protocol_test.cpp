// The ring-buffer protocol with real threads: blocks, fragments of one warp, and the host.
#include "runtime/host/channel_memory.h"
#include "runtime/host/drain.h"
#include "test/catch.h"

#include <atomic>
#include <map>
#include <thread>
#include <vector>

using namespace warplens;

namespace {

struct TestChannel {
  explicit TestChannel(const ring::Extent& extent)
      : local(extent.local_bytes()), shared(extent.shared_bytes()),
        channel(ring::lay_out(extent, local.data(), shared.data())) {}

  void stop() { scoped::store_release(channel.stop, std::uint32_t{1}); }

  ring::HostMemory local, shared;
  ring::Channel channel;
};

/// Returns a line that identifies its writer: the site counts within (block, warp, fragment).
ring::Line line(std::uint64_t count, std::uint32_t fragment) {
  ring::Line made{};
  made.site = count;
  made.active = fragment == 0 ? 0x0000ffff : 0xffff0000;
  made.bytes = 4;
  made.space = 1;
  made.kind = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    made.addresses[lane] = count * 1000 + lane;
  return made;
}

constexpr std::uint32_t fragments = 2;

/// Runs one warp of a block: two fragments, each a thread, push `lines` lines at once.
void run_warp(ring::BlockBuffer* buffer, std::uint32_t warp, std::uint64_t lines) {
  std::vector<std::thread> threads;
  for (std::uint32_t fragment = 0; fragment < fragments; ++fragment)
    threads.emplace_back([=] {
      for (std::uint64_t count = 1; count <= lines; ++count)
        ring::push(buffer, warp, line(count, fragment));
      ring::leave(buffer, 16);
    });
  for (std::thread& thread : threads)
    thread.join();
}

} // namespace

TEST_CASE("No line is lost and each warp's lines stay in order, however small the rings") {
  const std::uint32_t capacity = GENERATE(1u, 3u, 64u);
  constexpr std::uint64_t blocks = 8, lines = 150;
  constexpr std::uint32_t warps = 2, buffers = 2, workers = 3;
  // There are more workers than buffers, and more blocks than both: blocks wait for buffers, and warps for
  // the host.
  TestChannel test({.first_block = 5,
                    .blocks = blocks,
                    .buffers = buffers,
                    .warps = warps,
                    .capacity = capacity,
                    .first_choices = buffers});

  std::atomic<std::uint64_t> next_block = 5;
  std::atomic<std::uint32_t> running = workers;
  std::vector<std::thread> threads;
  for (std::uint32_t worker = 0; worker < workers; ++worker)
    threads.emplace_back([&] {
      for (std::uint64_t block; (block = next_block++) < 5 + blocks;) {
        ring::BlockBuffer* const buffer = ring::enter(&test.channel, block, warps * 32);
        std::thread second_warp([&] { run_warp(buffer, 1, lines); });
        run_warp(buffer, 0, lines);
        second_warp.join();
      }
      --running;
    });

  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::uint64_t> last;
  bool in_order = true, intact = true;
  runtime::Drain drain(test.channel);
  const auto visit = [&](std::uint64_t block, std::uint32_t warp,
                         std::span<const trace::WarpAccess> accesses) {
    for (const trace::WarpAccess& access : accesses) {
      const std::uint32_t fragment = access.active == 0x0000ffff ? 0 : 1;
      in_order &= access.site == ++last[{block, warp, fragment}];
      for (unsigned lane = 0; lane < 32; ++lane)
        intact &= access.addresses[lane] == (access.active >> lane & 1 ? access.site * 1000 + lane : 0);
    }
  };
  std::uint64_t drained = 0;
  while (running != 0) {
    drained += drain.once(visit);
    std::this_thread::yield();
  }
  while (const std::uint64_t more = drain.once(visit))
    drained += more;
  for (std::thread& thread : threads)
    thread.join();

  CHECK(in_order);
  CHECK(intact);
  CHECK(drained == blocks * warps * fragments * lines);
  REQUIRE(last.size() == blocks * warps * fragments);
  for (const auto& [producer, count] : last) {
    CHECK(std::get<0>(producer) >= 5);
    CHECK(count == lines);
  }
  for (std::uint32_t buffer = 0; buffer < buffers; ++buffer)
    CHECK(test.channel.block_buffers[buffer].occupants == 0);
}

TEST_CASE("Blocks outside the snapshot get no buffer") {
  TestChannel test(
      {.first_block = 2, .blocks = 3, .buffers = 4, .warps = 1, .capacity = 4, .first_choices = 1});
  CHECK(ring::enter(&test.channel, 1, 32) == nullptr);
  CHECK(ring::enter(&test.channel, 5, 32) == nullptr);
  CHECK(ring::enter(&test.channel, 2, 32) != nullptr);
  CHECK(ring::enter(&test.channel, 4, 32) != nullptr);
}

TEST_CASE("A buffer is free once the last thread has left, and not before") {
  TestChannel test({.blocks = 2, .buffers = 1, .warps = 1, .capacity = 4, .first_choices = 1});
  ring::BlockBuffer* const first = ring::enter(&test.channel, 0, 32);
  std::atomic<bool> entered = false;
  std::thread second([&] {
    ring::leave(ring::enter(&test.channel, 1, 32), 32);
    entered = true;
  });
  ring::leave(first, 31);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(entered);
  ring::leave(first, 1);
  second.join();
  CHECK(entered);
}

TEST_CASE("The stop word ends every wait") {
  TestChannel test({.blocks = 3, .buffers = 1, .warps = 1, .capacity = 2, .first_choices = 1});
  ring::BlockBuffer* const buffer = ring::enter(&test.channel, 0, 32);
  std::atomic<int> waiting = 2;
  bool refused = false;
  std::thread producer([&] { // without a drain it fills the ring and waits
    for (std::uint64_t count = 1; count <= 100; ++count)
      ring::push(buffer, 0, line(count, 0));
    --waiting;
  });
  std::thread block([&] { // the only buffer is taken: it waits
    refused = ring::enter(&test.channel, 1, 32) == nullptr;
    --waiting;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(waiting == 2);
  test.stop();
  producer.join();
  block.join();
  CHECK(waiting == 0);
  CHECK(refused);
  CHECK(ring::enter(&test.channel, 2, 32) == nullptr);

  runtime::Drain drain(test.channel);
  std::vector<std::uint64_t> sites;
  drain.once([&](std::uint64_t, std::uint32_t, std::span<const trace::WarpAccess> accesses) {
    for (const trace::WarpAccess& access : accesses)
      sites.push_back(access.site);
  });
  CHECK(sites == std::vector<std::uint64_t>{1, 2}); // the lines committed before are a prefix without gaps
}
