// Traces with arrays elsewhere: their accesses, what the model makes of them, and what is refused.
#include "made_source.h"
#include "model/gpu/occupancy.h"
#include "model/snapshot/coalesce.h"
#include "model/snapshot/snapshot.h"
#include "placement/change/block_copy.h"
#include "placement/experiment.h"
#include "test/catch.h"
#include "test/placement/loaded.h"

#include <algorithm>
#include <random>
#include <set>

using namespace warplens;
using namespace warplens::placement;
using warplens::test::addressing;
using warplens::test::gpu;
using warplens::test::MadeSource;

namespace {

Arrays arrays_of(const MadeSource& source) {
  auto found = Arrays::find(source, source.launches().front());
  REQUIRE(found);
  return std::move(*found);
}

ChangedTrace changed(const trace::AccessSource& source, const Arrays& arrays, const model::Gpu& on,
                     std::vector<Move> moves) {
  return ChangedTrace(source, arrays, on, addressing().back(), {0, std::move(moves)});
}

KernelResult modelled(const trace::AccessSource& source, const model::Gpu& on, bool without_clock = false) {
  model::Options options;
  options.trials = 4;
  options.confidence = {0, 0};
  options.l2_begin = model::L2Begin::cold;
  options.threads = 1;
  options.without_clock = without_clock;
  auto result = model::evaluate(source, {on}, options);
  if (!result)
    FAIL(result.error().message);
  return result->kernels.front();
}

std::vector<trace::WarpAccess> accesses_of(const trace::AccessSource& source) {
  std::vector<trace::WarpAccess> all;
  REQUIRE(source.for_each_access(
      0, [&](std::uint64_t, std::uint32_t, const trace::WarpAccess& access) { all.push_back(access); }));
  return all;
}

/// 32 blocks of 64 threads read a and write b.
MadeSource copy() {
  MadeSource source(32, 64);
  const std::uint64_t a = source.allocate(32 * 64 * 4), b = source.allocate(32 * 64 * 4);
  const std::uint64_t load = source.site("a"), store = source.site("b", AccessKind::store);
  source.site_of(store).depends_on = {load};
  for (std::uint64_t block = 0; block < 32; ++block)
    for (std::uint32_t warp = 0; warp < 2; ++warp) {
      const std::uint64_t first = (block * 64 + warp * 32) * 4;
      source.access(block, warp, load, [&](std::uint64_t lane) { return a + first + 4 * lane; });
      source.access(block, warp, store, [&](std::uint64_t lane) { return b + first + 4 * lane; });
    }
  return source;
}

/// One warp reads 256 words, all lanes the same one, in ten rounds.
MadeSource table() {
  MadeSource source(1, 32);
  const std::uint64_t words = source.allocate(1024), load = source.site("table");
  for (int round = 0; round < 10; ++round)
    for (std::uint64_t word = 0; word < 256; ++word)
      source.access(0, 0, load, [&](std::uint64_t) { return words + 4 * word; });
  return source;
}

std::string reason_against(const MadeSource& source, PlacementSpace to, const char* array) {
  const Arrays arrays = arrays_of(source);
  const model::Gpu on = gpu("a100");
  const auto index = arrays.named(array);
  REQUIRE(index);
  const ChangedTrace trace = changed(source, arrays, on, {{.array = *index, .to = to}});
  if (trace.is_legal())
    return "";
  const Reason& reason = trace.refusals().front().reasons.front();
  return fmt::format("{}:{}: {}", reason.file, reason.line, reason.text);
}

} // namespace

TEST_CASE("arrays are found by address, with their uses") {
  const MadeSource source = copy();
  const Arrays arrays = arrays_of(source);
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0].name == "a");
  CHECK(arrays[0].loads == 64);
  CHECK(arrays[0].stores == 0);
  CHECK(arrays[0].bytes == 8192);
  CHECK(arrays[1].stores == 64);
  CHECK(arrays[0].block_uses.at(3).lines.size() == 2);
  CHECK_FALSE(arrays.named("c"));
}

TEST_CASE("the elements of an array that a template accesses are as large as its accesses") {
  MadeSource source(1, 32);
  const std::uint64_t base = source.allocate(4096), load = source.site("x");
  source.access(0, 0, load, [&](std::uint64_t lane) { return base + 8 * lane; }, 8);
  CHECK(arrays_of(source)[0].element_bytes == 4);
  source.site_of(load).in_template = true; // whose first instantiation has floats
  CHECK(arrays_of(source)[0].element_bytes == 8);
}

TEST_CASE("names whose ranges overlap are one array, and others of one allocation are not") {
  MadeSource source(1, 32);
  const std::uint64_t pool = source.allocate(4096);
  const std::uint64_t p = source.site("p"), q = source.site("q", AccessKind::store), r = source.site("r");
  source.access(0, 0, p, [&](std::uint64_t lane) { return pool + 4 * lane; });
  source.access(0, 0, q, [&](std::uint64_t lane) { return pool + 64 + 4 * lane; });
  source.access(0, 0, r, [&](std::uint64_t lane) { return pool + 2048 + 4 * lane; });
  const Arrays arrays = arrays_of(source);
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0].stores == 1);
  CHECK(arrays[1].name == "r");
  CHECK(reason_against(source, PlacementSpace::read_only, "r").empty());
  CHECK(reason_against(source, PlacementSpace::read_only, arrays[0].name.c_str()).starts_with("x.cu:2: "));
}

TEST_CASE("no change, and a change there and back, are the trace to the bit") {
  const MadeSource source = copy();
  const Arrays arrays = arrays_of(source);
  for (const char* name : {"c2050", "k80", "v100", "a100"}) {
    const model::Gpu on = gpu(name);
    const ChangedTrace same = changed(source, arrays, on, {});
    const KernelResult before = modelled(source, on);
    CHECK(modelled(same, on).trial_values.microseconds == before.trial_values.microseconds);

    const ChangedTrace there = changed(source, arrays, on, {{.array = 0, .to = PlacementSpace::texture}});
    const auto arrays_there = Arrays::find(there, there.launches().front());
    REQUIRE(arrays_there);
    CHECK((*arrays_there)[0].is_fetched);
    const ChangedTrace back = changed(there, *arrays_there, on, {{.array = 0, .to = PlacementSpace::global}});
    CHECK(back.alteration()->moved_sites.size() == 1);
    const KernelResult after = modelled(back, on);
    CHECK(after.trial_values.microseconds == before.trial_values.microseconds);
    CHECK(after.trial_values.cycles == before.trial_values.cycles);
    REQUIRE(after.sites.size() == before.sites.size());
    for (std::size_t i = 0; i < before.sites.size(); ++i) {
      CHECK(after.sites[i].executions == before.sites[i].executions);
      CHECK(after.sites[i].bytes_used == before.sites[i].bytes_used);
      CHECK(after.sites[i].bytes_moved == before.sites[i].bytes_moved);
    }
  }
}

TEST_CASE("a table in constant memory and in global memory of a V100") {
  const MadeSource source = table();
  const Arrays arrays = arrays_of(source);
  const model::Gpu on = gpu("v100");
  const KernelResult global = modelled(source, on, true);
  CHECK(global.totals.l1_read_hit_rate->mean == Approx(.9875));
  const ChangedTrace trace = changed(source, arrays, on, {{.array = 0, .to = PlacementSpace::constant}});
  REQUIRE(trace.is_legal());
  CHECK(accesses_of(trace).front().addresses[0] % 256 == 0);
  const KernelResult constant = modelled(trace, on, true);
  CHECK(constant.totals.constant_hit_rate->mean == Approx(.99375));
  CHECK(constant.totals.constant_group_hit_rate->mean == Approx(.75));
  CHECK(*constant.totals.dram_read_bytes == 1024);
}

TEST_CASE("shared memory: copies, occupancy and the L1 that is left") {
  MadeSource source(64, 256);
  const std::uint64_t a = source.allocate(48 * 1024), b = source.allocate(4096);
  const std::uint64_t load = source.site("a"), small = source.site("b");
  for (std::uint64_t block = 0; block < 64; ++block) {
    source.access(block, 0, load, [&](std::uint64_t lane) { return a + 1536 * lane; });
    source.access(block, 0, small, [&](std::uint64_t lane) { return b + 4 * lane; });
  }
  const Arrays arrays = arrays_of(source);
  const Move whole{.array = 0, .to = PlacementSpace::shared, .part = SharedPart::whole};
  const Move small_whole{.array = 1, .to = PlacementSpace::shared, .part = SharedPart::whole};
  const std::vector<std::pair<const char*, unsigned>> blocks{
      {"c2050", 1}, {"k80", 2}, {"v100", 2}, {"a100", 3}, {"h100-sxm", 4}};
  for (const auto& [name, of_sm] : blocks) {
    const model::Gpu on = gpu(name);
    const ChangedTrace trace = changed(source, arrays, on, {whole});
    REQUIRE(trace.is_legal());
    const auto occupied = model::occupancy(on, trace.changed_launch());
    REQUIRE(occupied);
    CHECK(occupied->blocks_per_sm == of_sm);
  }
  for (const auto& [name, l1_bytes] :
       std::vector<std::pair<const char*, std::uint32_t>>{{"v100", 98304}, {"a100", 131072}}) {
    const model::Gpu on = gpu(name);
    const ChangedTrace trace = changed(source, arrays, on, {small_whole});
    const auto occupied = model::occupancy(on, trace.changed_launch());
    REQUIRE(occupied);
    CHECK(occupied->blocks_per_sm == 8);
    CHECK(occupied->l1_bytes == l1_bytes);
    std::size_t loads = 0, stores = 0, barriers = 0;
    for (const trace::WarpAccess& access : accesses_of(trace)) {
      if (access.kind == AccessKind::barrier) {
        ++barriers;
      } else if (access.bytes == 16 && access.kind == AccessKind::load) {
        CHECK(model::coalesce(access, on.lanes).sectors() == 16);
        ++loads;
      } else if (access.bytes == 16) {
        CHECK(access.space == Space::shared);
        ++stores;
      }
    }
    CHECK(loads == 8 * 64);
    CHECK(stores == 8 * 64);
    CHECK(barriers == 8 * 64); // all warps of each block, also those without an access of their own
  }
}

TEST_CASE("texels of a 2D texture lie in blocks") {
  MadeSource source(1, 32);
  const std::uint64_t a = source.allocate(64 * 64 * 4), load = source.site("a");
  source.access(0, 0, load, [&](std::uint64_t lane) { return a + 4 * lane; });
  source.access(0, 0, load, [&](std::uint64_t lane) { return a + 256 * lane; });
  source.access(0, 0, load, [&](std::uint64_t lane) { return a + 4 * (lane % 8) + 256 * (lane / 8); });
  const Arrays arrays = arrays_of(source);
  const model::Gpu on = gpu("a100");
  const ChangedTrace trace =
      changed(source, arrays, on, {{.array = 0, .to = PlacementSpace::texture_2d, .texels_per_row = 64}});
  REQUIRE(trace.is_legal());
  std::vector<unsigned> sectors, before;
  for (const trace::WarpAccess& access : accesses_of(trace))
    sectors.push_back(model::coalesce(access, on.lanes).sectors());
  for (const trace::WarpAccess& access : accesses_of(source))
    before.push_back(model::coalesce(access, on.lanes).sectors());
  CHECK(sectors == std::vector<unsigned>{8, 16, 4});
  CHECK(before == std::vector<unsigned>{4, 32, 4});
}

namespace {

/// 4 x 4 blocks of 32 x 8 threads transpose a matrix of 128 x 128 words: rows are read, columns written.
MadeSource transposition() {
  MadeSource source(16, 256);
  const std::uint64_t in = source.allocate(128 * 128 * 4), out = source.allocate(128 * 128 * 4);
  const std::uint64_t load = source.site("in"), store = source.site("out", AccessKind::store);
  source.site_of(store).depends_on = {load};
  for (std::uint64_t block = 0; block < 16; ++block)
    for (std::uint32_t warp = 0; warp < 8; ++warp)
      for (std::uint64_t step = 0; step < 4; ++step) {
        const std::uint64_t y = block / 4 * 32 + step * 8 + warp, x = block % 4 * 32;
        source.access(block, warp, load, [&](std::uint64_t lane) { return in + 4 * (y * 128 + x + lane); });
        source.access(block, warp, store,
                      [&](std::uint64_t lane) { return out + 4 * ((x + lane) * 128 + y); });
      }
  return source;
}

} // namespace

TEST_CASE("what blocks store by columns goes through a tile of theirs, and is copied back by rows") {
  const MadeSource source = transposition();
  const Arrays arrays = arrays_of(source);
  const model::Gpu on = gpu("a100");
  const auto out = arrays.named("out");
  REQUIRE(out);
  CHECK(has_distant_lanes(arrays[*out]));
  for (const auto& [part, shared_bytes, conflicts] :
       {std::tuple(SharedPart::touched, 4096u, 32u), std::tuple(SharedPart::padded, 4224u, 1u)}) {
    const ChangedTrace trace =
        changed(source, arrays, on, {{.array = *out, .to = PlacementSpace::shared, .part = part}});
    REQUIRE(trace.is_legal());
    CHECK(trace.changed_launch().static_shared_bytes == shared_bytes);
    std::uint64_t stored_bytes = 0;
    for (const trace::WarpAccess& access : accesses_of(trace)) {
      if (access.kind != AccessKind::store)
        continue;
      if (access.space == Space::shared) {
        CHECK(model::bank_wavefronts(access, on.lanes).count == conflicts);
      } else {
        const model::Coalesced touched = model::coalesce(access, on.lanes);
        CHECK(touched.sectors() == unsigned(std::popcount(access.active)) * access.bytes / 32);
        stored_bytes += std::uint64_t(std::popcount(access.active)) * access.bytes;
      }
      // Nothing is copied in, as each block stores all that it copies back.
      CHECK((access.space == Space::global || access.bytes == 4));
    }
    CHECK(stored_bytes == 128 * 128 * 4);
  }
}

TEST_CASE("an array that a block could not keep goes through tiles of it, between barriers") {
  // Each of 8 warps loads a word of its row for all lanes, one after the other of 1024.
  MadeSource source(2, 256);
  const std::uint64_t rows = source.allocate(16 * 4096), load = source.site("rows");
  for (std::uint64_t block = 0; block < 2; ++block)
    for (std::uint32_t warp = 0; warp < 8; ++warp)
      for (std::uint64_t k = 0; k < 1024; ++k)
        source.access(block, warp, load,
                      [&](std::uint64_t) { return rows + (block * 8 + warp) * 4096 + 4 * k; });
  const Arrays arrays = arrays_of(source);
  const model::Gpu on = gpu("a100");
  const ChangedTrace trace =
      changed(source, arrays, on, {{.array = 0, .to = PlacementSpace::shared, .part = SharedPart::tile}});
  REQUIRE(trace.is_legal());
  CHECK(trace.changed_launch().static_shared_bytes == 8 * 2 * 128); // 64 accesses of each warp: two lines
  std::uint64_t copied = 0, barriers = 0, loads = 0, from_memory = 0;
  for (const trace::WarpAccess& access : accesses_of(trace)) {
    barriers += access.kind == AccessKind::barrier;
    if (access.kind == AccessKind::store)
      copied += std::uint64_t(std::popcount(access.active)) * access.bytes;
    if (access.kind != AccessKind::load)
      continue;
    ++(access.space == Space::shared ? loads : from_memory);
    CHECK((access.space == Space::global || access.addresses[0] + access.bytes <= 8 * 2 * 128));
  }
  CHECK(copied == 16 * 4096);
  CHECK(barriers == 2 * 8 * (16 + 15)); // before each of the 16 tiles but the first, and behind each copy
  CHECK(loads == 2 * 8 * 1024);
  CHECK(from_memory == 2 * 16 * 4); // a tile is 2048 B: 512 B by each of four warps

  MadeSource uneven(1, 64);
  const std::uint64_t a = uneven.allocate(4096), site = uneven.site("a");
  uneven.access(0, 0, site, [&](std::uint64_t lane) { return a + 4 * lane; });
  CHECK_FALSE(changed(uneven, arrays_of(uneven), on,
                      {{.array = 0, .to = PlacementSpace::shared, .part = SharedPart::tile}})
                  .is_legal());
}

TEST_CASE("shared memory into global memory: one copy for each block") {
  MadeSource source(2, 32);
  const std::uint64_t store = source.site("tile", AccessKind::store, Space::shared);
  for (std::uint64_t block = 0; block < 2; ++block)
    source.access(block, 0, store, [&](std::uint64_t lane) { return 4 * lane; });
  const Arrays arrays = arrays_of(source);
  const ChangedTrace trace =
      changed(source, arrays, gpu("a100"), {{.array = 0, .to = PlacementSpace::global}});
  const auto accesses = accesses_of(trace);
  CHECK(accesses[0].space == Space::global);
  CHECK(accesses[1].addresses[0] - accesses[0].addresses[0] == 256);
}

TEST_CASE("two arrays that fit constant memory alone do not fit it together") {
  MadeSource source(1, 32);
  for (const char* name : {"p", "q"}) {
    const std::uint64_t base = source.allocate(40'000), load = source.site(name);
    source.access(0, 0, load, [&](std::uint64_t) { return base; });
  }
  const Arrays arrays = arrays_of(source);
  const auto to_constant = [&](std::vector<Move> moves) {
    return changed(source, arrays, gpu("v100"), std::move(moves));
  };
  const Move p{.array = 0, .to = PlacementSpace::constant}, q{.array = 1, .to = PlacementSpace::constant};
  CHECK(to_constant({p}).is_legal());
  CHECK(to_constant({q}).is_legal());
  const ChangedTrace both = to_constant({p, q});
  REQUIRE(both.refusals().size() == 1);
  CHECK(both.refusals()[0].move == q);
  CHECK(both.refusals()[0].reasons[0].text == "40000 B of 65536, of which 40192 are in use");
}

TEST_CASE("random requests take no more of what their moves share than there is") {
  std::mt19937 draw(1);
  const auto below = [&](std::uint32_t end) { return std::uint32_t(draw() % end); };
  const model::Gpu on = gpu("a100");
  unsigned legal = 0, refused = 0;
  for (int round = 0; round < 200; ++round) {
    INFO("round " << round);
    MadeSource source(2, 32);
    std::vector<std::uint64_t> bytes;
    std::vector<Move> moves;
    for (std::uint32_t i = 0; i < 2 + below(4); ++i) {
      bytes.push_back(256 * (1 + below(round % 2 == 0 ? 80 : 300)));
      const std::uint64_t base = source.allocate(bytes.back());
      const std::uint64_t load = source.site(std::string(1, char('a' + i)));
      for (std::uint64_t block = 0; block < 2; ++block)
        for (std::uint64_t line = 0; line < bytes.back(); line += 128)
          source.access(block, 0, load, [&](std::uint64_t lane) { return base + line + 4 * lane; });
    }
    const Arrays arrays = arrays_of(source);
    constexpr PlacementSpace places[] = {PlacementSpace::constant, PlacementSpace::shared,
                                         PlacementSpace::persisting};
    for (std::uint32_t array = 0; array < arrays.all().size(); ++array)
      if (const std::uint32_t place = below(4); place < 3)
        moves.push_back({.array = array, .to = places[place], .part = SharedPart::whole});
    const ChangedTrace trace = changed(source, arrays, on, moves);
    std::uint64_t in_constant = 0, in_shared = 0, windows = 0;
    for (const Move& move : moves) {
      const bool is_refused = std::ranges::any_of(
          trace.refusals(), [&](const ChangedTrace::Refusal& one) { return one.move == move; });
      ++(is_refused ? refused : legal);
      if (is_refused)
        continue;
      const std::uint64_t taken = arrays[move.array].bytes;
      (move.to == PlacementSpace::constant ? in_constant : in_shared) +=
          move.to == PlacementSpace::persisting ? 0 : taken;
      windows += move.to == PlacementSpace::persisting;
    }
    CHECK(in_constant <= 65536);
    CHECK(in_shared <= on.shared.max_bytes_per_block - on.shared.reserved_bytes_per_block);
    CHECK(trace.changed_launch().static_shared_bytes >= in_shared);
    CHECK(windows <= 1);
  }
  CHECK(legal > 100);
  CHECK(refused > 50);
}

TEST_CASE("moves that a line forbids") {
  // An in-place stencil, by two names of one array.
  MadeSource stencil(1, 32);
  const std::uint64_t a = stencil.allocate(4096);
  const std::uint64_t in = stencil.site("in"), out = stencil.site("out", AccessKind::store);
  stencil.access(0, 0, in, [&](std::uint64_t lane) { return a + 4 * lane; });
  stencil.access(0, 0, out, [&](std::uint64_t lane) { return a + 4 + 4 * lane; });
  const std::string name = arrays_of(stencil)[0].name;
  for (const PlacementSpace to :
       {PlacementSpace::texture, PlacementSpace::read_only, PlacementSpace::constant})
    CHECK(reason_against(stencil, to, name.c_str()).starts_with("x.cu:2: the kernel stores to it"));

  MadeSource large(1, 32);
  const std::uint64_t b = large.allocate(65540), load = large.site("b");
  large.access(0, 0, load, [&](std::uint64_t lane) { return b + 4 * lane; });
  CHECK(reason_against(large, PlacementSpace::constant, "b") == "x.cu:1: 65540 B of 65536");

  MadeSource shared(2, 32);
  const std::uint64_t c = shared.allocate(4096);
  const std::uint64_t store = shared.site("c", AccessKind::store),
                      count = shared.site("n", AccessKind::atomic);
  const std::uint64_t n = shared.allocate(128);
  for (std::uint64_t block = 0; block < 2; ++block) {
    shared.access(block, 0, store, [&](std::uint64_t lane) { return c + 4 * lane; });
    shared.access(block, 0, count, [&](std::uint64_t) { return n; });
  }
  CHECK(reason_against(shared, PlacementSpace::shared, "c").find("others access") != std::string::npos);
  CHECK(reason_against(shared, PlacementSpace::shared, "n").find("atomics") != std::string::npos);
}

TEST_CASE("a Kepler's read-only loads and its fetches go through one unit, and take as long") {
  for (const bool scattered : {false, true}) {
    MadeSource source(104, 256);
    const std::uint64_t table = source.allocate(16384);
    const auto load = source.site("table");
    std::mt19937_64 random(3);
    for (std::uint64_t block = 0; block < 104; ++block)
      for (std::uint32_t warp = 0; warp < 8; ++warp)
        for (std::uint64_t n = 0; n < 16; ++n)
          source.access(block, warp, load, [&](std::uint64_t lane) {
            return table + 4 * (scattered ? random() % 4096 : (32 * n + lane) % 4096);
          });
    const Arrays arrays = arrays_of(source);
    const model::Gpu on = gpu("k80");
    const auto microseconds = [&](PlacementSpace to) {
      return modelled(changed(source, arrays, on, {{.array = 0, .to = to}}), on).time->microseconds.mean;
    };
    CHECK(microseconds(PlacementSpace::read_only) ==
          Approx(microseconds(PlacementSpace::texture)).epsilon(0.01));
  }
}

TEST_CASE("a row's length follows from a stencil's index, from the launch or from a loop") {
  constexpr std::uint64_t width = 1000; // words
  const auto row_of = [](const MadeSource& source) { return arrays_of(source)[0].row_bytes; };

  MadeSource stencil(4, 128); // blocks of one dimension
  const std::uint64_t in = stencil.allocate(1 << 20);
  const std::int64_t offsets[] = {0, -1, 1, -std::int64_t(width), std::int64_t(width)};
  std::vector<std::uint64_t> sites;
  for (std::size_t n = 0; n < std::size(offsets); ++n)
    sites.push_back(stencil.site("in"));
  for (std::uint32_t warp = 0; warp < 4; ++warp)
    for (std::size_t n = 0; n < std::size(offsets); ++n)
      stencil.access(0, warp, sites[n], [&](std::uint64_t lane) {
        return in + 4 * (5 * width + std::uint64_t(offsets[n]) + warp * 32 + lane);
      });
  CHECK(row_of(stencil) == 4 * width);

  MadeSource square(4, 16); // a transpose's source, by blocks of 16 x 16
  square.launch().block.y = 16;
  const std::uint64_t source = square.allocate(1 << 20);
  const auto load = square.site("in");
  for (std::uint32_t warp = 0; warp < 8; ++warp)
    square.access(0, warp, load, [&](std::uint64_t lane) {
      return source + 4 * ((2 * warp + lane / 16) * width + lane % 16);
    });
  CHECK(row_of(square) == 4 * width);

  MadeSource product(4, 32); // a product's A: all lanes of a row's warp read one element
  product.launch().block.y = 8;
  const std::uint64_t a = product.allocate(1 << 20);
  const auto of_a = product.site("a");
  for (std::uint32_t warp = 0; warp < 8; ++warp)
    for (std::uint64_t k = 0; k < 4; ++k)
      product.access(0, warp, of_a, [&](std::uint64_t) { return a + 4 * (warp * width + k); });
  CHECK(row_of(product) == 4 * width);
  const Arrays arrays = arrays_of(product);
  CHECK(changed(product, arrays, gpu("a100"), {{.array = 0, .to = PlacementSpace::texture_2d}}).is_legal());

  MadeSource stream(4, 128); // one dimension
  const std::uint64_t values = stream.allocate(1 << 20);
  const auto of_values = stream.site("values");
  for (std::uint32_t warp = 0; warp < 4; ++warp)
    stream.access(0, warp, of_values, [&](std::uint64_t lane) { return values + 4 * (warp * 32 + lane); });
  CHECK(row_of(stream) == 0);
}

TEST_CASE("moves are parsed, and wrong ones say what was expected") {
  const MadeSource source = copy();
  const Arrays arrays = arrays_of(source);
  const auto moves = parse_moves("a:shared=whole,b:texture2d=64", arrays);
  REQUIRE(moves);
  CHECK(moves->front().part == SharedPart::whole);
  CHECK(moves->back().texels_per_row == 64);
  CHECK(text_of(*moves, arrays) == "a->shared=whole, b->texture2d=64");
  for (const char* wrong : {"a", "c:shared", "a:cloud", "a:shared=half", "a:texture2d=x", "a:ldg,a:texture"})
    CHECK_FALSE(parse_moves(wrong, arrays));
}

TEST_CASE(
    "lanes with an address each, in constant and in global memory of a V100, and columns of shared memory") {
  MadeSource source(1, 32);
  const std::uint64_t words = source.allocate(256), load = source.site("table");
  for (int round = 0; round < 1000; ++round)
    source.access(0, 0, load, [&](std::uint64_t lane) { return words + 4 * lane; });
  const Arrays arrays = arrays_of(source);
  const model::Gpu v100 = gpu("v100");
  const auto latency = [](const KernelResult& result) { return result.sites.front().latency_ns->mean; };
  CHECK(latency(modelled(source, v100, true)) == Approx(20.2).epsilon(.02));
  const ChangedTrace constant = changed(source, arrays, v100, {{.array = 0, .to = PlacementSpace::constant}});
  // A look-up for each lane, one behind the other; the caches are warm but for the first of them.
  CHECK(latency(modelled(constant, v100, true)) ==
        Approx(v100.constant.latency_ns + 31 * v100.constant.pass_ns).epsilon(.02));

  MadeSource column(1, 32);
  const std::uint64_t tile = column.site("tile", AccessKind::load, Space::shared);
  for (int round = 0; round < 10; ++round)
    column.access(0, 0, tile, [&](std::uint64_t lane) { return 128 * lane; });
  CHECK(latency(modelled(column, v100)) == Approx(36.98).epsilon(.001));
  CHECK(latency(modelled(column, gpu("k80"))) == Approx(46.8).epsilon(.002));
}

TEST_CASE("elements of half the size: half the bytes, side by side as before") {
  const MadeSource source = copy();
  const Arrays arrays = arrays_of(source);
  const model::Gpu on = gpu("a100");
  const ChangedTrace narrow = changed(source, arrays, on, {{.array = 0, .rewrite = Rewrite::narrowed}});
  REQUIRE(narrow.is_legal());
  const std::vector<trace::WarpAccess> accesses = accesses_of(narrow), before = accesses_of(source);
  REQUIRE(accesses.size() == before.size());
  CHECK(accesses[2].bytes == 2);
  CHECK(accesses[2].addresses[5] == arrays[0].base + (before[2].addresses[5] - arrays[0].base) / 2);
  CHECK(accesses[3].bytes == 4); // the other array stays
  CHECK(accesses[3].addresses == before[3].addresses);
  MadeSource bytes(1, 32);
  const std::uint64_t a = bytes.allocate(4096), load = bytes.site("a");
  bytes.site_of(load).element_bytes = 1;
  bytes.access(0, 0, load, [&](std::uint64_t lane) { return a + lane; }, 1);
  const Arrays of_bytes = arrays_of(bytes);
  CHECK_FALSE(changed(bytes, of_bytes, on, {{.array = 0, .rewrite = Rewrite::narrowed}}).is_legal());
}

TEST_CASE("what a block has summed is added to memory as what its lanes would add: floats") {
  MadeSource source(64, 256);
  const std::uint64_t sum = source.allocate(4), add = source.site("sum", AccessKind::atomic);
  source.site_of(add).is_reduction = source.site_of(add).is_floating = true;
  for (std::uint64_t block = 0; block < 64; ++block)
    source.access(block, 0, add, [&](std::uint64_t) { return sum; });
  const Arrays arrays = arrays_of(source);
  const ChangedTrace summed =
      changed(source, arrays, gpu("a100"), {{.array = 0, .rewrite = Rewrite::privatised}});
  REQUIRE(summed.is_legal());
  const auto is_float_in_memory = [](const Site& site) {
    return site.kind == AccessKind::atomic && site.space == Space::global && site.is_floating;
  };
  const auto sites = summed.sites();
  CHECK(std::ranges::any_of(sites,
                            [&](const Site& site) { return site.id != add && is_float_in_memory(site); }));
}

TEST_CASE("lines that persist in the L2: a window, its part of the L2, and what is refused") {
  // One block reads 1 MB twice with 64 MB between, which an A100's L2 does not hold.
  MadeSource source(1, 32);
  constexpr std::uint64_t kept_bytes = 1 << 20, other_bytes = 64 << 20;
  const std::uint64_t kept = source.allocate(kept_bytes), others = source.allocate(other_bytes),
                      huge = source.allocate(std::uint64_t{1} << 28);
  const std::uint64_t again = source.site("again"), once = source.site("once"), part = source.site("part");
  const auto read = [&](std::uint64_t site, std::uint64_t begin, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes; at += 4096)
      source.access(0, 0, site, [&](std::uint64_t lane) { return begin + at + 128 * lane; });
  };
  read(again, kept, kept_bytes);
  read(once, others, other_bytes);
  read(again, kept, kept_bytes);
  source.access(0, 0, part, [&](std::uint64_t lane) { return huge + (lane << 23); });
  const Arrays arrays = arrays_of(source);
  const model::Gpu a100 = gpu("a100");
  const auto move_of = [&](const char* name) {
    return Move{.array = *arrays.named(name), .to = PlacementSpace::persisting};
  };
  const ChangedTrace persisting = changed(source, arrays, a100, {move_of("again")});
  REQUIRE(persisting.is_legal());
  REQUIRE(persisting.alteration()->persisting);
  CHECK(persisting.alteration()->persisting->begin == kept);
  CHECK(persisting.alteration()->persisting->end == kept + kept_bytes);
  CHECK(persisting.alteration()->persisting->hit_ratio == 1);
  CHECK(persisting.alteration()->persisting->set_aside == 1. / 16);
  const auto hits = [](const KernelResult& result) {
    double hit = 0, all = 0;
    for (const SiteResult& site : result.sites)
      if (site.site.object == "again" && site.l2_hit_rate) {
        hit += site.l2_hit_rate->mean * double(site.executions);
        all += double(site.executions);
      }
    return hit / all;
  };
  CHECK(hits(modelled(source, a100)) < 0.02);
  CHECK(hits(modelled(persisting, a100)) == Approx(0.5).epsilon(.02));

  // An A100 sets 30 MB aside at most, so that a share of these lines persists.
  const ChangedTrace larger = changed(source, arrays, a100, {move_of("once")});
  REQUIRE(larger.alteration()->persisting);
  CHECK(larger.alteration()->persisting->set_aside == 0.75);
  CHECK(larger.alteration()->persisting->hit_ratio == Approx(0.75 * 40 / 64));

  const auto reason = [&](const model::Gpu& on, std::vector<Move> moves) {
    const ChangedTrace trace = changed(source, arrays, on, std::move(moves));
    REQUIRE_FALSE(trace.is_legal());
    return trace.refusals().front().reasons.front().text;
  };
  CHECK(reason(gpu("v100"), {move_of("again")}) == "nothing of the L2 of v100 can be set aside");
  CHECK(reason(a100, {move_of("part")}) == "268435456 B of 134213632 of an access policy window");
  CHECK(reason(a100, {move_of("again"), move_of("once")}) == "a kernel has one access policy window");
}
