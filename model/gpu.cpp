#include "model/gpu.h"

#include "model/geometry.h"
#include "model/toml_figures.h"
#include "model/uneven_cache.h"

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
  const auto known = list_gpus(folder);
  if (!known)
    return tl::unexpected(known.error());
  return fail("unknown GPU '{}': choose one of {}, or a file ending in .toml", name, fmt::join(*known, ", "));
}

Expected<Gpu> read(const fs::path& path, TomlFigures& figures) {
  constexpr double any_latency = 100'000;
  Gpu gpu;
  gpu.id = path.stem().string();
  figures.text("name", gpu.name);
  figures.flag("validated", gpu.validated);
  figures.number("sm.compute_capability", gpu.compute_capability, 1, 99.9);
  figures.number("sm.clock_mhz", gpu.clock_mhz, 1, 10'000);
  figures.number("sm.count", gpu.sms, 1, 1024);
  figures.number("sm.max_threads", gpu.max_threads_per_sm, warp_lanes, 8192);
  figures.number("sm.max_blocks", gpu.max_blocks_per_sm, 1, 256);
  figures.number("sm.max_threads_per_block", gpu.max_threads_per_block, warp_lanes, 8192);
  figures.number("sm.coalesced_bytes", gpu.lanes.coalesced_bytes, sector_bytes, 512);
  figures.number("constant.bytes", gpu.constant.bytes, sector_bytes, 1u << 24);
  figures.number("constant.line_bytes", gpu.constant.line_bytes, sector_bytes, line_bytes);
  figures.number("constant.ways", gpu.constant.ways, 1, max_ways);
  figures.number("constant.latency_ns", gpu.constant.latency_ns, 0, any_latency);
  figures.number("constant.pass_ns", gpu.constant.pass_ns, 0, any_latency);
  figures.number("constant.group_sms", gpu.constant.group.sms, 1, 1024);
  figures.number("constant.group_bytes", gpu.constant.group.bytes, line_bytes, 1u << 24);
  figures.number("constant.group_line_bytes", gpu.constant.group.line_bytes, line_bytes, 4096);
  figures.number("constant.group_ways", gpu.constant.group.ways, 1, max_ways);
  figures.number("constant.group_latency_ns", gpu.constant.group.latency_ns, 0, any_latency);

  gpu.schedule.warps = WarpOrder(figures.choice("schedule.warps", warp_orders()));
  gpu.schedule.placement = BlockPlacement(figures.choice("schedule.placement", block_placements()));
  gpu.schedule.start = BlockStart(figures.choice("schedule.start", block_starts()));

  figures.number("registers.per_sm", gpu.registers.per_sm, 1, 1u << 24);
  figures.number("registers.per_block", gpu.registers.per_block, 1, 1u << 24);
  figures.number("registers.max_per_thread", gpu.registers.max_per_thread, 1, 1024);
  figures.number("registers.allocation_unit", gpu.registers.allocation_unit, 1, 4096);
  figures.number("registers.sub_partitions", gpu.registers.sub_partitions, 1, 16);

  figures.numbers("shared.carveout_bytes", gpu.shared.carveout_bytes, 0, 1u << 24);
  figures.number("shared.max_bytes_per_block", gpu.shared.max_bytes_per_block, 0, 1u << 24);
  figures.number("shared.reserved_bytes_per_block", gpu.shared.reserved_bytes_per_block, 0, 1u << 20);
  figures.number("shared.allocation_unit", gpu.shared.allocation_unit, 1, 1u << 20);
  figures.number("shared.bank_bytes", gpu.lanes.bank_bytes, 4, 8);
  figures.number("shared.bank_stride_bytes", gpu.lanes.bank_stride_bytes, 4, 8);
  figures.number("shared.latency_ns", gpu.shared.latency_ns, 0, any_latency);
  figures.number("shared.pass_ns", gpu.shared.pass_ns, 0, any_latency);

  figures.number("l1.with_shared_bytes", gpu.l1.with_shared_bytes, line_bytes, 1u << 24);
  figures.number("l1.ways", gpu.l1.ways, 1, max_ways);
  figures.number("l1.usable", gpu.l1.usable, 0.1, 1);
  figures.number("l1.early_usable", gpu.l1.early_usable, 0, 1);
  figures.boolean("l1.sectored", gpu.l1.sectored);
  gpu.l1.index = IndexHash(figures.choice("l1.index", {"modulo", "xor_fold"}));
  figures.choice("l1.replacement", {"lru"});
  gpu.l1.stores = L1Stores(figures.choice("l1.stores", {"bypass", "update_on_hit", "evict_on_hit"}));
  gpu.l1.local_stores = LocalStores(figures.choice("l1.local_stores", {"as_global", "write_back"}));
  figures.boolean("l1.global_loads", gpu.lanes.global_loads_in_l1);
  figures.number("l1.latency_ns", gpu.l1.latency_ns, 0, any_latency);

  const auto read_cache = [&](const std::string& table, Gpu::ReadOnly& cache) {
    figures.number(table + ".bytes", cache.bytes, line_bytes, 1u << 24);
    figures.number(table + ".line_bytes", cache.line_bytes, sector_bytes, line_bytes);
    figures.number(table + ".ways", cache.ways, 1, max_ways);
    figures.number(table + ".latency_ns", cache.latency_ns, 0, any_latency);
  };
  gpu.lanes.own_read_only_cache = figures.choice("read_only.cache", {"l1", "own"}) == 1;
  if (gpu.lanes.own_read_only_cache)
    read_cache("read_only", gpu.read_only);
  gpu.lanes.texture_cache = TextureCache(figures.choice("texture.cache", {"l1", "read_only", "own"}));
  if (gpu.lanes.texture_cache == TextureCache::own)
    read_cache("texture", gpu.texture);

  figures.number("l2.bytes", gpu.l2_bytes, sector_bytes, std::uint64_t{1} << 34);
  figures.number("l2.line_bytes", gpu.l2.line_bytes, sector_bytes, line_bytes);
  figures.number("l2.ways", gpu.l2.ways, 1, max_ways);
  figures.number("l2.usable", gpu.l2.usable, 0.1, 1);
  figures.number("l2.partitions", gpu.l2.partitions, 1, 2);
  if (gpu.l2.partitions > 1) {
    figures.number("l2.copies_ways", gpu.l2.copies.ways, 1, max_ways);
    figures.number("l2.copies_usable", gpu.l2.copies.usable, 0.1, 1);
    figures.number("l2.copies_early_usable", gpu.l2.copies.early_usable, 0, 1);
    figures.number("l2.far_latency_ns", gpu.l2.copies.far_latency_ns, 0, any_latency);
  }
  gpu.l2.index = IndexHash(figures.choice("l2.index", {"modulo", "xor_fold"}));
  figures.choice("l2.replacement", {"lru"});
  gpu.l2.stores = L2Stores(figures.choice("l2.stores", {"memory_update", "allocate"}));
  gpu.l2.partial_writes =
      PartialWrites(figures.choice("l2.partial_writes", {"whole", "mask", "fill", "fetch"}));
  figures.number("l2.fetch_bytes", gpu.l2.fetch_bytes, sector_bytes, line_bytes);
  figures.number("l2.slices", gpu.l2.slices, 1, 1024);
  gpu.l2.slice_index = SliceHash(figures.choice("l2.slice_index", {"modulo", "xor_fold", "polynomial"}));
  figures.number("l2.latency_ns", gpu.l2.latency_ns, 0, any_latency);

  figures.number("dram.bytes", gpu.dram.bytes, 1u << 20, std::uint64_t{1} << 44);
  figures.number("dram.bus_bits", gpu.dram.bus_bits, 8, 1u << 16);
  figures.number("dram.channels", gpu.dram.channels, 1, 4096);
  figures.number("dram.banks", gpu.dram.banks, 1, 1024);
  figures.number("dram.row_bytes", gpu.dram.row_bytes, line_bytes, 1u << 20);
  figures.number("dram.interleave_bytes", gpu.dram.interleave_bytes, line_bytes, 1u << 20);
  gpu.dram.channel_index = DramIndex(figures.choice("dram.channel_index", {"modulo", "permuted"}));
  gpu.dram.bank_index = DramIndex(figures.choice("dram.bank_index", {"modulo", "permuted"}));
  gpu.dram.queue = DramQueue(figures.choice("dram.queue", {"batch", "kingman"}));
  figures.number("dram.latency_ns", gpu.dram.latency_ns, 0, any_latency);
  figures.number("dram.activate_ns", gpu.dram.activate_ns, 0, any_latency);
  figures.number("dram.precharge_ns", gpu.dram.precharge_ns, 0, any_latency);
  figures.number("dram.burst_ns", gpu.dram.burst_ns, 0, any_latency);
  // A choice of one word is read above so that a policy that does not exist is refused; what follows spans
  // several figures.
  if (auto done = figures.finish(); !done)
    return tl::unexpected(done.error());

  for (const std::uint32_t carveout : gpu.shared.carveout_bytes) {
    const std::uint64_t rest = carveout < gpu.l1.with_shared_bytes ? gpu.l1.with_shared_bytes - carveout : 0;
    const std::uint64_t of_one_set = std::uint64_t{gpu.l1.ways} * line_bytes;
    figures.require(
        rest >= of_one_set && rest % line_bytes == 0, "shared.carveout_bytes",
        fmt::format("each carve-out to leave the L1 whole lines of {} bytes, at least one set of {}",
                    line_bytes, gpu.l1.ways));
  }
  const auto early_part = [&](const std::string& table, const std::string& prefix, const auto& cache,
                              IndexHash index) {
    if (cache.early_usable == 0)
      return;
    const std::string early = table + "." + prefix + "early_usable";
    figures.require(
        cache.early_usable >= UnevenCache::least_early_usable && cache.early_usable <= cache.usable, early,
        fmt::format("{} to be 0, or from {} to {}.{}usable", early, UnevenCache::least_early_usable, table,
                    prefix));
    figures.require(cache.ways <= UnevenCache::most_ways && index == IndexHash::modulo, early,
                    fmt::format("{} to be 0 where {}.{}ways is more than {} or {}.index not modulo", early,
                                table, prefix, UnevenCache::most_ways, table));
  };
  early_part("l1", "", gpu.l1, gpu.l1.index);
  early_part("l2", "copies_", gpu.l2.copies, gpu.l2.index);
  const auto small_lines = [&](const std::string& table, const auto& cache) {
    figures.require(std::has_single_bit(cache.line_bytes), table + ".line_bytes",
                    table + ".line_bytes to be 32, 64 or 128");
    figures.require(
        cache.bytes % (cache.ways * line_bytes) == 0, table + ".bytes",
        fmt::format("{}.bytes to be a multiple of {} (ways × 128)", table, cache.ways * line_bytes));
  };
  const Gpu::Constant& constant = gpu.constant;
  small_lines("constant", constant);
  if (gpu.lanes.own_read_only_cache)
    small_lines("read_only", gpu.read_only);
  if (gpu.lanes.texture_cache == TextureCache::own)
    small_lines("texture", gpu.texture);
  figures.require(gpu.lanes.texture_cache != TextureCache::read_only || gpu.lanes.own_read_only_cache,
                  "texture.cache", "texture.cache to be l1 or own where read_only.cache is not own");
  figures.require(std::has_single_bit(constant.group.line_bytes), "constant.group_line_bytes",
                  "constant.group_line_bytes to be a power of two");
  figures.require(constant.group.bytes % (constant.group.ways * constant.group.line_bytes) == 0,
                  "constant.group_bytes",
                  fmt::format("constant.group_bytes to be a multiple of {} (ways × line)",
                              constant.group.ways * constant.group.line_bytes));
  figures.require(gpu.l2.line_bytes == sector_bytes || gpu.l2.line_bytes == line_bytes, "l2.line_bytes",
                  "l2.line_bytes to be 32 or 128");
  figures.require(gpu.l2.line_bytes == line_bytes || gpu.l2.index == IndexHash::modulo, "l2.index",
                  "l2.index to be modulo where l2.line_bytes is 32");
  // Blocks of 32 bytes are kept as one cache per sector of a line, so the sets must divide by four.
  const std::uint64_t sets_unit = std::uint64_t{gpu.l2.ways} * line_bytes;
  figures.require(
      gpu.l2.usable < 1 || gpu.l2_bytes % sets_unit == 0, "l2.bytes",
      fmt::format("l2.bytes to be a multiple of {} (ways × 128) where all of it is usable", sets_unit));
  figures.require(gpu.l2.line_bytes == line_bytes || (gpu.l2.usable == 1 && gpu.l2.partitions == 1),
                  "l2.line_bytes",
                  "l2.line_bytes to be 128 where the L2 has partitions or is not usable in full");
  figures.require(gpu.l2.line_bytes == line_bytes || gpu.l2.fetch_bytes == sector_bytes, "l2.fetch_bytes",
                  "l2.fetch_bytes to be 32 where l2.line_bytes is 32");
  figures.require(std::has_single_bit(gpu.l2.fetch_bytes), "l2.fetch_bytes",
                  "l2.fetch_bytes to be 32, 64 or 128");
  figures.require(gpu.l2.partial_writes == PartialWrites::whole ||
                      (gpu.l2.line_bytes == line_bytes && gpu.l2.stores == L2Stores::allocate),
                  "l2.partial_writes",
                  "l2.partial_writes to be whole where l2.line_bytes is 32 or l2.stores memory_update");
  figures.require(std::has_single_bit(gpu.lanes.coalesced_bytes), "sm.coalesced_bytes",
                  "sm.coalesced_bytes to be a power of two");
  figures.require(std::has_single_bit(gpu.lanes.bank_bytes), "shared.bank_bytes",
                  "shared.bank_bytes to be 4 or 8");
  figures.require(
      std::has_single_bit(gpu.lanes.bank_stride_bytes) && gpu.lanes.bank_stride_bytes <= gpu.lanes.bank_bytes,
      "shared.bank_stride_bytes", "shared.bank_stride_bytes to be 4 or 8, no more than shared.bank_bytes");
  figures.require(std::has_single_bit(gpu.dram.interleave_bytes), "dram.interleave_bytes",
                  "dram.interleave_bytes to be a power of two");
  figures.require(std::has_single_bit(gpu.dram.row_bytes) && gpu.dram.row_bytes >= gpu.dram.interleave_bytes,
                  "dram.row_bytes",
                  "dram.row_bytes to be a power of two, no less than dram.interleave_bytes");
  figures.require(std::has_single_bit(gpu.dram.banks), "dram.banks", "dram.banks to be a power of two");
  figures.require(gpu.dram.latency_ns >= gpu.dram.activate_ns + gpu.dram.burst_ns, "dram.latency_ns",
                  "dram.latency_ns to include dram.activate_ns and dram.burst_ns");
  if (auto done = figures.finish(); !done)
    return tl::unexpected(done.error());
  return gpu;
}

} // namespace

const std::vector<std::string>& warp_orders() {
  static const std::vector<std::string> words{"weighted_round_robin", "loose_round_robin",
                                              "greedy_then_oldest"};
  return words;
}

const std::vector<std::string>& block_placements() {
  static const std::vector<std::string> words{"in_order", "random"};
  return words;
}

const std::vector<std::string>& block_starts() {
  static const std::vector<std::string> words{"random_delay", "random_point", "mid_launch"};
  return words;
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
  return find_file(name, folder).and_then([](const fs::path& path) -> Expected<Gpu> {
    return TomlFigures::open(path).and_then([&](TomlFigures figures) { return read(path, figures); });
  });
}

Expected<std::string> describe_gpu(const std::string& name, const fs::path& folder) {
  return find_file(name, folder).and_then([](const fs::path& path) -> Expected<std::string> {
    return TomlFigures::open(path).and_then([&](TomlFigures figures) -> Expected<std::string> {
      if (const auto gpu = read(path, figures); !gpu)
        return tl::unexpected(gpu.error());
      return figures.describe();
    });
  });
}

} // namespace warplens::model
