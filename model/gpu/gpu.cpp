#include "model/gpu/gpu.h"

#include "model/gpu/drawn_figures.h"
#include "model/gpu/mig.h"
#include "model/gpu/read_accuracy.h"
#include "model/gpu/read_energies.h"
#include "model/gpu/toml_figures.h"
#include "model/sm/sm_figures.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>
#include <fmt/ranges.h>

namespace warplens::model {
namespace {

namespace fs = std::filesystem;

Expected<fs::path> find_file(const std::string& name, const fs::path& folder) {
  std::error_code ignored;
  const bool looks_like_path = name.find('/') != std::string::npos || name.ends_with(".toml");
  if (looks_like_path) {
    if (fs::is_regular_file(name, ignored))
      return fs::path(name);
    return fail("{}: no such GPU file", name);
  }
  const fs::path file = folder / (name + ".toml");
  if (!name.empty() && fs::is_regular_file(file, ignored))
    return file;
  TRY_LET(known, list_gpus(folder));
  return fail("unknown GPU '{}': choose one of {}, or a file ending in .toml", name, fmt::join(*known, ", "));
}

constexpr double any_latency = 100'000;
constexpr double any_rate = 1'000'000, min_rate = 0.001; // per ns
constexpr std::uint32_t any_cycles = 1'000;

void read_sm(TomlFigures& figures, Gpu& gpu) {
  figures.number("sm.compute_capability", gpu.compute_capability, 1, 99.9);
  gpu.lanes.adds_for_warp = gpu.capability() >= 70; // analysis/atomics.h
  gpu.lanes.joins_phases = gpu.capability() >= 70;  // model/snapshot/coalesce.h
  gpu.lanes.reduces_for_warp = gpu.capability() >= 80;
  figures.number("sm.clock_mhz", gpu.clock_mhz, 1, 10'000);
  figures.number("sm.count", gpu.sms, 1, 1024);
  figures.number("sm.max_threads", gpu.max_threads_per_sm, warp_lanes, 8192);
  figures.number("sm.max_blocks", gpu.max_blocks_per_sm, 1, 256);
  figures.number("sm.max_threads_per_block", gpu.max_threads_per_block, warp_lanes, 8192);
  figures.number("sm.coalesced_bytes", gpu.lanes.coalesced_bytes, sector_bytes, 512);
}

void read_constant(TomlFigures& figures, Gpu::Constant& constant) {
  figures.number("constant.bytes", constant.bytes, sector_bytes, 1u << 24);
  figures.number("constant.line_bytes", constant.line_bytes, sector_bytes, line_bytes);
  figures.number("constant.ways", constant.ways, 1, max_ways);
  figures.number("constant.latency_ns", constant.latency_ns, 0, any_latency);
  figures.number("constant.pass_ns", constant.pass_ns, 0, any_latency);
  figures.number("constant.group_sms", constant.group.sms, 1, 1024);
  figures.number("constant.group_bytes", constant.group.bytes, line_bytes, 1u << 24);
  figures.number("constant.group_line_bytes", constant.group.line_bytes, line_bytes, 4096);
  figures.number("constant.group_ways", constant.group.ways, 1, max_ways);
  figures.number("constant.group_latency_ns", constant.group.latency_ns, 0, any_latency);
}

void read_schedule(TomlFigures& figures, Gpu::Schedule& schedule) {
  schedule.placement = BlockPlacement(figures.choice("schedule.placement", block_placements()));
  schedule.start = BlockStart(figures.choice("schedule.start", block_starts()));
}

void read_issue(TomlFigures& figures, Gpu::Issue& issue) {
  figures.number("issue.schedulers", issue.schedulers, 1, 64);
  issue.policy = figures.choice<IssuePolicy>("issue.policy");
  figures.number("issue.cycles_per_access", issue.cycles_per_access, 0, any_cycles);
  figures.number("issue.barrier_cycles", issue.barrier_cycles, 0, any_cycles);
  figures.number("issue.barrier_interval", issue.barrier_interval, 0, any_cycles);
  figures.number("issue.turnover_cycles", issue.turnover_cycles, 0, 100 * any_cycles);
  figures.number("issue.launch_ns", issue.launch_ns, 0, any_latency);
}

void read_pipes(TomlFigures& figures, std::optional<ExecutionPipes>& optional_pipes) {
  if (!figures.has("pipes"))
    return;
  ExecutionPipes& pipes = optional_pipes.emplace();
  constexpr std::uint32_t any_lanes = 1024;
  figures.number("pipes.fp32", pipes.fp32, 1, any_lanes);
  figures.number("pipes.fp64", pipes.fp64, 1, any_lanes);
  figures.number("pipes.fp16", pipes.fp16, 1, any_lanes);
  figures.number("pipes.integer", pipes.integer, 1, any_lanes);
  figures.number("pipes.multiply_add", pipes.multiply_add, 1, any_lanes);
  figures.boolean("pipes.multiply_add_in_fp32", pipes.multiply_add_in_fp32);
  figures.number("pipes.special_function", pipes.special_function, 1, any_lanes);
  figures.number("pipes.fp64_cycles", pipes.fp64_cycles, 1, any_cycles);
  figures.number("pipes.special_function_cycles", pipes.special_function_cycles, 1, any_cycles);
  figures.number("pipes.tensor_cycles", pipes.tensor_cycles, 1, any_cycles);
}

void read_lsu(TomlFigures& figures, Gpu::Lsu& lsu, LaneRules& lanes) {
  figures.number("lsu.queue_entries", lsu.queue_entries, 1, 1024);
  figures.number("lsu.scheduler_cycles", lsu.scheduler_cycles, 1, any_cycles);
  figures.number("lsu.cycles", lsu.cycles, 1, any_cycles);
  figures.number("lsu.tags_per_pass", lanes.tags_per_pass, 1, warp_lanes);
  figures.number("lsu.misses", lsu.misses, 0, 1u << 20);
  figures.number("lsu.stores", lsu.stores, 1, 1u << 20);
  figures.number("lsu.l2_bytes_per_cycle", lsu.l2_bytes_per_cycle, 1, 4096);
  figures.number("lsu.l2_write_bytes_per_cycle", lsu.l2_write_bytes_per_cycle, 1, 4096);
}

void read_registers(TomlFigures& figures, Gpu::Registers& registers) {
  figures.number("registers.per_sm", registers.per_sm, 1, 1u << 24);
  figures.number("registers.per_block", registers.per_block, 1, 1u << 24);
  figures.number("registers.max_per_thread", registers.max_per_thread, 1, 1024);
  figures.number("registers.allocation_unit", registers.allocation_unit, 1, 4096);
  figures.number("registers.sub_partitions", registers.sub_partitions, 1, 16);
}

void read_shared(TomlFigures& figures, Gpu::Shared& shared, LaneRules& lanes) {
  figures.numbers("shared.carveout_bytes", shared.carveout_bytes, 0, 1u << 24);
  figures.number("shared.max_bytes_per_block", shared.max_bytes_per_block, 0, 1u << 24);
  figures.number("shared.reserved_bytes_per_block", shared.reserved_bytes_per_block, 0, 1u << 20);
  figures.number("shared.allocation_unit", shared.allocation_unit, 1, 1u << 20);
  figures.number("shared.bank_bytes", lanes.bank_bytes, 4, 8);
  figures.number("shared.bank_stride_bytes", lanes.bank_stride_bytes, 4, 8);
  figures.number("shared.latency_ns", shared.latency_ns, 0, any_latency);
  figures.number("shared.pass_ns", shared.pass_ns, 0, any_latency);
}

void read_l1(TomlFigures& figures, Gpu::L1& l1, LaneRules& lanes) {
  figures.number("l1.with_shared_bytes", l1.with_shared_bytes, line_bytes, 1u << 24);
  figures.number("l1.ways", l1.ways, 1, max_ways);
  figures.number("l1.usable", l1.usable, 0.1, 1);
  figures.number("l1.early_usable", l1.early_usable, 0, 1);
  figures.boolean("l1.sectored", l1.sectored);
  l1.index = IndexHash(figures.choice("l1.index", {"modulo", "xor_fold"}));
  figures.choice("l1.replacement", {"lru"}); // refuses other policies
  l1.stores = L1Stores(figures.choice("l1.stores", {"bypass", "update_on_hit", "evict_on_hit", "allocate"}));
  l1.local_stores = LocalStores(figures.choice("l1.local_stores", {"as_global", "write_back"}));
  figures.boolean("l1.global_loads", lanes.global_loads_in_l1);
  figures.number("l1.latency_ns", l1.latency_ns, 0, any_latency);
}

void read_cache(TomlFigures& figures, const std::string& table, Gpu::ReadOnly& cache) {
  figures.number(table + ".bytes", cache.bytes, line_bytes, 1u << 24);
  figures.number(table + ".line_bytes", cache.line_bytes, sector_bytes, line_bytes);
  figures.number(table + ".ways", cache.ways, 1, max_ways);
  figures.number(table + ".latency_ns", cache.latency_ns, 0, any_latency);
}

void read_read_only(TomlFigures& figures, Gpu& gpu) {
  gpu.lanes.own_read_only_cache = figures.choice("read_only.cache", {"l1", "own"}) == 1;
  if (gpu.lanes.own_read_only_cache)
    read_cache(figures, "read_only", gpu.read_only);
}

void read_texture(TomlFigures& figures, Gpu& gpu) {
  gpu.lanes.texture_cache = TextureCache(figures.choice("texture.cache", {"l1", "read_only", "own"}));
  if (gpu.lanes.texture_cache == TextureCache::own)
    read_cache(figures, "texture", gpu.texture);
  figures.number("texture.lanes", gpu.lanes.texture_lanes, 1, warp_lanes);
}

void read_l2(TomlFigures& figures, std::uint64_t& bytes, Gpu::L2& l2) {
  figures.number("l2.bytes", bytes, sector_bytes, std::uint64_t{1} << 34);
  figures.number("l2.line_bytes", l2.line_bytes, sector_bytes, line_bytes);
  figures.number("l2.ways", l2.ways, 1, max_ways);
  figures.number("l2.usable", l2.usable, 0.1, 1.2);
  figures.number("l2.partitions", l2.partitions, 1, 2);
  if (l2.partitions > 1) {
    figures.number("l2.early_usable", l2.early_usable, 0, 1);
    figures.number("l2.hop_ns", l2.hop_ns, 0, any_latency);
    figures.number("l2.hop_bytes_per_ns", l2.hop_bytes_per_ns, min_rate, any_rate);
  }
  l2.index = IndexHash(figures.choice("l2.index", {"modulo", "xor_fold"}));
  figures.choice("l2.replacement", {"lru"}); // refuses other policies
  l2.stores = L2Stores(figures.choice("l2.stores", {"memory_update", "allocate"}));
  l2.partial_writes = PartialWrites(figures.choice("l2.partial_writes", {"whole", "mask", "fill", "fetch"}));
  figures.number("l2.fetch_bytes", l2.fetch_bytes, sector_bytes, line_bytes);
  figures.number("l2.slices", l2.slices, 1, 1024);
  l2.slice_index = SliceHash(figures.choice("l2.slice_index", {"modulo", "xor_fold", "polynomial"}));
  figures.number("l2.latency_ns", l2.latency_ns, 0, any_latency);
  figures.number("l2.bytes_per_ns", l2.bytes_per_ns, min_rate, any_rate);
  figures.number("l2.write_bytes_per_ns", l2.write_bytes_per_ns, min_rate, any_rate);
  figures.number("l2.atomics_per_ns", l2.atomics_per_ns, min_rate, any_rate);
  if (figures.has_key("l2.clock"))
    l2.has_sm_clock = figures.choice("l2.clock", {"sm", "own"}) == 0;
}

void read_dram(TomlFigures& figures, Gpu::Dram& dram) {
  figures.number("dram.bytes", dram.bytes, 1u << 20, std::uint64_t{1} << 44);
  figures.number("dram.bus_bits", dram.bus_bits, 8, 1u << 16);
  figures.number("dram.channels", dram.channels, 1, 4096);
  figures.number("dram.banks", dram.banks, 1, 1024);
  figures.number("dram.row_bytes", dram.row_bytes, line_bytes, 1u << 20);
  figures.number("dram.interleave_bytes", dram.interleave_bytes, line_bytes, 1u << 20);
  dram.channel_index = DramIndex(figures.choice("dram.channel_index", {"modulo", "permuted"}));
  dram.bank_index = DramIndex(figures.choice("dram.bank_index", {"modulo", "permuted"}));
  dram.queue = DramQueue(figures.choice("dram.queue", {"batch", "kingman"}));
  figures.number("dram.latency_ns", dram.latency_ns, 0, any_latency);
  figures.number("dram.activate_ns", dram.activate_ns, 0, any_latency);
  figures.number("dram.precharge_ns", dram.precharge_ns, 0, any_latency);
  figures.number("dram.burst_ns", dram.burst_ns, 0, any_latency);
  figures.number("dram.achieved", dram.achieved, 0.01, 1);
  figures.number("dram.copies_achieved", dram.copies_achieved, 0.01, 1);
  figures.number("dram.write_batch_sectors", dram.write_batch_sectors, 1, 1u << 16);
  if (figures.has_key("dram.bytes_per_cycle"))
    figures.number("dram.bytes_per_cycle", dram.bytes_per_cycle, 1, any_rate);
}

/// Reads all tables and checks each figure by itself. The first error in this order is the one reported.
Gpu read_tables(TomlFigures& figures) {
  Gpu gpu;
  figures.text("name", gpu.name);
  gpu.accuracy = read_accuracy(figures);
  read_sm(figures, gpu);
  read_constant(figures, gpu.constant);
  read_schedule(figures, gpu.schedule);
  read_issue(figures, gpu.issue);
  read_pipes(figures, gpu.pipes);
  read_lsu(figures, gpu.lsu, gpu.lanes);
  read_registers(figures, gpu.registers);
  read_shared(figures, gpu.shared, gpu.lanes);
  read_l1(figures, gpu.l1, gpu.lanes);
  read_read_only(figures, gpu);
  read_texture(figures, gpu);
  read_l2(figures, gpu.l2_bytes, gpu.l2);
  read_dram(figures, gpu.dram);
  gpu.instances = read_instances(figures, gpu.sms);
  gpu.energies = read_energies(figures);
  return gpu;
}

void require_carveouts(TomlFigures& figures, const Gpu& gpu) {
  for (const std::uint32_t carveout : gpu.shared.carveout_bytes) {
    const std::uint64_t rest = carveout < gpu.l1.with_shared_bytes ? gpu.l1.with_shared_bytes - carveout : 0;
    const std::uint64_t of_one_set = std::uint64_t{gpu.l1.ways} * line_bytes;
    figures.require(
        rest >= of_one_set && rest % line_bytes == 0, "shared.carveout_bytes",
        fmt::format("each carve-out to leave the L1 whole lines of {} bytes, at least one set of {}",
                    line_bytes, gpu.l1.ways));
  }
}

/// Requires that the L1 can have its early part.
void require_early_part(TomlFigures& figures, const Gpu::L1& l1) {
  if (l1.early_usable == 0)
    return;
  figures.require(l1.early_usable >= min_early_usable && l1.early_usable <= l1.usable, "l1.early_usable",
                  fmt::format("l1.early_usable to be 0, or from {} to l1.usable", min_early_usable));
  figures.require(l1.ways <= max_ways_with_early_part && l1.index == IndexHash::modulo, "l1.early_usable",
                  fmt::format("l1.early_usable to be 0 where l1.ways is more than {} or l1.index not modulo",
                              max_ways_with_early_part));
}

template <class CacheFigures>
void require_small_lines(TomlFigures& figures, const std::string& table, const CacheFigures& cache) {
  figures.require(std::has_single_bit(cache.line_bytes), table + ".line_bytes",
                  table + ".line_bytes to be 32, 64 or 128");
  figures.require(
      cache.bytes % (cache.ways * line_bytes) == 0, table + ".bytes",
      fmt::format("{}.bytes to be a multiple of {} (ways × 128)", table, cache.ways * line_bytes));
}

void require_read_only_caches(TomlFigures& figures, const Gpu& gpu) {
  const Gpu::Constant& constant = gpu.constant;
  require_small_lines(figures, "constant", constant);
  if (gpu.lanes.own_read_only_cache)
    require_small_lines(figures, "read_only", gpu.read_only);
  if (gpu.lanes.texture_cache == TextureCache::own)
    require_small_lines(figures, "texture", gpu.texture);
  figures.require(gpu.lanes.texture_cache != TextureCache::read_only || gpu.lanes.own_read_only_cache,
                  "texture.cache", "texture.cache to be l1 or own where read_only.cache is not own");
  figures.require(std::has_single_bit(constant.group.line_bytes), "constant.group_line_bytes",
                  "constant.group_line_bytes to be a power of two");
  figures.require(constant.group.bytes % (constant.group.ways * constant.group.line_bytes) == 0,
                  "constant.group_bytes",
                  fmt::format("constant.group_bytes to be a multiple of {} (ways × line)",
                              constant.group.ways * constant.group.line_bytes));
}

void require_l2(TomlFigures& figures, const Gpu& gpu) {
  const Gpu::L2& l2 = gpu.l2;
  figures.require(l2.line_bytes == sector_bytes || l2.line_bytes == line_bytes, "l2.line_bytes",
                  "l2.line_bytes to be 32 or 128");
  figures.require(l2.line_bytes == line_bytes || l2.index == IndexHash::modulo, "l2.index",
                  "l2.index to be modulo where l2.line_bytes is 32");
  // Blocks of 32 bytes are kept as one cache per sector of a line, so the sets must divide by four.
  const std::uint64_t sets_unit = std::uint64_t{l2.ways} * line_bytes;
  figures.require(
      l2.usable < 1 || gpu.l2_bytes % sets_unit == 0, "l2.bytes",
      fmt::format("l2.bytes to be a multiple of {} (ways × 128) where all of it is usable", sets_unit));
  figures.require(l2.line_bytes == line_bytes || (l2.usable == 1 && l2.partitions == 1), "l2.line_bytes",
                  "l2.line_bytes to be 128 where the L2 has partitions or is not usable in full");
  figures.require(l2.line_bytes == line_bytes || l2.fetch_bytes == sector_bytes, "l2.fetch_bytes",
                  "l2.fetch_bytes to be 32 where l2.line_bytes is 32");
  figures.require(l2.early_usable <= l2.usable, "l2.early_usable",
                  "l2.early_usable to be no more than l2.usable");
  figures.require(l2.usable <= 1 || l2.early_usable > 0, "l2.usable",
                  "l2.usable to be no more than 1 where all sets are alike");
  figures.require(std::has_single_bit(l2.fetch_bytes), "l2.fetch_bytes",
                  "l2.fetch_bytes to be 32, 64 or 128");
  figures.require(l2.partial_writes == PartialWrites::whole ||
                      (l2.line_bytes == line_bytes && l2.stores == L2Stores::allocate),
                  "l2.partial_writes",
                  "l2.partial_writes to be whole where l2.line_bytes is 32 or l2.stores memory_update");
}

void require_schedulers(TomlFigures& figures, const Gpu& gpu) {
  const std::uint32_t min_schedulers =
      (gpu.max_threads_per_sm / warp_lanes + max_warps_of_scheduler - 1) / max_warps_of_scheduler;
  figures.require(gpu.issue.schedulers >= min_schedulers, "issue.schedulers",
                  fmt::format("issue.schedulers to be at least {}: each has at most {} of the warps of "
                              "sm.max_threads",
                              min_schedulers, max_warps_of_scheduler));
}

void require_lanes(TomlFigures& figures, const LaneRules& lanes) {
  figures.require(std::has_single_bit(lanes.coalesced_bytes), "sm.coalesced_bytes",
                  "sm.coalesced_bytes to be a power of two");
  figures.require(std::has_single_bit(lanes.bank_bytes), "shared.bank_bytes",
                  "shared.bank_bytes to be 4 or 8");
  figures.require(std::has_single_bit(lanes.bank_stride_bytes) && lanes.bank_stride_bytes <= lanes.bank_bytes,
                  "shared.bank_stride_bytes",
                  "shared.bank_stride_bytes to be 4 or 8, no more than shared.bank_bytes");
}

void require_dram(TomlFigures& figures, const Gpu::Dram& dram) {
  figures.require(std::has_single_bit(dram.interleave_bytes), "dram.interleave_bytes",
                  "dram.interleave_bytes to be a power of two");
  figures.require(std::has_single_bit(dram.row_bytes) && dram.row_bytes >= dram.interleave_bytes,
                  "dram.row_bytes",
                  "dram.row_bytes to be a power of two, no less than dram.interleave_bytes");
  figures.require(std::has_single_bit(dram.banks), "dram.banks", "dram.banks to be a power of two");
  figures.require(dram.copies_achieved <= dram.achieved, "dram.copies_achieved",
                  "dram.copies_achieved to be no more than dram.achieved");
  figures.require(dram.latency_ns >= dram.activate_ns + dram.burst_ns, "dram.latency_ns",
                  "dram.latency_ns to include dram.activate_ns and dram.burst_ns");
}

/// Checks the requirements that span several figures.
void check_combinations(TomlFigures& figures, const Gpu& gpu) {
  require_carveouts(figures, gpu);
  require_early_part(figures, gpu.l1);
  require_read_only_caches(figures, gpu);
  require_l2(figures, gpu);
  require_schedulers(figures, gpu);
  require_lanes(figures, gpu.lanes);
  require_dram(figures, gpu.dram);
}

Expected<Gpu> read_machine(const fs::path& path, TomlFigures& figures) {
  Gpu gpu = read_tables(figures);
  gpu.id = path.stem().string();
  TRY(figures.finish());
  check_combinations(figures, gpu);
  TRY(figures.finish());
  return gpu;
}

Expected<Gpu> read(const fs::path& path, TomlFigures& figures) {
  TRY_LET(gpu, read_machine(path, figures));
  if (figures.drawn().empty())
    return gpu;
  std::vector<Gpu> machines{*gpu};
  for (std::uint32_t number = 1; number < machine_count; ++number) {
    TomlFigures of_machine = figures.of_machine(number);
    TRY_LET(machine, read_machine(path, of_machine));
    machines.push_back(std::move(*machine));
  }
  gpu->drawn = figures.drawn();
  gpu->machines = std::move(machines);
  return gpu;
}

/// Returns the errors of the GPU that a file names as the nearest relative of its own.
Expected<Accuracy> accuracy_of_relative(const fs::path& path, const std::string& relative,
                                        const fs::path& folder) {
  const auto refuse = [&](const std::string& why) {
    return fail("{}: expected accuracy.gpu to be a GPU that was held against measurements: {}", path.string(),
                why);
  };
  const auto file = find_file(relative, folder);
  if (!file)
    return refuse(file.error().message);
  TRY_LET(figures, TomlFigures::open(*file));
  const std::optional<Accuracy> accuracy = read_accuracy(*figures);
  if (!accuracy || accuracy->launches == 0)
    return refuse(fmt::format("the file of '{}' has no accuracy.launches", relative));
  return *accuracy;
}

} // namespace

const std::vector<std::string>& block_placements() {
  static const std::vector<std::string> words{"in_order", "random"};
  return words;
}

const std::vector<std::string>& block_starts() {
  static const std::vector<std::string> words{"random_delay", "random_point", "mid_launch"};
  return words;
}

void set_policy(Gpu& gpu, IssuePolicy policy) {
  gpu.issue.policy = policy;
  for (Gpu& machine : gpu.machines)
    machine.issue.policy = policy;
  std::erase(gpu.drawn, "issue.policy");
  if (gpu.drawn.empty())
    gpu.machines.clear();
}

std::uint32_t sets_in(std::uint64_t bytes, double usable, std::uint32_t ways) {
  // A share such as 0.9 has no exact binary form: half a line more lets it give the whole number it means.
  const double lines = double(bytes / line_bytes) * usable + 0.5;
  return std::max(1u, std::uint32_t(lines) / ways);
}

Expected<std::vector<std::string>> list_gpus(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator files(folder, error);
  if (error)
    return fail("{}: cannot read the folder of GPU files: {}", folder.string(), error.message());
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : files)
    if (entry.path().extension() == ".toml")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Expected<Gpu> load_gpu(const std::string& name, const fs::path& folder) {
  TRY_LET(path, find_file(name, folder));
  TRY_LET(figures, TomlFigures::open(*path));
  TRY_LET(gpu, read(*path, *figures));
  if (gpu->accuracy && gpu->accuracy->launches == 0) {
    TRY_LET(accuracy, accuracy_of_relative(*path, gpu->accuracy->gpu, folder));
    gpu->accuracy = std::move(*accuracy);
  }
  return gpu;
}

Expected<std::string> describe_gpu(const std::string& name, const fs::path& folder) {
  TRY(load_gpu(name, folder));
  TRY_LET(path, find_file(name, folder));
  TRY_LET(figures, TomlFigures::open(*path));
  return figures->describe();
}

} // namespace warplens::model
