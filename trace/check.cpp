#include "trace/inspect.h"

#include <bit>
#include <unordered_map>

namespace warplens::trace {
namespace {

constexpr std::size_t findings_kept = 100;
constexpr std::uint64_t max_threads_per_block = 1024; // CUDA C++ Programming Guide, "Compute Capabilities"
constexpr std::uint32_t max_element_bytes = 4096;
constexpr std::uint16_t max_access_bytes = 16; // PTX ISA, "Vectors": the widest access of a lane is 128 bits

class Checker {
public:
  explicit Checker(const Reader& reader) : reader_(reader) {}

  Expected<Findings> run() {
    check_sites();
    for (std::size_t i = 0; i < reader_.launches().size(); ++i)
      TRY(check_launch(i, reader_.launches()[i]));
    check_memory_uses();
    return std::move(findings_);
  }

private:
  template <class... Args> void found(fmt::format_string<Args...> text, Args&&... args) {
    if (findings_.count++ < findings_kept)
      findings_.first.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void check_sites() {
    for (const Site& site : reader_.sites()) {
      if (!sites_.emplace(site.id, &site).second)
        found("site {:016x} is there twice", site.id);
      if (site.element_bytes > max_element_bytes)
        found("site {:016x}: elements of {} bytes", site.id, site.element_bytes);
      if (site.line == 0 || site.column == 0)
        found("site {:016x}: line {}, column {}", site.id, site.line, site.column);
    }
    for (const Site& site : reader_.sites())
      for (const std::uint64_t id : site.depends_on)
        if (!sites_.count(id))
          found("site {:016x} depends on {:016x}, which is not there", site.id, id);
  }

  void check_memory_uses() {
    for (const MemoryUse& use : reader_.memory_uses()) {
      if (use.launch >= reader_.launches().size() && !reader_.truncated())
        found("memory was used before launch {}, which is not there", use.launch);
      if ((use.kind == MemoryUse::Kind::unseen) != (use.rows == 0))
        found("memory used before launch {}: {} rows of it", use.launch, use.rows);
    }
  }

  Expected<void> check_launch(std::size_t index, const Launch& launch) {
    if (launch.id != index)
      found("launch {} is number {} in the trace", launch.id, index);
    const std::uint64_t threads = product(launch.block);
    if (threads == 0 || threads > max_threads_per_block)
      found("launch {}: {} threads a block", launch.id, threads);
    const std::uint64_t grid = product(launch.grid);
    if (launch.blocks == 0 || launch.first_block >= grid || launch.blocks > grid - launch.first_block)
      found("launch {}: blocks {} and {} following, of a grid of {}", launch.id, launch.first_block,
            launch.blocks, grid);
    check_end(launch);
    return reader_.for_each_access(launch.id,
                                   [&](std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
                                     check_access(launch, threads, block, warp, access);
                                   });
  }

  void check_end(const Launch& launch) {
    const auto end = reader_.end_of(launch.id);
    if (!end && !reader_.truncated())
      found("launch {} has no end, yet the trace is complete", launch.id);
    if (end && end->blocks > launch.blocks)
      found("launch {}: {} blocks collected of {}", launch.id, end->blocks, launch.blocks);
    if (end)
      check_windows(launch, *end);
    if (end && end->executed_accesses && end->probed_accesses > end->executed_accesses)
      found("launch {}: {} accesses probed of {} executed", launch.id, end->probed_accesses,
            end->executed_accesses);
  }

  void check_windows(const Launch& launch, const LaunchEnd& end) {
    std::uint64_t next = launch.first_block + end.blocks, represented = 0;
    for (const BlockWindow& window : end.windows) {
      if (window.blocks == 0 || window.first < next || window.first - launch.first_block >= launch.blocks ||
          window.blocks > launch.blocks - (window.first - launch.first_block) ||
          window.stands_for < window.blocks || window.stands_for > product(launch.grid) - represented)
        return found("launch {}: a window of {} blocks from {} on for {}", launch.id, window.blocks,
                     window.first, window.stands_for);
      next = window.first + window.blocks;
      represented += window.stands_for;
    }
  }

  void check_access(const Launch& launch, std::uint64_t threads, std::uint64_t block, std::uint32_t warp,
                    const WarpAccess& access) {
    auto wrong = [&](const std::string& what) {
      found("launch {} block {} warp {} site {:016x}: {}", launch.id, block, warp, access.site, what);
    };
    const auto site = sites_.find(access.site);
    if (site == sites_.end())
      wrong("no such site");
    else if (site->second->kind != access.kind)
      wrong(fmt::format("a {} at a site that is a {}", name_of(access.kind), name_of(site->second->kind)));
    if (block < launch.first_block || block - launch.first_block >= launch.blocks)
      wrong("the block is outside the snapshot");
    const std::uint64_t first_thread = std::uint64_t{warp} * warp_lanes;
    if (first_thread >= threads)
      wrong(fmt::format("a block has {} threads, hence no such warp", threads));
    else if (threads - first_thread < warp_lanes && access.active >> (threads - first_thread))
      wrong(fmt::format("mask {:08x} has lanes beyond the block's {} threads", access.active, threads));
    if (access.active == 0)
      wrong("no lane is active");
    const bool is_possible = is_access(access.kind)
                                 ? access.bytes <= max_access_bytes && std::has_single_bit(access.bytes)
                                 : access.bytes == 0 && access.space == Space::generic;
    if (!is_possible)
      wrong(fmt::format("{} bytes a lane", access.bytes));
    check_addresses(launch, access, wrong);
  }

  template <class Wrong> void check_addresses(const Launch& launch, const WarpAccess& access, Wrong wrong) {
    const std::uint64_t shared_bytes =
        std::uint64_t{launch.static_shared_bytes} + launch.dynamic_shared_bytes;
    const std::uint64_t end = access.space == Space::shared ? shared_bytes : ~std::uint64_t{0};
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const std::uint64_t address = access.addresses[lane];
      const bool is_active = access.active >> lane & 1;
      if (!is_active && address != 0)
        wrong(fmt::format("lane {} is not active and has address {:x}", lane, address));
      if (is_active && (address > end || end - address < access.bytes)) {
        wrong(fmt::format("lane {} has address {:x}, beyond the end of its space", lane, address));
        return;
      }
    }
  }

  /// Returns the number of elements, or 0 if it exceeds 64 bits: CUDA's own limits exclude that, a trace from
  /// elsewhere may not.
  static std::uint64_t product(const Dim3& dim) {
    const std::uint64_t plane = std::uint64_t{dim.x} * dim.y;
    return dim.z != 0 && plane > UINT64_MAX / dim.z ? 0 : plane * dim.z;
  }

  const Reader& reader_;
  Findings findings_;
  std::unordered_map<std::uint64_t, const Site*> sites_;
};

} // namespace

Expected<Findings> check(const Reader& reader) {
  return Checker(reader).run();
}

} // namespace warplens::trace
