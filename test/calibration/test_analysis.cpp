// The experiments of calibration/device, played through the model's caches and memory, whose answers are
// known.
#include "calibration/analyse.h"
#include "curves_of.h"
#include "model/dram.h"
#include "model/l1.h"
#include "model/l2.h"

using namespace warplens;
using calibration::Sample;

namespace {

const auto no_write_back = [](std::uint32_t, unsigned, unsigned) {};

/// A GPU with one SM awake.
class Modelled {
public:
  explicit Modelled(const model::Gpu& gpu)
      : gpu_(gpu), l1_(gpu, gpu.l1.with_shared_bytes - gpu.shared.carveout_bytes.front()), l2_(gpu) {}

  double load(std::uint64_t address, bool bypass = false) {
    const auto line = static_cast<std::uint32_t>(address / 128);
    const unsigned sector = 1u << address % 128 / 32;
    // Where the L1 has no sectors a miss asks for all of the line.
    if (!bypass && l1_.load(line, sector) == 0)
      return test::cycles(gpu_, gpu_.l1.latency_ns);
    const unsigned asked = bypass || gpu_.l1.sectored ? sector : 0xf;
    const model::L2Outcome outcome = l2_.load(line, asked, 0, no_write_back);
    return test::cycles(gpu_, (outcome.fetched & sector) != 0 ? gpu_.dram.latency_ns
                              : outcome.far != 0              ? gpu_.l2.copies.far_latency_ns
                                                              : gpu_.l2.latency_ns);
  }
  void store(std::uint64_t address) {
    const auto line = static_cast<std::uint32_t>(address / 128);
    const unsigned sector = 1u << address % 128 / 32;
    l1_.store(line, sector);
    model::ByteMask all_of_it{};
    all_of_it[address % 128 / 64] = std::uint64_t{0xffffffff} << address % 64 / 32 * 32;
    l2_.store(line, sector, all_of_it, 0, no_write_back);
  }
  void overflow_l2() {
    for (std::uint64_t byte = 0; byte < 3 * gpu_.l2_bytes; byte += 32)
      load((std::uint64_t{1} << 36) + byte, true);
  }

private:
  const model::Gpu& gpu_;
  model::L1 l1_;
  model::L2 l2_;
};

std::vector<Sample> modelled_strides(const model::Gpu& on) {
  std::vector<Sample> samples;
  for (const unsigned stride : {32u, 64u, 128u, 96u, 160u, 224u, 192u, 320u, 448u, 384u, 640u, 896u})
    for (double count = 64; count <= 16384; count *= 1.05) {
      Modelled gpu(on);
      double sum = 0;
      for (unsigned round = 0; round < 3; ++round) {
        sum = 0;
        for (unsigned i = 0; i < static_cast<unsigned>(count); ++i)
          sum += gpu.load(std::uint64_t{i} * stride);
      }
      const double mean = sum / static_cast<unsigned>(count);
      samples.push_back({double(stride), double(static_cast<unsigned>(count)), mean});
      if (mean > 4 * samples[0].cycles)
        break;
    }
  return samples;
}

std::vector<Sample> modelled_touches(const model::Gpu& on, bool through_l1) {
  std::vector<Sample> samples;
  for (unsigned offset = 0; offset < 1024; offset += 8) {
    Modelled gpu(on);
    const std::uint64_t base = 1 << 20;
    if (through_l1)
      for (unsigned i = 0; i < 4096; i += 32)
        gpu.load(base + i, true);
    gpu.load(base, !through_l1);
    samples.push_back({double(offset), 0, gpu.load(base + offset, !through_l1)});
  }
  return samples;
}

std::map<std::string, double> modelled_policies(const model::Gpu& on) {
  constexpr std::uint64_t a = 1 << 20;
  std::map<std::string, double> policies{{"new_value_seen", on.l1.stores == model::L1Stores::update_on_hit}};
  const auto after = [&](const char* name, bool bypass, auto history) {
    Modelled gpu(on);
    history(gpu);
    policies[name] = gpu.load(a, bypass);
  };
  after("l1_hit", false, [](Modelled& gpu) { gpu.load(a); });
  after("l2_hit", true, [](Modelled& gpu) { gpu.load(a, true); });
  after("memory", true, [](Modelled&) {});
  after("load_after_store", false, [](Modelled& gpu) { gpu.store(a); });
  after("l2_load_after_store", true, [](Modelled& gpu) { gpu.store(a); });
  after("load_store_load", false, [](Modelled& gpu) {
    gpu.load(a);
    gpu.store(a);
  });
  after("l1_load_after_l2_overflow", false, [](Modelled& gpu) {
    gpu.load(a);
    gpu.overflow_l2();
  });
  after("l2_load_after_l1_load", true, [](Modelled& gpu) { gpu.load(a); });
  return policies;
}

} // namespace

TEST_CASE("Lines and sectors are those of the model") {
  for (const char* name : {"c2050", "v100", "a100", "gh200"}) {
    INFO(name);
    model::Gpu on = test::gpu(name);
    on.l1.early_usable = 0; // strides would fill the early sets, and the others, unevenly
    CHECK(calibration::find_line(modelled_strides(on)).value_or(0) == 128);
    const double l1 = test::cycles(on, on.l1.latency_ns), l2 = test::cycles(on, on.l2.latency_ns),
                 memory = test::cycles(on, on.dram.latency_ns);
    CHECK(calibration::find_fetch(modelled_touches(on, true), l1, l2).value_or(0) ==
          (on.l1.sectored ? 32 : 128));
    const auto from_memory = modelled_touches(on, false);
    CHECK(calibration::find_fetch(from_memory, l2, memory).value_or(0) == 32);
    CHECK_FALSE(calibration::find_prefetch(from_memory, 32, l2, memory).value_or(true));
  }
}

TEST_CASE("A line ahead that is there all the same was prefetched") {
  std::vector<Sample> touches;
  for (unsigned offset = 0; offset < 1024; offset += 8)
    touches.push_back({double(offset), 0, offset < 64 || (offset >= 128 && offset < 256) ? 200. : 600.});
  CHECK(calibration::find_fetch(touches, 200, 600).value_or(0) == 64);
  CHECK(calibration::find_prefetch(touches, 64, 200, 600).value_or(false));
  CHECK_FALSE(calibration::find_fetch({}, 200, 600));
  CHECK_FALSE(calibration::find_prefetch({}, 32, 200, 600));
}

TEST_CASE("Policies are those of the model") {
  for (const char* name : {"v100", "a100", "gh200"}) {
    INFO(name);
    const auto found = calibration::find_policies(modelled_policies(test::gpu(name)));
    REQUIRE(found);
    CHECK_FALSE(found->l1_allocates_stores);
    CHECK(found->l1_keeps_stored);
    CHECK(found->l2_allocates_stores);
    CHECK_FALSE(found->inclusive);
    CHECK(found->fills_both);
  }
  // Fermi's L1 keeps the old value: a program that loads again is told nothing of its store.
  const auto fermi = calibration::find_policies(modelled_policies(test::gpu("c2050")));
  REQUIRE(fermi);
  CHECK_FALSE(fermi->l1_keeps_stored);
  CHECK_FALSE(calibration::find_policies({{"l1_hit", 30}}));
}

TEST_CASE("An L2 that takes lines out of the L1 as it loses them is inclusive") {
  auto policies = modelled_policies(test::gpu("a100"));
  policies["l1_load_after_l2_overflow"] = policies["memory"];
  CHECK(calibration::find_policies(policies)->inclusive);
}

TEST_CASE("Near and far are told apart where there are both") {
  const model::Gpu on = test::gpu("gh200");
  model::Random random(7, 0, 0);
  const auto loads = [&](double far_ns, bool copies) {
    std::vector<Sample> samples;
    for (unsigned sm = 0; sm < on.sms; ++sm)
      for (unsigned line = 0; line < 64; ++line) {
        const bool far = random.below(2) == 1;
        const auto cycles = [&](bool as_far) {
          return test::cycles(on, as_far ? far_ns : on.l2.latency_ns) + random.below(20);
        };
        samples.push_back({double(sm), 0, cycles(far)});
        samples.push_back({double(sm), 1, cycles(far && !copies)});
      }
    return samples;
  };
  const double near_cycles = test::cycles(on, on.l2.latency_ns) + 9.5,
               far_cycles = test::cycles(on, on.l2.copies.far_latency_ns) + 9.5;
  for (const bool copies : {true, false}) {
    const auto found = calibration::find_distances(loads(on.l2.copies.far_latency_ns, copies));
    REQUIRE(found);
    CHECK(found->near_cycles == Approx(near_cycles).epsilon(0.02));
    CHECK(found->far_cycles == Approx(far_cycles).epsilon(0.02));
    CHECK(found->far_share == Approx(0.5).margin(0.05));
    CHECK(found->keeps_copies == copies);
  }
  const auto alike = calibration::find_distances(loads(on.l2.latency_ns, true));
  REQUIRE(alike);
  CHECK(alike->far_share == 0);
  CHECK_FALSE(calibration::find_distances({}));
}

TEST_CASE("Rows, banks and columns follow from one bit each") {
  const model::Gpu on = test::gpu("h100-sxm");
  model::Random random(8, 0, 0);
  const auto measured = [&](double apart_ns) {
    std::vector<Sample> samples;
    for (unsigned attempt = 0; attempt < 9; ++attempt)
      for (unsigned bit = 7; bit < 28; ++bit) {
        const double kind = bit < 10 ? 0 : bit < 17 ? 1 : 2; // columns, banks and channels, rows
        samples.push_back({double(bit), 0, test::cycles(on, 300 + kind * apart_ns) + random.below(4)});
      }
    return samples;
  };
  const auto found = calibration::find_rows(measured(14));
  REQUIRE(found);
  CHECK(found->column_bits == std::vector<unsigned>{7, 8, 9});
  CHECK(found->bank_bits.size() == 7);
  CHECK(found->row_bits.front() == 17);
  CHECK(found->conflict_cycles - found->miss_cycles == Approx(test::cycles(on, 14)).margin(3));
  CHECK(found->miss_cycles - found->hit_cycles == Approx(test::cycles(on, 14)).margin(3));
  CHECK_FALSE(calibration::find_rows(measured(0))); // memory that closes its rows at once
  CHECK_FALSE(calibration::find_rows({}));
}
