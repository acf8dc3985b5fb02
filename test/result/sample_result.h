// A result made by hand, with at least one of everything: absent figures, several sites on a line, hostile
// text.
#pragma once

#include "result/result.h"

namespace warplens::test {

inline Statistic statistic(double mean, double std_deviation) {
  return {mean,
          std_deviation,
          {mean - std_deviation / 4, mean + std_deviation / 4},
          {mean - 2 * std_deviation, mean + 2 * std_deviation},
          {{mean - std_deviation, mean, mean + std_deviation}, {30, 34}}};
}

inline SiteResult site(std::uint64_t id, std::uint32_t line, std::uint32_t column, const char* expression,
                       const char* object) {
  SiteResult result;
  result.site.id = id;
  result.site.file = std::string("spmv.cu");
  result.site.line = line;
  result.site.column = column;
  result.site.expression = std::string(expression);
  result.site.space = Space::global;
  result.site.element_bytes = 4;
  result.site.object = std::string(object);
  return result;
}

/// The source of sample_result().
inline constexpr const char* sample_source = R"(// Sparse matrix times vector, one thread per row.
__global__ void spmv(const int* rows, const int* indices, const float* val, const float* y, float* x) {
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	float t = 0;
	__shared__ float tile[32][32];
	tile[threadIdx.x][0] = 0;


	// far away


	for (int j = rows[i]; j < rows[i + 1]; ++j)
		t += val[j] * y[indices[j]];
	x[i] = t;
}
)";

inline Result sample_result() {
  Result result;
  result.program = "./spmv u 1024";
  result.seed = 18446744073709551615u;
  result.executed_accesses_probed = 0.9985;

  KernelResult kernel;
  kernel.name = "spmv(int const*, int const*, float const*, float const*, float*)";
  kernel.gpu = "Tesla C2050";
  kernel.accuracy = Accuracy{"v100",
                             20,
                             18,
                             ErrorOfFigure{0.14, 0.41},
                             ErrorOfFigure{0.021, 0.06},
                             std::nullopt,
                             {"textures", "tensor cores"},
                             "2026-11-24"};
  kernel.grid = {512, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.launches = 3;
  kernel.occupancy.blocks_per_sm = 6;
  kernel.occupancy.warps_per_sm = 48;
  kernel.occupancy.limited_by = "registers";
  kernel.compiled = CompiledKernel{75, true, 40, 504, 564, 560, 4096};
  kernel.snapshot.blocks = 336;
  kernel.snapshot.warp_accesses = 1234567;
  kernel.snapshot.transactions = 8901234;
  kernel.trials.run = 64;
  kernel.trials.converged = true;
  kernel.l2_start = L2Start{true, 4'200'000, "left by 3 copies and fills and 1 launch"};
  kernel.totals.l1_read_hit_rate = statistic(0.431, 0.0061);
  kernel.totals.l2_read_hit_rate = statistic(0.6, 0.01);
  kernel.totals.dram_latency_ns = statistic(601.25, 12);
  kernel.totals.dram_read_bytes = 12.345e6;

  SiteResult tile = site(0x10, 6, 2, "tile[threadIdx.x][0]", "tile");
  tile.site.kind = AccessKind::store;
  tile.site.space = Space::shared;
  tile.executions = 2688;
  tile.active_lanes = 32;
  tile.bank_conflicts = 31;
  tile.latency_share = 0.01;

  SiteResult value = site(0x20, 13, 8, "val[j]", "val");
  value.executions = 380000;
  value.active_lanes = 28.5;
  value.sectors_per_request = 28;
  value.bytes_used = 380000ull * 114;
  value.bytes_moved = 380000ull * 28 * 32;
  value.l1_hit_rate = statistic(0.82, 0.004);
  value.l2_hit_rate = statistic(0.41, 0.06);
  value.latency_ns = statistic(1205.4, 30);
  value.latency_share = 0.6;
  value.pattern = LanePattern{0.125, 0.25, -4, 0.0625, 12};
  value.request = LaneRequest{0.75, 28, 4, {}};
  for (unsigned lane = 0; lane < 28; ++lane) // its last lanes are not active
    value.request->offsets[lane] = 124 - 4 * lane + 128 * lane * 3;
  value.site.sequence = 2;
  value.site.depends_on = {0x40};
  value.site.cache_operator = CacheOperator::nc;

  SiteResult vector = site(0x30, 13, 17, "y[indices[j]]", "y");
  vector.executions = 380000;
  vector.active_lanes = 28.5;
  vector.sectors_per_request = 26;
  vector.bytes_used = 380000ull * 114;
  vector.bytes_moved = 380000ull * 26 * 32;
  vector.l1_hit_rate = statistic(0.125, 0.001);
  vector.l2_hit_rate = statistic(0.1, 0.001);
  vector.latency_ns = statistic(512, 0.5);
  vector.latency_share = 0.255;

  SiteResult row = site(0x40, 12, 15, "rows[i]", "rows");
  row.executions = 2688;
  row.active_lanes = 32;
  row.sectors_per_request = 4;
  row.bytes_used = 2688 * 128;
  row.bytes_moved = 2688 * 128;
  row.l1_hit_rate = statistic(1, 0);
  row.l2_hit_rate = std::nullopt;
  row.latency_ns = statistic(90, 0);
  row.latency_share = 0.1;

  SiteResult header = site(0x50, 7, 3, "table[k]", "");
  header.site.file = "gone \"quoted\", \x1b[31mred.h";
  header.executions = 1;
  header.active_lanes = 1;

  kernel.sites = {header, tile, row, value, vector};
  result.kernels.push_back(kernel);
  return result;
}

/// Returns the statistic with a part of its deviation that stems from the machine.
inline Statistic machine_deviation(Statistic statistic, double part) {
  statistic.machine_deviation = part;
  return statistic;
}

inline SiteTime site_time(double waited, double share,
                          std::initializer_list<std::pair<Resource, double>> occupied) {
  SiteTime time;
  time.waited = statistic(waited, waited / 64);
  time.waited_share = share / 2;
  time.share = machine_deviation(statistic(share, share / 32), share / 64);
  for (const auto& [resource, part] : occupied)
    time.occupied[static_cast<std::size_t>(resource)] = part;
  return time;
}

inline ByState shares(std::initializer_list<std::pair<WarpState, double>> of) {
  ByState all{};
  for (const auto& [state, share] : of)
    all[static_cast<std::size_t>(state)] = share;
  return all;
}

/// The sample as trials on a clock make it: a kernel that DRAM bounds, and that is extrapolated from a part
/// of its grid. Its stores to `tile` are waited for by nothing.
inline Result sample_time() {
  Result result = sample_result();
  KernelResult& kernel = result.kernels[0];
  kernel.sm_clock_mhz = 1150;
  kernel.occupancy.sms = 14;
  Machine& machine = kernel.machine.emplace();
  machine.dram_bytes_per_ns = 144;
  machine.reads_reach = 0.85;
  machine.copies_reach = 0.8;
  machine.l2_bytes_per_ns = 220;
  machine.l2_bytes = 786'432;
  machine.schedulers = 2;
  machine.turnover_cycles = 300;
  machine.sm = {1536, 8, 1024, 32768, 32768, 63, 64, 2, 49152, 49152, 0, 128};
  KernelTime& time = kernel.time.emplace();
  time.cycles = machine_deviation(statistic(173'400, 2500), 2000);
  time.microseconds = machine_deviation(statistic(123.4, 2), 1.6);
  time.is_extrapolated = true;
  time.launch_us = 2;
  time.busy = {0.12, 0.29, 0, 0, 0.44, 0.61, 0, 0, 0.84};
  time.mean_busy = {0.1, 0.25, 0, 0, 0.43, 0.5, 0, 0, 0.82};
  time.bound = Resource::dram;
  kernel.totals.dram_latency_ns = machine_deviation(statistic(601.25, 12), 8);
  kernel.totals.dram_write_bytes_before = 0;
  kernel.trials.drawn = {"issue.policy"};
  kernel.executed = ExecutedCode{75, 2'345'678, 0.875, statistic(0.97, 0.01)};
  WarpTime& warps = kernel.warps.emplace();
  warps.resident = 37.5;
  warps.cycles_apart = 19.25;
  warps.states = shares({{WarpState::selected, 0.05},
                         {WarpState::long_scoreboard, 0.7},
                         {WarpState::barrier, 0.2},
                         {WarpState::ended, 0.05}});
  kernel.lines = {
      {"spmv.cu", 12, 1'200'000, shares({{WarpState::selected, 0.03}, {WarpState::barrier, 0.2}}), 0},
      {"spmv.cu", 13, 1'145'678, shares({{WarpState::selected, 0.02}, {WarpState::long_scoreboard, 0.7}}),
       0.7}};
  using enum Resource;
  kernel.sites[1].time = site_time(0, 0.005, {{issue, 0.01}, {shared_banks, 1}});
  kernel.sites[2].time = site_time(96, 0.095, {{issue, 0.01}, {memory_pipeline, 0.01}, {l2_port, 0.04}});
  kernel.sites[3].time =
      site_time(512, 0.7, {{issue, 0.4}, {memory_pipeline, 0.6}, {l2_slices, 0.6}, {dram, 0.71}});
  kernel.sites[4].time =
      site_time(231.5, 0.2, {{issue, 0.4}, {memory_pipeline, 0.39}, {l2_slices, 0.4}, {dram, 0.29}});
  return result;
}

/// The same with its machine code: two functions, an instruction that no warp executes, one without a line,
/// accesses without an instruction; hostile text.
inline Result sample_code() {
  Result result = sample_time();
  CodeResult& code = result.kernels[0].code.emplace();
  code.functions = {"_Z4spmvPKiS0_PKfS2_Pf", "help\x1b[31mer"};
  code.files = {"spmv.cu", "gone \"quoted\".h"};
  const auto add = [&](std::uint32_t function, std::uint32_t offset, const char* text, std::uint32_t file,
                       std::uint32_t line, std::uint64_t executions) -> InstructionResult& {
    InstructionResult& instruction = code.instructions.emplace_back();
    instruction.function = function;
    instruction.offset = offset;
    instruction.text = text;
    instruction.file = file;
    instruction.line = line;
    instruction.executions = executions;
    instruction.time.emplace();
    return instruction;
  };
  add(0, 0, "MOV R1, c[0x0][0x28]", 0, 2, 5678).time->states = shares({{WarpState::selected, 0.01}});
  InstructionResult& load = add(0, 16, "@!P0 LDG.E R4, [R2.64+0x1234], \"\x1b[31m\"", 0, 13, 380'000);
  load.active_lanes = 28.5;
  load.requests = 380'000;
  load.sectors = 380'000ull * 28;
  load.passes = 380'000ull * 7;
  load.site = 0x20;
  *load.time = {shares({{WarpState::selected, 0.02}, {WarpState::barrier, 0.03}}), 0.7};
  InstructionResult& use = add(1, 0, "FFMA R7, R4, R5, R7", 1, 7, 1'950'000);
  use.active_lanes = 28.5;
  use.time->states = shares({{WarpState::selected, 0.02}, {WarpState::long_scoreboard, 0.7}});
  add(1, 16, "BRA 0x10", 0, 0, 0);
  code.accesses_apart = 10'000;
  return result;
}

/// The sample with a line that reads constant memory.
inline Result sample_constants() {
  Result result = sample_result();
  KernelResult& kernel = result.kernels[0];
  kernel.totals.constant_hit_rate = statistic(0.875, 0.01);
  kernel.totals.constant_group_hit_rate = statistic(0.5, 0.02);
  kernel.totals.l2_near_hit_rate = statistic(0.4, 0.02);
  kernel.totals.l2_crossing_share = statistic(0.3, 0.02);
  kernel.trial_values.constant_hit_rate = TrialValues::Values(kernel.trials.run, 0.875);
  kernel.trial_values.constant_group_hit_rate = TrialValues::Values(kernel.trials.run, 0.5);
  SiteResult weight = site(0x60, 14, 5, "weights[k]", "weights");
  weight.site.space = Space::constant;
  weight.executions = 1000;
  weight.active_lanes = 32;
  weight.sectors_per_request = 1;
  weight.constant_hit_rate = statistic(0.875, 0.01);
  weight.l2_hit_rate = statistic(1, 0);
  weight.latency_ns = statistic(30, 1);
  weight.latency_share = 0.01;
  kernel.sites.push_back(weight);
  return result;
}

/// The sample with everything that only the page shows: values of each trial, parts of latencies, objects, a
/// timeline of three bins.
inline Result sample_page_result() {
  Result result = sample_result();
  KernelResult& kernel = result.kernels[0];
  kernel.trials.run = 3;
  kernel.trials.stopped_by = StoppedBy::confidence;
  kernel.snapshot.limit = "4 × the resident blocks of 14 SMs";
  kernel.totals.cold_miss_share = 0.375;
  kernel.totals.dram_latencies = {{{400, 500, 600}, {30, 10}}, 450, 0.75};
  kernel.trial_values.cycles = {173'000, 174'000, 173'200};
  kernel.trial_values.l1_read_hit_rate = {0.43, std::nullopt, 0.432};
  kernel.trial_values.dram_latency_ns = {601.25, 602.5, 600};

  SiteResult& value = kernel.sites[3];
  value.site.macro = "LOAD";
  value.site.in_template = true;
  value.latency_parts = {5.4, 200, 1000, 0, 0};

  ObjectResult object;
  object.name = "val";
  object.requests = 380000;
  object.footprint_bytes = 1 << 20;
  object.bytes_used = *value.bytes_used;
  object.bytes_moved = *value.bytes_moved;
  object.reuse_distance = {{0, 1, 2, 4}, {7, 0, 9}, 100};
  kernel.objects.push_back(object);
  object.name = "tile";
  object.reuse_distance = std::nullopt;
  kernel.objects.push_back(object);

  Timeline& timeline = kernel.timeline.emplace();
  timeline.requests = 10;
  timeline.cycles = 1000;
  timeline.ns_per_cycle = 0.5;
  timeline.edges = {0, 333, 666, 1000};
  timeline.l1 = {{1, 2, 3}, {3, 3, 4}};
  timeline.l2 = {{0, 1, 0}, {2, 1, 1}};
  timeline.outstanding = {1.5, 2, 0.25};
  timeline.active_lanes.assign(timeline_lane_rows, {0, 0, 0});
  timeline.active_lanes[7] = {3, 3, 4};
  timeline.lines = {{"spmv.cu", 12, {3, 0, 1}}, {"spmv.cu", 13, {0, 3, 3}}};
  timeline.sms = {{{1, 2, 0}, {3, 3, 0}, {3, 3, 0}, {30, 30, 0}},
                  {{0, 0, 3}, {0, 0, 4}, {0, 0, 4}, {0, 0, 40}}};
  timeline.slices = {{{0, 1, 0}, {2, 1, 0}}, {{0, 0, 0}, {0, 0, 1}}};
  timeline.channels = {{{2, 0, 1}, {2, 0, 0}, {0, 0, 1}, {1, 0, 1}, {1.5, 2, 0.25}}};
  timeline.instructions = {30, 30, 40};
  return result;
}

} // namespace warplens::test
