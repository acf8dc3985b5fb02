// First answers: parts of a machine, samples of blocks, and trials that end before their time.
#include "made_trace.h"
#include "model/evaluate.h"
#include "model/scale/part_of_gpu.h"
#include "model/scale/sampled_blocks.h"
#include "model/scale/scale_model.h"

#include <atomic>

using namespace warplens;
using test::gpu;
using test::MadeTrace;

namespace {

/// Returns a kernel in which each thread copies one word, of blocks of 256.
MadeTrace copies(std::uint64_t blocks) {
  MadeTrace made(blocks, 256);
  const std::uint64_t load = made.site(), store = made.site(AccessKind::store, {load});
  for (std::uint64_t block = 0; block < blocks; ++block)
    for (std::uint32_t warp = 0; warp < 8; ++warp) {
      const std::uint64_t first = (block * 256 + warp * 32) * 4;
      made.access(block, warp, load, 4, [&](unsigned lane) { return 0x1000'0000 + first + lane * 4; });
      made.access(block, warp, store, 4, [&](unsigned lane) { return 0x4000'0000 + first + lane * 4; });
    }
  return made;
}

model::Options two_trials() {
  model::Options options;
  options.trials = 2;
  options.threads = 1;
  return options;
}

} // namespace

TEST_CASE("A part of a GPU has the bandwidths of the GPU for each of its SMs") {
  for (const char* const name : {"v100", "a100", "h100-sxm", "c2050"}) {
    const model::Gpu whole = gpu(name);
    for (const std::uint32_t divisor : {2u, 7u, 12u}) {
      if (whole.sms % divisor != 0)
        continue;
      const model::Gpu part = model::part_of_gpu(whole, whole.sms / divisor, whole.l2_bytes / divisor);
      const auto per_sm = [](const model::Gpu& of, double rate) { return rate / of.sms; };
      CHECK(per_sm(part, part.dram.bytes_per_ns()) == Approx(per_sm(whole, whole.dram.bytes_per_ns())));
      CHECK(per_sm(part, part.l2.bytes_per_ns) == Approx(per_sm(whole, whole.l2.bytes_per_ns)));
      CHECK(per_sm(part, part.l2.hop_bytes_per_ns) == Approx(per_sm(whole, whole.l2.hop_bytes_per_ns)));
      CHECK(part.dram.latency_ns == whole.dram.latency_ns);
      CHECK(part.l2.slices % part.l2.partitions == 0);
      CHECK(part.machines.size() == whole.machines.size());
    }
  }
}

TEST_CASE("Samples divide the blocks of each wave evenly, and take turns from wave to wave") {
  const model::Snapshot snapshot = *copies(250).decode({}, model::Accesses::all);
  std::vector<std::uint64_t> seen;
  const model::SampledBlocks sampled = model::sample_blocks(snapshot, 100, 4);
  for (const model::Snapshot::Block& block : sampled.snapshot.blocks)
    seen.push_back(block.id);
  std::vector<std::uint64_t> expected;
  for (const auto& [from, to] : {std::pair(0, 25), std::pair(125, 150), std::pair(225, 237)})
    for (int block = from; block < to; ++block)
      expected.push_back(std::uint64_t(block));
  CHECK(seen == expected);
  CHECK(sampled.snapshot.warps.size() == 8 * seen.size());
  CHECK(sampled.snapshot.sites.size() == snapshot.sites.size());
}

TEST_CASE("Lines say how many samples access them") {
  MadeTrace made(8, 32);
  const std::uint64_t site = made.site();
  for (std::uint64_t block = 0; block < 8; ++block) {
    made.access(block, 0, site, 4, [&](unsigned) { return 0x10'0000; });               // all
    made.access(block, 0, site, 4, [&](unsigned) { return 0x10'1000 + block * 128; }); // its own
  }
  const model::Snapshot snapshot = *made.decode({}, model::Accesses::all);
  const model::SampledBlocks sampled = model::sample_blocks(snapshot, 8, 4);
  std::vector<unsigned> samples;
  sampled.lines.each_in_sample([&](std::uint32_t, unsigned of_line) { samples.push_back(of_line); });
  CHECK(samples == std::vector{4u, 1u, 1u});
  CHECK(sampled.lines.accessed() == 9);
}

TEST_CASE("A part of the machine takes as long for its part of a copy, and counts as much") {
  MadeTrace made = copies(4096);
  const model::Gpu on = gpu("v100");
  const model::Snapshot snapshot = *made.decode(on.lanes, model::Accesses::all);
  const auto occupied = model::occupancy(on, made.launch());
  REQUIRE(occupied);
  const model::Options options = two_trials();
  const auto whole = model::evaluate_launch(snapshot, made.sites(), made.launch(), on, options);
  const std::uint32_t divisor =
      model::divisor_for(model::work_of(snapshot) / 8, model::work_of(snapshot), snapshot, on);
  CHECK(divisor == 8);
  const model::ScaleModel scale =
      model::build_scale_model(divisor, snapshot, on, *occupied, nullptr, Random(1, 0, 2));
  CHECK(scale.gpu.sms == 10);
  const auto part = model::evaluate_launch(snapshot, made.sites(), made.launch(), on, options, {}, &scale);
  REQUIRE(whole);
  REQUIRE(part);
  CHECK(part->trials.divisor == 8);
  CHECK(part->time->microseconds.mean == Approx(whole->time->microseconds.mean).epsilon(0.05));
  CHECK(*part->totals.dram_read_bytes == Approx(*whole->totals.dram_read_bytes).epsilon(0.02));
  CHECK(part->sites[0].executions == whole->sites[0].executions);
}

TEST_CASE("Trials that are asked to stop leave those that have ended") {
  MadeTrace made = copies(640);
  const model::Gpu on = gpu("v100");
  const model::Snapshot snapshot = *made.decode(on.lanes, model::Accesses::all);
  model::Options options = two_trials();
  options.trials = 12;
  options.confidence = {0, 0};
  std::atomic<std::uint32_t> ended = 0;
  options.progress = [&](const model::TrialProgress& progress) { ended = progress.done; };
  options.stop = [&] { return ended >= 5; };
  const auto some = model::evaluate_launch(snapshot, made.sites(), made.launch(), on, options);
  REQUIRE(some);
  CHECK(some->trials.run == 5);
  CHECK(some->trials.stopped_by == StoppedBy::request);
  options.stop = [] { return true; };
  CHECK_FALSE(model::evaluate_launch(snapshot, made.sites(), made.launch(), on, options));
}
