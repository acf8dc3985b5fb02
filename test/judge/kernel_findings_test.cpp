#include "judge/headroom_text.h"
#include "judge/kernel_findings.h"
#include "test/catch.h"
#include "test/result/sample_result.h"
#include "vocabulary/spilled_registers.h"

#include <limits>

using namespace warplens;
using namespace warplens::judge;

namespace {

/// Returns a kernel on a GPU of 100 SMs that has no finding: it takes 102 µs, of which 2 are the launch's,
/// and DRAM is busy for most of them.
KernelResult kernel_at_roofline() {
  KernelResult kernel;
  kernel.sm_clock_mhz = 1000;
  kernel.grid = {80'000, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.snapshot.blocks = 40'000;
  kernel.snapshot.warp_accesses = 1;
  kernel.occupancy = {100, 8, 64, "warps", 0};
  kernel.compiled.emplace().registers = 32;
  Machine& machine = kernel.machine.emplace();
  machine.dram_bytes_per_ns = 2000;
  machine.reads_reach = 0.9;
  machine.copies_reach = 0.8;
  machine.schedulers = 4;
  machine.turnover_cycles = 300;
  machine.sm = {2048, 32, 1024, 65536, 65536, 256, 256, 4, 167936, 167936, 1024, 128};
  KernelTime& time = kernel.time.emplace();
  time.cycles = test::statistic(50'000, 0);
  time.microseconds = test::statistic(102, 0);
  time.launch_us = 2;
  time.is_extrapolated = true;
  time.busy[std::size_t(Resource::dram)] = 0.99;
  time.bound = Resource::dram;
  kernel.totals.dram_read_bytes = 45e6;
  kernel.totals.dram_write_bytes = 35e6;
  return kernel;
}

KernelResult kernel_bound_by_latency() {
  KernelResult kernel = kernel_at_roofline();
  kernel.grid = {20'000, 1, 1};
  kernel.snapshot.blocks = 10'000;
  kernel.time->bound.reset();
  kernel.time->busy[std::size_t(Resource::dram)] = 0.3;
  kernel.totals.dram_read_bytes = kernel.totals.dram_write_bytes = 10e6;
  return kernel;
}

std::string all_of(const KernelResult& kernel) {
  std::string text;
  for (const Finding& finding : findings_on(kernel))
    text += finding.text + "\n";
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string line(const KernelResult& kernel, std::string_view label) {
  for (const LabelledText& text : headroom_text(kernel))
    if (text.label == label)
      return text.text;
  return "";
}

} // namespace

TEST_CASE(
    "the roofline of a launch: its bytes, which are twice the snapshot's, at the rate that memory reaches") {
  const KernelResult kernel = kernel_at_roofline();
  const auto headroom = headroom_of(kernel);
  REQUIRE(headroom.has_value());
  CHECK(headroom->scale == Approx(2));
  CHECK(headroom->dram_read_bytes == Approx(90e6));
  CHECK(headroom->dram_write_bytes == Approx(70e6));
  CHECK(headroom->waves == Approx(100));
  // A byte takes 1/0.9 of the bus' time, and for 7/16 of them 2 × (1/0.8 - 1/0.9) more.
  const double expected = 160e6 / 2000 * (1 / 0.9 + 0.875 * (1 / 0.8 - 1 / 0.9)) / 1000;
  REQUIRE(headroom->limits.size() == 1);
  CHECK(headroom->limits[0].microseconds == Approx(expected));
  CHECK(headroom->roofline_us == Approx(2 + expected));
  CHECK(line(kernel, "roofline") == "at least 101 µs, for 160.0 MB of DRAM at 1.62 TB/s, the most it "
                                    "reaches; the launch takes 1.01 × of it: "
                                    "nothing to mend here; only fewer bytes would help");
  CHECK(line(kernel, "DRAM") ==
        "90.0 MB read, 70.0 MB written by the launch: 1.57 TB/s, 78 % of the peak of 2.00 TB/s");
  CHECK(line(kernel, "waves") == "100 of 800 blocks at once on 100 SMs");
  CHECK(roofline_verdict(*headroom, kernel).has_nothing_to_mend);
  CHECK(findings_on(kernel).empty());
}

TEST_CASE("reads alone reach the reads' rate, reads and as many writes that of copies") {
  const Machine machine = *kernel_at_roofline().machine;
  CHECK(reachable_dram_bytes_per_ns(machine, 1e6, 0) == Approx(1800));
  CHECK(reachable_dram_bytes_per_ns(machine, 1e6, 1e6) == Approx(1600));
  CHECK(reachable_dram_bytes_per_ns(machine, 1e6, 5e5) == reachable_dram_bytes_per_ns(machine, 5e5, 1e6));
  CHECK(reachable_dram_bytes_per_ns(machine, 0, 1e6) == Approx(1800)); // writes alone turn no bus
  CHECK(reachable_dram_bytes_per_ns(machine, 0, 0) == Approx(1800));
}

TEST_CASE("without a time, a clock or the GPU's rates there is no headroom") {
  KernelResult kernel = kernel_at_roofline();
  kernel.machine.reset();
  CHECK_FALSE(headroom_of(kernel).has_value());
  CHECK(headroom_text(kernel).empty());
  kernel = kernel_at_roofline();
  kernel.sm_clock_mhz = 0;
  CHECK_FALSE(headroom_of(kernel).has_value());
  kernel = kernel_at_roofline();
  kernel.time.reset();
  CHECK_FALSE(headroom_of(kernel).has_value());
}

TEST_CASE("What was in the L2 before the launch is written once, however many blocks stand for one") {
  KernelResult kernel = kernel_at_roofline(); // whose blocks are twice the snapshot's
  const double all = headroom_of(kernel)->dram_write_bytes;
  kernel.totals.dram_write_bytes_before = *kernel.totals.dram_write_bytes;
  CHECK(headroom_of(kernel)->dram_write_bytes == Approx(all / 2));
  CHECK(headroom_of(kernel)->dram_write_bytes_before == Approx(all / 2));
}

TEST_CASE("a launch at the roofline of bytes that it need not move has something to mend") {
  KernelResult kernel = kernel_at_roofline();
  ObjectResult& object = kernel.objects.emplace_back();
  object.name = "particles";
  object.footprint_bytes = 80'000'000;
  object.bytes_used = 30'000'000;
  CHECK(contains(line(kernel, "roofline"),
                 "× of it, but 38 % of the bytes of its sectors are used: see below"));
  object.bytes_used = 80'000'000;
  CHECK(contains(line(kernel, "roofline"), "nothing to mend"));
  object.footprint_bytes = object.bytes_used = 20'000'000; // of which it reads 45 MB
  CHECK(contains(line(kernel, "roofline"),
                 "but what it reads of memory is 2.25 × of what it touches: see below"));
  CHECK_FALSE(roofline_verdict(*headroom_of(kernel), kernel).has_nothing_to_mend);
  kernel.totals.dram_read_bytes = 20e6;
  kernel.totals.dram_write_bytes = 60e6;
  CHECK(contains(line(kernel, "roofline"),
                 "but what it writes to memory is 3.00 × of what it touches: see below"));
}

TEST_CASE("a launch at the roofline of an L2 that misaligned accesses keep busy has something to mend") {
  KernelResult kernel = kernel_at_roofline();
  kernel.totals.dram_read_bytes = kernel.totals.dram_write_bytes = 0;
  kernel.time->mean_busy[std::size_t(Resource::l2_slices)] = 0.95;
  SiteResult& site = kernel.sites.emplace_back(test::site(1, 1, 1, "a[i + 4]", "a"));
  site.site.kind = AccessKind::store;
  site.executions = 10;
  site.active_lanes = 32;
  site.bytes_used = 1280;
  site.sectors_per_request = 4;
  site.l2_hit_rate = test::statistic(1, 0);
  site.pattern = LanePattern{.regular = 1, .stride_bytes = 4};
  site.time = test::site_time(100, 0.5, {});
  CHECK(roofline_verdict(*headroom_of(kernel), kernel).has_nothing_to_mend);
  site.pattern->misaligned = 1;
  site.pattern->offset_bytes = 16;
  site.sectors_per_request = 5;
  CHECK_FALSE(roofline_verdict(*headroom_of(kernel), kernel).has_nothing_to_mend);
}

TEST_CASE("a launch at the roofline of instructions that few lanes execute has something to mend") {
  KernelResult kernel = kernel_at_roofline();
  kernel.totals.dram_read_bytes = kernel.totals.dram_write_bytes = 1e6;
  kernel.time->mean_busy[std::size_t(Resource::issue)] = 0.99;
  Instructions& integer = kernel.events.emplace().instructions[std::size_t(InstructionKind::integer)];
  integer = {20e6, 20e6 * 32};
  REQUIRE(roofline_verdict(*headroom_of(kernel), kernel).is_at_roofline);
  CHECK(roofline_verdict(*headroom_of(kernel), kernel).has_nothing_to_mend);
  integer.lanes = 20e6 * 8.5;
  CHECK_FALSE(roofline_verdict(*headroom_of(kernel), kernel).has_nothing_to_mend);
  CHECK(contains(line(kernel, "roofline"),
                 "but 8.50 of 32 lanes execute an instruction in the mean: see below"));
}

TEST_CASE("the pipes' shares of their peaks follow from the snapshot's work and the launch's time") {
  KernelResult kernel = kernel_at_roofline();
  kernel.time->mean_busy[std::size_t(Resource::fp32_pipe)] = 0.51;
  kernel.time->mean_busy[std::size_t(Resource::issue)] = 0.255;
  kernel.executed = ExecutedCode{80, 1'000'000, 1, test::statistic(1, 0)};
  Events& events = kernel.events.emplace();
  events.instructions[std::size_t(InstructionKind::fp32)] = {1e6, 24e6};
  events.operations = FloatingPointOperations{.fp64 = 0, .fp32 = 51e6, .fp16 = 0};
  // 0.51 of 50,000 cycles of the snapshot, twice, are 51 of 102 µs.
  CHECK(line(kernel, "pipes") ==
        "FP32 pipe 50 %, instruction issue 25 % of peak; 102 MFLOP in fp32, 1.00 TFLOP/s; "
        "24.0 of 32 lanes per instruction");
}

TEST_CASE("what any launch takes is a finding; where it is most of the time, the only one") {
  KernelResult kernel = kernel_at_roofline();
  kernel.time->microseconds = test::statistic(5, 0);
  CHECK(contains(all_of(kernel), "launch overhead: 2.0 of 5.00 µs are what any launch takes"));
  kernel.time->microseconds = test::statistic(3, 0);
  kernel.grid = {1, 1, 1};
  REQUIRE(findings_on(kernel).size() == 1);
  CHECK(findings_on(kernel)[0].rule == Rule::launch_overhead);
}

TEST_CASE("where threads wait for others the time is not known, which comes before all else") {
  KernelResult kernel = kernel_at_roofline();
  kernel.time->microseconds = test::statistic(3, 0);
  SiteResult& flags = kernel.sites.emplace_back();
  flags.site.file = "src/scan.cu";
  flags.site.line = 12;
  flags.site.object = "flags";
  flags.site.waits = true;
  CHECK(findings_on(kernel)[0].rule == Rule::launch_overhead); // it was not executed
  CHECK_FALSE(contains(note_beside_time(kernel), "not known: as if"));
  flags.executions = 7;
  CHECK(note_beside_time(kernel) == "not known: as if no thread waited for others, see below");
  REQUIRE(findings_on(kernel)[0].rule == Rule::waiting_threads);
  CHECK(contains(all_of(kernel), "the time is not known: at scan.cu:12 threads may wait in a loop until "
                                 "others change flags, for how long the model does not know"));
}

TEST_CASE("what costs little stands last: spills at a fortieth of the time") {
  KernelResult kernel = kernel_bound_by_latency();
  kernel.time->launch_us = 0.4 * kernel.time->microseconds.mean;
  kernel.occupancy.blocks_per_sm = 2;
  kernel.occupancy.warps_per_sm = 16;
  kernel.compiled->spill_store_bytes = kernel.compiled->spill_load_bytes = 40;
  SiteResult& spilled = kernel.sites.emplace_back();
  spilled.site.expression = spilled_registers;
  spilled.site.space = Space::local;
  spilled.time = test::site_time(100, 0.025, {});
  const std::vector<Finding> findings = findings_on(kernel);
  REQUIRE(findings.size() >= 3);
  CHECK(findings.front().rule == Rule::few_warps);
  CHECK(findings.back().rule == Rule::spills);
  CHECK(findings.back().cost == Approx(0.025));
}

TEST_CASE("blocks of which a further one does not fit an SM: smaller ones would fill it") {
  KernelResult kernel = kernel_bound_by_latency();
  kernel.machine->sm.threads = 1536;
  kernel.block = {1024, 1, 1};
  kernel.occupancy.blocks_per_sm = 1;
  kernel.occupancy.warps_per_sm = 32;
  kernel.compiled->registers = 32;
  CHECK(contains(all_of(kernel), "few warps: 32 of 48 on an SM, as no further block of 1,024 threads fits: "
                                 "blocks of 512 threads would allow 48 warps\n"));
  kernel.machine->sm.threads = 1024;
  CHECK_FALSE(contains(all_of(kernel), "few warps"));
}

TEST_CASE("fewer blocks than SMs leave some idle, whatever else is few") {
  KernelResult kernel = kernel_bound_by_latency();
  kernel.grid = {32, 1, 1};
  kernel.snapshot.blocks = 32;
  CHECK(contains(all_of(kernel),
                 "idle SMs: 32 of 100 have a block: divide the work into more and smaller blocks\n"));
  CHECK_FALSE(contains(all_of(kernel), "few warps"));
  kernel.grid = {100, 1, 1};
  CHECK_FALSE(contains(all_of(kernel), "idle SMs"));
}

TEST_CASE("a small last wave is a tail, unless the launch is at its roofline or has many waves") {
  KernelResult kernel = kernel_bound_by_latency();
  kernel.grid = {808, 1, 1};
  kernel.snapshot.blocks = 808;
  CHECK(contains(all_of(kernel), "tail: 1.01 waves of 800 blocks: the last 8 blocks run beside empty SMs"));
  kernel.grid = {801, 1, 1};
  CHECK(contains(all_of(kernel), "the last 1 block runs beside"));
  for (const unsigned blocks : {800u, 1600u, 1500u, 8008u}) {
    kernel.grid = {blocks, 1, 1};
    CHECK_FALSE(contains(all_of(kernel), "tail"));
  }
}

TEST_CASE("few warps: what limits them, and what would allow twice as many") {
  KernelResult kernel = kernel_bound_by_latency();
  kernel.compiled->registers = 128;
  kernel.occupancy = {100, 2, 16, "registers", 0};
  CHECK(contains(all_of(kernel),
                 "few warps: 16 of 64 on an SM, limited by registers: 64 registers a thread instead "
                 "of 128 (__launch_bounds__(256, 4)) would allow 32 warps\n"));
  kernel.compiled->registers = 32;
  kernel.occupancy = {100, 2, 16, "shared memory", 66'560};
  CHECK(contains(all_of(kernel),
                 "limited by shared memory: 40,960 B of shared memory a block instead of 66,560 would "
                 "allow 32 warps\n"));
  kernel.block = {32, 1, 1};
  kernel.occupancy = {100, 24, 24, "blocks", 0};
  CHECK(contains(all_of(kernel), "limited by blocks: blocks of 64 threads would allow 48 warps\n"));
  kernel.compiled.reset();
  CHECK(contains(all_of(kernel), "limited by blocks or registers"));
  kernel.occupancy = {100, 32, 32, "blocks", 0}; // half of the warps hide latency
  CHECK_FALSE(contains(all_of(kernel), "few warps"));
  kernel.time->bound = Resource::dram;
  kernel.occupancy = {100, 2, 2, "blocks", 0};
  CHECK_FALSE(contains(all_of(kernel), "few warps")); // they suffice
}

TEST_CASE("few warps: a grid that cannot fill the SMs") {
  KernelResult kernel = kernel_bound_by_latency();
  kernel.grid = {200, 1, 1};
  kernel.snapshot.blocks = 200;
  CHECK(contains(all_of(kernel), "few warps: the grid has 16.0 for each SM, which has room for 64"));
  kernel.grid = {400, 1, 1};
  CHECK_FALSE(contains(all_of(kernel), "few warps"));
}

TEST_CASE("short blocks: the time that beginning them takes, or in which places for them are empty") {
  KernelResult kernel = kernel_bound_by_latency();
  CHECK_FALSE(contains(all_of(kernel), "short blocks"));
  kernel.grid = {80'000, 1, 1}; // of 102,000 cycles
  CHECK(contains(all_of(kernel),
                 "short blocks: beginning 80,000 blocks, one in a cycle, takes 78 % of the time: give a "
                 "block more work"));
  kernel.grid = {20'000, 1, 1};
  kernel.occupancy = {100, 1, 8, "shared memory", 0}; // 200 for each place, for 300 cycles each
  CHECK(contains(all_of(kernel),
                 "short blocks: places for blocks stay empty for 59 % of the time between one of 20,000 "
                 "blocks and the next"));
  kernel.time->bound = Resource::dram;
  CHECK_FALSE(contains(all_of(kernel), "short blocks"));
}

TEST_CASE("blocks that do not fill their warps") {
  KernelResult kernel = kernel_at_roofline();
  kernel.block = {33, 1, 1};
  CHECK(contains(all_of(kernel),
                 "partial warps: 33 threads take 2 warps, in which 48 % of the lanes are idle"));
  kernel.block = {250, 1, 1};
  CHECK_FALSE(contains(all_of(kernel), "partial warps"));
}

TEST_CASE("divergence names the line at which most lanes are idle; partial warps are none") {
  KernelResult kernel = kernel_at_roofline();
  Events& events = kernel.events.emplace();
  events.instructions[std::size_t(InstructionKind::integer)] = {1000, 16'000};
  LineTime even{"/a/k.cu", 3, 800}, odd{"/a/k.cu", 7, 200};
  even.work.emplace()[std::size_t(InstructionKind::integer)] = {500, 15'000};
  odd.work.emplace()[std::size_t(InstructionKind::integer)] = {500, 1000};
  kernel.lines = {even, odd};
  CHECK(contains(all_of(kernel),
                 "divergence: 16.0 of 32 lanes execute an instruction in the mean; most are idle at "
                 "k.cu:7 (2.00 lanes, 50 % of the instructions)"));
  kernel.block = {16, 1, 1};
  CHECK_FALSE(contains(all_of(kernel), "divergence"));
  kernel.block = {256, 1, 1};
  kernel.events->instructions[std::size_t(InstructionKind::integer)] = {1000, 25'000};
  CHECK_FALSE(contains(all_of(kernel), "divergence"));
}

TEST_CASE("figures that are 0, not finite or beyond any GPU's give no finding of their own") {
  KernelResult kernel = kernel_bound_by_latency();
  for (const double time : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    kernel.time->microseconds.mean = time;
    CHECK_FALSE(contains(all_of(kernel), "short blocks"));
    if (time != 0) {
      CHECK_FALSE(contains(all_of(kernel), "launch overhead"));
    }
  }
  kernel = kernel_bound_by_latency();
  kernel.compiled->registers = 4'000'000'000;
  kernel.occupancy = {100, 1, 8, "registers", 0};
  CHECK(contains(all_of(kernel), "few warps"));
  kernel.occupancy = {100, 1, 8, "shared memory", ~std::uint64_t{0}};
  CHECK(contains(all_of(kernel), "few warps"));
}

TEST_CASE("spills are a finding of the kernel") {
  KernelResult kernel = kernel_at_roofline();
  kernel.compiled->spill_store_bytes = 364;
  kernel.compiled->spill_load_bytes = 420;
  CHECK(contains(all_of(kernel),
                 "spills: 32 registers a thread do not suffice: the code has 364 B of stores and 420 B "
                 "of loads of spilled ones"));
}

TEST_CASE("latency that enough warps do not hide says what warps wait for") {
  KernelResult kernel = kernel_bound_by_latency();
  kernel.warps.emplace().states =
      test::shares({{WarpState::long_scoreboard, 0.82}, {WarpState::selected, 0.1}});
  CHECK(contains(all_of(kernel),
                 "exposed latency: warps wait 82 % of their time (long_scoreboard) for global or local "
                 "memory: request more at once"));
  kernel.time->bound = Resource::dram;
  CHECK_FALSE(contains(all_of(kernel), "exposed latency"));
}

TEST_CASE("occupancy is an upper bound where registers are not known") {
  KernelResult kernel = kernel_at_roofline();
  CHECK(occupancy_text(kernel) == "8 blocks, 64 of 64 warps per SM, limited by warps");
  kernel.compiled.reset();
  CHECK(occupancy_text(kernel) ==
        "at most 8 blocks, 64 of 64 warps per SM, limited by warps if not by registers, "
        "which are not known (--registers says them)");
}
