// Plays the experiments of calibration/device through the model's caches and memory, whose properties are
// known.
#include "calibration/analyse.h"
#include "curves_of.h"
#include "model/cache/l1.h"
#include "model/cache/l2.h"
#include "model/dram/dram.h"

using namespace warplens;
using calibration::Sample;

TEST_CASE("Lines and sectors are those of the model") {
  for (const char* name : {"c2050", "v100", "a100", "gh200"}) {
    INFO(name);
    model::Gpu on = test::gpu(name);
    on.l1.early_usable = 0; // strides would fill the early sets, and the others, unevenly
    CHECK(calibration::find_line(test::modelled_strides(on)).value_or(0) == 128);
    const double l1 = test::cycles(on, on.l1.latency_ns), l2 = test::cycles(on, on.l2.latency_ns),
                 memory = test::cycles(on, on.dram.latency_ns);
    CHECK(calibration::find_fetch(test::modelled_touches(on, true), l1, l2).value_or(0) ==
          (on.l1.sectored ? 32 : 128));
    const auto from_memory = test::modelled_touches(on, false);
    CHECK(calibration::find_fetch(from_memory, l2, memory).value_or(0) == on.l2.fetch_bytes);
    CHECK_FALSE(calibration::find_prefetch(from_memory, on.l2.fetch_bytes, l2, memory).value_or(true));
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
    const auto found = calibration::find_policies(test::modelled_policies(test::gpu(name)));
    REQUIRE(found);
    const bool allocates = test::gpu(name).l1.stores == model::L1Stores::allocate;
    CHECK(found->l1_allocates_stores == allocates);
    CHECK(found->l1_keeps_stored);
    CHECK(found->l2_allocates_stores);
    CHECK_FALSE(found->inclusive);
    CHECK(found->fills_both);
  }
  // Fermi's L1 keeps the old value: a program that loads again does not see its own store.
  const auto fermi = calibration::find_policies(test::modelled_policies(test::gpu("c2050")));
  REQUIRE(fermi);
  CHECK_FALSE(fermi->l1_keeps_stored);
  CHECK_FALSE(calibration::find_policies({{"l1_hit", 30}}));
}

TEST_CASE("An L2 that takes lines out of the L1 as it loses them is inclusive") {
  auto policies = test::modelled_policies(test::gpu("a100"));
  policies["l1_load_after_l2_overflow"] = policies["memory"];
  CHECK(calibration::find_policies(policies)->inclusive);
}

TEST_CASE("Near and far are distinguished if there are both") {
  const model::Gpu on = test::gpu("gh200");
  const double near_cycles = test::cycles(on, on.l2.latency_ns) + 9.5,
               far_cycles = test::cycles(on, on.l2.latency_ns + on.l2.hop_ns) + 9.5;
  for (const bool replicas : {true, false}) {
    const auto found =
        calibration::find_distances(test::modelled_distances(on, on.l2.latency_ns + on.l2.hop_ns, replicas));
    REQUIRE(found);
    CHECK(found->near_cycles == Approx(near_cycles).epsilon(0.02));
    CHECK(found->far_cycles == Approx(far_cycles).epsilon(0.02));
    CHECK(found->far_share == Approx(0.5).margin(0.05));
    CHECK(found->keeps_replicas == replicas);
  }
  const auto alike = calibration::find_distances(test::modelled_distances(on, on.l2.latency_ns, true));
  REQUIRE(alike);
  CHECK(alike->far_share == 0);
  CHECK_FALSE(calibration::find_distances({}));
}

TEST_CASE("Rows, banks and columns follow from one bit each") {
  const model::Gpu on = test::gpu("h100-sxm");
  Random random(8, 0, 0);
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

TEST_CASE("The kind of each address bit of a modelled memory is found") {
  // 256 bytes, then a V100's 32 channels, then 4 such pieces in a row, then 16 banks.
  model::Gpu on = test::without_hashes(test::gpu("v100"));
  on.dram.interleave_bytes = 256;
  const auto found = calibration::find_rows(test::modelled_bits(on));
  REQUIRE(found);
  CHECK(found->column_bits == std::vector<unsigned>{7, 13, 14});
  CHECK(found->bank_bits == std::vector<unsigned>{8, 9, 10, 11, 12, 15, 16, 17, 18});
  CHECK(found->row_bits.front() == 19);
  CHECK(found->row_bits.size() == 30 - 19);
  CHECK(found->miss_cycles - found->hit_cycles == Approx(test::cycles(on, on.dram.activate_ns)));
  CHECK(found->conflict_cycles - found->miss_cycles == Approx(test::cycles(on, on.dram.precharge_ns)));
  // Each single bit selects another channel if addresses are hashed, so the measurement never closes a row.
  CHECK_FALSE(calibration::find_rows(test::modelled_bits(test::gpu("v100"))));
}

TEST_CASE("The table of batches has the median of each size") {
  std::vector<Sample> samples;
  for (const double sms : {132., 1., 4.})
    for (const double requests : {32., 1., 8.})
      for (const double strange : {0., 0., 0., 0., 5000.}) // one of five is disturbed
        samples.push_back({sms, requests, 600 + sms * requests / 10 + strange});
  const auto found = calibration::find_batches(samples);
  REQUIRE(found.size() == 9);
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].sms == std::vector<unsigned>{1, 4, 132}[i / 3]);
    CHECK(found[i].requests == std::vector<unsigned>{1, 8, 32}[i % 3]);
    CHECK(found[i].cycles == Approx(600 + found[i].sms * found[i].requests / 10.));
  }
  CHECK(calibration::find_batches({}).empty());
}
