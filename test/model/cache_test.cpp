// The fast caches against the slow references, access by access, over random traces and geometries.
#include "made_trace.h"
#include "model/cache/l1.h"
#include "model/cache/l2.h"
#include "model/gpu/slices.h"
#include "model/replay/constant_caches.h"
#include "model/replay/trial.h"
#include "numeric/random.h"
#include "reference_caches.h"
#include "test/catch.h"

#include <map>

using namespace warplens;
using model::IndexHash;

namespace {

struct Written {
  model::ByteMask mask{};
  std::array<std::uint32_t, 4> bytes{}; ///< the same, by sector
};

/// Returns some bytes of each of the sectors: all of them, a range, or random ones.
Written some_bytes(Random& random, unsigned sectors) {
  Written written;
  for (unsigned sector = 0; sector < 4; ++sector) {
    if (!(sectors >> sector & 1))
      continue;
    const std::uint32_t piece = 0xffu << 8 * random.below(4), any = random.next() | 1u << random.below(32);
    const std::uint32_t choices[] = {0xffff'ffff, piece, piece, any};
    written.bytes[sector] = choices[random.below(4)];
    written.mask[sector / 2] |= std::uint64_t{written.bytes[sector]} << sector % 2 * 32;
  }
  return written;
}

/// Draws lines with locality of every kind: a few hot ones, runs, a table a bit larger than the cache, any
/// line.
class DrawnLines {
public:
  DrawnLines(Random& random, std::uint32_t table) : random_(random), table_(table) {}
  std::uint32_t next() {
    switch (random_.below(8)) {
    case 0: return random_.below(8);
    case 1: return random_.next() >> 3; // a line's four blocks have numbers of 32 bits, too
    case 2:
    case 3: return ++run_;
    default: return 1'000'000 + random_.below(table_);
    }
  }

private:
  Random& random_;
  std::uint32_t table_, run_ = 0;
};

} // namespace

namespace {

/// Compares a cache with the reference, in the loops that are compiled for these instructions.
template <class Instructions>
unsigned differences_from_lru(std::uint32_t sets, std::uint32_t ways, IndexHash index) {
  constexpr std::uint32_t parts = 2;
  Random random(7, sets, ways);
  model::Cache fast(sets, ways, index, parts);
  std::vector<test::ReferenceSets> slow(parts, test::ReferenceSets(sets, ways, index));
  std::map<std::uint32_t, model::LineState> states[parts];
  DrawnLines lines(random, sets * ways * 5 / 4 + 1);
  const std::uint32_t accesses = 4 * sets * ways + 200;
  unsigned differences = 0;
  const auto compare = [&](auto& of_cache) {
    for (std::uint32_t i = 0; i < parts * accesses; ++i) {
      const std::uint32_t part = random.below(parts), line = lines.next();
      const bool hit = slow[part].contains(line);
      const model::LineState expected = hit ? states[part][line] : model::LineState{0};
      const model::LineState* const peeked = of_cache.peek(part, line);
      differences += (peeked != nullptr) != hit || (hit && *peeked != expected);
      std::vector<test::ReferenceEntry> evicted;
      slow[part].access(line, evicted);
      const auto fresh = model::LineState(random.next());
      std::uint32_t victim = 0;
      model::LineState victim_state = 0;
      const bool found = of_cache.template access<Instructions>(
          part, line,
          [&](model::LineState before) {
            differences += before != expected;
            return fresh;
          },
          [&](std::uint32_t line_number, model::LineState state) {
            victim = line_number;
            victim_state = state;
          });
      differences += found != hit;
      if (!evicted.empty()) {
        const std::uint32_t expected_victim = evicted[0].number;
        differences += victim != expected_victim || victim_state != states[part][expected_victim];
      } else if (!hit)
        differences += victim != model::no_line;
      differences += hit && victim_state != 0;
      states[part][line] = fresh;
    }
  };
  fast.with_lines([&](auto& of_cache) { Instructions::run([&] { compare(of_cache); }); });
  return differences;
}

} // namespace

TEST_CASE("The store of lines is LRU for every geometry, whatever the processor") {
  for (const IndexHash index : {IndexHash::modulo, IndexHash::xor_fold})
    for (const std::uint32_t sets : {1u, 2u, 3u, 64u, 96u, 160u})
      for (const std::uint32_t ways : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 11u, 16u, 20u, 64u, 65u, 256u}) {
        if (sets * ways > 8000)
          continue; // the reference would take too long
        INFO("sets " << sets << ", ways " << ways << ", hash " << int(index));
        CHECK(differences_from_lru<PlainInstructions>(sets, ways, index) == 0);
        if (Avx2Instructions::available())
          CHECK(differences_from_lru<Avx2Instructions>(sets, ways, index) == 0);
      }
}

TEST_CASE("Loops over many lines find the sets that single lines have") {
  Random random(5, 0, 0);
  for (const IndexHash index : {IndexHash::modulo, IndexHash::xor_fold})
    for (const std::uint32_t sets : {1u, 2u, 3u, 64u, 96u, 847u, 28'643u, 43'593u, 1u << 20}) {
      INFO("sets " << sets << ", hash " << int(index));
      const model::SetIndex set_of(sets, index);
      unsigned differences = 0;
      set_of.with_loop_form([&](auto&& find) {
        for (int i = 0; i < 20'000; ++i) {
          const std::uint32_t line = i == 0 ? 0 : i == 1 ? ~1u : random.next() >> random.below(32);
          differences += find(line) != set_of(line) || find(line) >= sets;
        }
      });
      CHECK(differences == 0);
    }
}

TEST_CASE("More ways never lower the number of hits") {
  for (const std::uint32_t sets : {1u, 48u}) {
    std::uint64_t fewer = 0;
    for (const std::uint32_t ways : {1u, 4u, 15u, 16u, 64u, 200u}) {
      Random random(3, 0, 0); // the same lines for each
      DrawnLines lines(random, sets * 40);
      model::Cache cache(sets, ways, IndexHash::modulo);
      std::uint64_t hits = 0;
      cache.with_lines([&](auto& of_cache) {
        for (int i = 0; i < 20'000; ++i)
          hits += of_cache.template access<PlainInstructions>(0, lines.next(),
                                                              [](model::LineState state) { return state; });
      });
      CHECK(hits >= fewer);
      fewer = hits;
    }
  }
}

TEST_CASE("The L1 does what its policies say") {
  Random random(11, 0, 0);
  for (const bool sectored : {false, true})
    for (const auto stores : {model::L1Stores::bypass, model::L1Stores::update_on_hit,
                              model::L1Stores::evict_on_hit, model::L1Stores::allocate})
      for (const auto& [sets, ways, usable, early_usable] : {std::tuple(4u, 4u, 1.0, 0.0),
                                                             {4u, 64u, 1.0, 0.0},
                                                             {4u, 3u, 0.8, 0.0},
                                                             {50u, 4u, 1.0, 0.9},
                                                             {21u, 8u, 0.9, 0.9},
                                                             {64u, 3u, 0.95, 0.5}}) {
        model::Gpu gpu;
        gpu.l1.ways = ways;
        gpu.l1.usable = usable;
        gpu.l1.early_usable = early_usable;
        gpu.l1.sectored = sectored;
        gpu.l1.index = early_usable > 0 ? IndexHash::modulo : IndexHash::xor_fold;
        gpu.l1.stores = stores;
        const std::uint32_t bytes = sets * ways * 128;
        model::L1 fast(gpu, bytes);
        test::ReferenceL1 slow(gpu, bytes);
        DrawnLines lines(random, (sets + 1 + sets / 4) * ways);
        unsigned differences = 0, misses = 0, written_back = 0;
        for (int i = 0; i < 40'000; ++i) {
          const std::uint32_t line = lines.next();
          const unsigned sectors = 1 + random.below(15);
          test::ReferenceL1::WrittenBack back, expected;
          const auto write_back = [&](std::uint32_t of_line, unsigned dirty) {
            back.emplace_back(of_line, dirty);
          };
          switch (const std::uint32_t kind = random.below(10); kind) {
          case 0:
          case 1:
            fast.store(line, sectors, i % 3 != 0);
            slow.store(line, sectors, i % 3 != 0);
            break;
          case 2: // only in the second half, before which nothing is written back
            if (i >= 20'000) {
              fast.store_back(line, sectors, write_back);
              slow.store_back(line, sectors, expected);
            }
            break;
          default:
            const unsigned missing = fast.load(line, sectors, write_back);
            misses += missing != 0;
            differences += missing != slow.load(line, sectors, expected);
          }
          differences += back != expected || (i < 20'000 && !back.empty());
          written_back += unsigned(back.size());
        }
        CHECK(differences == 0);
        CHECK(misses > 1000);
        CHECK(written_back > 500);
      }
}

TEST_CASE("Constant caches: an SM's, then its group's, by lines of any size") {
  Random random(12, 0, 0);
  for (const std::uint32_t bytes : {32u, 64u, 128u})
    for (const std::uint32_t group_line_bytes : {128u, 256u, 1024u})
      for (const std::uint32_t ways : {1u, 3u, 4u, 20u}) {
        INFO("lines of " << bytes << ", of a group " << group_line_bytes << ", ways " << ways);
        model::Gpu gpu;
        gpu.sms = 5;
        gpu.constant = {
            6 * 128 * ways, bytes, ways, 0, 0, {2, 4 * group_line_bytes * ways, group_line_bytes, ways, 0}};
        model::ConstantCaches fast(gpu, 1);
        std::vector<test::ReferenceReadOnlyCache> own(gpu.sms, {gpu.constant.bytes, bytes, ways});
        std::vector<test::ReferenceReadOnlyCache> groups(3,
                                                         {gpu.constant.group.bytes, group_line_bytes, ways});
        DrawnLines lines(random, 8 * ways);
        unsigned differences = 0, misses = 0, fetches = 0;
        for (int i = 0; i < 10'000; ++i) {
          const std::uint32_t sm = random.below(gpu.sms), line = lines.next() >> 5;
          const unsigned sectors = 1 + random.below(15);
          // The misses of each level, as addresses.
          using MissedAddresses = std::vector<std::uint64_t>;
          MissedAddresses missed, expected, fetched, expected_fetched;
          const model::Transaction transaction{line, sectors, 0};
          fast.load(sm, 0, {&transaction, 1}, [&](std::uint32_t of_line, unsigned missing) {
            CHECK((missing & sectors) != 0);
            missed.push_back(of_line * 128ull + 32u * unsigned(std::countr_zero(missing)));
            CHECK(sector_count(missing) == bytes / 32);
            fast.load_from_group(fast.group_of(sm), 0, of_line,
                                 [&](std::uint32_t whole) { fetched.push_back(whole * 128ull); });
          });
          for (std::uint64_t at = 0; at < 128; at += bytes) {
            const std::uint64_t address = line * 128ull + at;
            const unsigned of_line = ((1u << bytes / 32) - 1) << at / 32;
            if ((sectors & of_line) == 0 || own[sm].load(address))
              continue;
            expected.push_back(address);
            if (groups[sm / 2].load(address))
              continue;
            for (std::uint64_t part = 0; part < group_line_bytes; part += 128)
              expected_fetched.push_back(address / group_line_bytes * group_line_bytes + part);
          }
          differences += missed != expected || fetched != expected_fetched;
          misses += unsigned(missed.size());
          fetches += unsigned(fetched.size());
        }
        CHECK(differences == 0);
        CHECK(misses > 1000);
        CHECK(fetches > 1000);
      }
}

namespace {

/// Compares each fetch and each read-only load with the reference's lookup in its SM's cache, in the order in
/// which a trial issues them.
struct AgainstReference final : model::TrialObserver {
  AgainstReference(const model::Gpu& gpu, const model::Gpu::ReadOnly& cache, model::FirstCache which)
      : of_sms(gpu.sms, {cache.bytes, cache.line_bytes, cache.ways}), line_bytes(cache.line_bytes),
        first(which) {}

  void issued(std::uint32_t sm, const model::Access& access, std::span<const model::Transaction> transactions,
              const model::Lookups& lookups, model::Cycle) override {
    if (access.cache != first)
      return;
    model::Lookups expected;
    for (const model::Transaction& transaction : transactions)
      for (std::uint32_t at = 0; at < 128; at += line_bytes) {
        const unsigned of_line = ((1u << line_bytes / 32) - 1) << at / 32;
        if ((transaction.sectors & of_line) != 0)
          expected += {of_sms[sm].load(transaction.line * 128ull + at), 1};
      }
    differences += lookups != expected;
    hits += lookups.hits;
    misses += lookups.all - lookups.hits;
  }

  std::vector<test::ReferenceReadOnlyCache> of_sms;
  std::uint32_t line_bytes;
  model::FirstCache first;
  std::uint64_t differences = 0, hits = 0, misses = 0;
};

} // namespace

TEST_CASE("In a trial each fetch and each read-only load finds what the reference has") {
  test::MadeTrace made(40, 64);
  const auto fetch = made.site(), read_only = made.site(), plain = made.site();
  made.site_of(fetch).cache_operator = CacheOperator::tex;
  made.site_of(read_only).cache_operator = CacheOperator::nc;
  Random random(21, 0, 0);
  for (unsigned block = 0; block < 40; ++block)
    for (unsigned i = 0; i < 200; ++i) {
      const std::uint64_t start = random.below(60) * 64ull, stride = 4ull << random.below(4);
      const auto site = std::array{fetch, read_only, plain}[random.below(3)];
      made.access(block, random.below(2), site, 4, [=](unsigned lane) { return start + lane * stride; });
    }
  model::Gpu gpu = test::gpu("v100");
  gpu.sms = 5;
  for (const std::uint32_t bytes : {32u, 64u, 128u})
    for (const std::uint32_t ways : {1u, 3u, 8u})
      for (const auto textures : {model::TextureCache::own, model::TextureCache::read_only}) {
        INFO("lines of " << bytes << ", ways " << ways << ", textures " << int(textures));
        gpu.texture = {128 * ways * 2, bytes, ways, 60};
        gpu.read_only = {128 * ways * 3, bytes, ways, 50};
        gpu.lanes.own_read_only_cache = true;
        gpu.lanes.texture_cache = textures;
        const auto snapshot = made.decode(gpu.lanes);
        REQUIRE(snapshot);
        const auto compare = [&](model::FirstCache first, const model::Gpu::ReadOnly& cache) {
          AgainstReference observer(gpu, cache, first);
          const Random of_trial(3, 0, 0);
          model::run_trial(*snapshot, gpu, {2, 4, 128 * 4 * 8, "blocks"}, of_trial, observer);
          CHECK(observer.differences == 0);
          CHECK((observer.misses > 1000) ==
                (first == model::FirstCache::read_only || textures == model::TextureCache::own));
        };
        compare(model::FirstCache::read_only, gpu.read_only);
        compare(model::FirstCache::texture, gpu.texture);
      }
}

namespace {

using Kind = test::ReferenceL2::Kind;

struct Difference {
  unsigned differences = 0, written_back = 0, filled = 0, fetched = 0;
};

/// Sends the same random requests to both L2s; one in `of_stores` is a store, one in `of_atomics` an atomic.
Difference compare(const model::Gpu& gpu, Random& random, DrawnLines& lines, int requests, unsigned of_stores,
                   unsigned of_atomics) {
  model::L2 fast(gpu);
  test::ReferenceL2 slow(gpu);
  Difference seen;
  for (int i = 0; i < requests; ++i) {
    const std::uint32_t line = lines.next();
    const unsigned sectors = 1 + random.below(15);
    const Kind kind = random.below(of_atomics) == 0  ? Kind::atomic
                      : random.below(of_stores) == 0 ? Kind::store
                                                     : Kind::load;
    const Written written = some_bytes(random, sectors);
    const auto expected = slow.request(kind, line, sectors, written.bytes);
    unsigned went_back = 0, filled = 0;
    const auto write_back = [&](std::uint32_t, unsigned dirty, unsigned read) {
      went_back += sector_count(dirty);
      filled += sector_count(read);
    };
    const auto outcome = kind == Kind::load    ? fast.load(line, sectors, write_back)
                         : kind == Kind::store ? fast.store(line, sectors, written.mask, write_back)
                                               : fast.atomic(line, sectors, write_back);
    seen.differences += outcome.hits != expected.hits || outcome.fetched != expected.fetched ||
                        outcome.updated != expected.updated || went_back != expected.written_back ||
                        filled != expected.filled;
    seen.written_back += went_back;
    seen.filled += filled;
    seen.fetched += kind == Kind::store && outcome.fetched != 0;
  }
  return seen;
}

} // namespace

TEST_CASE("The L2 does what its policies say") {
  Random random(13, 0, 0);
  for (const std::uint32_t bytes : {32u, 128u})
    for (const auto stores : {model::L2Stores::memory_update, model::L2Stores::allocate})
      for (const auto index : {IndexHash::modulo, IndexHash::xor_fold})
        for (const auto partial : {model::PartialWrites::whole, model::PartialWrites::mask,
                                   model::PartialWrites::fill, model::PartialWrites::fetch})
          for (const std::uint32_t fetch : {32u, 64u, 128u}) {
            // GPU files may not have these. A hash of blocks would fold the sector's number into the set.
            if (bytes == 32 && (index == IndexHash::xor_fold || fetch != 32))
              continue;
            if ((bytes == 32 || stores == model::L2Stores::memory_update) &&
                partial != model::PartialWrites::whole)
              continue;
            INFO("lines of " << bytes << ", stores " << int(stores) << ", index " << int(index)
                             << ", partial " << int(partial) << ", fetch " << fetch);
            model::Gpu gpu;
            gpu.l2.line_bytes = bytes;
            gpu.l2.ways = 20;
            gpu.l2.index = index;
            gpu.l2.stores = stores;
            gpu.l2.partial_writes = partial;
            gpu.l2.fetch_bytes = fetch;
            gpu.l2_bytes = 20 * 128 * 24;
            DrawnLines lines(random, 20 * 24 * 5 / 4);
            const Difference seen = compare(gpu, random, lines, 20'000, 2, 3);
            CHECK(seen.differences == 0);
            CHECK(seen.written_back > 1000);
            CHECK((seen.filled > 100) == (partial == model::PartialWrites::fill));
            CHECK((seen.fetched > 100) == (partial == model::PartialWrites::fetch));
          }
}

TEST_CASE("Of each pair of lines one belongs to either partition, and both lie in one of its sets") {
  // A range that fills the L2 fits one partition only in half: the lines of that partition.
  model::Gpu gpu;
  gpu.l2.line_bytes = 128;
  gpu.l2.ways = 6;
  gpu.l2.partitions = 2;
  gpu.l2_bytes = 2 * 128 * 6 * 50;
  const auto hits_after_two_laps = [&](bool of_one_partition) {
    model::L2 partition = model::L2::partition_of(gpu);
    unsigned hits = 0;
    for (int lap = 0; lap < 2; ++lap)
      for (std::uint32_t line = 0; line < 600; ++line)
        if (!of_one_partition || model::home_partition(line, 2) == 1)
          hits += partition.load(line, 1, [](std::uint32_t, unsigned, unsigned) {}).hits;
    return hits;
  };
  CHECK(hits_after_two_laps(true) == 300);
  CHECK(hits_after_two_laps(false) == 0);
}

TEST_CASE("Half of a partition's lines overflow early, the others late") {
  model::Gpu gpu;
  gpu.l2.line_bytes = 128;
  gpu.l2.ways = 4;
  gpu.l2.partitions = 2;
  gpu.l2_bytes = 2 * 128 * 800;
  gpu.l2.early_usable = 0.6; // 60 sets for 400 lines, and 110 for the other 400
  gpu.l2.usable = 1.1;
  const auto share_of_hits = [&](std::uint32_t lines) {
    model::L2 partition = model::L2::partition_of(gpu);
    unsigned hits = 0;
    for (int lap = 0; lap < 2; ++lap)
      for (std::uint32_t line = 0; line < lines; ++line)
        hits += partition.load(line, 1, [](std::uint32_t, unsigned, unsigned) {}).hits;
    return double(hits) / lines;
  };
  CHECK(share_of_hits(480) == 1);
  CHECK(share_of_hits(800) ==
        Approx(0.5)); // three pairs or more in each early set, at most two in the others
  CHECK(share_of_hits(1320) == 0);
}

TEST_CASE("What is set aside in the L2 keeps lines that others would replace, as far as it holds them") {
  // An A100 as one L2 of LRU sets: 20 MB and 60 MB that are read again and again between streams of 1 GB.
  model::Gpu gpu;
  gpu.l2.line_bytes = 128;
  gpu.l2.ways = 16;
  gpu.l2_bytes = 40 << 20;
  constexpr std::uint32_t lines_of_mb = (1 << 20) / 128, far = 1 << 24;
  const auto hit_share = [&](std::uint32_t megabytes, double hit_ratio, double set_aside) {
    const std::uint32_t lines = megabytes * lines_of_mb;
    model::L2 l2(gpu, {.first_line = far,
                       .lines = set_aside > 0 ? lines : 0,
                       .persisting = std::uint32_t(hit_ratio * model::SetAside::all),
                       .share = set_aside});
    const auto hits_in = [&](std::uint32_t first, std::uint32_t count) {
      std::uint64_t hits = 0;
      for (std::uint32_t line = first; line < first + count; ++line)
        hits += l2.load(line, 1, [](std::uint32_t, unsigned, unsigned) {}).hits;
      return hits;
    };
    std::uint64_t hits = 0;
    constexpr int laps = 3;
    for (std::uint32_t lap = 0; lap < laps; ++lap) {
      hits += hits_in(far, lines);
      hits_in(lap * 1024 * lines_of_mb, 1024 * lines_of_mb);
    }
    return double(hits) / (laps * lines);
  };
  CHECK(hit_share(20, 1, 0) == 0);
  CHECK(hit_share(20, 1, 0.75) == Approx(2. / 3));
  CHECK(hit_share(60, 1, 0.75) == 0);
  // Which lines persist is a hash's choice, so some sets have more of them than others, and of as many as
  // would fit exactly half the sets overflow. That GPUs choose so is an assumption.
  CHECK(hit_share(60, 0.35, 0.75) == Approx(2. / 3 * 0.35).epsilon(0.05));
  CHECK(hit_share(60, 0.5, 0.75) == Approx(2. / 3 / 4).epsilon(0.1));
}
