#include "judge/kernel_findings.h"

#include "judge/accuracy_text.h"
#include "judge/arithmetic.h"
#include "judge/verdict.h"
#include "result/figure_text.h"
#include "result/names.h"
#include "result/resources.h"
#include "vocabulary/geometry.h"
#include "vocabulary/spilled_registers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

namespace warplens::judge {
namespace {

// The limits from which a figure is worth a programmer's time.
constexpr double notable_launch = 0.3;      // share of the time
constexpr double notable_dispatch = 0.6;    // likewise
constexpr double notable_turnover = 0.25;   // likewise
constexpr double notable_tail = 0.2;        // share of the places for blocks, over all waves
constexpr double max_waves_with_tail = 4;   // more of them hide a small one
constexpr double hiding_share = 0.5;        // of an SM's warps
constexpr double notable_growth = 1.25;     // × the warps of an SM
constexpr double notable_lanes = 24;        // of 32, for which an instruction is executed
constexpr double notable_idle_lanes = 0.15; // share of those of a block's warps
constexpr double notable_state = 0.3;       // share of the warps' time
constexpr double near_roofline = 1.2;       // × the least time
constexpr double wasted_share = 0.2;        // of the bytes that memory moves
constexpr double refetched = 1.25;          // × the bytes that the kernel touches
// No GPU has more: results may state anything.
constexpr std::uint32_t max_registers = 255;
constexpr std::uint32_t max_threads = 1024, min_threads = 64; // of a block
constexpr std::uint64_t max_shared_bytes = 1 << 20;
constexpr double symptom = 0.5;      // of the idle time: lines that say why are worth more
constexpr double notable_cost = 0.1; // of a kernel's time, of a line at fault

bool is_bound_by_latency(const KernelResult& kernel) {
  return kernel.time && !kernel.time->bound;
}

double cycles_of_launch(const KernelResult& kernel) {
  return kernel.time->microseconds.mean * kernel.sm_clock_mhz;
}

std::optional<Finding> finding(Rule rule, double cost, std::string text) {
  return Finding{.rule = rule, .text = std::move(text), .cost = cost};
}

/// Returns the share of the time in which not even the busiest resource works: what hiding latency can save.
double idle_share(const KernelResult& kernel) {
  return 1 - std::clamp(*std::ranges::max_element(kernel.time->busy), 0.0, 1.0);
}

/// Returns what idle lanes cost: no more than the share in which a pipe is busy for them.
double cost_of_idle_lanes(const KernelResult& kernel, double idle) {
  if (!kernel.time)
    return 0;
  double busiest = share_of(kernel.time->busy, Resource::issue);
  for (std::size_t pipe = std::size_t(Resource::fp32_pipe); pipe < resource_count; ++pipe)
    busiest = std::max(busiest, kernel.time->busy[pipe]);
  return idle * std::min(busiest, 1.0);
}

std::optional<Finding> on_launch(const KernelResult& kernel) {
  if (!kernel.time || kernel.time->launch_us <= 0 ||
      !(kernel.time->launch_us >= notable_launch * kernel.time->microseconds.mean)) // nor if it is not finite
    return std::nullopt;
  // Little of it can be saved, unless there is hardly anything else.
  const double part = kernel.time->launch_us / kernel.time->microseconds.mean;
  return finding(
      Rule::launch_overhead, part > 0.5 ? part : part / 2,
      fmt::format("launch overhead: {:.1f} of {} are what any launch takes: give a launch more work, "
                  "merge kernels, or put them into a graph",
                  kernel.time->launch_us, duration(Statistic{.mean = kernel.time->microseconds.mean})));
}

std::optional<Finding> on_waiting(const KernelResult& kernel) {
  const SiteResult* const waits = waiting_site(kernel);
  if (waits == nullptr || !kernel.time)
    return std::nullopt;
  return finding(
      Rule::waiting_threads, 1,
      fmt::format("the time is not known: at {}:{} threads may wait in a loop until others change {}, "
                  "for how long the model does not know; all figures of time are as if none "
                  "waited, and a chain of such waits takes many times as long",
                  std::filesystem::path(waits->site.file).filename().string(), waits->site.line,
                  waits->site.object.empty() ? "memory" : waits->site.object));
}

std::optional<Finding> on_idle_sms(const KernelResult& kernel) {
  const std::uint64_t blocks = kernel.grid.count(), sms = kernel.occupancy.sms;
  if (blocks >= sms || sms == 0)
    return std::nullopt;
  const bool has_large_blocks = kernel.block.count() > 2 * warp_lanes;
  return finding(Rule::idle_sms, 1 - double(blocks) / double(sms),
                 fmt::format("idle SMs: {} of {} have a block: divide the work into more{} blocks", blocks,
                             sms, has_large_blocks ? " and smaller" : ""));
}

std::optional<Finding> on_tail(const KernelResult& kernel, const std::optional<Headroom>& headroom) {
  const double resident = double(kernel.occupancy.sms) * kernel.occupancy.blocks_per_sm;
  if (resident == 0 || (headroom && roofline_verdict(*headroom, kernel).is_at_roofline))
    return std::nullopt;
  const double waves = double(kernel.grid.count()) / resident, whole = std::ceil(waves);
  if (waves <= 1 || waves > max_waves_with_tail || (whole - waves) / whole < notable_tail)
    return std::nullopt;
  const double last = double(kernel.grid.count()) - (whole - 1) * resident;
  return finding(
      Rule::tail, (whole - waves) / whole,
      fmt::format("tail: {:.2f} waves of {:.0f} blocks: the last {:.0f} block{} run{} beside empty SMs "
                  "for as long as a whole wave: fewer or smaller blocks, or a loop over the work in "
                  "each",
                  waves, resident, last, last == 1 ? "" : "s", last == 1 ? "s" : ""));
}

std::uint32_t warps_of_block(const KernelResult& kernel) {
  return std::uint32_t(warps_of(kernel.block.count()));
}

/// Returns the warps of an SM if blocks had these needs.
std::uint64_t warps_with(const KernelResult& kernel, const BlockNeeds& needs) {
  return blocks_of_sm(kernel.machine->sm, needs).blocks * (warps_of(needs.threads));
}

/// Returns the largest value up to `most`, in steps, with which an SM has at least `wanted` warps.
template <class Number, class WarpsWith>
std::optional<Number> largest_with(Number most, Number step, std::uint64_t wanted, WarpsWith&& warps_with) {
  for (Number value = most; value >= step; value -= step)
    if (warps_with(value) >= wanted)
      return value;
  return std::nullopt;
}

/// Says what would let an SM have more warps: twice as many, or as many as it can have.
std::string remedy_for_occupancy(const KernelResult& kernel) {
  if (!kernel.machine || kernel.block.count() == 0)
    return "";
  const SmResources& sm = kernel.machine->sm;
  const std::uint32_t registers = kernel.compiled ? kernel.compiled->registers : 0;
  const BlockNeeds now{kernel.block.count(), registers, kernel.occupancy.shared_bytes};
  const std::uint64_t most = sm.threads / warp_lanes;
  const std::uint64_t wanted = std::min<std::uint64_t>(most, 2ull * kernel.occupancy.warps_per_sm);
  const auto would = [&](const std::string& what) {
    return fmt::format(": {} would allow {} warps", what, wanted);
  };
  const std::string& limit = kernel.occupancy.limited_by;
  if (limit == name_of(OccupancyLimit::registers)) {
    const auto fewer =
        largest_with<std::uint32_t>(std::min(registers, max_registers), 1, wanted, [&](std::uint32_t count) {
          return warps_with(kernel, {now.threads, count, now.shared_bytes});
        });
    return fewer ? would(fmt::format("{} registers a thread instead of {} (__launch_bounds__({}, {}))",
                                     *fewer, registers, now.threads, wanted / warps_of_block(kernel)))
                 : "";
  }
  if (limit == name_of(OccupancyLimit::shared_memory)) {
    const auto less = largest_with<std::uint64_t>(
        std::min(now.shared_bytes, max_shared_bytes), 128, wanted, [&](std::uint64_t bytes) {
          return warps_with(kernel, {now.threads, now.registers_per_thread, bytes});
        });
    return less ? would(fmt::format("{} B of shared memory a block instead of {}", grouped(*less),
                                    grouped(now.shared_bytes)))
                : "";
  }
  for (std::uint64_t threads = warp_lanes; threads <= std::min(sm.threads_per_block, max_threads);
       threads += warp_lanes)
    if (warps_with(kernel, {threads, registers, now.shared_bytes * threads / now.threads}) >= wanted)
      return would(fmt::format("blocks of {} threads", threads));
  return "";
}

/// Finds blocks so wide that a further one does not fit an SM, where smaller ones would fill it.
std::optional<Finding> on_wide_blocks(const KernelResult& kernel) {
  const std::uint64_t now = kernel.block.count(), allowed = kernel.occupancy.warps_per_sm;
  if (!kernel.compiled || now == 0)
    return std::nullopt;
  for (std::uint64_t threads = std::bit_floor(std::min<std::uint64_t>(now, max_threads) - 1);
       threads >= min_threads; threads /= 2)
    if (const std::uint64_t warps = warps_with(
            kernel, {threads, kernel.compiled->registers, kernel.occupancy.shared_bytes * threads / now});
        double(warps) >= notable_growth * double(allowed))
      return finding(
          Rule::few_warps, std::min(idle_share(kernel), 1 - double(allowed) / double(warps)),
          fmt::format("few warps: {} of {} on an SM, as no further block of {} threads fits: blocks "
                      "of {} threads would allow {} warps",
                      allowed, kernel.machine->sm.threads / warp_lanes, grouped(now), threads, warps));
  return std::nullopt;
}

std::optional<Finding> on_few_warps(const KernelResult& kernel) {
  if (!is_bound_by_latency(kernel) || !kernel.machine || kernel.machine->sm.threads == 0)
    return std::nullopt;
  const std::uint32_t most = kernel.machine->sm.threads / warp_lanes, allowed = kernel.occupancy.warps_per_sm;
  const double per_sm =
      double(kernel.grid.count()) * warps_of_block(kernel) / std::max(1u, kernel.occupancy.sms);
  if (per_sm < hiding_share * std::min(allowed, most))
    return finding(
        Rule::few_warps, symptom * idle_share(kernel),
        fmt::format("few warps: the grid has {} for each SM, which has room for {}: more threads, each "
                    "with less to do, would hide latency",
                    ratio(per_sm), allowed));
  if (allowed >= hiding_share * most)
    return on_wide_blocks(kernel);
  const bool is_known = kernel.compiled.has_value();
  return finding(Rule::few_warps, symptom * idle_share(kernel),
                 fmt::format("few warps: {} of {} on an SM, limited by {}{}", allowed, most,
                             is_known ? kernel.occupancy.limited_by : "blocks or registers",
                             remedy_for_occupancy(kernel)));
}

/// Returns what a warp state waits for, and what helps; empty for states that have findings of their own.
std::string_view meaning_of(WarpState state) {
  switch (state) {
  case WarpState::long_scoreboard:
    return "for global or local memory: request more at once (unroll, several elements a thread), or need "
           "less";
  case WarpState::short_scoreboard:
    return "for shared memory or special functions: more independent work between a request and its use";
  case WarpState::wait:
  case WarpState::branch_resolving:
    return "for the instruction before: more independent operations a thread (several sums, unrolling)";
  case WarpState::barrier: return "at barriers: fewer of them, or several blocks on an SM";
  case WarpState::lg_throttle:
  case WarpState::mio_throttle:
  case WarpState::tex_throttle: return "for a place in the memory pipeline: fewer, wider accesses";
  case WarpState::math_pipe_throttle: return "for an execution pipe";
  default: return "";
  }
}

std::optional<Finding> on_exposed_latency(const KernelResult& kernel) {
  if (!is_bound_by_latency(kernel) || !kernel.warps)
    return std::nullopt;
  const ByState& states = kernel.warps->states;
  const auto longest = std::max_element(states.begin() + 1, states.end()); // behind `selected`
  const auto state = WarpState(longest - states.begin());
  if (*longest < notable_state || meaning_of(state).empty())
    return std::nullopt;
  return finding(Rule::exposed_latency, symptom * *longest * idle_share(kernel),
                 fmt::format("exposed latency: warps wait {} % of their time ({}) {}", share(*longest),
                             name_of(state), meaning_of(state)));
}

/// Finds blocks that end so soon that beginning the next ones is what takes the time: a GPU begins one block
/// in a cycle, and a place for a block is empty for some cycles between two.
std::optional<Finding> on_turnover(const KernelResult& kernel) {
  const double resident = double(kernel.occupancy.sms) * kernel.occupancy.blocks_per_sm;
  const double blocks = double(kernel.grid.count());
  if (!is_bound_by_latency(kernel) || !kernel.machine || blocks <= resident ||
      !(cycles_of_launch(kernel) > 0))
    return std::nullopt;
  const double dispatch = blocks / cycles_of_launch(kernel),
               turnover = blocks / resident * kernel.machine->turnover_cycles / cycles_of_launch(kernel);
  const char* remedy = "give a block more work (a loop over several elements)";
  if (dispatch >= notable_dispatch)
    return finding(
        Rule::block_turnover, std::min(dispatch, 1.0),
        fmt::format("short blocks: beginning {} blocks, one in a cycle, takes {} % of the time: {}",
                    grouped(kernel.grid.count()), share(dispatch), remedy));
  if (!(turnover >= notable_turnover))
    return std::nullopt;
  return finding(
      Rule::block_turnover, std::min(turnover, 1.0),
      fmt::format("short blocks: places for blocks stay empty for {} % of the time between one of {} "
                  "blocks and the next: {}",
                  share(turnover), grouped(kernel.grid.count()), remedy));
}

std::optional<Finding> on_partial_warps(const KernelResult& kernel) {
  const double threads = double(kernel.block.count()), lanes = double(warps_of_block(kernel)) * warp_lanes;
  if (lanes == 0 || 1 - threads / lanes < notable_idle_lanes)
    return std::nullopt;
  return finding(
      Rule::partial_warps, cost_of_idle_lanes(kernel, 1 - threads / lanes),
      fmt::format("partial warps: {} threads take {} warps, in which {} % of the lanes are idle: use "
                  "blocks of a multiple of {} threads",
                  kernel.block.count(), warps_of_block(kernel), share(1 - threads / lanes), warp_lanes));
}

Instructions sum_of(const ByInstructionKind& work) {
  Instructions sum;
  for (const Instructions& kind : work)
    sum += kind;
  return sum;
}

std::optional<Finding> on_divergence(const KernelResult& kernel) {
  const std::optional<double> lanes = lanes_per_instruction(kernel);
  const double possible =
      std::min<double>(double(kernel.block.count()) / std::max(1u, warps_of_block(kernel)), warp_lanes);
  if (!lanes || *lanes >= notable_lanes / warp_lanes * possible)
    return std::nullopt;
  const LineTime* worst = nullptr;
  double max_idle = 0;
  for (const LineTime& line : kernel.lines)
    if (line.work) {
      const Instructions sum = sum_of(*line.work);
      if (const double idle = sum.warps * possible - sum.lanes; idle > max_idle) {
        max_idle = idle;
        worst = &line;
      }
    }
  std::string at;
  if (worst != nullptr) {
    const Instructions sum = sum_of(*worst->work), all = sum_of(kernel.events->instructions);
    at = fmt::format("; most are idle at {}:{} ({} lanes, {} % of the instructions)",
                     std::filesystem::path(worst->file).filename().string(), worst->line,
                     ratio(sum.lanes / sum.warps), share(sum.warps / all.warps));
  }
  return finding(
      Rule::divergence, cost_of_idle_lanes(kernel, 1 - *lanes / possible),
      fmt::format("divergence: {} of {} lanes execute an instruction in the mean{}: let the lanes of "
                  "a warp take the same way",
                  ratio(*lanes), warp_lanes, at));
}

std::optional<Finding> on_spilled_registers(const KernelResult& kernel) {
  if (!kernel.compiled || kernel.compiled->spill_store_bytes + kernel.compiled->spill_load_bytes == 0)
    return std::nullopt;
  double cost = 0;
  for (const SiteResult& site : kernel.sites)
    if (is_spill(site.site))
      cost += site.time ? site.time->share.mean : site.latency_share.value_or(0);
  return finding(
      Rule::spills, cost,
      fmt::format("spills: {} registers a thread do not suffice: the code has {} B of stores and {} B "
                  "of loads of spilled ones, in local memory",
                  kernel.compiled->registers, kernel.compiled->spill_store_bytes,
                  kernel.compiled->spill_load_bytes));
}

std::optional<Finding> on_pipe(const KernelResult& kernel) {
  const std::string arithmetic = arithmetic_verdict_on(kernel);
  return arithmetic.empty()
             ? std::nullopt
             : finding(Rule::saturated_pipe, share_of(kernel.time->busy, *kernel.time->bound), arithmetic);
}

/// Returns whether a line that costs a notable part of the time has a finding that another layout or order
/// would mend.
bool has_waste(const KernelResult& kernel) {
  return std::ranges::any_of(kernel.sites, [&](const SiteResult& site) {
    const double cost = site.time ? site.time->share.mean : site.latency_share.value_or(0);
    return cost >= notable_cost && std::ranges::any_of(findings_on(site, kernel), is_waste);
  });
}

/// The bytes of the sectors that a kernel touches in its snapshot, and of these the ones that it uses.
struct TouchedBytes {
  double all = 0, used = 0;
};
TouchedBytes touched_bytes(const KernelResult& kernel) {
  TouchedBytes touched;
  for (const ObjectResult& object : kernel.objects) {
    touched.all += double(object.footprint_bytes);
    touched.used += double(std::min(object.bytes_used, object.footprint_bytes));
  }
  return touched;
}

/// Says what part of the work at a roofline could be saved; empty if none.
std::string savings(const Headroom& headroom, const KernelResult& kernel) {
  const Resource limit = headroom.limits.front().resource;
  if (limit != Resource::dram) {
    if (has_waste(kernel))
      return ", but accesses do more work than they need to: see below";
    if (computes_floats_as_doubles(kernel))
      return ", but floats are computed as doubles: see below";
    // Instructions cost the same for one lane as for 32, bytes of the L2 do not.
    return limit != Resource::l2_slices && on_divergence(kernel)
               ? fmt::format(", but {} of {} lanes execute an instruction in the mean: see below",
                             ratio(*lanes_per_instruction(kernel)), warp_lanes)
               : "";
  }
  const TouchedBytes touched = touched_bytes(kernel);
  if (touched.all == 0)
    return "";
  if (touched.used < (1 - wasted_share) * touched.all)
    return fmt::format(", but {} % of the bytes of its sectors are used: see below",
                       share(touched.used / touched.all));
  const double read = kernel.totals.dram_read_bytes.value_or(0);
  const double written =
      kernel.totals.dram_write_bytes.value_or(0) - kernel.totals.dram_write_bytes_before.value_or(0);
  if (std::max(read, written) <= refetched * touched.all)
    return "";
  return fmt::format(", but what it {} memory is {} × of what it touches: see below",
                     read >= written ? "reads of" : "writes to",
                     ratio(std::max(read, written) / touched.all));
}

} // namespace

std::optional<double> lanes_per_instruction(const KernelResult& kernel) {
  if (!kernel.events)
    return std::nullopt;
  const Instructions sum = sum_of(kernel.events->instructions);
  return sum.warps == 0 ? std::nullopt : std::optional(sum.lanes / sum.warps);
}

const SiteResult* waiting_site(const KernelResult& kernel) {
  const auto waits = std::ranges::find_if(
      kernel.sites, [](const SiteResult& one) { return one.site.waits && one.executions != 0; });
  return waits == kernel.sites.end() ? nullptr : &*waits;
}

std::string note_beside_time(const KernelResult& kernel) {
  return waiting_site(kernel) != nullptr ? "not known: as if no thread waited for others, see below"
                                         : accuracy_beside_time(kernel);
}

RooflineVerdict roofline_verdict(const Headroom& headroom, const KernelResult& kernel) {
  RooflineVerdict verdict;
  const std::string times = fmt::format("{} × of it", ratio(headroom.times_roofline));
  if (headroom.limits.empty() || headroom.launch_us > kernel.time->microseconds.mean / 2) {
    verdict.text = times;
    return verdict;
  }
  verdict.is_at_roofline = headroom.times_roofline <= near_roofline;
  if (!verdict.is_at_roofline) {
    verdict.text = times + ": see below";
    return verdict;
  }
  const std::string saved = savings(headroom, kernel);
  verdict.has_nothing_to_mend = saved.empty();
  const Resource limit = headroom.limits.front().resource;
  verdict.text =
      times + (!saved.empty()                   ? saved
               : limit == Resource::dram        ? ": nothing to mend here; only fewer bytes would help"
               : limit == Resource::l2_slices   ? ": nothing to mend here; only less traffic to the L2 would "
                                                  "help"
               : limit == Resource::tensor_pipe ? ": nothing to mend here; only narrower types or sparse "
                                                  "products would help"
                                                : ": nothing to mend here; only fewer or cheaper "
                                                  "instructions would help");
  return verdict;
}

std::vector<Finding> findings_on(const KernelResult& kernel) {
  const std::optional<Finding> waiting = on_waiting(kernel);
  if (auto launch = on_launch(kernel);
      !waiting && launch && kernel.time->launch_us > kernel.time->microseconds.mean / 2)
    return {*launch};
  const std::optional<Headroom> headroom = headroom_of(kernel);
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding)
      findings.push_back(std::move(*finding));
  };
  add(waiting);
  add(on_idle_sms(kernel));
  add(on_launch(kernel));
  add(on_pipe(kernel));
  add(on_turnover(kernel));
  add(on_tail(kernel, headroom));
  if (std::ranges::none_of(findings, [](const Finding& one) { return one.rule == Rule::idle_sms; }))
    add(on_few_warps(kernel));
  add(on_spilled_registers(kernel));
  add(on_partial_warps(kernel));
  add(on_divergence(kernel));
  if (std::ranges::none_of(findings,
                           [](const Finding& finding) { return finding.rule == Rule::block_turnover; }))
    add(on_exposed_latency(kernel));
  std::ranges::stable_sort(findings, std::ranges::greater(), &Finding::cost);
  return findings;
}

} // namespace warplens::judge
