// The size of the snapshot that represents a launch: it depends on the GPU and the kernel only.
#include "model/snapshot/block_parts.h"
#include "model/snapshot/snapshot_builder.h"
#include "model/snapshot/snapshot_size.h"
#include "test/model/made_trace.h"

#include <functional>

using namespace warplens;
using test::gpu;
using test::MadeTrace;
using test::tiny;

namespace {

/// Makes blocks of one warp, each with this number of loads of one line.
MadeTrace loads(std::uint64_t blocks, std::uint64_t each) {
  MadeTrace made(blocks, 32);
  const auto load = made.site();
  for (std::uint64_t block = 0; block < blocks; ++block)
    for (std::uint64_t i = 0; i < each; ++i)
      made.access(block, 0, load, 4, [=](unsigned) { return (block * each + i) * 128; }, 1);
  return made;
}

} // namespace

TEST_CASE("Blocks are added until there are enough accesses, within the limits of the GPU's size") {
  const model::Gpu on = tiny();
  const auto [min, max, wave, sms] = model::snapshot_threads(on);
  CHECK(wave == 128);
  CHECK(sms == on.sms);
  CHECK(min == 2 * 128);
  CHECK(max == 32 * 128);
  const auto chosen = [&](std::uint64_t blocks, std::uint64_t each, std::uint32_t grid = 1000) {
    const MadeTrace made = loads(blocks, each);
    trace::Launch launch;
    launch.block.x = 32;
    launch.blocks = blocks;
    launch.grid.x = grid;
    const model::BlockWindows windows = model::collected_windows(launch, std::nullopt);
    return model::snapshot_blocks(*made.decode(), windows, launch, on, 4);
  };
  CHECK(chosen(200, 10) == 128);      // never enough accesses: the most threads
  CHECK(chosen(102, 10) == 100);      // all there are, but for a round that does not fill the SMs
  CHECK(chosen(102, 10, 102) == 102); // all of the grid
  CHECK(chosen(40, 40'000) == 24);    // 2^20 accesses are in the 27th block
  CHECK(chosen(20, 200'000) == 8);    // in the 6th: the least threads
  CHECK(chosen(3, 300'000) == 3);
}

TEST_CASE("Windows are replayed in proportion to the blocks that they stand for") {
  trace::Launch launch;
  launch.grid.x = 1000;
  launch.blocks = 1000;
  trace::LaunchEnd end;
  end.blocks = 100;
  end.windows = {{300, 50, 400}, {800, 20, 300}};
  const model::BlockWindows windows = model::collected_windows(launch, end);
  REQUIRE(windows == model::BlockWindows{{0, 100, 300}, {300, 50, 400}, {800, 20, 300}});
  CHECK(model::blocks_of(windows) == 170);
  // The last one has least for what it stands for: a fifteenth.
  CHECK(model::in_proportion(windows, 1000) ==
        model::BlockWindows{{0, 20, 300}, {300, 27, 400}, {800, 20, 300}});
  CHECK(model::in_proportion(windows, 20) == model::BlockWindows{{0, 6, 300}, {300, 8, 400}, {800, 6, 300}});
  CHECK(model::in_proportion(windows, 1) == model::BlockWindows{{0, 1, 300}, {300, 1, 400}, {800, 1, 300}});
  CHECK(model::in_proportion({{0, 100, 1000}}, 30) == model::BlockWindows{{0, 30, 1000}});
}

TEST_CASE("Windows of a damaged trace that are not behind each other are left out") {
  trace::Launch launch;
  launch.grid.x = launch.blocks = 1000;
  trace::LaunchEnd end;
  end.blocks = 100;
  end.windows = {{50, 10, 10}, {300, 50, 400}, {200, 10, 10}, {400, 0, 10}, {2000, 10, 10}};
  CHECK(model::collected_windows(launch, end) == model::BlockWindows{{0, 100, 600}, {300, 50, 400}});
}

TEST_CASE("A long first window is replayed in pieces, each in proportion") {
  CHECK(model::in_pieces({{0, 80, 80}}) == model::BlockWindows{{0, 10, 10},
                                                               {10, 10, 10},
                                                               {20, 10, 10},
                                                               {30, 10, 10},
                                                               {40, 10, 10},
                                                               {50, 10, 10},
                                                               {60, 10, 10},
                                                               {70, 10, 10}});
  CHECK(model::in_pieces({{0, 10, 500}, {600, 30, 500}}) ==
        model::BlockWindows{{0, 10, 500}, {600, 30, 500}});
  CHECK(model::in_pieces({{0, 250, 500}, {600, 30, 500}}) ==
        model::BlockWindows{{0, 125, 250}, {125, 125, 250}, {600, 30, 500}});
}

TEST_CASE("Whether blocks do the same is seen by their means and how much they vary") {
  const auto blocks = [](const std::function<std::uint64_t(std::uint64_t)>& work) {
    MadeTrace made(200, 32);
    const auto load = made.site();
    for (std::uint64_t block = 0; block < 200; ++block)
      for (std::uint64_t i = 0; i < work(block); ++i)
        made.access(block, 0, load, 4, [=](unsigned) { return (block * 100 + i) * 128; }, 1);
    return *made.decode();
  };
  CHECK(model::is_even(blocks([](std::uint64_t) { return 5; }), 100));
  CHECK(model::is_even(blocks([](std::uint64_t block) { return 1 + block * 2654435761u % 20; }), 100));
  CHECK_FALSE(model::is_even(blocks([](std::uint64_t block) { return 1 + block / 10; }), 100));
  CHECK(model::is_even(blocks([](std::uint64_t block) { return 1 + block / 10; }), 200)); // nothing is behind
}

TEST_CASE("A snapshot has the blocks of its windows, and represents all of the grid") {
  const MadeTrace made = loads(100, 3);
  trace::Launch launch;
  launch.block.x = 32;
  launch.grid.x = 200;
  launch.blocks = 100;
  model::SnapshotBuilder builder(made.sites(), launch, {{0, 10, 60}, {40, 20, 140}});
  for (std::uint64_t block = 0; block < 100; ++block)
    for (int i = 0; i < 3; ++i) {
      trace::WarpAccess access;
      access.site = made.sites().front().id;
      access.active = 1;
      access.bytes = 4;
      access.addresses[0] = 0x1000 + block * 128;
      REQUIRE(builder.add(block, 0, access));
    }
  const model::Snapshot snapshot = std::move(builder).finish(true);
  REQUIRE(snapshot.blocks.size() == 30);
  CHECK(snapshot.blocks[9].id == 9);
  CHECK(snapshot.blocks[10].id == 40);
  CHECK(snapshot.windows == std::vector<std::uint64_t>{0, 40});
  CHECK(snapshot.warp_accesses == 90);
  CHECK_FALSE(snapshot.whole_grid);
  CHECK(snapshot.further_blocks == 170);
}

TEST_CASE("Blocks that were seen to access nothing are as frequent in the rest of the launch") {
  MadeTrace made(640, 32);
  made.launch().grid.x = 10'000;
  made.access(0, 0, made.site(), 4, [](unsigned lane) { return 4 * lane; });
  const auto seen = made.decode({}, model::Accesses::cached, true), unknown = made.decode();
  REQUIRE((seen && unknown));
  CHECK(seen->blocks_seen == 640);
  CHECK(seen->further_blocks == Approx((10'000 - 640) / 640.0));
  CHECK(unknown->further_blocks == 9'999);
}

namespace {

/// A warp whose accesses are letters, one lane each; the n-th one accesses line n.
class Letters {
public:
  explicit Letters(std::map<char, Site> sites) {
    std::map<char, std::uint64_t> ids; // in the order of the letters
    for (const auto& [letter, site] : sites)
      ids[letter] = ids_[letter] = made_.site(site.kind, {}, site.sequence);
    for (const auto& [letter, site] : sites) {
      made_.site_of(ids[letter]).copies = site.copies;
      made_.site_of(ids[letter]).space = site.space;
      for (const std::uint64_t needed : site.depends_on)
        made_.site_of(ids[letter]).depends_on.push_back(ids.at(char(needed)));
    }
  }

  /// Returns the accesses in the order of the snapshot, as a letter and the number among its letter's, with
  /// bars between the bulks.
  std::string bulks(const std::string& trace, model::Accesses which = model::Accesses::all) {
    std::map<char, unsigned> count;
    std::vector<std::string> names;
    for (const char letter : trace) {
      const std::uint64_t line = names.size();
      names.push_back(fmt::format("{}{}", letter, count[letter]++));
      made_.access(
          0, 0, ids_.at(letter), 4, [&](unsigned) { return line * 128; }, 1,
          made_.site_of(ids_.at(letter)).space);
    }
    const auto snapshot = made_.decode({}, which);
    REQUIRE(snapshot);
    REQUIRE(snapshot->warps.size() == 1);
    std::string result;
    std::uint32_t bulks = 0;
    snapshot->warps[0].each_access([&](const model::Access& access, auto transactions) {
      REQUIRE(transactions.size() == 1);
      bulks += access.starts_bulk;
      result += fmt::format("{}{}",
                            result.empty()       ? ""
                            : access.starts_bulk ? " | "
                                                 : " ",
                            names.at(transactions[0].line));
    });
    CHECK(bulks == snapshot->warps[0].bulks);
    return result;
  }

private:
  MadeTrace made_{1, 32};
  std::map<char, std::uint64_t> ids_;
};

/// Describes a site for Letters.
Site lettered(std::uint32_t copies, std::uint32_t sequence = 0, std::vector<std::uint64_t> depends_on = {}) {
  Site site;
  site.space = Space::global;
  site.copies = copies;
  site.sequence = sequence;
  site.depends_on = std::move(depends_on);
  return site;
}

} // namespace

TEST_CASE("A loop that is not unrolled has a bulk for each iteration") {
  CHECK(Letters({{'a', lettered(1)}, {'b', lettered(1)}}).bulks("ababa") == "a0 b0 | a1 b1 | a2");
}

TEST_CASE("The loads of as many iterations as lie next to each other are one bulk") {
  CHECK(Letters({{'a', lettered(4)}}).bulks("aaaaaa") == "a0 a1 a2 a3 | a4 a5");
  CHECK(Letters({{'a', lettered(2)}, {'b', lettered(2)}}).bulks("ababab") == "a0 b0 a1 b1 | a2 b2");
}

TEST_CASE("A gather in an unrolled loop: the indices of several iterations, then their values") {
  Letters gather({{'a', lettered(4, 1, {'b'})}, {'b', lettered(4)}});
  CHECK(gather.bulks("babababababa") == "b0 b1 b2 b3 | a0 a1 a2 a3 | b4 b5 | a4 a5");
  Letters without_sequences({{'a', lettered(2, 0, {'b'})}, {'b', lettered(2)}});
  CHECK(without_sequences.bulks("bababa") == "b0 b1 | a0 a1 | b2 | a2");
}

TEST_CASE("A chain of three loads in an unrolled loop") {
  Letters chain({{'a', lettered(2)}, {'b', lettered(2, 1, {'a'})}, {'c', lettered(2, 2, {'b'})}});
  CHECK(chain.bulks("abcabcabc") == "a0 a1 | b0 b1 | c0 c1 | a2 | b2 | c2");
}

TEST_CASE("An inner loop that is unrolled fully in one that is unrolled partly") {
  Letters nested({{'a', lettered(6, 1, {'b'})}, {'b', lettered(2)}});
  CHECK(nested.bulks("baaabaaabaaa") == "b0 b1 | a0 a1 a2 a3 a4 a5 | b2 | a6 a7 a8");
}

TEST_CASE("An access that depends on its own site waits, whatever the number of copies") {
  CHECK(Letters({{'a', lettered(4, 0, {'a'})}}).bulks("aaa") == "a0 | a1 | a2");
}

TEST_CASE("The site with the fewest copies bounds the iterations that are merged") {
  CHECK(Letters({{'a', lettered(4)}, {'b', lettered(1)}}).bulks("abababa") == "a0 b0 a1 | b1 a2 | b2 a3");
}

TEST_CASE("No access is moved across a barrier or into another loop") {
  Letters loops({{'a', lettered(4)}, {'b', lettered(4, 1)}});
  CHECK(loops.bulks("aabbaabb") == "a0 a1 | b0 b1 | a2 a3 | b2 b3");
}

TEST_CASE("A barrier is a bulk of its own between the accesses before it and behind it") {
  MadeTrace made(1, 32);
  const auto load = made.site(), barrier = made.site(AccessKind::barrier);
  made.site_of(load).copies = 8;
  const auto add_load = [&] { made.access(0, 0, load, 4, [](unsigned lane) { return 4 * lane; }); };
  add_load();
  add_load();
  made.barrier(0, 0, barrier);
  add_load();
  const auto snapshot = made.decode({}, model::Accesses::all);
  REQUIRE(snapshot);
  CHECK(snapshot->has_barriers);
  CHECK(snapshot->warp_accesses == 3);
  const model::Warp& warp = snapshot->warps.at(0);
  CHECK(warp.bulks == 3);
  REQUIRE(warp.accesses.size() == 4);
  for (const std::size_t i : {0, 1, 2, 3}) {
    CHECK((warp.accesses[i].kind == AccessKind::barrier) == (i == 2));
    CHECK(warp.accesses[i].starts_bulk == (i != 1));
    CHECK(warp.accesses[i].transactions == (i == 2 ? 0 : 1));
  }
  REQUIRE(snapshot->sites.size() == 2);
  CHECK(snapshot->sites[1].executions == 1);
  CHECK(snapshot->sites[1].barriers == 1);
  CHECK(snapshot->sites[1].active_lanes == 32);
}

TEST_CASE("A snapshot of the accesses to the caches has no barriers") {
  MadeTrace with(2, 64), without(2, 64);
  for (MadeTrace* made : {&with, &without}) {
    const auto load = made->site(), barrier = made->site(AccessKind::barrier);
    for (const std::uint32_t warp : {0u, 1u}) {
      made->access(0, warp, load, 4, [](unsigned lane) { return 4 * lane; });
      if (made == &with)
        made->barrier(0, warp, barrier);
      made->access(0, warp, load, 4, [](unsigned lane) { return 4096 + 4 * lane; });
    }
    if (made == &with)
      made->barrier(1, 0, barrier); // a block without accesses
  }
  const auto one = with.decode(), other = without.decode();
  REQUIRE(one);
  REQUIRE(other);
  CHECK(one->blocks_seen == other->blocks_seen);
  CHECK(one->blocks.size() == other->blocks.size());
  CHECK(one->sites.size() == other->sites.size());
  CHECK(one->warp_accesses == other->warp_accesses);
  CHECK_FALSE(one->has_barriers);
  for (std::size_t i = 0; i < one->warps.size(); ++i) {
    CHECK(one->warps[i].bulks == other->warps[i].bulks);
    CHECK(one->warps[i].accesses.size() == other->warps[i].accesses.size());
  }
}

TEST_CASE("Lanes that arrive at a barrier one after the other are one arrival") {
  MadeTrace made(1, 32);
  const auto barrier = made.site(AccessKind::barrier), other = made.site(AccessKind::barrier);
  made.barrier(0, 0, barrier, 0x0000ffff);
  made.barrier(0, 0, barrier, 0xffff0000);
  made.barrier(0, 0, barrier);
  made.barrier(0, 0, other);
  made.barrier(0, 0, barrier);
  const auto snapshot = made.decode({}, model::Accesses::all);
  REQUIRE(snapshot);
  REQUIRE(snapshot->sites.size() == 2);
  CHECK(snapshot->sites[0].executions == 3);
  CHECK(snapshot->sites[0].active_lanes == 96);
  CHECK(snapshot->warps.at(0).accesses.size() == 4);
}

TEST_CASE("Warps of a block that is cut lie between the same barriers") {
  // Rounds of a barrier behind as many loads as the warp says.
  const auto snapshot_of = [](std::uint32_t of_first, std::uint32_t of_second, std::uint32_t rounds) {
    MadeTrace made(1, 64);
    const auto load = made.site(), barrier = made.site(AccessKind::barrier);
    for (const std::uint32_t warp : {0u, 1u})
      for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::uint32_t i = 0; i < (warp == 0 ? of_first : of_second); ++i)
          made.access(0, warp, load, 4, [](unsigned lane) { return 4 * lane; });
        made.barrier(0, warp, barrier);
      }
    const auto snapshot = made.decode({}, model::Accesses::all);
    REQUIRE(snapshot);
    return *snapshot;
  };
  const auto barriers_in = [](const model::WarpPart& part) {
    return std::count_if(part.begin, part.end,
                         [](const model::Access& access) { return access.kind == AccessKind::barrier; });
  };
  for (const auto& [first, second] : {std::pair(1u, 1u), std::pair(9u, 1u), std::pair(2u, 7u)}) {
    const model::Snapshot snapshot = snapshot_of(first, second, 5);
    const std::uint32_t bulks = snapshot.warps[0].bulks + snapshot.warps[1].bulks;
    for (double cut = 0; cut <= 1; cut += 0.01) {
      std::uint32_t bulks_of_parts = 0;
      std::array<std::ptrdiff_t, 2> behind{}, before{};
      for (const std::size_t warp : {0, 1}) {
        const auto part = model::part_of(snapshot.warps[warp], snapshot, {0, cut, 1});
        const auto rest = model::part_of(snapshot.warps[warp], snapshot, {0, 0, cut});
        CHECK(rest.end == part.begin);
        bulks_of_parts += part.bulks + rest.bulks;
        behind[warp] = barriers_in(part);
        before[warp] = barriers_in(rest);
      }
      INFO("cut at " << cut << " of " << first << " and " << second);
      CHECK(bulks_of_parts == bulks);
      CHECK(behind[0] == behind[1]);
      CHECK(before[0] == before[1]);
    }
  }
}

TEST_CASE("Within an iteration an access is not moved before another one") {
  Letters branch({{'a', lettered(2, 1, {'b'})}, {'b', lettered(2)}, {'c', lettered(2, 1)}});
  CHECK(branch.bulks("bacbac") == "b0 b1 | a0 c0 a1 c1");
}

namespace {

/// Describes a store of the value that another site loads.
Site stores(std::vector<std::uint64_t> depends_on, Space space = Space::global, std::uint32_t copies = 1) {
  Site site = lettered(copies, 0, std::move(depends_on));
  site.kind = AccessKind::store;
  site.space = space;
  return site;
}

} // namespace

TEST_CASE("A store waits for its value, and loads that it may change wait for the store") {
  const std::map<char, Site> copy{
      {'a', lettered(1)}, {'b', lettered(1)}, {'s', stores({'a'})}, {'t', stores({'b'})}};
  CHECK(Letters(copy).bulks("asbt") == "a0 | s0 b0 | t0");
  CHECK(Letters(copy).bulks("abstas") == "a0 b0 | s0 t0 | a1 | s1");
}

TEST_CASE("Loads are sent before stores to another memory space that wait for their values") {
  Letters copy({{'a', lettered(1)},
                {'b', lettered(1)},
                {'s', stores({'a'}, Space::local)},
                {'t', stores({'b'}, Space::local)}});
  CHECK(copy.bulks("asbt") == "a0 b0 | s0 t0");
}

TEST_CASE("Stores are not sent before stores") {
  const std::map<char, Site> both{{'a', lettered(1)}, {'s', stores({'a'}, Space::local)}, {'t', stores({})}};
  CHECK(Letters(both).bulks("tas") == "t0 a0 | s0");
  CHECK(Letters(both).bulks("ast") == "a0 | s0 t0");
}

TEST_CASE("The loads of a copy loop that is unrolled are one bulk, and its stores the next") {
  Letters copy({{'a', lettered(4)}, {'s', stores({'a'}, Space::global, 4)}});
  CHECK(copy.bulks("asasasasas") == "a0 a1 a2 a3 | s0 s1 s2 s3 | a4 | s4");
}

TEST_CASE("The paper's schedule keeps program order, and a bulk for each iteration") {
  Letters gather({{'a', lettered(4, 1, {'b'})}, {'b', lettered(4)}});
  CHECK(gather.bulks("baba", model::Accesses::cached) == "b0 | a0 | b1 | a1");
}

TEST_CASE("Lanes that the compiler aggregates are one atomic; a reduction is not awaited") {
  const auto atomics = [](const char* gpu_name, LaneAggregation aggregation, Space space, bool is_reduction) {
    MadeTrace made(1, 32);
    const std::uint64_t site = made.site(AccessKind::atomic);
    made.site_of(site).aggregation = aggregation;
    made.site_of(site).is_reduction = is_reduction;
    made.access(0, 0, site, 4, [](unsigned) { return 0x1000; }, ~0u, space);
    const auto snapshot = made.decode(gpu(gpu_name).lanes, model::Accesses::all);
    REQUIRE(snapshot);
    const model::Warp& warp = snapshot->warps[0];
    CHECK(warp.accesses[0].is_awaited == !is_reduction);
    CHECK(snapshot->sites[0].active_lanes == 32);
    return space == Space::shared ? unsigned(warp.accesses[0].passes) : unsigned(warp.transactions[0].mask);
  };
  using enum LaneAggregation;
  CHECK(atomics("k80", added, Space::global, true) == 32);
  CHECK(atomics("v100", added, Space::global, true) == 1);
  CHECK(atomics("v100", none, Space::global, true) == 32);
  CHECK(atomics("a100", reduced, Space::global, false) == 1);
  CHECK(atomics("v100", counted, Space::shared, true) == 32);
  CHECK(atomics("a100", counted, Space::shared, true) == 1);
  CHECK(atomics("a100", counted, Space::global, true) == 32);
}

TEST_CASE("Impossible accesses are refused with one line") {
  const auto error = [](std::uint64_t block, std::uint32_t warp, unsigned bytes, std::uint32_t active,
                        std::uint64_t site) {
    trace::Launch launch;
    launch.kernel = "k";
    launch.block.x = 64;
    launch.first_block = 10;
    launch.blocks = 4;
    Site known;
    known.id = 1;
    const std::vector<Site> sites{known};
    model::SnapshotBuilder builder(sites, launch);
    trace::WarpAccess access;
    access.site = site;
    access.bytes = std::uint16_t(bytes);
    access.active = active;
    const auto added = builder.add(block, warp, access);
    return added ? std::string() : added.error().message;
  };
  CHECK(error(10, 0, 4, 1, 1).empty());
  CHECK(error(14, 0, 4, 1, 1) ==
        "damaged trace: an access of kernel 'k', block 14, warp 0 is outside the launch's snapshot");
  CHECK(error(9, 0, 4, 1, 1).find("outside the launch's snapshot") != std::string::npos);
  CHECK(error(10, 2, 4, 1, 1).find("outside the block") != std::string::npos);
  CHECK(error(10, 0, 0, 1, 1).find("0 bytes per lane") != std::string::npos);
  CHECK(error(10, 0, 999, 1, 1).find("999 bytes per lane") != std::string::npos);
  CHECK(error(10, 0, 4, 0, 1).find("no active lane") != std::string::npos);
  CHECK(error(10, 0, 4, 1, 2).find("names site 0x2") != std::string::npos);
}
