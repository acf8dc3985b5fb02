// The content of the L2 when a launch begins: against the slow reference, which replays every use, and in the
// whole model on programs of a few steps.
#include "made_trace.h"
#include "model/cache/l2_before.h"
#include "model/evaluate.h"
#include "numeric/random.h"
#include "reference_caches.h"
#include "support/temporary.h"
#include "test/trace/append.h"
#include "trace/reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace warplens;
using test::gpu;
using trace::MemoryUse;

namespace {

/// A program's steps, written to a trace.
class Program {
public:
  explicit Program(CacheOperator of_loads = CacheOperator::none)
      : writer_(*trace::Writer::create(folder_.path() / "t", {"program", "cpu", "device"})) {
    std::vector<Site> sites(4);
    for (unsigned kind = 0; kind < 4; ++kind) {
      sites[kind].id = kind;
      sites[kind].kind = AccessKind(kind);
      sites[kind].line = sites[kind].column = 1 + kind;
    }
    sites[0].cache_operator = of_loads;
    REQUIRE(writer_.add_sites(sites));
  }

  void uses(const MemoryUse& use) {
    MemoryUse before_next = use;
    before_next.launch = launches_;
    REQUIRE(writer_.add_memory_uses(std::vector{before_next}));
  }
  void copies(MemoryUse::Kind kind, std::uint64_t address, std::uint64_t bytes) {
    uses({.kind = kind, .address = address, .row_bytes = bytes, .pitch = bytes, .rows = 1});
  }

  struct One {
    AccessKind kind = AccessKind::load;
    std::vector<std::uint64_t> addresses; ///< one a lane
    unsigned bytes = 4;
    Space space = Space::global;
  };
  /// Adds a launch in which each access has a block of one warp. `end` may state what is missing of it.
  void launches(const std::vector<One>& accesses, trace::LaunchEnd end = {}) {
    trace::Launch launch;
    launch.window = window;
    launch.id = launches_++;
    launch.kernel = launch.symbol = fmt::format("k{}", launch.id);
    launch.block.x = 32;
    launch.grid.x = std::uint32_t(std::max<std::size_t>(accesses.size(), 1));
    launch.blocks = launch.grid.x;
    REQUIRE(writer_.begin_launch(launch));
    std::vector<trace::test::Record> records;
    for (std::size_t block = 0; block < accesses.size(); ++block) {
      const One& one = accesses[block];
      trace::WarpAccess access;
      access.site = unsigned(one.kind);
      access.kind = one.kind;
      access.bytes = std::uint16_t(one.bytes);
      access.space = one.space;
      access.active = std::uint32_t((std::uint64_t{1} << one.addresses.size()) - 1);
      std::copy(one.addresses.begin(), one.addresses.end(), access.addresses.begin());
      records.push_back({block, 0, access});
    }
    REQUIRE(trace::test::append(writer_, launch.id, records));
    end.launch = launch.id;
    end.complete = true;
    REQUIRE(writer_.end_launch(end));
  }
  /// Adds a launch that accesses `bytes` from the address on, 128 of them by each warp.
  void streams(AccessKind kind, std::uint64_t address, std::uint64_t bytes, trace::LaunchEnd end = {}) {
    std::vector<One> accesses;
    for (std::uint64_t at = 0; at < bytes; at += 128) {
      One& one = accesses.emplace_back(One{kind, {}});
      for (std::uint64_t lane = 0; lane < 32; ++lane)
        one.addresses.push_back(address + at + 4 * lane);
    }
    launches(accesses, end);
  }

  trace::Reader ended() {
    REQUIRE(writer_.finish({}));
    return *trace::Reader::open(folder_.path() / "t");
  }

  std::optional<trace::AccessWindow> window; ///< of the launches to come

private:
  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create());
  trace::Writer writer_;
  std::uint32_t launches_ = 0;
};

/// Returns the history before the launch.
model::MemoryHistory history_before(const trace::Reader& trace, std::uint32_t id, std::uint64_t max_lines) {
  model::MemoryHistory history(max_lines);
  for (const trace::Launch& launch : trace.launches()) {
    history.add_uses_before(trace, launch);
    if (launch.id == id)
      break;
    REQUIRE(history.add_launch(trace, launch));
  }
  return history;
}

std::vector<std::uint64_t> lines_of(const std::vector<model::UsedLine>& used) {
  std::vector<std::uint64_t> lines;
  for (const model::UsedLine& one : used)
    lines.push_back(one.line);
  return lines;
}

/// Returns the results of all launches, the last one of the kernel `k<n>`.
std::vector<KernelResult> modelled(const trace::Reader& trace, const model::Gpu& on,
                                   model::L2Begin l2_begin = model::L2Begin::left) {
  model::Options options;
  options.trials = 2;
  options.threads = 1;
  options.l2_begin = l2_begin;
  auto result = model::evaluate(trace, {on}, options);
  if (!result)
    FAIL(result.error().message);
  return std::move(result->kernels);
}

double l2_hits(const KernelResult& kernel) {
  REQUIRE(kernel.totals.l2_read_hit_rate);
  return kernel.totals.l2_read_hit_rate->mean;
}

constexpr std::uint64_t base = 0x7f00'0000'0000, mib = 1 << 20;

} // namespace

TEST_CASE("The history keeps lines in the order of their last uses, with their read and written bytes") {
  Program program;
  program.copies(MemoryUse::Kind::written, 128 * 10, 128 * 3);
  program.copies(MemoryUse::Kind::read, 128 * 11 + 40, 8); // one sector, in the middle of what was written
  program.uses(
      {.kind = MemoryUse::Kind::written, .address = 128 * 20 + 16, .row_bytes = 32, .pitch = 256, .rows = 2});
  program.launches({{AccessKind::load, {128 * 10}},
                    {AccessKind::store, {128 * 30 + 96}, 16},
                    {AccessKind::store, {128 * 30 + 112}, 16},
                    {AccessKind::update, {128 * 31}},
                    {AccessKind::atomic, {128 * 32 + 32}},
                    {AccessKind::load, {0}, 4, Space::shared},
                    {AccessKind::load, {128 * 40}, 4, Space::constant}});
  program.launches({});
  const model::MemoryHistory history = history_before(program.ended(), 1, 100);
  CHECK(history.copies() == 3);
  CHECK(history.launches() == 1);
  CHECK(history.unknown_before().empty());
  const auto used = history.latest(100);
  CHECK(lines_of(used) == std::vector<std::uint64_t>{12, 11, 20, 22, 10, 30, 31, 32, 40});
  CHECK(lines_of(history.latest(3)) == std::vector<std::uint64_t>{31, 32, 40});
  CHECK(history.latest(0).empty());
  const model::ByteMask all{~std::uint64_t{0}, ~std::uint64_t{0}};
  CHECK(used[0].read == 0);
  CHECK(used[0].written == all);
  CHECK(used[1].read == 0b0010);
  CHECK(used[1].written == all);
  CHECK(used[2].written == model::ByteMask{0x0000'ffff'ffff'0000, 0});
  CHECK(used[4].read == 0b0001);
  CHECK(used[4].written == all);
  CHECK(used[5].written == model::ByteMask{0, 0xffff'ffff'0000'0000}); // two halves are a whole sector
  CHECK(used[6].read == 0b0001);
  CHECK(used[6].written == model::ByteMask{0xf, 0});
  CHECK(used[7].read == 0b0010);
  CHECK(used[7].written == model::ByteMask{0xffff'ffff'0000'0000, 0});
}

TEST_CASE("The memory of the history is bounded, and large copies cost no more than what can matter") {
  Program program;
  program.copies(MemoryUse::Kind::written, 0, std::uint64_t{1} << 62);
  program.uses({.kind = MemoryUse::Kind::read,
                .address = 1,
                .row_bytes = 1,
                .pitch = 1,
                .rows = std::uint64_t{1} << 40});
  program.uses({.kind = MemoryUse::Kind::read,
                .address = 1,
                .row_bytes = 1,
                .pitch = 1 << 20,
                .rows = std::uint64_t{1} << 40});
  program.launches({});
  program.copies(MemoryUse::Kind::written, 128 * 1000, 128 * 1000);
  for (std::uint64_t line = 0; line < 30; ++line)
    program.copies(MemoryUse::Kind::read, 128 * 2 * line, 1);
  program.launches({});
  const trace::Reader trace = program.ended();
  CHECK(history_before(trace, 0, 100).lines() <= 125);
  const model::MemoryHistory history = history_before(trace, 1, 100);
  CHECK(history.lines() >= 100);
  CHECK(history.lines() <= 125);
  const auto lines = lines_of(history.latest(100));
  REQUIRE(lines.size() == 100);
  CHECK(lines[0] == 2000 - 70);
  CHECK(lines[69] == 1999);
  CHECK(lines[99] == 58);
}

TEST_CASE("Uses that the trace lacks in full or in part make those before them unknown") {
  const auto unknown_after = [](const std::function<void(Program&)>& step) {
    Program program;
    program.copies(MemoryUse::Kind::written, 0, 1280);
    step(program);
    program.copies(MemoryUse::Kind::read, 128 * 100, 128);
    program.launches({});
    const trace::Reader trace = program.ended();
    const auto history = history_before(trace, std::uint32_t(trace.launches().size() - 1), 1000);
    CHECK(history.lines() == (history.unknown_before().empty() ? 11 : 1));
    return history.unknown_before();
  };
  CHECK(unknown_after([](Program&) {}).empty());
  CHECK(unknown_after([](Program& program) {
          program.launches({}, {.executed_accesses = 7, .probed_accesses = 7});
        }).empty());
  CHECK(unknown_after([](Program& program) {
          program.uses({.kind = MemoryUse::Kind::unseen, .what = "an untraced launch of f()"});
        }) == "an untraced launch of f()");
  CHECK(unknown_after([](Program& program) { program.streams(AccessKind::load, 0, 1280, {.blocks = 9}); }) ==
        "launch 0, of k0, traced in 9 of its 10 blocks");
  CHECK(unknown_after([](Program& program) {
          program.launches({}, {.executed_accesses = 7, .probed_accesses = 6});
        }) == "launch 0, of k0, with probes for 6 of its 7 accesses");
}

TEST_CASE("An L2 that begins with the lines used before goes on as the reference that replays every use") {
  Random random(23, 0, 0);
  for (const std::uint32_t bytes_per_line : {32u, 128u})
    for (const auto stores : {model::L2Stores::memory_update, model::L2Stores::allocate})
      for (const auto partial : {model::PartialWrites::whole, model::PartialWrites::mask,
                                 model::PartialWrites::fill, model::PartialWrites::fetch}) {
        if ((bytes_per_line == 32 || stores == model::L2Stores::memory_update) &&
            partial != model::PartialWrites::whole)
          continue; // GPU files may not have these
        INFO("lines of " << bytes_per_line << ", stores " << int(stores) << ", partial " << int(partial));
        model::Gpu on;
        on.l2.line_bytes = bytes_per_line;
        on.l2.ways = 6;
        on.l2.stores = stores;
        on.l2.partial_writes = partial;
        on.l2_bytes = 6 * 128 * 64;

        // The lines lie in three pages, of which the launch touches the second: that one's number is 0.
        // There are more lines than fit, each used once, so that at most a part of a sector was written.
        const std::uint64_t pages[] = {base >> 21, (base >> 21) + 5, (base >> 21) + 6};
        const std::uint32_t numbers[] = {1, 0, 2};
        model::Snapshot snapshot;
        snapshot.pages = {pages[1]};
        Program program;
        test::ReferenceL2 slow(on);
        std::vector<std::uint32_t> order(900);
        for (std::uint32_t i = 0; i < order.size(); ++i)
          std::swap(order[i] = i, order[random.below(i + 1)]);
        std::vector<std::uint32_t> line_ids;
        for (const std::uint32_t i : order) {
          const std::uint32_t page = i % 3, line = 7 * i;
          const std::uint64_t address = (pages[page] << 21) + line * 128;
          const unsigned first = random.below(128), bytes = 1 + random.below(128 - first);
          const bool written = random.below(2) == 0;
          program.copies(written ? MemoryUse::Kind::written : MemoryUse::Kind::read, address + first, bytes);
          std::array<std::uint32_t, 4> mask{};
          unsigned sectors = 0;
          for (unsigned byte = first; byte < first + bytes; ++byte) {
            mask[byte / 32] |= 1u << byte % 32;
            sectors |= 1u << byte / 32;
          }
          line_ids.push_back(numbers[page] << 14 | line);
          slow.request(written ? test::ReferenceL2::Kind::store : test::ReferenceL2::Kind::load,
                       line_ids.back(), sectors, mask);
        }
        program.launches({});

        const auto before = model::l2_before(history_before(program.ended(), 0, 2000), snapshot, on, 1);
        REQUIRE(before.l2.size() == 1);
        CHECK(before.start.warm);
        std::uint64_t bytes = 0;
        unsigned differences = 0;
        for (const std::uint32_t line : line_ids) {
          bytes += 32 * sector_count(slow.sectors_of(line));
          differences += before.l2[0].sectors_of(line) != slow.sectors_of(line);
        }
        CHECK(before.start.bytes == bytes);
        CHECK(bytes > on.l2_bytes / 4);

        model::L2 fast(before.l2[0]);
        unsigned hits = 0;
        for (int i = 0; i < 5000; ++i) {
          const std::uint32_t line = line_ids[random.below(std::uint32_t(line_ids.size()))];
          const unsigned sectors = 1 + random.below(15);
          unsigned went_back = 0, filled = 0;
          const auto write_back = [&](std::uint32_t, unsigned dirty, unsigned read) {
            went_back += sector_count(dirty);
            filled += sector_count(read);
          };
          const auto outcome = fast.load(line, sectors, write_back);
          const auto expected = slow.request(test::ReferenceL2::Kind::load, line, sectors);
          differences += outcome.hits != expected.hits || outcome.fetched != expected.fetched ||
                         went_back != expected.written_back || filled != expected.filled;
          hits += outcome.hits != 0;
        }
        CHECK(differences == 0);
        CHECK(hits > 1000);
        // The copy has left the original as it was.
        for (const std::uint32_t line : line_ids)
          bytes -= 32 * sector_count(before.l2[0].sectors_of(line));
        CHECK(bytes == 0);
      }
}

TEST_CASE("A launch finds in the L2 what the one before it wrote, unless launches begin cold") {
  Program program;
  program.streams(AccessKind::store, base, mib);
  program.streams(AccessKind::load, base, mib);
  const trace::Reader trace = program.ended();
  for (const char* name : {"a100", "h100-sxm", "v100", "rtx4090"}) {
    INFO(name);
    const auto warm = modelled(trace, gpu(name)), cold = modelled(trace, gpu(name), model::L2Begin::cold);
    CHECK(l2_hits(warm[1]) == 1);
    CHECK(*warm[1].totals.dram_read_bytes == 0);
    CHECK_FALSE(warm[1].totals.cold_miss_share);
    CHECK(warm[1].l2_start->warm);
    CHECK(warm[1].l2_start->bytes == mib);
    CHECK(warm[1].l2_start->why == "left by 1 launch");
    CHECK_FALSE(warm[0].l2_start->warm);
    CHECK(warm[0].l2_start->why == "nothing used device memory before");
    CHECK(l2_hits(cold[1]) == 0);
    CHECK(*cold[1].totals.cold_miss_share == 1);
    CHECK_FALSE(cold[1].l2_start->warm);
    CHECK(cold[1].l2_start->bytes == 0);
    CHECK(cold[1].l2_start->why == "as asked for");
  }
}

TEST_CASE("A launch finds what a copy left, and of one larger than the L2 the end") {
  Program small, large;
  small.copies(MemoryUse::Kind::written, base, mib);
  small.streams(AccessKind::load, base, mib);
  const auto fits = modelled(small.ended(), gpu("v100"));
  CHECK(l2_hits(fits[0]) == 1);
  CHECK(fits[0].l2_start->why == "left by 1 copy or fill");

  large.copies(MemoryUse::Kind::written, base, 64 * mib);
  large.streams(AccessKind::load, base, mib);
  large.streams(AccessKind::load, base + 63 * mib, mib);
  const auto beyond = modelled(large.ended(), gpu("v100"));
  CHECK(l2_hits(beyond[0]) == 0);
  CHECK(l2_hits(beyond[1]) == 1);
  CHECK(beyond[1].l2_start->bytes <= gpu("v100").l2_bytes);
  CHECK(beyond[1].l2_start->bytes > gpu("v100").l2_bytes * 9 / 10);
}

TEST_CASE("What was written before the launch goes to memory when the launch evicts it") {
  Program dirty, clean;
  for (const auto& [program, kind] :
       {std::pair(&dirty, MemoryUse::Kind::written), std::pair(&clean, MemoryUse::Kind::read)}) {
    program->copies(kind, base, mib);
    program->streams(AccessKind::load, base + 64 * mib, 16 * mib);
  }
  CHECK(*modelled(dirty.ended(), gpu("v100"))[0].totals.dram_write_bytes == mib);
  CHECK(*modelled(clean.ended(), gpu("v100"))[0].totals.dram_write_bytes == 0);
}

TEST_CASE("What was written, evicted and read again before the launch is not written once more") {
  // 8 MiB are more than the L2 holds, 6 MiB, and less than what the history keeps.
  Program filled, used_between;
  filled.copies(MemoryUse::Kind::written, base, 8 * mib);
  filled.streams(AccessKind::load, base, 8 * mib);
  filled.streams(AccessKind::load, base + 64 * mib, 16 * mib);
  const auto reread = modelled(filled.ended(), gpu("v100"));
  CHECK(*reread[0].totals.dram_write_bytes > 5 * mib);
  CHECK(*reread[1].totals.dram_write_bytes == 0);

  used_between.copies(MemoryUse::Kind::written, base, mib);
  used_between.streams(AccessKind::load, base + 64 * mib, 10 * mib);
  used_between.streams(AccessKind::load, base, mib);
  used_between.streams(AccessKind::load, base + 128 * mib, 16 * mib);
  CHECK(*modelled(used_between.ended(), gpu("v100"))[2].totals.dram_write_bytes == 0);
}

TEST_CASE(
    "Lines of a launch's access policy window stay in what the program set aside, where a GPU has that") {
  const auto hits = [](const char* name, std::uint64_t set_aside) {
    Program program;
    if (set_aside != 0)
      program.window = trace::AccessWindow{base, base + mib, 1, set_aside};
    program.copies(MemoryUse::Kind::written, base, mib);
    program.streams(AccessKind::load, base + 64 * mib, 6 * mib);
    program.streams(AccessKind::load, base, mib);
    model::Gpu on = gpu(name);
    on.l2_bytes = 4 * mib;
    return l2_hits(modelled(program.ended(), on)[1]);
  };
  CHECK(hits("h100-sxm", 0) < 0.1);
  CHECK(hits("h100-sxm", 2 * mib) > 0.9);
  CHECK(hits("v100", 2 * mib) < 0.1);
}

TEST_CASE(
    "Of an array of twice the L2 that is read again and again, loads that are evicted first leave a part") {
  const auto hits = [](CacheOperator of_loads) {
    Program program(of_loads);
    for (int i = 0; i < 3; ++i)
      program.streams(AccessKind::load, base, 8 * mib);
    model::Gpu on = gpu("b200");
    on.l2_bytes = 4 * mib;
    return l2_hits(modelled(program.ended(), on)[2]);
  };
  CHECK(hits(CacheOperator::none) < 0.05);
  CHECK(hits(CacheOperator::cs) > 0.3);
}

TEST_CASE("A sector that was written in part before the launch is fetched by a load of the rest") {
  Program program;
  std::vector<Program::One> stores, loads;
  for (std::uint64_t at = 0; at < mib; at += 128) {
    stores.push_back({AccessKind::store, {base + at}});
    loads.push_back({AccessKind::load, {base + at + 4}});
  }
  program.launches(stores);
  program.launches(loads);
  const trace::Reader trace = program.ended();
  model::Gpu on = gpu("v100");
  on.l2.partial_writes = model::PartialWrites::mask;
  CHECK(l2_hits(modelled(trace, on)[1]) == 0);
  on.l2.partial_writes = model::PartialWrites::whole;
  CHECK(l2_hits(modelled(trace, on)[1]) == 1);
}

TEST_CASE("After an untraced launch the L2 begins empty, but for what was used since") {
  Program program;
  program.streams(AccessKind::store, base, mib);
  program.uses({.kind = MemoryUse::Kind::unseen, .what = "an untraced launch of f()"});
  program.streams(AccessKind::load, base, mib);
  program.uses({.kind = MemoryUse::Kind::unseen, .what = "an untraced launch of f()"});
  program.copies(MemoryUse::Kind::written, base, mib);
  program.streams(AccessKind::load, base, mib);
  const auto kernels = modelled(program.ended(), gpu("a100"));
  CHECK(l2_hits(kernels[1]) == 0);
  CHECK_FALSE(kernels[1].l2_start->warm);
  CHECK(kernels[1].l2_start->why == "not known after an untraced launch of f()");
  CHECK(l2_hits(kernels[2]) == 1);
  CHECK(kernels[2].l2_start->warm);
  CHECK(kernels[2].l2_start->why ==
        "left by 1 copy or fill; the rest is not known after an untraced launch of f()");
}

TEST_CASE("Trials that begin warm are the same on any number of threads and beside any other GPU") {
  Program program;
  program.copies(MemoryUse::Kind::written, base, 8 * mib);
  program.streams(AccessKind::update, base + 4 * mib, 4 * mib);
  program.streams(AccessKind::load, base, 8 * mib);
  const trace::Reader trace = program.ended();
  const auto printed = [&](const std::vector<model::Gpu>& gpus, unsigned threads) {
    model::Options options;
    options.trials = 4;
    options.threads = threads;
    auto result = model::evaluate(trace, gpus, options);
    REQUIRE(result);
    std::erase_if(result->kernels, [](const KernelResult& kernel) { return kernel.gpu != "v100"; });
    return to_json(*result).dump();
  };
  const std::string alone = printed({gpu("v100")}, 1);
  CHECK(printed({gpu("v100")}, 4) == alone);
  CHECK(printed({gpu("l40"), gpu("v100"), gpu("c2050")}, 2) == alone);
}
