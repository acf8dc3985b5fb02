// Kernels whose figures can be computed by hand. The tests assume no sector promotion (a miss fetches the
// requested sectors, on the C2050 the whole line), that a hit on a fill in flight is a hit, and that the L2
// starts cold.
#include "evaluated.h"

using namespace warplens;
using test::gpu;
using test::MadeTrace;

namespace {

constexpr std::uint64_t table = 0x7f00'0000'0000, second = 0x7f00'4000'0000;
constexpr std::uint32_t one_lane = 1;

} // namespace

TEST_CASE("A coalesced streaming copy") {
  for (const char* name : {"c2050", "v100", "a100", "h100-sxm"}) {
    INFO(name);
    constexpr unsigned blocks = 200, warps = 8, rounds = 4;
    MadeTrace made(blocks, 32 * warps);
    const auto load = made.site(AccessKind::load), store = made.site(AccessKind::store, {load});
    for (unsigned block = 0; block < blocks; ++block)
      for (unsigned warp = 0; warp < warps; ++warp)
        for (unsigned round = 0; round < rounds; ++round) {
          const std::uint64_t offset = ((block * warps + warp) * rounds + round) * 128;
          made.access(block, warp, load, 4, [=](unsigned lane) { return table + offset + 4 * lane; });
          made.access(block, warp, store, 4, [=](unsigned lane) { return second + offset + 4 * lane; });
        }
    const KernelResult result = evaluate(made, gpu(name));
    constexpr double bytes = double(blocks * warps * rounds) * 128;
    REQUIRE(result.sites.size() == 2);
    for (const SiteResult& site : result.sites) {
      CHECK(site.executions == blocks * warps * rounds);
      CHECK(site.active_lanes == 32);
      CHECK(*site.sectors_per_request == 4);
      CHECK(*site.bytes_used == bytes);
      CHECK(*site.bytes_moved == bytes);
      CHECK(site.l2_hit_rate->mean == 0);
      CHECK_FALSE(site.bank_conflicts);
    }
    CHECK(result.sites[0].l1_hit_rate->mean == 0);
    CHECK_FALSE(result.sites[1].l1_hit_rate); // a store brings nothing into the L1
    CHECK(result.totals.l1_read_hit_rate->mean == 0);
    CHECK(result.totals.l2_read_hit_rate->mean == 0);
    CHECK(result.totals.l2_write_hit_rate->mean == 0);
    CHECK(*result.totals.dram_read_bytes == bytes);
    // The C2050 updates memory on a store miss; the others keep 800 KiB of written data in their L2.
    CHECK(*result.totals.dram_write_bytes == (std::string(name) == "c2050" ? bytes : 0));
    CHECK(*result.sites[0].latency_share + *result.sites[1].latency_share == Approx(1));
    CHECK(result.sites[0].latency_ns->mean >=
          gpu(name).dram.latency_ns - gpu(name).dram.activate_ns); // rows may be open
  }
}

TEST_CASE("One thread walks memory: the L1 hit rate at each stride") {
  for (const unsigned stride : {4u, 8u, 16u, 32u, 64u, 128u, 256u}) {
    MadeTrace made(1, 32);
    const auto load = made.site();
    for (unsigned i = 0; i < 8192; ++i)
      made.access(0, 0, load, 4, [=](unsigned) { return table + std::uint64_t{i} * stride; }, one_lane);
    // The first touch of each 32 bytes misses in an L1 with sectors, that of each 128 in one without.
    for (const auto& [name, fetched] : {std::pair("v100", 32u), std::pair("a100", 32u),
                                        std::pair("h100-pcie", 32u), std::pair("c2050", 128u)}) {
      INFO(name << ", stride " << stride);
      const KernelResult result = evaluate(made, gpu(name));
      const double expected = stride >= fetched ? 0 : 1 - double(stride) / fetched;
      CHECK(result.sites[0].l1_hit_rate->mean == Approx(expected).margin(0.005));
      CHECK(*result.sites[0].sectors_per_request == 1);
      CHECK(result.sites[0].active_lanes == 1);
      CHECK(*result.sites[0].bytes_used == 4 * 8192);
      CHECK(*result.sites[0].bytes_moved == 32 * 8192);
    }
  }
}

TEST_CASE("A table read again and again: three quarters of the L1, and twice the L1") {
  // One warp reads the table from end to end, eight times.
  constexpr unsigned rounds = 8;
  for (const auto& [name, l1_kib] : {std::pair("c2050", 16u), std::pair("v100", 128u),
                                     std::pair("a100", 192u), std::pair("h100-sxm", 256u)}) {
    INFO(name);
    const auto of_table = [&, id = name](std::uint64_t bytes) {
      MadeTrace made(1, 32);
      const auto load = made.site();
      for (unsigned round = 0; round < rounds; ++round)
        for (std::uint64_t at = 0; at < bytes; at += 128)
          made.access(0, 0, load, 4, [=](unsigned lane) { return table + at + 4 * lane; });
      return evaluate(made, gpu(id));
    };
    const KernelResult small = of_table(l1_kib * 1024 * 3 / 4);
    CHECK(small.sites[0].l1_hit_rate->mean == Approx(7.0 / 8)); // the first round is cold
    CHECK(small.sites[0].l2_hit_rate->mean == 0);
    const KernelResult large = of_table(l1_kib * 1024 * 2);
    CHECK(large.sites[0].l1_hit_rate->mean == 0); // LRU has just evicted the next line
    CHECK(large.sites[0].l2_hit_rate->mean == Approx(7.0 / 8));
    CHECK(*large.totals.dram_read_bytes == l1_kib * 1024 * 2);
  }
}

TEST_CASE("All blocks read the same line") {
  constexpr unsigned blocks = 264, reads = 10;
  MadeTrace made(blocks, 32);
  const auto load = made.site();
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned i = 0; i < reads; ++i)
      made.access(block, 0, load, 4, [](unsigned lane) { return table + 4 * lane; });
  for (const char* name : {"c2050", "v100", "h100-sxm"}) {
    INFO(name);
    const model::Gpu on = gpu(name);
    const KernelResult result = evaluate(made, on);
    // Each SM misses once, and the first of them misses in the L2.
    CHECK(result.sites[0].l1_hit_rate->mean == Approx(1 - double(on.sms) / (blocks * reads)));
    CHECK(result.sites[0].l2_hit_rate->mean == Approx(1 - 1.0 / on.sms));
    CHECK(*result.totals.dram_read_bytes == 128);
  }
}

TEST_CASE("float4 loads and the copy of a struct of 12 bytes") {
  MadeTrace made(1, 32);
  const auto vector = made.site();
  const std::uint64_t members[] = {made.site(), made.site(), made.site()};
  constexpr unsigned rounds = 64;
  for (unsigned i = 0; i < rounds; ++i) {
    made.access(0, 0, vector, 16, [=](unsigned lane) { return table + i * 512 + 16 * lane; });
    for (unsigned m = 0; m < 3; ++m)
      made.access(0, 0, members[m], 4, [=](unsigned lane) { return second + i * 384 + 12 * lane + 4 * m; });
  }
  const KernelResult result = evaluate(made, gpu("v100"), 8);
  CHECK(*result.sites[0].sectors_per_request == 16);
  CHECK(*result.sites[0].bytes_used == rounds * 512);
  CHECK(result.sites[0].l1_hit_rate->mean == 0);
  // All three members' accesses touch the same 12 sectors.
  for (unsigned m = 1; m <= 3; ++m) {
    CHECK(*result.sites[m].sectors_per_request == 12);
    CHECK(*result.sites[m].bytes_used == rounds * 128);
    CHECK(*result.sites[m].bytes_moved == rounds * 384);
    CHECK(result.sites[m].l1_hit_rate->mean == (m == 1 ? 0 : 1));
  }
}

TEST_CASE("Figures that depend on the order within a warp only are exact") {
  // Short blocks, many to an SM, each of code that runs once: a row is brought in by one line of source and
  // hit by the next two, the last of them behind a dependence.
  constexpr unsigned blocks = 700, warps = 4;
  MadeTrace made(blocks, 32 * warps);
  const auto brings = made.site(), hits = made.site(), later = made.site(AccessKind::load, {hits});
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned warp = 0; warp < warps; ++warp)
      for (const auto site : {brings, hits, later})
        made.access(block, warp, site, 4,
                    [=](unsigned lane) { return table + (block * warps + warp) * 128 + 4 * lane; });
  for (const char* name : {"c2050", "v100", "a100", "h100-sxm"})
    for (const auto placement : {model::BlockPlacement::in_order, model::BlockPlacement::random}) {
      INFO(name << ", placement " << int(placement));
      model::Gpu on = gpu(name);
      on.schedule.placement = placement;
      on.l1.ways = 64; // lines from anywhere may meet in a set of two or three
      on.l1.early_usable = 0;
      const KernelResult result = evaluate(made, on);
      CHECK(result.sites[0].l1_hit_rate->mean == 0);
      CHECK(result.sites[1].l1_hit_rate->mean == 1);
      CHECK(result.sites[2].l1_hit_rate->mean == 1);
    }
}

TEST_CASE("Latency is that of the slowest transaction") {
  // Lane 0 always reads one line, which stays in the L1; lane 1 walks through lines that were never seen
  // before.
  MadeTrace made(1, 32);
  const auto mixed = made.site();
  const auto hit = made.site();
  for (std::uint64_t i = 0; i < 500; ++i) {
    made.access(0, 0, hit, 4, [](unsigned) { return table; }, one_lane);
    made.access(0, 0, mixed, 4, [=](unsigned lane) { return lane == 0 ? table : second + i * 128; }, 0b11);
  }
  const model::Gpu on = gpu("v100");
  const KernelResult result = evaluate(made, on);
  CHECK(result.sites[0].l1_hit_rate->mean == Approx(0.5).margin(0.002));
  CHECK(result.sites[0].latency_ns->mean > on.dram.latency_ns - on.dram.activate_ns - 1);
  CHECK(result.sites[1].latency_ns->mean == Approx(on.l1.latency_ns).epsilon(0.05)); // but for the first
}

TEST_CASE("Shared memory uses no cache, constant memory its own, updates and atomics the others") {
  MadeTrace made(1, 32);
  const auto shared = made.site(), constant = made.site(), update = made.site(AccessKind::update),
             atomic = made.site(AccessKind::atomic);
  for (std::uint64_t i = 0; i < 100; ++i) {
    made.access(0, 0, shared, 4, [](unsigned lane) { return 8 * lane; }, ~0u, Space::shared);
    made.access(0, 0, constant, 4, [](unsigned) { return 64; }, ~0u, Space::constant);
    made.access(0, 0, update, 4, [=](unsigned lane) { return table + i * 128 + 4 * lane; });
    made.access(0, 0, atomic, 4, [](unsigned) { return second; });
  }
  const model::Gpu on = gpu("v100");
  const KernelResult result = evaluate(made, on);
  CHECK(*result.sites[0].bank_conflicts == 1);
  CHECK_FALSE(result.sites[0].sectors_per_request);
  CHECK_FALSE(result.sites[0].l1_hit_rate);
  CHECK(result.sites[0].latency_ns->mean == Approx(on.shared.latency_ns + on.shared.pass_ns));
  CHECK(result.sites[0].site.space == Space::shared);

  // One line, cold once.
  CHECK_FALSE(result.sites[1].l1_hit_rate);
  CHECK(result.sites[1].constant_hit_rate->mean == Approx(0.99));
  CHECK(result.sites[1].l2_hit_rate->mean == 0);
  CHECK(result.sites[1].latency_parts->constant_ns == Approx(0.99 * on.constant.latency_ns));
  CHECK(result.totals.constant_hit_rate->mean == Approx(0.99));
  CHECK(result.totals.constant_group_hit_rate->mean == 0);

  // The update's load misses everywhere; its store finds what the load brought in.
  CHECK(result.sites[2].l1_hit_rate->mean == 0);
  CHECK(result.sites[2].l2_hit_rate->mean == 0);
  // One sector for all lanes, cold once.
  CHECK_FALSE(result.sites[3].l1_hit_rate);
  CHECK(result.sites[3].l2_hit_rate->mean == Approx(0.99));
  CHECK(result.totals.l2_write_hit_rate->mean ==
        Approx(499.0 / 500)); // 400 sectors of updates, 100 of atomics
  CHECK(*result.totals.dram_read_bytes == 100 * 128 + 32 + on.constant.group.line_bytes);
}

TEST_CASE("On the C2050 a store hits only where an earlier store missed") {
  MadeTrace made(1, 32);
  const auto load = made.site(), first = made.site(AccessKind::store, {load}),
             again = made.site(AccessKind::store, {}, 1);
  for (std::uint64_t i = 0; i < 64; ++i) {
    const auto address = [=](unsigned lane) { return table + i * 128 + 4 * lane; };
    made.access(0, 0, load, 4, address);
    made.access(0, 0, first, 4, address);
    made.access(0, 0, again, 4, address);
  }
  const KernelResult result = evaluate(made, gpu("c2050"));
  CHECK(result.sites[1].l2_hit_rate->mean == 0); // the load's block does not count
  CHECK(result.sites[2].l2_hit_rate->mean == 1);
  CHECK(result.totals.l2_write_hit_rate->mean == 0.5);
  CHECK(*result.totals.dram_write_bytes == 64 * 128);
}

TEST_CASE("Loads by ld.global.cg bypass the L1") {
  MadeTrace made(1, 32);
  const auto load = made.site();
  made.site_of(load).cache_operator = CacheOperator::cg;
  for (unsigned i = 0; i < 10; ++i)
    made.access(0, 0, load, 4, [](unsigned lane) { return table + 4 * lane; });
  const KernelResult result = evaluate(made, gpu("v100"));
  CHECK_FALSE(result.sites[0].l1_hit_rate);
  CHECK(result.sites[0].l2_hit_rate->mean == 0.9);
}

TEST_CASE("Stores of a part of a sector") {
  // 4000 structs of 16 bytes, of which one store writes 8 and, once all of those are done, another the other
  // 8; then an array of 16 MiB is written, which drives the structs out of the V100's L2 of 6 MiB.
  constexpr unsigned rows = 125;
  constexpr std::uint64_t array = table + (64 << 20);
  const auto of_fields = [&](model::PartialWrites policy, bool other_half, bool load) {
    MadeTrace made(1, 32);
    const auto first = made.site(AccessKind::store), other = made.site(AccessKind::store, {}, 1),
               read = made.site(AccessKind::load, {}, 2), stream = made.site(AccessKind::store, {}, 3);
    const auto field = [&](std::uint64_t site, unsigned bytes, unsigned offset) {
      for (std::uint64_t row = 0; row < rows; ++row)
        made.access(0, 0, site, bytes, [=](unsigned lane) { return table + row * 512 + 16 * lane + offset; });
    };
    field(first, 8, 0);
    if (other_half)
      field(other, 8, 8);
    if (load)
      field(read, 8, 0);
    for (std::uint64_t at = 0; at < 16 << 20; at += 512)
      made.access(0, 0, stream, 16, [=](unsigned lane) { return array + at + 16 * lane; });
    model::Gpu on = gpu("v100");
    on.l2.partial_writes = policy;
    return evaluate(made, on, 2);
  };
  using model::PartialWrites;
  constexpr double structs = rows * 512;
  struct Expected {
    PartialWrites policy;
    bool other_half, load;
    double read;
  };
  for (const Expected& expected : {
           Expected{PartialWrites::whole, false, false, 0},
           {PartialWrites::mask, false, false, 0},
           {PartialWrites::fill, false, false, structs},  // before they are written back
           {PartialWrites::fetch, false, false, structs}, // before they are written
           {PartialWrites::mask, true, false, 0},         // both halves make it whole
           {PartialWrites::fill, true, false, 0},
           {PartialWrites::fetch, true, false, structs},
           {PartialWrites::whole, false, true, 0},
           {PartialWrites::mask, false, true, structs}, // the load fetches the rest
           {PartialWrites::fill, false, true, structs}, // and then nothing is left to fill
           {PartialWrites::fill, true, true, 0},
       }) {
    INFO("policy " << int(expected.policy) << ", other half " << expected.other_half << ", load "
                   << expected.load);
    const KernelResult result = of_fields(expected.policy, expected.other_half, expected.load);
    CHECK(*result.totals.dram_read_bytes == expected.read);
    CHECK(*result.totals.dram_write_bytes >= structs);
    if (expected.load)
      CHECK(result.totals.l2_read_hit_rate->mean == (expected.read == 0 ? 1 : 0));
  }
}

TEST_CASE("A miss of the L2 brings in the sectors that are fetched together") {
  MadeTrace made(1, 32);
  const auto load = made.site();
  for (unsigned i = 0; i < 4096; ++i)
    made.access(0, 0, load, 4, [=](unsigned) { return table + std::uint64_t{i} * 32; }, one_lane);
  model::Gpu on = gpu("v100");
  for (const std::uint32_t bytes : {32u, 64u, 128u}) {
    on.l2.fetch_bytes = bytes;
    const KernelResult result = evaluate(made, on, 2);
    CHECK(result.totals.l2_read_hit_rate->mean == Approx(1 - 32.0 / bytes));
    CHECK(*result.totals.dram_read_bytes == 4096 * 32);
  }
}

TEST_CASE("A store that evicts the sectors that it writes from the L1") {
  MadeTrace made(1, 32);
  const auto load = made.site(), store = made.site(AccessKind::store, {load}),
             again = made.site(AccessKind::load, {store}, 1);
  for (unsigned i = 0; i < 100; ++i) {
    const auto line = [=](unsigned lane) { return table + i * 128ull + 4 * lane; };
    made.access(0, 0, load, 4, line);
    made.access(0, 0, store, 4, line, 0xff); // one of the line's four sectors
    made.access(0, 0, again, 4, line);
  }
  model::Gpu on = gpu("v100");
  on.l1.stores = model::L1Stores::evict_on_hit;
  CHECK(evaluate(made, on).sites[2].l1_hit_rate->mean == 0.75);
  on.l1.sectored = false;
  CHECK(evaluate(made, on).sites[2].l1_hit_rate->mean == 0);
  on.l1.stores = model::L1Stores::update_on_hit;
  CHECK(evaluate(made, on).sites[2].l1_hit_rate->mean == 1);
}

TEST_CASE("Constant memory serves one address after the other") {
  MadeTrace made(1, 32);
  const auto first = made.site(), one = made.site(), many = made.site();
  const auto constant = [&](std::uint64_t site, const test::Addresses& address) {
    made.access(0, 0, site, 4, address, ~0u, Space::constant);
  };
  constant(first, [](unsigned) { return 64; });
  constant(one, [](unsigned) { return 68; });
  constant(many, [](unsigned lane) { return lane / 4 * 4; });
  const model::Gpu on = gpu("v100");
  const KernelResult result = evaluate(made, on);
  CHECK(result.sites[0].latency_ns->mean > on.l2.latency_ns);
  CHECK(result.sites[1].latency_ns->mean == Approx(on.constant.latency_ns));
  // The first of eight addresses misses; the others lie in its line. The group has it, in the line of 256
  // bytes that came for the first access.
  CHECK(result.sites[2].constant_hit_rate->mean == 7.0 / 8);
  CHECK_FALSE(result.sites[2].l2_hit_rate);
  CHECK(result.sites[2].latency_ns->mean == Approx(on.constant.group.latency_ns + 7 * on.constant.pass_ns));
}

TEST_CASE("A group of SMs shares a constant cache, and all groups the L2") {
  // A block for each of the V100's 80 SMs, which make up five groups of 14 and one of 10.
  MadeTrace made(80, 32);
  const auto load = made.site();
  for (std::uint64_t block = 0; block < 80; ++block)
    made.access(block, 0, load, 4, [](unsigned) { return 4; }, ~0u, Space::constant);
  const KernelResult result = evaluate(made, gpu("v100"));
  CHECK(result.totals.constant_hit_rate->mean == 0);
  CHECK(result.totals.constant_group_hit_rate->mean == Approx(74.0 / 80));
  CHECK(result.totals.l2_read_hit_rate->mean == Approx(5.0 / 6)); // eight sectors each, in memory once
  CHECK(*result.totals.dram_read_bytes == 256);
}

TEST_CASE("A table larger than the constant cache, read in order, is never there") {
  // 4 KiB against 2 KiB on the V100: LRU keeps what comes last. The group's 64 KiB hold it.
  MadeTrace made(1, 32);
  const auto load = made.site();
  for (unsigned round = 0; round < 10; ++round)
    for (std::uint64_t line = 0; line < 64; ++line)
      made.access(0, 0, load, 4, [=](unsigned) { return 64 * line; }, ~0u, Space::constant);
  model::Gpu on = gpu("v100");
  CHECK(evaluate(made, on).totals.constant_hit_rate->mean == 0);
  CHECK(evaluate(made, on).totals.constant_group_hit_rate->mean == Approx(1 - 16.0 / 640));
  on.constant.bytes = 4096;
  CHECK(evaluate(made, on).totals.constant_hit_rate->mean == Approx(0.9));
}

TEST_CASE("Local memory stays in the L1 of a C2050 until it is evicted") {
  // One warp stores a number of lines of local memory, then loads them in the same order. The L1 has 128
  // lines.
  const auto spilled = [](std::uint64_t lines, const char* name) {
    MadeTrace made(1, 32);
    const auto store = made.site(AccessKind::store), load = made.site();
    for (const auto site : {store, load})
      for (std::uint64_t i = 0; i < lines; ++i)
        made.access(
            0, 0, site, 4, [=](unsigned lane) { return table + i * 128 + 4 * lane; }, ~0u, Space::local);
    return evaluate(made, gpu(name));
  };
  const KernelResult fits = spilled(100, "c2050");
  CHECK(fits.sites[0].latency_ns->mean == Approx(gpu("c2050").l1.latency_ns));
  CHECK(fits.sites[1].l1_hit_rate->mean == 1);
  CHECK_FALSE(fits.totals.l2_read_hit_rate);
  CHECK_FALSE(fits.totals.l2_write_hit_rate);

  // Each line is evicted once, by a later store or a load, and is in the L2 when it is loaded again.
  const KernelResult overflows = spilled(256, "c2050");
  CHECK(overflows.sites[1].l1_hit_rate->mean == 0);
  CHECK(overflows.sites[1].l2_hit_rate->mean == 1);
  CHECK_FALSE(overflows.sites[0].l2_hit_rate);
  CHECK(overflows.totals.l2_write_hit_rate->mean == 0);
  CHECK(*overflows.totals.dram_write_bytes == 256 * 128);

  // The L40 writes through: each store is the L2's, and each load misses in the L1.
  const KernelResult through = spilled(100, "l40");
  CHECK(through.sites[0].l2_hit_rate->mean == 0);
  CHECK(through.sites[1].l1_hit_rate->mean == 0);
  CHECK(through.sites[1].l2_hit_rate->mean == 1);
}

TEST_CASE("On a K80 read-only loads have a cache of their own, and the L1 is for local memory") {
  // Loads of three kinds go twice over every second sector of 32 KiB, which the read-only cache of 48 KiB
  // holds.
  MadeTrace made(1, 32);
  const auto plain = made.site(), read_only = made.site(), asks_for_l1 = made.site();
  made.site_of(read_only).cache_operator = CacheOperator::nc;
  made.site_of(asks_for_l1).cache_operator = CacheOperator::ca;
  for (const auto site : {plain, read_only, asks_for_l1})
    for (unsigned round = 0; round < 2; ++round)
      for (std::uint64_t i = 0; i < 16; ++i)
        made.access(0, 0, site, 4,
                    [=](unsigned lane) { return (site << 20) + i * 2048 + lane / 2 * 128 + lane % 2 * 64; });
  const model::Gpu on = gpu("k80");
  const KernelResult result = evaluate(made, on);
  CHECK_FALSE(result.sites[0].l1_hit_rate);
  CHECK(result.sites[0].l2_hit_rate->mean == 0.5);
  CHECK(result.sites[1].l1_hit_rate->mean == 0.5);
  CHECK(result.sites[1].l2_hit_rate->mean == 0);
  CHECK(result.sites[1].latency_parts->l1_ns == Approx(0.5 * on.read_only.latency_ns));
  // The L1 of 48 KiB holds them as whole lines.
  CHECK(result.sites[2].l1_hit_rate->mean == 0.5);
  CHECK(evaluate(made, gpu("v100")).sites[1].l1_hit_rate->mean == 0.5); // the L1's
}

TEST_CASE("Texture fetches go through the cache that the GPU has for them") {
  // A fetch, a read-only load and a plain one each go twice over 10 KiB: the C2050's texture cache has 12
  // KiB, in lines of 32 bytes, and serves fetches only; the K80's fetches share the cache of 48 KiB with the
  // read-only loads, which have the same addresses; the V100's L1 serves all.
  MadeTrace made(1, 32);
  const auto fetch = made.site(), read_only = made.site(), plain = made.site();
  made.site_of(fetch).cache_operator = CacheOperator::tex;
  made.site_of(read_only).cache_operator = CacheOperator::nc;
  for (const auto site : {fetch, read_only, plain})
    for (unsigned round = 0; round < 2; ++round)
      for (std::uint64_t i = 0; i < 80; ++i)
        made.access(0, 0, site, 4, [=](unsigned lane) { return i * 128 + lane * 4; });

  const model::Gpu fermi = gpu("c2050");
  const KernelResult own = evaluate(made, fermi);
  CHECK(own.sites[0].l1_hit_rate->mean == 0.5);
  CHECK(own.sites[0].latency_parts->l1_ns == Approx(0.5 * fermi.texture.latency_ns));
  CHECK(own.sites[1].l1_hit_rate->mean == 0.5); // the fetches were not in the L1
  CHECK(own.sites[2].l1_hit_rate->mean == 1);

  const KernelResult shared = evaluate(made, gpu("k80"));
  CHECK(shared.sites[0].l1_hit_rate->mean == 0.5);
  CHECK(shared.sites[1].l1_hit_rate->mean == 1);
  CHECK_FALSE(shared.sites[2].l1_hit_rate);

  const KernelResult unified = evaluate(made, gpu("v100"));
  CHECK(unified.sites[0].l1_hit_rate->mean == 0.5);
  CHECK(unified.sites[1].l1_hit_rate->mean == 1);
  CHECK(unified.sites[2].l1_hit_rate->mean == 1);

  // 14 KiB, again and again: more than the C2050's texture cache has.
  MadeTrace large(1, 32);
  const auto again = large.site();
  large.site_of(again).cache_operator = CacheOperator::tex;
  for (unsigned round = 0; round < 4; ++round)
    for (std::uint64_t i = 0; i < 112; ++i)
      large.access(0, 0, again, 4, [=](unsigned lane) { return i * 128 + lane * 4; });
  CHECK(evaluate(large, fermi).sites[0].l1_hit_rate->mean == 0); // LRU, and each set has 28 lines for 24 ways
  CHECK(evaluate(large, gpu("k80")).sites[0].l1_hit_rate->mean == 0.75);
}

TEST_CASE("A store to a surface is a store") {
  MadeTrace made(1, 32);
  const auto store = made.site(AccessKind::store), load = made.site();
  for (const auto site : {store, load})
    made.site_of(site).cache_operator = CacheOperator::tex;
  for (const auto site : {store, load})
    made.access(0, 0, site, 4, [](unsigned lane) { return lane * 4; });
  for (const char* name : {"c2050", "k80", "l40"}) {
    const KernelResult result = evaluate(made, gpu(name));
    CHECK_FALSE(result.sites[0].l1_hit_rate);
    CHECK(result.sites[1].l1_hit_rate->mean == 0);
    CHECK(result.sites[1].l2_hit_rate->mean == 1);
  }
}

TEST_CASE("Wide accesses on the C2050 are several requests") {
  // All lanes read the same 16 bytes twice, of a line that nothing else uses: four quarter-warps, of which
  // the first misses.
  MadeTrace made(1, 32);
  const auto load = made.site();
  made.access(0, 0, load, 16, [](unsigned) { return table; });
  CHECK(evaluate(made, gpu("c2050")).sites[0].l1_hit_rate->mean == 0.75);
  CHECK(*evaluate(made, gpu("c2050")).sites[0].sectors_per_request == 4);
  CHECK(evaluate(made, gpu("v100")).sites[0].l1_hit_rate->mean == 0);
  CHECK(*evaluate(made, gpu("v100")).sites[0].sectors_per_request == 1);
}
