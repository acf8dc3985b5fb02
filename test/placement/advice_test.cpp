// Advice on made traces: what is suggested, what is not, and the edits of sources.
#include "document/print.h"
#include "made_source.h"
#include "placement/change/split_structures.h"
#include "placement/print/advice_report.h"
#include "placement/source_edits.h"
#include "test/catch.h"

#include <nlohmann/json.hpp>

using namespace warplens;
using namespace warplens::placement;
using warplens::test::MadeSource;

namespace {

/// Returns the GPU without the time that any launch takes, which is long beside that of a made trace.
model::Gpu without_launch_time(model::Gpu gpu) {
  gpu.issue.launch_ns = 0;
  for (model::Gpu& machine : gpu.machines)
    machine.issue.launch_ns = 0;
  return gpu;
}

struct Advised {
  explicit Advised(const MadeSource& made, const char* gpu_name = "v100")
      : source(made), arrays(*Arrays::find(source, source.launches().front())),
        gpu(without_launch_time(*model::load_gpu(gpu_name, WARPLENS_GPU_FOLDER))),
        addressing(*load_addressing(WARPLENS_ADDRESSING)),
        experiment(source, 0, arrays, gpu, addressing, options()) {
    if (const auto modelled = experiment.model_sample(); !modelled)
      FAIL(modelled.error().message);
    auto found = placement::advise(experiment);
    if (!found)
      FAIL(found.error().message);
    advice = std::move(*found);
  }
  static model::Options options() {
    model::Options options;
    options.trials = 4;
    options.threads = 1;
    options.l2_begin = model::L2Begin::cold;
    return options;
  }
  const Suggestion* suggestion(Rewrite rewrite) const {
    for (const Suggestion& one : advice.suggestions)
      if (one.candidate.moves.front().rewrite == rewrite)
        return &one;
    return nullptr;
  }

  const MadeSource& source;
  Arrays arrays;
  model::Gpu gpu;
  std::vector<Addressing> addressing;
  Experiment experiment;
  KernelAdvice advice;
};

/// Blocks read columns of a tile of 32 x 32 words in shared memory, each warp eight times.
MadeSource columns(std::uint64_t row_words) {
  MadeSource source(320, 256);
  source.launch().static_shared_bytes = std::uint32_t(32 * row_words * 4);
  const std::uint64_t load = source.site("tile", AccessKind::load, Space::shared);
  const std::uint64_t out = source.allocate(1 << 20), store = source.site("out", AccessKind::store);
  source.site_of(store).depends_on = {load};
  for (std::uint64_t block = 0; block < 320; ++block)
    for (std::uint32_t warp = 0; warp < 8; ++warp) {
      for (std::uint64_t column = 0; column < 8; ++column)
        source.access(block, warp, load,
                      [&](std::uint64_t lane) { return 4 * (lane * row_words + (column + 4 * warp) % 32); });
      source.access(block, warp, store,
                    [&](std::uint64_t lane) { return out + (block * 8 + warp) * 128 + 4 * lane; });
    }
  return source;
}

/// Each thread reads one word of a structure of 32 bytes.
MadeSource structures() {
  MadeSource source(640, 256);
  const std::uint64_t p = source.allocate(640 * 256 * 32), load = source.site("p");
  for (std::uint64_t block = 0; block < 640; ++block)
    for (std::uint32_t warp = 0; warp < 8; ++warp)
      source.access(block, warp, load,
                    [&](std::uint64_t lane) { return p + ((block * 8 + warp) * 32 + lane) * 32 + 8; });
  return source;
}

std::string text_of(const Advised& advised) {
  return document::print_text(advice_document({"x", 1, {advised.advice}}), {});
}

} // namespace

TEST_CASE("columns of a tile: longer rows are suggested, and not where rows are long already") {
  const MadeSource source = columns(32);
  const Advised advised(source);
  const Suggestion* const padded = advised.suggestion(Rewrite::padded);
  REQUIRE(padded != nullptr);
  CHECK(padded->candidate.change.share < -.5); // 32 passes become one
  CHECK(padded->candidate.shared_bytes == 32 * 33 * 4);
  CHECK(padded->line == 1);
  REQUIRE(padded->rule); // of 32 passes 31 are conflicts
  CHECK(padded->rule->counter == RuleCounter::bank_conflicts);
  CHECK(padded->rule->share == Approx(-31. / 32));
  CHECK(padded->edit.find("132 B for 128") != std::string::npos);

  const auto edited = edited_source(advised.experiment, *padded, "  __shared__ float tile[32][N * 2];\n");
  REQUIRE(edited);
  CHECK(*edited == "  __shared__ float tile[32][N * 2 + 1];\n");
  CHECK_FALSE(edited_source(advised.experiment, *padded, "__shared__ float tile[1024];\n"));
  CHECK_FALSE(edited_source(advised.experiment, *padded, "__shared__ float tiles[32][32];\n"));
  Suggestion bounded = *padded;
  bounded.candidate.moves = {{.rewrite = Rewrite::bounded, .number = 32}};
  const auto with_bounds = edited_source(advised.experiment, bounded, "\n__global__ void kernel(int n) {\n");
  REQUIRE(with_bounds);
  CHECK(with_bounds->starts_with("\n__global__ __launch_bounds__(256, "));
  CHECK_FALSE(edited_source(advised.experiment, bounded, "__global__ void my_kernel(int n) {\n"));

  // The patch stands below its suggestion, and is a fix in SARIF: the lines that it changes.
  Advised with_patch(source);
  Suggestion& first = with_patch.advice.suggestions.front();
  REQUIRE(first.candidate.moves.front().rewrite == Rewrite::padded);
  first.source = "int n;\n  __shared__ float tile[32][32];\n";
  first.edited = "int n;\n  __shared__ float tile[32][32 + 1];\n";
  first.patch = "a patch";
  first.patch_change = TimeChange{-.5, .01};
  const std::string text = text_of(with_patch);
  CHECK(text.find("modelled anew it takes -50 % ±1:\n  a patch\n") != std::string::npos);
  const auto sarif = nlohmann::json::parse(print_sarif({"x", 1, {with_patch.advice}}, "1"));
  const auto fix = sarif["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
  CHECK(fix["artifactLocation"]["uri"] == "x.cu");
  REQUIRE(fix["replacements"].size() == 1);
  CHECK(fix["replacements"][0]["deletedRegion"]["startLine"] == 2);
  CHECK(fix["replacements"][0]["deletedRegion"]["endColumn"] == 33);
  CHECK(fix["replacements"][0]["insertedContent"]["text"] == "  __shared__ float tile[32][32 + 1];");

  const MadeSource longer = columns(33);
  CHECK(Advised(longer).suggestion(Rewrite::padded) == nullptr);
}

TEST_CASE("a member of structures: an array for each member is suggested, and changes the addresses") {
  const MadeSource source = structures();
  const Advised advised(source);
  const Suggestion* const split = advised.suggestion(Rewrite::split);
  REQUIRE(split != nullptr);
  CHECK(split->candidate.change.share < -.4);
  REQUIRE(split->rule); // of 32 sectors 28 are too many
  CHECK(split->rule->counter == RuleCounter::excess_sectors);
  CHECK(split->rule->share == Approx(-28. / 32));
  CHECK(structure_bytes(advised.arrays[0]) == 32);
  const SiteResult& site = split->candidate.result->sites.front();
  CHECK(*site.sectors_per_request == Approx(4));
  CHECK(*advised.experiment.sample().result->sites.front().sectors_per_request == Approx(32));
}

TEST_CASE("atomics on one address: a sum in each block is suggested, unless their results are used") {
  MadeSource source(640, 256);
  const std::uint64_t sum = source.allocate(4), add = source.site("sum", AccessKind::atomic);
  source.site_of(add).is_reduction = true;
  for (std::uint64_t block = 0; block < 640; ++block)
    for (std::uint32_t warp = 0; warp < 8; ++warp)
      source.access(block, warp, add, [&](std::uint64_t) { return sum; });
  {
    const Advised advised(source);
    const Suggestion* const privatised = advised.suggestion(Rewrite::privatised);
    REQUIRE(privatised != nullptr);
    CHECK(privatised->candidate.change.share < -.5);
    CHECK(privatised->file == "x.cu");
    CHECK(text_of(advised).find("copy of sum in shared memory") != std::string::npos);
    CHECK(to_json({"x", 1, {advised.advice}})["kernels"][0]["suggestions"][0]["change"] == "privatised");
    const auto sarif = nlohmann::json::parse(print_sarif({"x", 1, {advised.advice}}, "1"));
    CHECK(sarif["runs"][0]["results"][0]["ruleId"] == "suggestion/privatised");
  }
  source.site_of(add).is_reduction = false;
  CHECK(Advised(source).suggestion(Rewrite::privatised) == nullptr);
}

TEST_CASE("a stream that DRAM bounds: nothing is suggested but fewer bytes for each element") {
  MadeSource source(640, 256);
  const std::uint64_t a = source.allocate(640 * 1024), b = source.allocate(640 * 1024);
  const std::uint64_t load = source.site("a"), store = source.site("b", AccessKind::store);
  source.site_of(store).depends_on = {load};
  for (std::uint64_t block = 0; block < 640; ++block)
    for (std::uint32_t warp = 0; warp < 8; ++warp) {
      const std::uint64_t first = (block * 8 + warp) * 128;
      source.access(block, warp, load, [&](std::uint64_t lane) { return a + first + 4 * lane; });
      source.access(block, warp, store, [&](std::uint64_t lane) { return b + first + 4 * lane; });
    }
  const Advised advised(source, "a100");
  INFO(text_of(advised));
  for (const Suggestion& one : advised.advice.suggestions)
    CHECK(one.candidate.moves.front().rewrite == Rewrite::narrowed);
  CHECK_FALSE(advised.advice.without_gain.empty());
}

TEST_CASE("threads whose lanes step by rows: exchanging x and y is suggested") {
  MadeSource source(64, 32);
  source.launch().block.y = 8;
  const std::uint64_t a = source.allocate(64 * 32 * 4096), load = source.site("a");
  for (std::uint64_t block = 0; block < 64; ++block)
    for (std::uint32_t warp = 0; warp < 8; ++warp)
      for (std::uint64_t turn = 0; turn < 4; ++turn)
        source.access(block, warp, load, [&](std::uint64_t lane) { // a row for each x, a word for each y
          return a + (block * 32 + lane) * 4096 + (turn * 8 + warp) * 4;
        });
  const Advised advised(source, "a100");
  const Suggestion* const swapped = advised.suggestion(Rewrite::swapped);
  REQUIRE(swapped != nullptr);
  CHECK(*advised.experiment.sample().result->sites.front().sectors_per_request == Approx(32));
  CHECK(*swapped->candidate.result->sites.front().sectors_per_request == Approx(4));
}

TEST_CASE("a stream by wide accesses, and by blocks of another size, accesses the same") {
  MadeSource source(64, 256);
  const std::uint64_t a = source.allocate(64 * 1024), b = source.allocate(64 * 1024);
  const std::uint64_t load = source.site("a"), store = source.site("b", AccessKind::store);
  source.site_of(store).depends_on = {load};
  for (std::uint64_t block = 0; block < 64; ++block)
    for (std::uint32_t warp = 0; warp < 8; ++warp) {
      const std::uint64_t first = (block * 8 + warp) * 128;
      source.access(block, warp, load, [&](std::uint64_t lane) { return a + first + 4 * lane; });
      source.access(block, warp, store, [&](std::uint64_t lane) { return b + first + 4 * lane; });
    }
  const Advised advised(source, "a100");
  const auto modelled = [&](Rewrite rewrite, std::uint32_t number) {
    auto candidate = advised.experiment.model({{.rewrite = rewrite, .number = number}}, 4);
    REQUIRE(candidate);
    return std::move(*candidate);
  };
  const KernelResult& before = *advised.experiment.sample().result;
  const Candidate coarsened = modelled(Rewrite::coarsened, 4);
  REQUIRE(coarsened.is_legal());
  CHECK(coarsened.result->block.count() == 64);
  CHECK(coarsened.result->sites.front().executions == 512);
  CHECK(coarsened.result->totals.dram_read_bytes == before.totals.dram_read_bytes);
  const Candidate regrouped = modelled(Rewrite::regrouped, 512);
  REQUIRE(regrouped.is_legal());
  CHECK(regrouped.result->block.count() == 512);
  CHECK(regrouped.result->grid.count() == 32);
  CHECK(regrouped.result->snapshot.blocks == 32);
  CHECK(regrouped.result->sites.front().executions == 512);
  CHECK(regrouped.result->totals.dram_read_bytes == before.totals.dram_read_bytes);
  // Without machine code nothing says that no lanes exchange values.
  CHECK_FALSE(modelled(Rewrite::vectorised, 4).is_legal());
  CHECK_FALSE(modelled(Rewrite::regrouped, 384).is_legal()); // not whole blocks
}

TEST_CASE("a table that lanes read at their own places is not put into constant memory") {
  for (const bool is_alike : {false, true}) {
    MadeSource source(320, 256);
    const std::uint64_t a = source.allocate(1024), load = source.site("table");
    for (std::uint64_t block = 0; block < 320; ++block)
      for (std::uint32_t warp = 0; warp < 8; ++warp)
        for (std::uint64_t turn = 0; turn < 8; ++turn)
          source.access(block, warp, load, [&](std::uint64_t lane) {
            return a + (is_alike ? 4 * (warp * 8 + turn) : 4 * (lane + 32 * turn));
          });
    for (const char* const gpu : {"k80", "v100", "a100"}) {
      const Advised advised(source, gpu);
      bool is_tried = false;
      const auto look_at = [&](const Candidate& one) {
        is_tried |=
            one.moves.front().rewrite == Rewrite::none && one.moves.front().to == PlacementSpace::constant;
      };
      for (const Suggestion& one : advised.advice.suggestions)
        look_at(one.candidate);
      std::ranges::for_each(advised.advice.without_gain, look_at);
      CHECK(is_tried == is_alike);
    }
  }
}
