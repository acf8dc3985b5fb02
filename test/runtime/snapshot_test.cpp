#include "runtime/cpu/execution/snapshot_depth.h"
#include "runtime/host/snapshot.h"
#include "test/catch.h"

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
  settings.snapshot_max_threads = 2000;
  const auto blocks = [&](std::uint32_t of_grid, std::uint32_t threads) {
    const auto [least, most] = runtime::snapshot_blocks(settings, launch(of_grid, threads));
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

TEST_CASE("A snapshot continues until its whole blocks have enough accesses") {
  cpu::SnapshotDepth depth(0, 100, {2, 30});
  for (const std::uint64_t block : {0u, 1u, 2u, 3u})
    CHECK(depth.admits(block));
  depth.ended(0, 10);
  depth.ended(2, 1000); // block 1 is still under way: the rest may be cut off
  CHECK(depth.admits(4));
  CHECK(depth.blocks() == 100);
  depth.ended(1, 10);
  CHECK_FALSE(depth.admits(7));
  CHECK_FALSE(depth.admits(5));
  CHECK(depth.blocks() == 5);

  cpu::SnapshotDepth shallow(10, 100, {20, 1});
  shallow.ended(10, 5);
  CHECK(shallow.admits(29));
  CHECK_FALSE(shallow.admits(30));
  CHECK(shallow.blocks() == 20);
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
