#include "runtime/cpu/execution/snapshot_windows.h"
#include "runtime/host/snapshot.h"
#include "test/catch.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

using namespace warplens;

namespace {
trace::Launch launch(std::uint32_t blocks, std::uint32_t threads) {
  trace::Launch made;
  made.kernel = std::string("k");
  made.grid = {blocks, 1, 1};
  made.block = {threads, 1, 1};
  made.blocks = blocks;
  return made;
}
} // namespace

TEST_CASE("The snapshot covers the requested threads in whole blocks, and no more than there are") {
  runtime::Settings settings;
  settings.snapshot_threads = 1000;
  settings.snapshot_wave_threads = 300;
  settings.snapshot_max_threads = 2000;
  const auto blocks = [&](std::uint32_t of_grid, std::uint32_t threads) {
    const auto [least, most, wave] = runtime::snapshot_blocks(settings, launch(of_grid, threads));
    CHECK(wave <= least);
    return std::pair(least, most);
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(blocks(100, 256) == Pair(4, 8));
  CHECK(blocks(6, 256) == Pair(4, 6));
  CHECK(blocks(3, 256) == Pair(3, 3));
  CHECK(blocks(100, 1000) == Pair(1, 2));
  settings.snapshot_max_threads = 500;
  CHECK(blocks(100, 256) == Pair(4, 4));
  settings.snapshot_blocks = 17;
  CHECK(blocks(100, 256) == Pair(17, 17));
  CHECK(blocks(3, 256) == Pair(3, 3));
}

TEST_CASE("A wave has no more blocks than SMs have room for, in registers and shared memory") {
  runtime::Settings settings;
  settings.snapshot_sms = 10;
  settings.snapshot_wave_threads = 10 * 2048;
  trace::Launch made = launch(1000, 256);
  CHECK(runtime::snapshot_blocks(settings, made).wave == 80); // nothing is known but threads
  made.machine_code = {{.capability = 80, .registers = 121}, {.capability = 90, .registers = 130}};
  CHECK(runtime::snapshot_blocks(settings, made).wave == 20); // 128 registers × 256 threads, twice in 65,536
  made.dynamic_shared_bytes = 120 << 10;
  CHECK(runtime::snapshot_blocks(settings, made).wave == 10);
  made.dynamic_shared_bytes = 300 << 10;
  CHECK(runtime::max_blocks_of_sm(made) == 1); // no GPU runs it, but the program tried
}

using Role = cpu::SnapshotWindows::Role;

namespace {

/// Runs the blocks of a launch in order, of which each does `work(block)`; returns the roles that they had.
std::vector<Role> run(cpu::SnapshotWindows& windows, std::uint64_t blocks,
                      const std::function<std::uint64_t(std::uint64_t)>& work) {
  std::vector<Role> roles;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    roles.push_back(windows.admit(block));
    if (roles.back() != Role::untraced)
      windows.ended(block, roles.back(), trace::LaunchWork{work(block), 4 * work(block)});
  }
  return roles;
}

} // namespace

TEST_CASE("The limit of records ends a snapshot with a whole block, in whatever order blocks end") {
  const runtime::SnapshotGoal goal{
      .min_blocks = 50, .max_blocks = 100, .enough_accesses = 1000, .max_records = 35};
  for (const bool are_in_order : {true, false}) {
    cpu::SnapshotWindows windows(100, goal);
    for (const std::uint64_t block : {0u, 1u, 2u, 3u, 4u, 5u})
      CHECK(windows.admit(block) == Role::recorded);
    for (std::uint64_t i = 0; i < 6; ++i)
      windows.ended(are_in_order ? i : 5 - i, Role::recorded, trace::LaunchWork{5, 5}, 10);
    CHECK(windows.admit(6) != Role::recorded);
    CHECK(windows.first_blocks() == 4); // 35 records are in the fourth
    CHECK(windows.is_cut());
    CHECK_FALSE(windows.has_part_of_block());
    CHECK(windows.further_windows().empty());
  }
  cpu::SnapshotWindows whole(3, goal);
  for (const std::uint64_t block : {0u, 1u, 2u}) {
    CHECK(whole.admit(block) == Role::recorded);
    whole.ended(block, Role::recorded, trace::LaunchWork{5, 5}, 12);
  }
  CHECK(whole.first_blocks() == 3);
  CHECK_FALSE(whole.is_cut());
}

TEST_CASE("A block with more records than the limit is left out, unless it is the first") {
  const runtime::SnapshotGoal goal{
      .min_blocks = 50, .max_blocks = 100, .enough_accesses = 1000, .max_records = 35};
  const auto after = [&](const std::vector<std::uint64_t>& records) {
    auto windows = std::make_unique<cpu::SnapshotWindows>(100, goal);
    for (std::uint64_t block = 0; block < records.size(); ++block)
      if (windows->admit(block) == Role::recorded)
        windows->ended(block, Role::recorded, trace::LaunchWork{5, 5}, records[block]);
    CHECK(windows->is_cut());
    return windows;
  };
  const auto later = after({10, 10, 36});
  CHECK(later->first_blocks() == 2);
  CHECK_FALSE(later->has_part_of_block());
  const auto first = after({36, 10});
  CHECK(first->first_blocks() == 1);
  CHECK(first->has_part_of_block());
}

TEST_CASE("Blocks that are not observed do what the observed ones before them do") {
  cpu::SnapshotWindows windows(100, {.min_blocks = 8, .max_blocks = 8});
  for (std::uint64_t block = 0; block < 8; ++block) {
    CHECK(windows.admit(block) == Role::recorded);
    windows.ended(block, Role::recorded,
                  block < 2 ? std::optional(trace::LaunchWork{10 + block * 2, 4}) : std::nullopt);
  }
  for (std::uint64_t block = 8; block < 100; ++block)
    if (windows.admit(block) != Role::untraced)
      windows.ended(block, Role::counted, trace::LaunchWork{11, 4});
  CHECK(windows.of_launch() == trace::LaunchWork{1100, 400});
  CHECK(windows.further_windows().empty());
}

TEST_CASE("A snapshot continues until its whole blocks have enough accesses") {
  cpu::SnapshotWindows windows(100, {2, 100, 30});
  for (const std::uint64_t block : {0u, 1u, 2u, 3u})
    CHECK(windows.admit(block) == Role::recorded);
  windows.ended(0, Role::recorded, trace::LaunchWork{10, 0});
  windows.ended(2, Role::recorded,
                trace::LaunchWork{1000, 0}); // block 1 is still under way: the rest may be cut off
  CHECK(windows.admit(4) == Role::recorded);
  CHECK(windows.first_blocks() == 100);
  windows.ended(1, Role::recorded, trace::LaunchWork{10, 0});
  CHECK(windows.admit(7) != Role::recorded);
  CHECK(windows.admit(5) != Role::recorded);
  CHECK(windows.first_blocks() == 5);

  cpu::SnapshotWindows shallow(100, {20, 100, 1});
  shallow.ended(0, Role::recorded, trace::LaunchWork{5, 0});
  CHECK(shallow.admit(19) == Role::recorded);
  CHECK(shallow.admit(20) != Role::recorded);
  CHECK(shallow.first_blocks() == 20);
}

TEST_CASE("Blocks that do the same leave the snapshot with the first ones, and scouts are few") {
  cpu::SnapshotWindows windows(100'000, {100, 10'000, 5'000});
  const std::vector<Role> roles = run(windows, 100'000, [](std::uint64_t) { return 20; });
  CHECK(windows.first_blocks() == 250);
  CHECK(windows.further_windows().empty());
  const auto scouts = std::ranges::count(roles, Role::counted);
  CHECK(scouts >= 56);
  CHECK(scouts <= 63);
  CHECK(windows.of_launch() == trace::LaunchWork{2'000'000, 8'000'000});
}

TEST_CASE(
    "Where the work of blocks grows along the grid, windows across it are recorded, and stand for all") {
  cpu::SnapshotWindows windows(100'000, {400, 10'000, 5'000});
  const std::vector<Role> roles = run(windows, 100'000, [](std::uint64_t block) { return 1 + block / 1000; });
  const std::vector<trace::BlockWindow> further = windows.further_windows();
  REQUIRE(further.size() >= 5); // the last parts differ by little from those before
  std::uint64_t represented = 0, recorded = windows.first_blocks();
  double mean = 0;
  for (const trace::BlockWindow& window : further) {
    represented += window.stands_for;
    recorded += window.blocks;
    CHECK(window.blocks >= 100);
    for (std::uint64_t block = window.first; block < window.first + window.blocks; ++block)
      CHECK(roles[block] == Role::recorded);
    mean += double(window.stands_for) * double(1 + window.first / 1000);
  }
  CHECK(represented == 100'000 - windows.first_blocks());
  CHECK(mean / double(represented) == Approx(50.5).epsilon(0.04));
  CHECK(std::uint64_t(std::ranges::count(roles, Role::recorded)) == recorded);
  CHECK(double(windows.of_launch().accesses) == Approx(5'050'000).epsilon(0.03));
}

TEST_CASE("Blocks whose work differs at random do not open windows") {
  const auto work = [](std::uint64_t block) { return 10 + block * 2654435761u % 21; };
  cpu::SnapshotWindows windows(100'000, {400, 10'000, 10'000});
  run(windows, 100'000, work);
  CHECK(windows.further_windows().size() <= 1);
}

TEST_CASE("A snapshot of a number of blocks that was asked for has no windows") {
  cpu::SnapshotWindows windows(1000, {50, 50, 1, true});
  run(windows, 1000, [](std::uint64_t block) { return block; });
  CHECK(windows.first_blocks() == 50);
  CHECK(windows.further_windows().empty());
}

TEST_CASE("A launch that is only counted has scouts across all of its grid") {
  cpu::SnapshotWindows windows(10'000);
  const std::vector<Role> roles = run(windows, 10'000, [](std::uint64_t block) { return block; });
  CHECK(std::ranges::count(roles, Role::recorded) == 0);
  CHECK(std::ranges::count(roles, Role::counted) <= 60);
  CHECK(double(windows.of_launch().accesses) == Approx(49'995'000).epsilon(0.02));
}

TEST_CASE("Scouts do not keep step with the grid's rows") {
  // Every fifth block, the last of its row, does a fifth of the others' work.
  cpu::SnapshotWindows windows(56 * 15);
  run(windows, 56 * 15, [](std::uint64_t block) { return block % 5 == 4 ? 20 : 100; });
  CHECK(double(windows.of_launch().accesses) == Approx(56 * 15 * 84).epsilon(0.1));
}

TEST_CASE("Of a few blocks, all are recorded or counted") {
  const std::uint64_t blocks = GENERATE(1u, 2u, 5u, 9u);
  cpu::SnapshotWindows counted(blocks);
  const auto work = [](std::uint64_t) { return 7; };
  run(counted, blocks, work);
  CHECK(counted.of_launch().accesses == 7 * blocks);
  cpu::SnapshotWindows recorded(blocks, {2, blocks, 1});
  run(recorded, blocks, work);
  CHECK(recorded.of_launch().accesses == 7 * blocks);
  CHECK(recorded.first_blocks() == std::min<std::uint64_t>(blocks, 2));
}

TEST_CASE("A channel stays within its memory") {
  const std::uint32_t threads = GENERATE(1u, 32u, 100u, 1024u);
  const std::uint32_t blocks = GENERATE(1u, 50u, 100000u);
  const std::size_t shared = GENERATE(std::size_t{1} << 20, std::size_t{128} << 20);
  const auto extent = runtime::extent_within(launch(blocks, threads), std::size_t{16} << 20, shared);
  REQUIRE(extent);
  CHECK(extent->local_bytes() <= std::size_t{16} << 20);
  CHECK(extent->shared_bytes() <= shared);
  CHECK(extent->buffers >= 1);
  CHECK(extent->buffers <= blocks);
  CHECK(extent->warps == (threads + 31) / 32);
  // One more buffer would not fit, or is not needed.
  auto larger = *extent;
  ++larger.buffers;
  if (extent->buffers < blocks && extent->capacity == 16)
    CHECK((larger.shared_bytes() > shared || larger.local_bytes() > std::size_t{16} << 20));
}

TEST_CASE("The error names the kernel if not one buffer fits") {
  const auto extent = runtime::extent_within(launch(10, 1024), 1 << 20, 1000);
  REQUIRE_FALSE(extent);
  CHECK(extent.error().message.find("of k fits") != std::string::npos);
}

TEST_CASE("The parts of a channel do not overlap") {
  const ring::Extent extent{.blocks = 5, .buffers = 3, .warps = 2, .capacity = 4, .first_choices = 1};
  ring::HostMemory local(extent.local_bytes()), shared(extent.shared_bytes());
  const ring::Channel channel = ring::lay_out(extent, local.data(), shared.data());
  const auto address = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  CHECK(address(channel.stopped) == address(local.data()));
  CHECK(address(channel.launch) >= address(channel.stopped + 1));
  CHECK(address(channel.block_buffers) >= address(channel.launch + 1));
  CHECK(address(channel.rings) >= address(channel.block_buffers + 3));
  CHECK(address(channel.buffer_of_block) >= address(channel.rings + 6));
  CHECK(address(local.data()) + extent.local_bytes() >= address(channel.buffer_of_block + 5));
  CHECK(address(channel.stop) == address(shared.data()));
  CHECK(address(channel.entered) >= address(channel.stop + 1));
  CHECK(address(channel.drained) >= address(channel.entered + 3));
  CHECK(address(channel.slots) >= address(channel.drained + 6));
  CHECK(address(shared.data()) + extent.shared_bytes() >= address(channel.slots + 24));
}

TEST_CASE("Memory of an earlier channel can be cleared for another") {
  const ring::Extent extent{.blocks = 5, .buffers = 3, .warps = 2, .capacity = 4, .first_choices = 1};
  ring::HostMemory local(extent.local_bytes()), shared(extent.shared_bytes());
  std::memset(shared.data(), 0xff, extent.shared_bytes());
  const ring::Channel channel = ring::lay_out(extent, local.data(), shared.data());
  ring::clear_shared(channel);
  CHECK(*channel.stop == 0);
  CHECK(
      std::all_of(channel.entered, channel.entered + 3, [](std::uint32_t entered) { return entered == 0; }));
  CHECK(
      std::all_of(channel.drained, channel.drained + 6, [](std::uint64_t drained) { return drained == 0; }));
  CHECK(std::all_of(channel.slots, channel.slots + 24,
                    [](const ring::Slot& slot) { return slot.committed == 0; }));
}
