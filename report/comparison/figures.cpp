#include "report/comparison/figures.h"

#include "judge/difference.h"
#include "result/headroom.h"
#include "result/names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace warplens::report::comparison {
namespace {

using Counters = std::map<std::string, double>;
using Measured = std::optional<MeasuredFigure>;
using Modelled = std::optional<ModelledFigure>;

/// Returns the first of the counters that is there, times the factor that stands with it.
Measured first_of(const Counters& counters,
                  std::initializer_list<std::pair<std::string_view, double>> names) {
  for (const auto& [name, factor] : names)
    if (const auto found = counters.find(std::string(name)); found != counters.end())
      return MeasuredFigure{found->second * factor, {found->first}};
  return std::nullopt;
}

/// Returns the ratio of two counters; none where one is missing, or nothing was counted.
Measured ratio_of(const Counters& counters, const char* upper, const char* lower) {
  const auto above = counters.find(upper), below = counters.find(lower);
  if (above == counters.end() || below == counters.end() || below->second == 0)
    return std::nullopt;
  return MeasuredFigure{above->second / below->second, {upper, lower}};
}

/// Returns the hit rate by the counts of its sectors, or as the profiler states it in percent. A rate of a
/// kernel without such accesses, which ncu gives as 0, is none.
Measured hit_rate(const Counters& counters, const char* hits, const char* sectors,
                  std::initializer_list<std::pair<std::string_view, double>> stated) {
  if (const auto all = counters.find(sectors); all != counters.end() && all->second == 0)
    return std::nullopt;
  if (const Measured counted = ratio_of(counters, hits, sectors))
    return counted;
  return first_of(counters, stated);
}

Modelled value_of(const std::optional<MetricValue>& value, double factor = 1, bool is_scaled = false) {
  if (!value)
    return std::nullopt;
  return ModelledFigure{value->mean * factor, value->half_width() * factor, is_scaled};
}

const KernelMetric& metric(std::string_view name) {
  return *std::ranges::find(kernel_metrics(), name, &KernelMetric::name);
}

template <std::size_t size> struct Name {
  char text[size];
  constexpr Name(const char (&literal)[size]) { std::copy_n(literal, size, text); }
};

/// Returns the metric of result/metrics.h, for the whole launch.
template <Name name> Modelled modelled_result(const KernelResult& kernel) {
  const KernelMetric& found = metric(name.text);
  if (found.extent != Extent::whole_snapshot)
    return value_of(found.value(kernel));
  const double scale = blocks_per_snapshot_block(kernel);
  return value_of(found.value(kernel), scale, scale != 1);
}

/// Returns the cycles of the whole launch: its time, by the clock of the trials.
Modelled cycles_of(const KernelResult& kernel) {
  if (!kernel.time || kernel.sm_clock_mhz <= 0)
    return std::nullopt;
  return value_of(metric("microseconds").value(kernel), kernel.sm_clock_mhz);
}

Modelled instructions_of(const KernelResult& kernel) {
  if (!kernel.executed)
    return std::nullopt;
  const double scale = blocks_per_snapshot_block(kernel);
  return ModelledFigure{static_cast<double>(kernel.executed->instructions) * scale, 0, scale != 1};
}

Modelled per_cycle_of(const KernelResult& kernel) {
  if (!kernel.executed)
    return std::nullopt;
  const Statistic& per_cycle = kernel.executed->per_cycle;
  return value_of(MetricValue{per_cycle.mean, &per_cycle});
}

Modelled resident_of(const KernelResult& kernel) {
  return kernel.warps ? Modelled(ModelledFigure{kernel.warps->resident, 0, false}) : std::nullopt;
}

Modelled occupancy_of(const KernelResult& kernel) {
  return ModelledFigure{static_cast<double>(kernel.occupancy.warps_per_sm), 0, false};
}

Modelled registers_of(const KernelResult& kernel) {
  if (!kernel.compiled)
    return std::nullopt;
  return ModelledFigure{static_cast<double>(kernel.compiled->registers), 0, false};
}

struct Kind {
  std::string_view space, operation;
};

/// Returns a sum over the kernel's accesses of a kind, for the whole launch; none if it has none of them.
Modelled sum_of(const KernelResult& kernel, const Kind& kind, double LineAccesses::* part) {
  double sum = 0;
  bool found = false;
  for (const LineAccesses& accesses : accesses_by_line(kernel))
    if (accesses.space == kind.space && accesses.operation == kind.operation) {
      found = true;
      sum += accesses.*part;
    }
  const double scale = blocks_per_snapshot_block(kernel);
  return found ? Modelled(ModelledFigure{sum * scale, 0, scale != 1}) : std::nullopt;
}

constexpr Kind global_load{"global", "load"}, global_store{"global", "store"}, shared_load{"shared", "load"},
    shared_store{"shared", "store"};

// Counters of nvprof have no underscores in pairs; those of Nsight Compute have. Where several counters
// measure a figure, the one that counts the SMs' own requests comes first.
constexpr auto figures = [] {
  using enum Unit;
  return std::to_array<KernelFigure>({
      {"microseconds", "time", microseconds,
       [](const Counters& c) { return first_of(c, {{"gpu__time_duration.sum", 1e6}}); },
       modelled_result<"microseconds">},
      {"cycles", "cycles of the launch", cycles,
       [](const Counters& c) {
         return first_of(
             c, {{"sm__cycles_elapsed.max", 1}, {"gpc__cycles_elapsed.max", 1}, {"elapsed_cycles_sm", 1}});
       },
       cycles_of},
      {"l1_read_hit_rate", "L1 hit rate of loads", fraction,
       [](const Counters& c) {
         return hit_rate(c, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
                         "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                         {{"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", 0.01}});
       },
       modelled_result<"l1_read_hit_rate">},
      {"l2_read_hit_rate", "L2 hit rate of loads", fraction,
       [](const Counters& c) {
         return hit_rate(c, "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
                         "lts__t_sectors_srcunit_tex_op_read.sum",
                         {{"lts__t_sector_op_read_hit_rate.pct", 0.01}, {"l2_tex_read_hit_rate", 0.01}});
       },
       modelled_result<"l2_read_hit_rate">},
      {"l2_write_hit_rate", "L2 hit rate of stores", fraction,
       [](const Counters& c) {
         return hit_rate(c, "lts__t_sectors_srcunit_tex_op_write_lookup_hit.sum",
                         "lts__t_sectors_srcunit_tex_op_write.sum",
                         {{"lts__t_sector_op_write_hit_rate.pct", 0.01}, {"l2_tex_write_hit_rate", 0.01}});
       },
       modelled_result<"l2_write_hit_rate">},
      {"constant_hit_rate", "constant cache hit rate", fraction,
       [](const Counters& c) { return ratio_of(c, "idc__requests_lookup_hit.sum", "idc__requests.sum"); },
       modelled_result<"constant_hit_rate">},
      {"dram_read_bytes", "read from DRAM", bytes,
       [](const Counters& c) {
         return first_of(c, {{"dram__bytes_read.sum", 1},
                             {"dram__bytes_op_read.sum", 1},
                             {"dram__sectors_read.sum", 32},
                             {"dram__sectors_op_read.sum", 32},
                             {"dram_read_bytes", 1},
                             {"dram_read_transactions", 32}});
       },
       modelled_result<"dram_read_bytes">},
      {"dram_write_bytes", "written to DRAM", bytes,
       [](const Counters& c) {
         return first_of(c, {{"dram__bytes_write.sum", 1},
                             {"dram__bytes_op_write.sum", 1},
                             {"dram__sectors_write.sum", 32},
                             {"dram__sectors_op_write.sum", 32},
                             {"dram_write_bytes", 1},
                             {"dram_write_transactions", 32}});
       },
       modelled_result<"dram_write_bytes">},
      {"global_load_requests", "requests of loads", count,
       [](const Counters& c) {
         return first_of(
             c, {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1}, {"global_load_requests", 1}});
       },
       [](const KernelResult& kernel) { return sum_of(kernel, global_load, &LineAccesses::requests); }},
      {"global_load_sectors", "sectors of loads", count,
       [](const Counters& c) {
         return first_of(c, {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1}, {"gld_transactions", 1}});
       },
       [](const KernelResult& kernel) { return sum_of(kernel, global_load, &LineAccesses::sectors); }},
      {"global_store_requests", "requests of stores", count,
       [](const Counters& c) {
         return first_of(
             c, {{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 1}, {"global_store_requests", 1}});
       },
       [](const KernelResult& kernel) { return sum_of(kernel, global_store, &LineAccesses::requests); }},
      {"global_store_sectors", "sectors of stores", count,
       [](const Counters& c) {
         return first_of(c, {{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 1}, {"gst_transactions", 1}});
       },
       [](const KernelResult& kernel) { return sum_of(kernel, global_store, &LineAccesses::sectors); }},
      {"shared_load_conflicts", "bank conflicts of loads", count,
       [](const Counters& c) {
         return first_of(c, {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 1},
                             {"shared_ld_bank_conflict", 1}});
       },
       [](const KernelResult& kernel) { return sum_of(kernel, shared_load, &LineAccesses::extra_passes); }},
      {"shared_store_conflicts", "bank conflicts of stores", count,
       [](const Counters& c) {
         return first_of(c, {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 1},
                             {"shared_st_bank_conflict", 1}});
       },
       [](const KernelResult& kernel) { return sum_of(kernel, shared_store, &LineAccesses::extra_passes); }},
      {"instructions", "instructions of warps", count,
       [](const Counters& c) {
         return first_of(
             c, {{"smsp__inst_executed.sum", 1}, {"sm__inst_executed.sum", 1}, {"inst_executed", 1}});
       },
       instructions_of},
      {"instructions_per_cycle", "instructions per cycle and SM", per_request,
       [](const Counters& c) { return first_of(c, {{"sm__inst_executed.avg.per_cycle_elapsed", 1}}); },
       per_cycle_of},
      {"resident_warps", "warps per SM, mean", per_request,
       [](const Counters& c) {
         if (const Measured stated = first_of(c, {{"sm__warps_active.avg.per_cycle_active", 1}}))
           return stated;
         return first_of(c, {{"smsp__warps_active.avg.per_cycle_active", 4}});
       },
       resident_of},
      {"occupancy_warps", "warps per SM, at most", count,
       [](const Counters& c) {
         return first_of(c, {{"sm__maximum_warps_avg_per_active_cycle", 1},
                             {"smsp__maximum_warps_avg_per_active_cycle", 4}});
       },
       occupancy_of},
      {"registers", "registers per thread", count,
       [](const Counters& c) { return first_of(c, {{"launch__registers_per_thread", 1}}); }, registers_of},
  });
}();

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return text.starts_with(prefix); });
}

/// Returns the operations that a site's accesses are to the hardware.
std::vector<std::string_view> operations_of(const Site& site) {
  if (is_asynchronous(site.cache_operator))
    return site.kind == AccessKind::load ? std::vector<std::string_view>{"copy"}
                                         : std::vector<std::string_view>{};
  switch (site.kind) {
  case AccessKind::load: return {"load"};
  case AccessKind::store: return {"store"};
  case AccessKind::update: return {"load", "store"};
  case AccessKind::atomic: return {"atomic"};
  case AccessKind::barrier:
  case AccessKind::mark: break;
  }
  return {};
}

std::optional<double> counter(const import::LineCounters& line, const char* name) {
  const auto found = line.counters.find(name);
  return found == line.counters.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> over_requests(const std::optional<double>& amount, const import::LineCounters& line) {
  const auto requests = counter(line, "inst_executed");
  if (!amount || !requests || *requests == 0)
    return std::nullopt;
  return *amount / *requests;
}

std::optional<double> over_requests(double amount, const LineAccesses& line) {
  return line.requests == 0 ? std::nullopt : std::optional(amount / line.requests);
}

constexpr auto table_of_lines = [] {
  using enum Unit;
  return std::to_array<LineFigure>({
      {"executions", count, [](const import::LineCounters& line) { return counter(line, "inst_executed"); },
       [](const LineAccesses& line, double scale) { return std::optional(line.requests * scale); }},
      {"active_lanes", per_request,
       [](const import::LineCounters& line) {
         return over_requests(counter(line, "thread_inst_executed"), line);
       },
       [](const LineAccesses& line, double) { return over_requests(line.lanes, line); }},
      {"sectors_per_request", per_request,
       [](const import::LineCounters& line) -> std::optional<double> {
         if (line.space != "global")
           return std::nullopt;
         return over_requests(counter(line, "memory_l2_theoretical_sectors_global"), line);
       },
       [](const LineAccesses& line, double) {
         return line.has_sectors ? over_requests(line.sectors, line) : std::nullopt;
       }},
      {"bank_conflicts", per_request,
       [](const import::LineCounters& line) -> std::optional<double> {
         const auto passes = counter(line, "memory_l1_wavefronts_shared"),
                    ideal = counter(line, "memory_l1_wavefronts_shared_ideal");
         if (line.space != "shared" || !passes || !ideal)
           return std::nullopt;
         return over_requests(*passes - *ideal, line);
       },
       [](const LineAccesses& line, double) {
         return line.has_passes ? over_requests(line.extra_passes, line) : std::nullopt;
       }},
  });
}();

} // namespace

std::span<const KernelFigure> kernel_figures() {
  return figures;
}

std::span<const LineFigure> line_figures() {
  return table_of_lines;
}

std::optional<MeasuredFigure> measured_stall(const Counters& counters, std::string_view state) {
  return first_of(counters,
                  {{fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", state), 1}});
}

std::optional<ModelledFigure> modelled_stall(const KernelResult& kernel, WarpState state) {
  if (!kernel.warps)
    return std::nullopt;
  const double issuing = kernel.warps->states[static_cast<std::size_t>(WarpState::selected)];
  if (issuing <= 0)
    return std::nullopt;
  return ModelledFigure{kernel.warps->states[static_cast<std::size_t>(state)] / issuing, 0, false};
}

std::string why_not_modelled(std::string_view counter) {
  if (starts_with_any(counter, {"device__", "nvlink__", "numa__"}))
    return "a property of the machine";
  if (starts_with_any(counter, {"launch__"}))
    return "follows from the launch, or from the compiler";
  if (starts_with_any(counter, {"profiler__", "pmsampling:"}))
    return "of the profiler itself";
  if (counter == "l1tex__t_sector_hit_rate.pct")
    return "counts loads, stores and local memory together: collect "
           "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct";
  if (counter == "lts__t_sector_hit_rate.pct")
    return "counts loads and stores of all clients together: collect lts__t_sector_op_read_hit_rate.pct and "
           "lts__t_sector_op_write_hit_rate.pct";
  if (counter.find("pct_of_peak") != std::string_view::npos ||
      counter.find("throughput") != std::string_view::npos)
    return "a share of the hardware's peak, which the model states by resource";
  if (counter.find("pcsamp") != std::string_view::npos)
    return "samples: the model states shares of warps' time";
  return "the model has no figure that is the same";
}

std::vector<LineAccesses> accesses_by_line(const KernelResult& kernel) {
  std::map<std::tuple<std::string, std::uint32_t, std::string_view, std::string_view>, LineAccesses> lines;
  for (const SiteResult& site : kernel.sites)
    for (const std::string_view operation : operations_of(site.site)) {
      const std::string_view space = name_of(site.site.space);
      LineAccesses& line = lines[{site.site.file, site.site.line, space, operation}];
      line.file = site.site.file;
      line.line = site.site.line;
      line.space = space;
      line.operation = operation;
      const auto executions = static_cast<double>(site.executions);
      line.requests += executions;
      line.lanes += executions * site.active_lanes;
      line.has_sectors |= site.sectors_per_request.has_value();
      line.sectors += executions * site.sectors_per_request.value_or(0);
      line.has_passes |= site.bank_conflicts.has_value();
      line.extra_passes += executions * site.bank_conflicts.value_or(0);
      if (std::ranges::find(line.expressions, site.site.expression) == line.expressions.end())
        line.expressions.push_back(site.site.expression);
    }
  std::vector<LineAccesses> sorted;
  for (auto& [key, line] : lines)
    sorted.push_back(std::move(line));
  return sorted;
}

} // namespace warplens::report::comparison
