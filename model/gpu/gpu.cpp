#include "model/gpu/gpu.h"

#include "model/gpu/drawn_figures.h"
#include "model/gpu/mig.h"
#include "model/gpu/parameters.h"
#include "model/gpu/read_accuracy.h"
#include "model/gpu/read_energies.h"
#include "model/gpu/stated_figures.h"
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

/// Reads all tables and checks each figure by itself. The first error in this order is the one reported.
Gpu read_tables(TomlFigures& figures) {
  Gpu gpu;
  figures.text("name", gpu.name);
  gpu.accuracy = read_accuracy(figures);
  read_parameters(figures, gpu);
  gpu.lanes.adds_for_warp = gpu.capability() >= 70; // analysis/atomics.h
  gpu.lanes.joins_phases = gpu.capability() >= 70;  // model/snapshot/coalesce.h
  gpu.lanes.reduces_for_warp = gpu.capability() >= 80;
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
  figures.require(std::has_single_bit(l2.pass_bytes), "l2.pass_bytes", "l2.pass_bytes to be 32, 64 or 128");
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
    accuracy->time_by_kind = gpu->accuracy->time_by_kind; // which hold for this GPU, not for its relative
    gpu->accuracy = std::move(*accuracy);
  }
  return gpu;
}

namespace {

/// Returns the figures of a file that load_gpu() takes.
Expected<TomlFigures> valid_figures(const std::string& name, const fs::path& folder) {
  TRY(load_gpu(name, folder));
  TRY_LET(path, find_file(name, folder));
  return TomlFigures::open(*path);
}

} // namespace

Expected<std::vector<StatedFigure>> stated_figures(const std::string& name, const fs::path& folder) {
  TRY_LET(figures, valid_figures(name, folder));
  return figures->stated();
}

Expected<std::string> describe_gpu(const std::string& name, const fs::path& folder) {
  TRY_LET(figures, valid_figures(name, folder));
  return figures->describe();
}

} // namespace warplens::model
