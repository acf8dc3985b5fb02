// Trials on a clock against the reference that steps every cycle.
#include "model/clock/clocked_trial.h"
#include "model/figures.h"
#include "test/catch.h"
#include "test/model/made_code.h"
#include "test/model/made_trace.h"
#include "test/model/reference_clock.h"

#include <numeric>

namespace warplens::test {
namespace {

/// Makes accesses of every kind, to few lines, so that they meet; and barriers, of which not all warps of a
/// block need have as many.
model::Snapshot anything(Random& random) {
  model::Snapshot made;
  made.sites.resize(4);
  made.sites[1].cached = made.sites[2].cached = 1;
  made.byte_masks = {{~std::uint64_t{0}, ~std::uint64_t{0}}, {0xff, 0xff00}};
  const std::uint32_t blocks = 1 + random.below(7), lines = 1 + random.below(200);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const std::uint32_t warps = 1 + random.below(4);
    made.blocks.push_back({block, std::uint32_t(made.warps.size()), warps});
    for (std::uint32_t number = 0; number < warps; ++number) {
      model::Warp& warp = made.warps.emplace_back();
      for (std::uint32_t i = 0, accesses = 1 + random.below(9); i < accesses; ++i) {
        model::Access access;
        access.site = random.below(4);
        access.kind = random.below(2) == 0 ? AccessKind::load : AccessKind(random.below(4));
        access.skips_l1 = access.kind == AccessKind::atomic || random.below(9) == 0;
        access.is_awaited = access.kind == AccessKind::load || access.kind == AccessKind::update ||
                            (access.kind == AccessKind::atomic && random.below(2) == 0);
        access.starts_bulk = i == 0 || random.below(3) == 0;
        warp.bulks += access.starts_bulk;
        if (random.below(5) == 0) {
          access.kind = AccessKind::barrier;
          access.is_awaited = access.skips_l1 = false;
          made.has_barriers = true;
          warp.accesses.push_back(access);
          continue;
        }
        if (random.below(6) == 0)
          access.cache = model::FirstCache::shared;
        else
          access.transactions = std::uint8_t(1 + random.below(random.below(4) == 0 ? 12 : 2));
        access.passes = std::uint8_t(std::max(1 + random.below(5), (access.transactions + 1u) / 2));
        for (unsigned t = 0; t < access.transactions; ++t)
          warp.transactions.push_back({random.below(lines), 1 + random.below(15),
                                       access.kind == AccessKind::store    ? random.below(2)
                                       : access.kind == AccessKind::atomic ? 1 + random.below(9)
                                                                           : 0});
        warp.accesses.push_back(access);
      }
    }
  }
  for (model::SiteSummary& site : made.sites)
    site.adds_floats = random.below(3) == 0;
  finalize(made);
  return made;
}

/// Lets a contribution to a phase of a block also be one to a phase of another block behind it, at times, so
/// that no two blocks wait for each other. Arrivals with asynchronous copies are the block's own, by PTX.
void add_random_owners(model::Snapshot& snapshot, const model::Snapshot::Block& block, model::PhaseRole role,
                       std::vector<model::PhaseUse>& phases, Random& random) {
  const auto own = std::uint32_t(&block - snapshot.blocks.data());
  const auto behind = std::uint32_t(snapshot.blocks.size()) - 1 - own;
  if (role == model::PhaseRole::waits || role == model::PhaseRole::arrives_with_copies || behind == 0 ||
      random.below(3) != 0)
    return;
  phases.back().goes_on = true;
  model::PhaseUse other = random.below(3);
  other.owner = std::int32_t(1 + random.below(behind));
  if (random.below(8) == 0)
    other.number = model::PhaseUse::no_block;
  else
    snapshot.blocks[own + std::uint32_t(other.owner)].phases_of_others.push_back(other.number);
  snapshot.joins_blocks = true;
  phases.push_back(other);
}

/// Gives accesses a part in phases of barriers in shared memory, which take the place of those of blocks: in
/// a random order of the block's accesses, each waits for phases only to which what comes before contributes.
void add_random_phases(model::Snapshot& snapshot, Random& random) {
  constexpr model::PhaseRole arrivals[] = {model::PhaseRole::arrives, model::PhaseRole::arrives_with_copies,
                                           model::PhaseRole::arrives_with_products};
  snapshot.has_barriers = false;
  for (const model::Snapshot::Block& block : snapshot.blocks) {
    std::vector<std::size_t> next(block.warps);
    std::uint32_t current = 0, unfinished = block.warps;
    while (unfinished != 0) {
      const std::uint32_t number = random.below(block.warps);
      model::Warp& warp = snapshot.warps[block.first_warp + number];
      if (next[number] == warp.accesses.size())
        continue;
      model::Access& access = warp.accesses[next[number]++];
      unfinished -= next[number] == warp.accesses.size();
      if (access.kind == AccessKind::barrier) {
        access.kind = AccessKind::load;
        access.cache = model::FirstCache::shared;
        access.is_awaited = true;
      }
      current += random.below(3) == 0;
      const bool is_shared = access.cache == model::FirstCache::shared;
      if ((!is_shared && access.kind != AccessKind::load) || random.below(4) == 0)
        continue;
      const bool waits = is_shared && current != 0 && random.below(2) == 0;
      access.phase = waits       ? model::PhaseRole::waits
                     : is_shared ? arrivals[random.below(3)]
                                 : model::PhaseRole::copies;
      if (!is_shared) {
        access.is_awaited = false;
        access.skips_l1 = true;
      }
      model::PhaseUse use = waits ? random.below(current) : current;
      if (!waits && random.below(4) == 0)
        use.bytes = 16 * random.below(64);
      warp.phases.push_back(use);
      add_random_owners(snapshot, block, access.phase, warp.phases, random);
    }
  }
}

/// Changes the GPU's figures at random, to small caches and few resources.
model::Gpu any_gpu(Random& random) {
  model::Gpu gpu = *model::load_gpu("a100", WARPLENS_GPU_FOLDER);
  gpu.sms = 1 + random.below(4);
  gpu.l1.early_usable = 0;
  gpu.l1.ways = 1 + random.below(4);
  gpu.l1.sectored = random.below(3) != 0;
  gpu.l1.stores = model::L1Stores(random.below(3));
  gpu.l2.partitions = 1 + random.below(2);
  gpu.l2_bytes = 1024u << random.below(5);
  gpu.l2.ways = 2;
  gpu.l2.usable = 1;
  gpu.l2.early_usable = random.below(2) == 0 ? 0 : 0.75;
  gpu.l2.slices = 2u << random.below(3);
  gpu.l2.latency_ns = 20 + random.below(100);
  gpu.l2.hop_ns = 4 + random.below(60);
  gpu.l2.hop_bytes_per_ns = 20 + random.below(100);
  gpu.l2.bytes_per_ns = 40 + random.below(300);
  gpu.l2.pass_bytes = 32u << random.below(3);
  gpu.l2.write_bytes_per_ns = 20 + random.below(150);
  gpu.l2.partial_write_cost = 1 + 0.25 * random.below(9);
  gpu.l2.read_cost = 0.25 * random.below(5);
  gpu.l2.atomics_per_ns = 1 + random.below(9);
  gpu.l2.float_sum_cost = 1 + 0.5 * random.below(5);
  gpu.l2.stores = model::L2Stores(random.below(2));
  gpu.l2.partial_writes = gpu.l2.stores == model::L2Stores::allocate ? model::PartialWrites(random.below(4))
                                                                     : model::PartialWrites::whole;
  gpu.l2.fetch_bytes = 32u << random.below(2);
  gpu.dram.latency_ns = gpu.l2.latency_ns + gpu.dram.activate_ns + gpu.dram.burst_ns + random.below(90);
  gpu.dram.channels = 1 + random.below(3);
  gpu.dram.banks = 1u << random.below(3);
  gpu.dram.write_batch_sectors = 1 + random.below(20);
  gpu.dram.opening_ns = random.below(4);
  gpu.issue.schedulers = 1 + random.below(4);
  gpu.issue.policy = model::IssuePolicy(random.below(model::issue_policies));
  gpu.issue.cycles_per_access = 1 + random.below(12);
  gpu.issue.barrier_cycles = random.below(30);
  gpu.issue.barrier_interval = random.below(4);
  gpu.issue.turnover_cycles = random.below(300);
  gpu.lsu.queue_entries = 1 + random.below(6);
  gpu.lsu.scheduler_cycles = random.below(6);
  gpu.lsu.cycles = 1 + random.below(2);
  gpu.lsu.misses = random.below(3) == 0 ? 1 + random.below(24) : 0;
  gpu.lsu.stores = 1 + random.below(20);
  gpu.lsu.l2_bytes_per_cycle = 8 << random.below(4);
  gpu.lsu.l2_write_bytes_per_cycle = 8 << random.below(4);
  gpu.lanes.tags_per_pass = 2;
  return gpu;
}

struct Launch {
  model::Snapshot snapshot;
  model::Gpu gpu;
  model::Occupancy occupancy;
};
Launch any_launch(Random& random) {
  return {anything(random), any_gpu(random), {1 + random.below(3), 0, 512u << random.below(3), "warps"}};
}

TEST_CASE("A trial on a clock equals the reference, whatever the machine, its policy and the code") {
  Random random(7, 0, 0), of_phases(8, 0, 0);
  for (int round = 0; round < 2000; ++round) {
    auto [snapshot, gpu, occupancy] = any_launch(random);
    if (round % 4 == 3)
      add_random_phases(snapshot, of_phases);
    if (round >= 1500)
      add_random_code(snapshot, random);
    const Random of_trial(1, 0, std::uint32_t(round));
    model::TrialCounts slow = ReferenceClock(snapshot, gpu, occupancy, of_trial).run();
    model::TrialCounts fast = model::run_clocked_trial(snapshot, gpu, occupancy, of_trial);
    INFO("round " << round << ": " << gpu.sms << " SMs, " << gpu.l2.partitions << " partitions, policy "
                  << int(gpu.issue.policy) << ", " << gpu.lsu.misses << " misses, stores "
                  << int(gpu.l2.stores));
    REQUIRE(fast.time.cycles == slow.time.cycles);
    REQUIRE(fast.time.instructions == slow.time.instructions);
    REQUIRE(fast.time.warp_cycles == slow.time.warp_cycles);
    REQUIRE(fast.states == slow.states);
    std::uint64_t all_states = 0;
    for (const model::StateCounts& at : fast.states)
      all_states = std::accumulate(at.cycles.begin(), at.cycles.end(), all_states);
    REQUIRE(double(all_states) == fast.time.warp_cycles);
    REQUIRE(fast.l1_reads == slow.l1_reads);
    REQUIRE(fast.l2_reads == slow.l2_reads);
    REQUIRE(fast.l2_writes == slow.l2_writes);
    REQUIRE(fast.dram_read_sectors == slow.dram_read_sectors);
    REQUIRE(fast.dram_written_sectors == slow.dram_written_sectors);
    for (std::size_t site = 0; site < snapshot.sites.size(); ++site) {
      const auto &a = fast.sites[site], &b = slow.sites[site];
      REQUIRE(a.l1 == b.l1);
      REQUIRE(a.l2 == b.l2);
      for (std::size_t level = 0; level < model::levels; ++level)
        REQUIRE(std::abs(a.latency_ns[level] - b.latency_ns[level]) < 1e-6 * (1 + b.latency_ns[level]));
      REQUIRE(a.awaited == b.awaited);
      REQUIRE(a.throttled_cycles == b.throttled_cycles);
      for (std::size_t resource = 0; resource < resource_count; ++resource)
        if (Resource(resource) != Resource::dram) // of which writes of evicted lines are shared out
          REQUIRE(std::abs(a.occupied[resource] - b.occupied[resource]) < 1e-6 * (1 + b.occupied[resource]));
    }
  }
}

TEST_CASE("Warps that wait for phases which others never complete go on when nothing else does") {
  // Each arrives where the other waits, behind its own wait: other blocks let them pass where they ran.
  model::Snapshot made;
  made.sites.resize(1);
  made.byte_masks = {{~std::uint64_t{0}, ~std::uint64_t{0}}};
  made.blocks.push_back({0, 0, 2});
  for (std::uint32_t number = 0; number < 2; ++number) {
    model::Warp& warp = made.warps.emplace_back();
    for (const model::PhaseRole role : {model::PhaseRole::waits, model::PhaseRole::arrives}) {
      model::Access access;
      access.cache = model::FirstCache::shared;
      access.starts_bulk = true;
      access.phase = role;
      warp.accesses.push_back(access);
      warp.phases.push_back(role == model::PhaseRole::waits ? number : 1 - number);
    }
    warp.bulks = 2;
  }
  finalize(made);
  const model::Gpu gpu = *model::load_gpu("h100-sxm", WARPLENS_GPU_FOLDER);
  const auto trial = model::run_clocked_trial(made, gpu, {1, 0, 1024u, "warps"}, Random(1, 0, 0));
  CHECK(trial.time.instructions == 4);
}

TEST_CASE("A warp waits at a barrier until the last one of its block has arrived") {
  // Warp 0 meets warp 1, which loads from shared memory before, twice, one load after the other.
  model::Gpu gpu = *model::load_gpu("a100", WARPLENS_GPU_FOLDER);
  gpu.issue.cycles_per_access = 1;
  const auto trial = [&](bool has_barrier) {
    MadeTrace made(1, 64);
    const auto first = made.site(AccessKind::load, {}, 0), second = made.site(AccessKind::load, {first}, 1);
    const auto barrier = made.site(AccessKind::barrier), last = made.site(AccessKind::load, {}, 2);
    const auto load = [&](std::uint32_t warp, std::uint64_t site) {
      made.access(0, warp, site, 4, [](unsigned lane) { return 4 * lane; }, ~0u, Space::shared);
    };
    load(1, first);
    load(1, second);
    for (const std::uint32_t warp : {0u, 1u}) {
      if (has_barrier)
        made.barrier(0, warp, barrier);
      load(warp, last);
    }
    const auto snapshot = made.decode(gpu.lanes, model::Accesses::all);
    REQUIRE(snapshot);
    return std::pair(*snapshot,
                     model::run_clocked_trial(*snapshot, gpu, {1, 2, 32 * 1024, "warps"}, Random(1, 0, 0)));
  };
  const auto [snapshot, counts] = trial(true);
  const auto site_of_line = [&, &known = snapshot](std::uint32_t site) {
    for (std::size_t i = 0; i < known.sites.size(); ++i)
      if (known.sites[i].site == site)
        return counts.sites[i];
    FAIL("no such site");
    return model::TrialCounts::Site{};
  };
  const double latency = std::round(gpu.cycles(gpu.shared.latency_ns)); // from the issue to the result
  // Warp 0 arrives in cycle 0. Warp 1 issues its loads in cycles 0 and L, arrives in 2 L, the barrier counts
  // it, and both go on: warp 0 has waited from cycle 1 on, and warp 1 for the barrier alone. Their last loads
  // pass the memory pipeline one after the other, so the later result is there L + 1 later. Without a barrier
  // warp 1's first load passes behind warp 0's.
  const double release = gpu.issue.barrier_interval + gpu.issue.barrier_cycles; // from the last arrival on
  CHECK(site_of_line(2).awaited == 2 * latency + 2 * (release - 1));
  CHECK(double(counts.time.cycles) == 3 * latency + release + 1);
  CHECK(counts.time.warp_cycles == 2 * (3 * latency + release + 1));
  CHECK(site_of_line(2).throttled_cycles == 0);
  CHECK(double(trial(false).second.time.cycles) == 3 * latency + 1);
}

TEST_CASE("No resource is busy for longer than a trial takes") {
  Random random(8, 0, 0);
  for (int round = 0; round < 500; ++round) {
    const auto [snapshot, gpu, occupancy] = any_launch(random);
    const model::TrialCounts trial =
        model::run_clocked_trial(snapshot, gpu, occupancy, Random(1, 0, std::uint32_t(round)));
    // The last request of a resource has begun to be served when it is answered, but for what an eviction
    // writes to memory, which is on its way when its place is free.
    const double last = gpu.cycles(
        gpu.dram.latency_ns + sectors_per_line * (gpu.dram.burst_ns / gpu.dram.achieved +
                                                  sector_bytes * gpu.l2.slices / gpu.l2.write_bytes_per_ns));
    for (std::size_t resource = 0; resource < resource_count; ++resource) {
      INFO("round " << round << ", resource " << resource);
      CHECK(trial.time.busy[resource] <= double(trial.time.cycles) + last);
    }
  }
}

/// Makes blocks of 8 warps that execute the access as often as stated, each time at the lines that
/// `line(thread)` says, one transaction for each number below `transactions`.
model::Snapshot repeated(std::uint32_t blocks, std::uint32_t times, const model::Access& access,
                         const std::function<model::Transaction(std::uint32_t)>& transaction) {
  constexpr std::uint32_t warps = 8;
  model::Snapshot made;
  made.sites.resize(1);
  made.byte_masks = {{~std::uint64_t{0}, ~std::uint64_t{0}}};
  std::uint32_t number = 0;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    made.blocks.push_back({block, std::uint32_t(made.warps.size()), warps});
    for (std::uint32_t i = 0; i < warps; ++i) {
      model::Warp& warp = made.warps.emplace_back();
      for (std::uint32_t time = 0; time < times; ++time) {
        warp.accesses.push_back(access);
        for (unsigned t = 0; t < access.transactions; ++t)
          warp.transactions.push_back(transaction(number++));
      }
      warp.bulks = times;
    }
  }
  finalize(made);
  return made;
}

TEST_CASE("A store is sent after the answers that its value needs") {
  const model::Gpu gpu = *model::load_gpu("v100", WARPLENS_GPU_FOLDER);
  const auto cycles = [&](bool loads, bool stores, bool copies, Space from = Space::global) {
    MadeTrace made(1, 32);
    const std::uint64_t load = made.site();
    const std::uint64_t store =
        made.site(AccessKind::store, copies ? std::vector{load} : std::vector<std::uint64_t>{});
    if (loads)
      made.access(0, 0, load, 4, [](unsigned lane) { return 0x10000 + 4 * lane; }, ~0u, from);
    if (stores)
      made.access(0, 0, store, 4, [](unsigned lane) { return 0x20000 + 4 * lane; });
    const auto snapshot = made.decode(gpu.lanes, model::Accesses::all);
    REQUIRE(snapshot);
    return double(
        model::run_clocked_trial(*snapshot, gpu, {1, 1, 32 * 1024, "warps"}, Random(1, 0, 0)).time.cycles);
  };
  const double load = cycles(true, false, false), store = cycles(false, true, false);
  CHECK(cycles(true, true, false) < load + 50);
  CHECK(cycles(true, true, true) == Approx(load + store).margin(20));
  CHECK(cycles(true, true, true, Space::shared) ==
        Approx(cycles(true, false, false, Space::shared) + store).margin(20));
}

TEST_CASE("Stores and reductions take the time of the narrowest resource on their way") {
  const model::Gpu gpu = *model::load_gpu("a100", WARPLENS_GPU_FOLDER);
  const model::Occupancy occupancy{8, 64, 128 * 1024, "warps"};
  const auto cycles = [&](const model::Snapshot& snapshot) {
    return double(model::run_clocked_trial(snapshot, gpu, occupancy, Random(1, 0, 0)).time.cycles);
  };
  model::Access store;
  store.kind = AccessKind::store;
  store.starts_bulk = true;
  store.is_awaited = false;
  store.transactions = 1;
  const std::uint32_t blocks = gpu.sms * 8;
  SECTION("into the L2") {
    const std::uint32_t times = 16; // 14 MB, of the L2's 40
    const double bytes = 128.0 * blocks * 8 * times;
    const auto line = [](std::uint32_t number) { return model::Transaction{number, whole_line, 0}; };
    const double expected = gpu.cycles(bytes / gpu.l2.write_bytes_per_ns);
    CHECK(cycles(repeated(blocks, times, store, line)) > expected);
    CHECK(cycles(repeated(blocks, times, store, line)) < 1.25 * expected + 1000);
  }
  SECTION("to memory, when the L2 is full") {
    const std::uint32_t times = 160; // 142 MB
    const double bytes = 128.0 * blocks * 8 * times - double(gpu.l2_bytes);
    const auto line = [](std::uint32_t number) { return model::Transaction{number, whole_line, 0}; };
    const double expected = gpu.cycles(bytes / (gpu.dram.bytes_per_ns() * gpu.dram.reads_reach()));
    CHECK(cycles(repeated(blocks, times, store, line)) > expected);
    CHECK(cycles(repeated(blocks, times, store, line)) < 1.4 * expected);
  }
  SECTION("reductions on one word, one lane after the other") {
    model::Access reduction = store;
    reduction.kind = AccessKind::atomic;
    reduction.skips_l1 = true;
    const auto one_word = [](std::uint32_t) { return model::Transaction{5, 1, warp_lanes}; };
    const double atomics = 32.0 * blocks * 8 * 2;
    const double expected = gpu.cycles(atomics * gpu.l2.slices / gpu.l2.atomics_per_ns);
    CHECK(cycles(repeated(blocks, 2, reduction, one_word)) == Approx(expected).epsilon(0.02));
    // Sums of floats take longer at one word, but keep only those of its line waiting.
    const auto sums = [&](auto transaction) {
      model::Snapshot snapshot = repeated(blocks, 2, reduction, transaction);
      snapshot.sites[0].adds_floats = true;
      return cycles(snapshot);
    };
    CHECK(sums(one_word) == Approx(gpu.l2.float_sum_cost * expected).epsilon(0.02));
    const auto many_words = [](std::uint32_t number) {
      return model::Transaction{number % 1024, 1, warp_lanes};
    };
    CHECK(sums(many_words) == Approx(cycles(repeated(blocks, 2, reduction, many_words))).epsilon(0.1));
  }
}

TEST_CASE("Addresses in constant memory after an access's first take the SM's constant cache in turn") {
  const model::Gpu gpu = *model::load_gpu("a100", WARPLENS_GPU_FOLDER);
  const model::Occupancy occupancy{8, 64, 128 * 1024, "warps"};
  const std::uint32_t blocks = gpu.sms * 8, times = 40;
  const auto trial = [&](std::uint8_t addresses) {
    model::Access load;
    load.cache = model::FirstCache::constant;
    load.starts_bulk = true;
    load.passes = load.transactions = addresses;
    model::Snapshot snapshot =
        repeated(blocks, times, load, [](std::uint32_t) { return model::Transaction{7, 1, 0}; });
    snapshot.reads_constants = true;
    return model::run_clocked_trial(snapshot, gpu, occupancy, Random(1, 0, 0));
  };
  const auto constants = std::size_t(Resource::constant_pipe);
  // One address is an operand: warps wait for its latency, and for the first miss.
  const model::TrialCounts one = trial(1), many = trial(9);
  CHECK(one.time.busy[constants] == 0);
  CHECK(double(one.time.cycles) < times * (gpu.cycles(gpu.constant.latency_ns) + 16) + 1000);
  const double passes = 64.0 * times * 8 * std::round(gpu.cycles(gpu.constant.pass_ns));
  CHECK(many.time.busy[constants] == passes);
  CHECK(many.time.mean_busy[constants] == Approx(passes));
  CHECK(many.sites[0].occupied[constants] == Approx(passes * gpu.sms));
  CHECK(double(many.time.cycles) == Approx(passes).epsilon(0.02).margin(1000));
}

TEST_CASE("Pipes are busy with the code's instructions, the constant cache with the addresses of its loads") {
  const model::Gpu gpu = *model::load_gpu("a100", WARPLENS_GPU_FOLDER);
  const model::Occupancy occupancy{8, 64, 128 * 1024, "warps"};
  const std::uint32_t blocks = gpu.sms * 8, times = 40, addresses = 8;
  model::Access access;
  access.cache = model::FirstCache::constant;
  access.starts_bulk = true;
  access.passes = access.transactions = addresses;
  model::Snapshot snapshot =
      repeated(blocks, times, access, [](std::uint32_t) { return model::Transaction{7, 1, 0}; });
  snapshot.reads_constants = true;
  sass::Instruction from_constants = load(), product;
  from_constants.kind = sass::InstructionClass::load_constant;
  from_constants.control.write_scoreboard = 0;
  product.kind = sass::InstructionClass::fp32;
  product.control.wait_mask = 1;
  model::Code code = made_code({{{from_constants, product, product}, {}}}, {0});
  code.paths.push_back({std::vector<std::uint32_t>(times, 0), std::vector<std::uint8_t>(times, 1)});
  snapshot.code = std::make_shared<const model::Code>(std::move(code));
  const model::TrialCounts trial = model::run_clocked_trial(snapshot, gpu, occupancy, Random(1, 0, 0));
  const double warps = 64, passes = warps * times * addresses * std::round(gpu.cycles(gpu.constant.pass_ns));
  CHECK(trial.time.busy[std::size_t(Resource::constant_pipe)] == passes);
  CHECK(double(trial.time.cycles) == Approx(passes).epsilon(0.05).margin(1000));
  // 64 lanes of single precision take two products of a warp at once.
  CHECK(trial.time.busy[std::size_t(Resource::fp32_pipe)] == warps * times * 2 / 2);
  CHECK(trial.time.busy[std::size_t(Resource::fp64_pipe)] == 0);
}

TEST_CASE("Conversions from and to 64 bits take the pipe of special functions, or a slower one of double "
          "precision") {
  const std::uint32_t times = 40;
  for (const char* name : {"a100", "rtx4090"}) {
    INFO(name);
    const model::Gpu gpu = *model::load_gpu(name, WARPLENS_GPU_FOLDER);
    model::Access access;
    access.starts_bulk = true;
    access.passes = access.transactions = 1;
    model::Snapshot snapshot =
        repeated(gpu.sms, times, access, [](std::uint32_t) { return model::Transaction{7, 1, 0}; });
    sass::Instruction conversion;
    conversion.kind = sass::InstructionClass::wide_conversion;
    model::Code code = made_code({{{load(), conversion, conversion}, {}}}, {0});
    code.paths.push_back({std::vector<std::uint32_t>(times, 0), std::vector<std::uint8_t>(times, 1)});
    snapshot.code = std::make_shared<const model::Code>(std::move(code));
    const model::TrialCounts trial =
        model::run_clocked_trial(snapshot, gpu, {1, 8, 128 * 1024, "warps"}, Random(1, 0, 0));
    const double warps = double(snapshot.warps.size()) / gpu.sms;
    const bool by_fp64 = gpu.pipes->fp64 < gpu.pipes->special_function;
    CHECK(by_fp64 == (gpu.pipes->fp64 == 2));
    const double rate = by_fp64 ? 2 : 16;
    CHECK(trial.time.busy[std::size_t(by_fp64 ? Resource::fp64_pipe : Resource::special_function_pipe)] ==
          warps * times * 2 * 32 / rate);
    CHECK(trial.time.busy[std::size_t(by_fp64 ? Resource::special_function_pipe : Resource::fp64_pipe)] == 0);
  }
}

TEST_CASE("A launch takes as long by a snapshot of a block as by one of several waves") {
  const model::Gpu gpu = *model::load_gpu("a100", WARPLENS_GPU_FOLDER);
  const model::Occupancy occupancy{8, 64, 128 * 1024, "warps"};
  const std::uint32_t grid = 8 * 8 * gpu.sms;
  model::Access load;
  load.starts_bulk = true;
  load.transactions = 1;
  const auto cycles = [&](std::uint32_t blocks) {
    model::Snapshot snapshot = repeated(
        blocks, 8, load, [](std::uint32_t number) { return model::Transaction{number, whole_line, 0}; });
    snapshot.whole_grid = blocks == grid;
    snapshot.further_blocks = grid - blocks;
    return model::run_clocked_trial(snapshot, gpu, occupancy, Random(1, 0, 0)).time.launch_cycles;
  };
  const double whole = cycles(grid);
  // Warps that read a row of DRAM line by line open it anew for each the more of them there are.
  CHECK(cycles(1) == Approx(whole).epsilon(0.4));
  CHECK(cycles(gpu.sms) == Approx(whole).epsilon(0.35));
  CHECK(cycles(8 * gpu.sms) == Approx(whole).epsilon(0.55)); // one wave alone, in step
  CHECK(cycles(4 * 8 * gpu.sms) == Approx(whole).epsilon(0.1));
}

TEST_CASE("The middle of a launch that fits the L2 writes nothing to memory") {
  const model::Gpu gpu = *model::load_gpu("a100", WARPLENS_GPU_FOLDER);
  const model::Occupancy occupancy{8, 64, 128 * 1024, "warps"};
  model::Access store;
  store.kind = AccessKind::store;
  store.starts_bulk = true;
  store.is_awaited = false;
  store.transactions = 1;
  const auto written = [&](double times_the_snapshot) {
    model::Snapshot snapshot = repeated(8 * gpu.sms, 1, store, [](std::uint32_t number) {
      return model::Transaction{number, whole_line, 0};
    });
    snapshot.pages.resize(2);
    snapshot.whole_grid = false;
    snapshot.further_blocks = times_the_snapshot * 8 * gpu.sms;
    finalize(snapshot);
    return model::run_clocked_trial(snapshot, gpu, occupancy, Random(1, 0, 0)).dram_written_sectors;
  };
  CHECK(written(20) == 0); // 18 MB in all
  CHECK(written(200) > 8 * gpu.sms * 8 * sectors_per_line / 4);
}

TEST_CASE("A launch writes back older data, which is no part of what it stores") {
  const model::Gpu gpu = *model::load_gpu("v100", WARPLENS_GPU_FOLDER);
  model::L2 before = model::L2::partition_of(gpu);
  const auto discard = [](std::uint32_t, unsigned, unsigned) {};
  const auto lines = std::uint32_t(gpu.l2_bytes / line_bytes);
  for (std::uint32_t line = 0; line < lines; ++line)
    before.request(model::L2Kind::store, 1'000'000 + line, whole_line, nullptr, discard);
  model::Access load;
  load.starts_bulk = true;
  load.transactions = 1;
  const model::Snapshot snapshot = repeated(
      8 * gpu.sms, 1, load, [](std::uint32_t number) { return model::Transaction{number, whole_line, 0}; });
  const model::TrialCounts trial = model::run_clocked_trial(snapshot, gpu, {8, 64, 128 * 1024, "warps"},
                                                            Random(1, 0, 0), std::span(&before, 1));
  CHECK(trial.dram_written_sectors > 0);
  CHECK(trial.dram_written_before_sectors == trial.dram_written_sectors);
  const double burst = gpu.cycles(gpu.dram.burst_ns / gpu.dram.achieved);
  // Each sector that is written back follows one that is read, so the bus turns for it.
  const double turn = 2 * (gpu.cycles(gpu.dram.burst_ns / gpu.dram.copies_achieved) - burst);
  // A row that is opened to read costs the site that reads, and one that is opened to write those who store.
  const double opening = gpu.cycles(gpu.dram.opening_ns);
  const double row_sectors = gpu.dram.row_bytes / double(sector_bytes);
  const double reads = double(trial.dram_read_sectors), writes = double(trial.dram_written_sectors);
  const double of_site = trial.sites[0].occupied[std::size_t(Resource::dram)];
  REQUIRE(opening > 0); // so that it tells
  CHECK(of_site + trial.time.writing_before ==
        Approx(reads * burst + writes * (burst + turn) + double(trial.row_activations) * opening)
            .epsilon(0.01));
  CHECK(of_site >= reads * (burst + opening / row_sectors) * 0.99);
  CHECK(trial.time.writing_before >= writes * (burst + turn + opening / row_sectors) * 0.99);
}

TEST_CASE("Who reads has the time for which rows are opened to read, and who stores into the L2 none") {
  const model::Gpu gpu = *model::load_gpu("a100", WARPLENS_GPU_FOLDER);
  model::Access load;
  load.starts_bulk = true;
  load.transactions = 1;
  model::Snapshot snapshot = repeated(
      8 * gpu.sms, 2, load, [](std::uint32_t number) { return model::Transaction{number, whole_line, 0}; });
  snapshot.sites.resize(2);
  for (model::Warp& warp : snapshot.warps) {
    warp.accesses[1].kind = AccessKind::store;
    warp.accesses[1].is_awaited = false;
    warp.accesses[1].site = 1;
  }
  finalize(snapshot);
  const model::TrialCounts trial =
      model::run_clocked_trial(snapshot, gpu, {8, 64, 128 * 1024, "warps"}, Random(1, 0, 0));
  REQUIRE(trial.dram_written_sectors == 0);
  const double burst = gpu.cycles(gpu.dram.burst_ns / gpu.dram.achieved);
  CHECK(trial.sites[0].occupied[std::size_t(Resource::dram)] ==
        Approx(double(trial.dram_read_sectors) * burst +
               double(trial.row_activations) * gpu.cycles(gpu.dram.opening_ns))
            .epsilon(0.01));
  CHECK(trial.sites[1].occupied[std::size_t(Resource::dram)] == Approx(0).margin(1e-3));
}

TEST_CASE("A launch writes older data back once, however small a part of it the snapshot is") {
  const model::Gpu gpu = *model::load_gpu("v100", WARPLENS_GPU_FOLDER);
  model::L2 before = model::L2::partition_of(gpu);
  const auto discard = [](std::uint32_t, unsigned, unsigned) {};
  for (std::uint32_t line = 0; line < gpu.l2_bytes / line_bytes; ++line)
    before.request(model::L2Kind::store, 1'000'000 + line, whole_line, nullptr, discard);
  model::Access load;
  load.starts_bulk = true;
  load.transactions = 1;
  const std::uint32_t resident = 8 * gpu.sms, grid = 20 * resident;
  /// Each warp copies a line; the blocks of the whole grid, or the first ones of these.
  const auto copy = [&](std::uint32_t blocks) {
    model::Snapshot snapshot = repeated(
        blocks, 2, load, [](std::uint32_t number) { return model::Transaction{number, whole_line, 0}; });
    for (model::Warp& warp : snapshot.warps) {
      warp.accesses[1].kind = AccessKind::store;
      warp.accesses[1].is_awaited = false;
    }
    snapshot.whole_grid = blocks == grid;
    snapshot.further_blocks = grid - blocks;
    finalize(snapshot);
    return model::run_clocked_trial(snapshot, gpu, {8, 64, 128 * 1024, "warps"}, Random(1, 0, 0),
                                    std::span(&before, 1));
  };
  const double whole = copy(grid).time.launch_cycles;
  const model::TrialCounts part = copy(4 * resident);
  const std::uint64_t stored = 4 * resident * 8 * sectors_per_line;
  REQUIRE(part.dram_written_sectors > stored * 3 / 2); // so that it tells
  CHECK(part.time.launch_cycles == Approx(whole).epsilon(0.1));
  // The site has its reads, and of what is written no more than it stores.
  CHECK(part.dram_written_before_sectors == part.dram_written_sectors - stored);
  const double all = double(part.dram_read_sectors + part.dram_written_sectors);
  const double of_site = part.sites[0].occupied[std::size_t(Resource::dram)];
  CHECK(of_site / (of_site + part.time.writing_before) ==
        Approx(double(part.dram_read_sectors + stored) / all).epsilon(0.1));
  CHECK(copy(resident / 2).time.launch_cycles == Approx(whole).epsilon(0.35)); // less than is resident
}

TEST_CASE("A warp that has ended is active no longer, though its block goes on") {
  const model::Gpu gpu = *model::load_gpu("v100", WARPLENS_GPU_FOLDER);
  model::Access load;
  load.starts_bulk = true;
  load.transactions = 1;
  const std::uint32_t times = 40;
  model::Snapshot snapshot = repeated(
      1, times, load, [](std::uint32_t number) { return model::Transaction{number, whole_line, 0}; });
  for (std::uint32_t early = 0; early < 7; ++early) { // of the block's 8 warps
    model::Warp& warp = snapshot.warps[early];
    warp.accesses.resize(1);
    warp.transactions.resize(1);
    warp.bulks = 1;
  }
  finalize(snapshot);
  std::vector<model::TrialCounts> trials;
  for (std::uint32_t number = 0; number < 2; ++number)
    trials.push_back(
        model::run_clocked_trial(snapshot, gpu, {1, 8, 128 * 1024, "blocks"}, Random(1, 0, number)));
  const WarpTime time = *model::warp_time(trials, gpu);
  CHECK(time.resident * gpu.sms == Approx(1 + 7.0 / times).epsilon(0.1));
  CHECK(time.states[std::size_t(WarpState::ended)] == 0);
  CHECK(std::accumulate(time.states.begin(), time.states.end(), 0.0) == Approx(1));
}

} // namespace
} // namespace warplens::test
