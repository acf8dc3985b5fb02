#include "judge/findings.h"

#include "result/figure_text.h"
#include "result/metrics.h"
#include "result/resources.h"
#include "vocabulary/geometry.h"
#include "vocabulary/spilled_registers.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace warplens::judge {
namespace {

// The limits from which a figure is worth a programmer's time.
constexpr double notable_conflicts = 0.5;     // extra passes per request
constexpr double notable_addresses = 1.5;     // in constant memory, per request
constexpr double notable_sector_excess = 1.5; // sectors touched over sectors needed
constexpr double notable_reload = 1.1;        // the same, of those sectors that the L1 passes on
constexpr double notable_sharing = 1.5;       // lanes that access the same word
constexpr double notable_miss_share = 0.5;    // share of the sectors
constexpr double negligible_share = 0.05;     // share of the sectors
constexpr double notable_fetches = 1.5;       // of each sector, over the whole kernel; also of stores
constexpr double contended_touches = 32;      // of each sector: fewer atomics hardly meet at a word
constexpr double large_part = 0.2;            // of what a resource serves
constexpr double few_lanes = 16;
constexpr double mostly_busy = 0.5;          // share of the kernel's time
constexpr double mostly = 0.5;               // share of a site's requests
constexpr double nearly_all = 0.95;          // likewise
constexpr double notable_offset_cost = 1.15; // sectors touched over sectors needed, of misaligned requests
constexpr double constant_memory = 65536;    // bytes that a program can have in it
constexpr double wide_used_share = 0.75;     // of the bytes of structs

/// Returns the mean number of distinct words that a request accesses; nothing if its bytes are not known.
std::optional<double> words_per_request(const SiteResult& site) {
  if (!site.bytes_used || *site.bytes_used == 0 || site.executions == 0 || site.site.element_bytes == 0)
    return std::nullopt;
  return double(*site.bytes_used) / double(site.executions) / site.site.element_bytes;
}

/// Returns how many lanes access the same word, mean; 1 if that is not known.
double lanes_per_word(const SiteResult& site) {
  return site.active_lanes / words_per_request(site).value_or(site.active_lanes);
}

/// Returns the sum of the bytes that the accesses to the site's array move, each multiplied by a weight, over
/// the bytes of the array; nothing if the array is not known.
template <class Weight>
std::optional<double> moved_per_byte(const SiteResult& site, const KernelResult& kernel, Weight&& weight) {
  const auto object = std::ranges::find(kernel.objects, site.site.object, &ObjectResult::name);
  if (site.site.object.empty() || object == kernel.objects.end() || object->footprint_bytes == 0)
    return std::nullopt;
  double bytes = 0;
  for (const SiteResult& other : kernel.sites)
    if (other.site.object == site.site.object)
      bytes += weight(other) * double(other.bytes_moved.value_or(0));
  return bytes / double(object->footprint_bytes);
}

/// Returns how often accesses of the same kind touch each sector of the site's array, mean.
std::optional<double> touches(const SiteResult& site, const KernelResult& kernel) {
  return moved_per_byte(
      site, kernel, [&](const SiteResult& other) { return other.site.kind == site.site.kind ? 1.0 : 0.0; });
}

bool reads(const SiteResult& site) {
  return site.site.kind == AccessKind::load || site.site.kind == AccessKind::update;
}

/// Returns the share of a site's sectors that go beyond the L1: all of an update's, which stores what it
/// loaded.
double passed_on(const SiteResult& site) {
  return site.site.kind == AccessKind::update ? 1 : beyond_first_cache(site);
}

/// Returns the share of a site's sectors that come from DRAM.
double from_dram(const SiteResult& site) {
  return site.l2_hit_rate ? beyond_first_cache(site) * (1 - site.l2_hit_rate->mean) : 0;
}

/// Returns how often the kernel's loads fetch each sector of the site's array from beyond the first cache, or
/// from DRAM, mean.
std::optional<double> fetches(const SiteResult& site, const KernelResult& kernel, bool is_from_dram) {
  return moved_per_byte(site, kernel, [&](const SiteResult& other) {
    return !reads(other) ? 0 : is_from_dram ? from_dram(other) : beyond_first_cache(other);
  });
}

/// Returns whether the kernel writes to the site's array.
bool is_written(const SiteResult& site, const KernelResult& kernel) {
  return std::ranges::any_of(kernel.sites, [&](const SiteResult& other) {
    return is_access(other.site.kind) && other.site.kind != AccessKind::load &&
           other.site.object == site.site.object;
  });
}

/// Returns whether what the site loads goes to shared memory, from which a block reads it again.
bool is_staged(const SiteResult& site, const KernelResult& kernel) {
  if (is_asynchronous(site.site.cache_operator))
    return true;
  return std::ranges::any_of(kernel.sites, [&](const SiteResult& other) {
    return other.site.kind == AccessKind::store && other.site.space == Space::shared &&
           std::ranges::find(other.site.depends_on, site.site.id) != other.site.depends_on.end();
  });
}

bool is_busy(const KernelResult& kernel, Resource resource) {
  return kernel.time && share_of(kernel.time->busy, resource) >= mostly_busy;
}

/// Returns whether the resource bounds the kernel, and a large part of its work is for this site.
bool has_large_part_in_bound(const SiteResult& site, const KernelResult& kernel, Resource resource) {
  return site.time && kernel.time && kernel.time->bound == resource &&
         share_of(site.time->occupied, resource) >= large_part;
}

/// Returns the site's share of the kernel's time, or of its latency where there is no time.
double cost_of(const SiteResult& site) {
  return site.time ? site.time->share.mean : site.latency_share.value_or(0);
}

/// Returns the distance between neighbouring lanes' addresses in most requests; nothing if they have none in
/// common.
std::optional<std::uint64_t> stride_of(const SiteResult& site) {
  if (!site.pattern || site.pattern->regular < mostly || site.pattern->stride_bytes == 0)
    return std::nullopt;
  const std::int64_t stride = site.pattern->stride_bytes;
  return stride < 0 ? std::uint64_t{0} - std::uint64_t(stride) : std::uint64_t(stride);
}

std::string lanes_apart(std::uint64_t stride) {
  return fmt::format("lanes {} B apart", grouped(stride));
}

bool is_fetched_as_texture(const SiteResult& site) {
  return site.site.cache_operator == CacheOperator::tex;
}

std::optional<Finding> on_contention(const SiteResult& site, const KernelResult& kernel) {
  if (!site.time || !kernel.time)
    return std::nullopt;
  const double work = share_of(site.time->occupied, Resource::atomics);
  const bool binds = kernel.time->bound == Resource::atomics;
  if (work < notable_work || !(binds || is_busy(kernel, Resource::atomics)))
    return std::nullopt;
  const double sharing = lanes_per_word(site);
  const bool meet =
      sharing >= notable_sharing || touches(site, kernel).value_or(contended_touches) >= contended_touches;
  const std::string lanes =
      sharing >= notable_sharing ? fmt::format("{} lanes at each word; ", ratio(sharing)) : "";
  const std::string effect = binds ? "bound the kernel"
                                   : fmt::format("keep it busy for {} % of the time",
                                                 share(share_of(kernel.time->busy, Resource::atomics)));
  const std::string text =
      fmt::format("{}{} % of {}, which {}", lanes, share(work), work_of(Resource::atomics), effect);
  return meet ? Finding{Rule::contention, "contended: " + text}
              : Finding{Rule::too_many_accesses, "too many atomics: " + text};
}

/// Finds passes over the banks of shared memory. Whether atomics meet at a word or only at a bank is not
/// known.
std::optional<Finding> on_banks(const SiteResult& site) {
  if (!site.bank_conflicts || *site.bank_conflicts < notable_conflicts)
    return std::nullopt;
  const std::string passes = fmt::format("{} extra passes per request", ratio(site.bank_conflicts));
  if (site.site.kind == AccessKind::atomic)
    return Finding{Rule::contention,
                   fmt::format("contended: {}, for lanes at the same word or bank", passes)};
  const std::optional<std::uint64_t> stride = stride_of(site);
  const bool is_of_rows = stride && *stride % (4 * shared_banks) == 0;
  return Finding{Rule::bank_conflicts,
                 fmt::format("bank conflicts: {}{}{}", passes, stride ? ", " + lanes_apart(*stride) : "",
                             is_of_rows ? ": pad each row by an element" : "")};
}

std::optional<Finding> on_constants(const SiteResult& site) {
  if (!site.constant_addresses || *site.constant_addresses < notable_addresses)
    return std::nullopt;
  return Finding{Rule::divergent_constants,
                 fmt::format("divergent constant reads: {} addresses per request, one after the other",
                             ratio(site.constant_addresses))};
}

/// Returns whether each request's addresses are loaded just before it, and differ between the lanes. A loop
/// that only begins at a loaded index loads it less often than it accesses memory.
bool has_loaded_addresses(const SiteResult& site, const KernelResult& kernel) {
  return std::ranges::any_of(kernel.sites, [&](const SiteResult& load) {
    return std::ranges::find(site.site.depends_on, load.site.id) != site.site.depends_on.end() &&
           2 * load.executions > site.executions && words_per_request(load).value_or(warp_lanes) > 1;
  });
}

/// Returns whether the sectors that a request touches beyond those it needs cost something: the L1 passes
/// them on, or they keep a memory pipeline busy.
bool pays_for_sectors(const SiteResult& site, const KernelResult& kernel, double needed) {
  const bool is_large = *site.sectors_per_request > sectors_per_line;
  if (!is_large && lanes_per_word(site) >= notable_sharing)
    return false; // such as two broadcasts: no other layout is better
  if (*site.sectors_per_request * passed_on(site) >= notable_reload * needed)
    return true;
  return is_large && (!kernel.time || is_busy(kernel, Resource::memory_pipeline));
}

/// Returns the bytes of each struct that the kernel's accesses to the site's array use, if neighbouring lanes
/// access neighbouring structs: accesses at the same distance that add up to a part of it.
std::optional<std::uint64_t> used_of_struct(const SiteResult& site, const KernelResult& kernel,
                                            std::uint64_t stride) {
  constexpr std::uint64_t largest_struct = 256;
  if (site.site.object.empty() || stride > largest_struct || stride <= site.site.element_bytes)
    return std::nullopt;
  std::uint64_t used = 0, fields = 0;
  for (const SiteResult& other : kernel.sites)
    if (other.site.object == site.site.object && stride_of(other) == stride) {
      used += other.site.element_bytes;
      ++fields;
    }
  return fields < 2 ? std::nullopt : std::optional(std::min(used, stride));
}

std::string name_of_access(const SiteResult& site) {
  switch (site.site.kind) {
  case AccessKind::load: return "load";
  case AccessKind::store: return "store";
  case AccessKind::update: return "update";
  default: return "access";
  }
}

/// Says of requests at one distance what the distance is, and what it costs.
Finding on_stride(const SiteResult& site, const KernelResult& kernel, std::uint64_t stride,
                  const std::string& cost) {
  if (const auto used = used_of_struct(site, kernel, stride))
    return {Rule::array_of_structs,
            double(*used) < wide_used_share * double(stride)
                ? fmt::format("array of structs: {}, {} of {} B used: {}; an array for each field would do",
                              lanes_apart(stride), *used, stride, cost)
                : fmt::format("array of structs: {}, {} of {} B used, by one access after the other: {}",
                              lanes_apart(stride), *used, stride, cost)};
  const bool is_far = stride >= line_bytes;
  return {Rule::strided,
          fmt::format("strided {}, {}: {}{}", name_of_access(site), lanes_apart(stride), cost,
                      is_far ? "; let lanes take consecutive elements, or stage them through a "
                               "tile in shared memory"
                             : "")};
}

std::optional<Finding> on_coalescing(const SiteResult& site, const KernelResult& kernel) {
  const std::optional<double> needed = needed_sectors_per_request(site);
  if (is_fetched_as_texture(site) || !needed || !site.sectors_per_request ||
      *site.sectors_per_request < notable_sector_excess * *needed || !pays_for_sectors(site, kernel, *needed))
    return std::nullopt;
  const std::string sectors = fmt::format("{} sectors per request", ratio(site.sectors_per_request));
  const std::string cost = fmt::format("{} where {} would do", sectors, ratio(needed));
  const std::optional<std::uint64_t> stride = stride_of(site);
  if (stride && *stride > site.site.element_bytes && site.site.kind != AccessKind::atomic)
    return on_stride(site, kernel, *stride, cost);
  if (has_loaded_addresses(site, kernel))
    return Finding{Rule::scattered, fmt::format("scattered: {}, at addresses that were loaded", sectors)};
  if (site.site.kind == AccessKind::atomic)
    return Finding{Rule::scattered, "scattered: " + sectors};
  return Finding{Rule::uncoalesced, "uncoalesced: " + cost};
}

/// Finds consecutive elements that begin within a sector, so that a request touches one more.
std::optional<Finding> on_alignment(const SiteResult& site, const KernelResult& kernel) {
  const std::optional<double> needed = needed_sectors_per_request(site);
  if (!site.pattern || site.pattern->misaligned < mostly || !needed || !site.sectors_per_request ||
      *site.sectors_per_request < notable_offset_cost * *needed)
    return std::nullopt;
  const bool is_caught = reads(site) && site.l1_hit_rate &&
                         *site.sectors_per_request * passed_on(site) < notable_reload * *needed &&
                         !is_busy(kernel, Resource::memory_pipeline);
  return Finding{
      Rule::misaligned,
      fmt::format("misaligned: begins {} B behind a sector's begin, {} sectors per request where {} "
                  "would do{}",
                  site.pattern->offset_bytes, ratio(site.sectors_per_request), ratio(needed),
                  is_caught ? "; L1 has the further ones, so they cost little" : ""),
      is_caught};
}

/// Finds loads and stores of a byte or two for each lane, where memory is not what bounds the kernel.
std::optional<Finding> on_width(const SiteResult& site, const KernelResult& kernel) {
  const std::uint32_t bytes = site.site.element_bytes;
  if (bytes == 0 || bytes > 2 || !site.sectors_per_request || stride_of(site) != bytes ||
      cost_of(site) < notable_work || !kernel.time || kernel.time->bound == Resource::dram)
    return std::nullopt;
  return Finding{Rule::narrow, fmt::format("narrow: {} B for each lane, {} B for each request: access {} or "
                                           "more elements at once",
                                           bytes, bytes * warp_lanes, 4 / bytes)};
}

/// Finds loads of which all lanes want the same word, of an array that constant memory has room for.
std::optional<Finding> on_uniformity(const SiteResult& site, const KernelResult& kernel) {
  const auto object = std::ranges::find(kernel.objects, site.site.object, &ObjectResult::name);
  if (site.site.kind != AccessKind::load || site.site.space != Space::global || !site.sectors_per_request ||
      is_fetched_as_texture(site) || !site.pattern || site.pattern->uniform < nearly_all ||
      site.site.object.empty() || object == kernel.objects.end() ||
      double(object->footprint_bytes) > constant_memory || is_written(site, kernel) ||
      cost_of(site) < notable_work)
    return std::nullopt;
  return Finding{Rule::uniform,
                 fmt::format("uniform: all lanes read one address of {}, of which {} are read: "
                             "`__constant__` memory serves that at once",
                             site.site.object, warplens::bytes(double(object->footprint_bytes)))};
}

/// Returns whether a request moves fewer bytes than one pass can, so that wider loads need fewer passes.
bool is_narrow(const SiteResult& site) {
  return site.bytes_used && double(*site.bytes_used) < double(line_bytes) * double(site.executions);
}

/// Finds loads and stores that bound the kernel by their number alone.
std::optional<Finding> on_number(const SiteResult& site, const KernelResult& kernel) {
  const bool is_load = site.site.kind == AccessKind::load;
  const bool by_banks = site.bank_conflicts && has_large_part_in_bound(site, kernel, Resource::shared_banks);
  const bool by_passes = site.l1_hit_rate && beyond_first_cache(site) < notable_miss_share &&
                         has_large_part_in_bound(site, kernel, Resource::memory_pipeline);
  if (site.site.kind == AccessKind::atomic || !(by_banks || by_passes))
    return std::nullopt;
  const std::string merit =
      by_banks ? "without bank conflicts" : fmt::format("{} % hit L1", percent(site.l1_hit_rate->mean));
  return Finding{Rule::too_many_accesses,
                 fmt::format("too many {}, though {}: keep values in registers{}",
                             is_load ? "loads" : "accesses", merit,
                             is_load && is_narrow(site) ? ", or load several at once" : "")};
}

/// Returns the origin of the sectors that do not come from the first cache.
std::string origin(double from_l2, double from_dram) {
  if (from_dram >= notable_miss_share)
    return fmt::format("{} % of its sectors come from DRAM", percent(from_dram));
  const std::string l2 = fmt::format("{} % of its sectors come from L2", percent(from_l2));
  return from_dram < negligible_share ? l2 : fmt::format("{}, {} % from DRAM", l2, percent(from_dram));
}

std::optional<Finding> on_chain(const SiteResult& site, const KernelResult& kernel) {
  const bool needs_itself =
      std::ranges::find(site.site.depends_on, site.site.id) != site.site.depends_on.end();
  if (!needs_itself || !kernel.time || kernel.time->bound)
    return std::nullopt;
  const double beyond = beyond_first_cache(site), dram = from_dram(site);
  const std::string from =
      site.l2_hit_rate && beyond >= notable_miss_share ? "; " + origin(beyond - dram, dram) : "";
  return Finding{Rule::chained,
                 "chained: each load gets its address from the one before, so none overlap" + from};
}

/// Returns how the kernel uses the caches badly, if it fetches each sector several times.
std::string_view fault(const SiteResult& site) {
  if (from_dram(site) >= notable_miss_share || site.constant_hit_rate)
    return "poor locality";
  return site.l1_hit_rate ? "poor L1 locality" : "not cached in L1";
}

/// Returns whether the way to the L2, or what is behind it, bounds the kernel.
bool is_bound_beyond_l1(const KernelResult& kernel) {
  if (!kernel.time || !kernel.time->bound)
    return false;
  const Resource bound = *kernel.time->bound;
  return bound == Resource::l2_port || bound == Resource::l2_slices || bound == Resource::fabric ||
         bound == Resource::dram;
}

/// Says of data that comes once from DRAM whether memory could deliver it faster.
std::string streaming_text(const KernelResult& kernel) {
  if (!kernel.time)
    return "";
  if (kernel.time->bound == Resource::dram)
    return ": only fewer bytes would help";
  return kernel.time->bound
             ? ""
             : fmt::format(", and DRAM is busy for {} % of the time: too few requests are under way",
                           share(share_of(kernel.time->busy, Resource::dram)));
}

std::optional<Finding> on_locality(const SiteResult& site, const KernelResult& kernel) {
  const double beyond = beyond_first_cache(site), dram = from_dram(site);
  if (!reads(site) || !site.l2_hit_rate || beyond < notable_miss_share)
    return std::nullopt;
  const std::string from = origin(beyond - dram, dram);
  const std::optional<double> each = fetches(site, kernel, dram >= notable_miss_share);
  if (!each)
    return Finding{Rule::beyond_l1, from};
  if (*each >= notable_fetches && is_staged(site, kernel))
    return is_bound_beyond_l1(kernel)
               ? std::optional(Finding{
                     Rule::tile, fmt::format("tile: {}, each is fetched {} times, by as many blocks: larger "
                                             "tiles would fetch less",
                                             from, ratio(each))})
               : std::nullopt;
  if (*each >= notable_fetches)
    return Finding{Rule::poor_locality,
                   fmt::format("{}: {}, each is fetched {} times", fault(site), from, ratio(each))};
  if (dram >= notable_miss_share)
    return Finding{Rule::streaming,
                   fmt::format("streaming: {}, each is fetched once{}", from, streaming_text(kernel))};
  const bool were_left =
      dram < negligible_share && kernel.l2_start && kernel.l2_start->warm && !is_written(site, kernel);
  return Finding{Rule::from_l2, fmt::format("from L2: {}, each is fetched once{}", from,
                                            were_left ? "; they were there before the launch" : "")};
}

/// Finds barriers at which warps wait for others of their block.
std::optional<Finding> on_arrival(const SiteResult& site) {
  if (!site.time || site.time->waited_share < notable_work)
    return std::nullopt;
  return Finding{Rule::uneven_arrival,
                 fmt::format("its warps arrive unevenly: {} % of the warps' time is spent waiting here",
                             share(site.time->waited_share))};
}

std::optional<Finding> on_lanes(const SiteResult& site, const KernelResult& kernel) {
  if (site.executions == 0 || site.active_lanes >= few_lanes)
    return std::nullopt;
  if (kernel.grid.count() == 1 && kernel.block.count() == 1)
    return Finding{Rule::few_lanes, "only one thread works"};
  return Finding{Rule::few_lanes, fmt::format("only {} of 32 lanes active", ratio(site.active_lanes))};
}

/// Finds accesses to spilled registers, of which a kernel with enough registers has none.
Finding on_spills(const KernelResult& kernel) {
  constexpr std::uint32_t max_registers = 255; // of a thread, from compute capability 3.5 on
  const bool has_most = kernel.compiled && kernel.compiled->registers >= max_registers;
  const std::string registers =
      kernel.compiled ? fmt::format(" {}", kernel.compiled->registers) : std::string();
  return {Rule::spills,
          fmt::format("spills: the{} registers of a thread do not suffice: {}keep fewer values alive at once",
                      registers,
                      has_most ? "" : "raise the register limit (__launch_bounds__, -maxrregcount), or ")};
}

/// Returns the part of a site's cost that the finding is about.
double part_of(const Finding& finding, const SiteResult& site) {
  // A finding that may be a fact about the program's data as well as a fault is worth half of its cost, and
  // one that only says where bytes come from next to nothing.
  constexpr double arguable = 0.5, mere_fact = 0.05;
  const double sectors = site.sectors_per_request.value_or(0);
  const double needed = needed_sectors_per_request(site).value_or(sectors);
  switch (finding.rule) {
  case Rule::contention: return site.bank_conflicts ? 1 - 1 / (1 + *site.bank_conflicts) : nearly_all;
  case Rule::bank_conflicts: return 1 - 1 / (1 + site.bank_conflicts.value_or(0));
  case Rule::divergent_constants: return 1 - 1 / std::max(1.0, site.constant_addresses.value_or(1));
  case Rule::array_of_structs:
  case Rule::strided:
  case Rule::misaligned:
  case Rule::uncoalesced: return finding.costs_little || sectors <= needed ? 0 : 1 - needed / sectors;
  case Rule::scattered: return sectors <= needed ? 0 : arguable * (1 - needed / sectors);
  case Rule::spills: return 1;
  case Rule::few_lanes: return 1 - std::min(1.0, site.active_lanes / warp_lanes);
  case Rule::uneven_arrival: // as much a sign that an SM has few blocks
  case Rule::too_many_accesses:
  case Rule::narrow:
  case Rule::uniform:
  case Rule::chained:
  case Rule::poor_locality:
  case Rule::tile: return arguable;
  default: return mere_fact;
  }
}

void put_costs(std::vector<Finding>& findings, const SiteResult& site, const KernelResult& kernel) {
  double site_cost =
      site.time && site.site.kind == AccessKind::barrier ? site.time->waited_share : cost_of(site);
  if (kernel.time && kernel.time->microseconds.mean > 0) // the launch itself is no part of what sites share
    site_cost *= std::max(0.0, 1 - kernel.time->launch_us / kernel.time->microseconds.mean);
  for (Finding& finding : findings)
    finding.cost = site_cost * part_of(finding, site);
}

std::vector<Finding> rules_met_by(const SiteResult& site, const KernelResult& kernel) {
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding)
      findings.push_back(std::move(*finding));
  };
  if (site.site.kind == AccessKind::barrier) {
    add(on_arrival(site));
    return findings;
  }
  if (is_spill(site.site))
    return {on_spills(kernel)};
  add(on_contention(site, kernel));
  add(on_banks(site));
  add(on_constants(site));
  add(on_coalescing(site, kernel));
  if (findings.empty())
    add(on_number(site, kernel));
  if (findings.empty())
    add(on_alignment(site, kernel));
  if (findings.empty())
    add(on_width(site, kernel));
  add(on_uniformity(site, kernel));
  add(on_chain(site, kernel));
  if (std::ranges::all_of(findings, [](const Finding& finding) {
        return finding.rule == Rule::scattered || finding.rule == Rule::misaligned ||
               finding.rule == Rule::narrow;
      }))
    add(on_locality(site, kernel));
  add(on_lanes(site, kernel));
  return findings;
}

} // namespace

bool is_waste(const Finding& finding) {
  switch (finding.rule) {
  case Rule::contention:
  case Rule::bank_conflicts:
  case Rule::divergent_constants:
  case Rule::array_of_structs:
  case Rule::strided:
  case Rule::misaligned:
  case Rule::uncoalesced:
  case Rule::scattered:
  case Rule::poor_locality:
  case Rule::spills: return !finding.costs_little;
  default: return false;
  }
}

std::vector<Finding> findings_on(const SiteResult& site, const KernelResult& kernel) {
  std::vector<Finding> findings = rules_met_by(site, kernel);
  put_costs(findings, site, kernel);
  return findings;
}

std::string efficiency_text(const SiteResult& site, const KernelResult& kernel) {
  if (site.site.kind == AccessKind::barrier)
    return site.time ? "fine: its warps arrive together" : "nothing notable was observed";
  // A store that is new to the L2 need not be at fault: each sector must be written once.
  if (site.site.kind == AccessKind::store && site.l2_hit_rate) {
    if (touches(site, kernel).value_or(notable_fetches) < notable_fetches)
      return fmt::format("streaming store: coalesced, {} sectors per request; only fewer bytes would help",
                         ratio(site.sectors_per_request));
    return fmt::format("fine: {} sectors per request, {} of them in L2 already",
                       ratio(site.sectors_per_request),
                       site.l2_hit_rate->mean == 0 ? "none" : percent(site.l2_hit_rate->mean) + " %");
  }
  // A block that loads each sector once, as into a tile, has what others loaded from the L2.
  const bool is_from_l2 =
      site.l1_hit_rate && site.l2_hit_rate && site.l1_hit_rate->mean < 0.5 && site.l2_hit_rate->mean >= 0.5;
  if (is_from_l2)
    return fmt::format("fine: {} sectors per request, {} % of those that L1 misses are in L2",
                       ratio(site.sectors_per_request), percent(site.l2_hit_rate->mean));
  if (site.l1_hit_rate)
    return fmt::format("fine: {} % L1 hits", percent(site.l1_hit_rate->mean));
  if (site.constant_hit_rate)
    return fmt::format("fine: {} % hits in the constant cache", percent(site.constant_hit_rate->mean));
  if (site.l2_hit_rate)
    return fmt::format("fine: {} % L2 hits", percent(site.l2_hit_rate->mean));
  return site.bank_conflicts ? "fine: hardly any bank conflicts" : "nothing notable was observed";
}

std::optional<double> needed_sectors_per_request(const SiteResult& site) {
  if (!site.bytes_used || site.executions == 0)
    return std::nullopt;
  const double bytes_per_request =
      static_cast<double>(*site.bytes_used) / static_cast<double>(site.executions);
  return std::max(1.0, std::ceil(bytes_per_request / sector_bytes));
}

} // namespace warplens::judge
