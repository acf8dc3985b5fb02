// Prints the report for a terminal: per kernel and GPU a header, totals, the annotated source, and the lines
// to look at first.
#include "judge/accuracy_text.h"
#include "judge/difference.h"
#include "judge/headroom_text.h"
#include "judge/kernel_findings.h"
#include "judge/verdict.h"
#include "report/annotated_source.h"
#include "report/application_text.h"
#include "report/legend.h"
#include "report/machine_code.h"
#include "report/report.h"
#include "report/site_table.h"
#include "report/warp_time_text.h"
#include "result/figure_text.h"
#include "result/metrics.h"
#include "result/no_time.h"
#include "result/resources.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <set>

namespace warplens::report {
namespace {

constexpr std::size_t lines_to_look_at = 3;

std::string counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", grouped(count), what, count == 1 ? "" : "s");
}

constexpr double notable_busy = 0.3;     // share of the time for which a resource is busy
constexpr double uneven = 0.6;           // share of the busiest one's time for which all are busy in the mean
constexpr std::size_t many_launches = 6; // of which those with little time are left out
constexpr double little_time = 0.02;     // share of the program's
constexpr double short_time = 10;        // µs: beside it, the time of a launch itself is notable

/// Returns whether the spread of any total is divided between the unknown order and the machine.
bool has_part_of_machine(const KernelResult& kernel) {
  const Totals& totals = kernel.totals;
  for (const std::optional<Statistic>& total :
       {totals.l1_read_hit_rate, totals.l2_read_hit_rate, totals.l2_write_hit_rate, totals.constant_hit_rate,
        totals.constant_group_hit_rate, totals.dram_latency_ns})
    if (total && total->machine_deviation)
      return true;
  return kernel.time && kernel.time->microseconds.machine_deviation;
}

/// Returns the resources beside the one that bounds the time that are busy for any of it, the busiest first.
/// Shared memory's banks are a part of the memory pipeline, and are printed with it.
std::vector<Resource> others_by_busyness(const KernelTime& time) {
  std::vector<Resource> resources;
  for (std::size_t index = 0; index < time.busy.size(); ++index) {
    const auto resource = static_cast<Resource>(index);
    const bool is_with_bound = resource == time.bound || (resource == Resource::memory_pipeline &&
                                                          time.bound == Resource::shared_banks);
    if (time.busy[index] > 0 && resource != Resource::shared_banks && !is_with_bound)
      resources.push_back(resource);
  }
  std::ranges::stable_sort(resources, std::ranges::greater(),
                           [&](Resource resource) { return share_of(time.busy, resource); });
  return resources;
}

/// Returns the parenthesised note behind a resource's busy share: the mean over all of its kind, if the
/// busiest one stands out; and how the share of shared memory's banks is a part of the memory pipeline's.
std::string beside_busy_share(const KernelTime& time, Resource resource) {
  std::vector<std::string> notes;
  const double busiest = share_of(time.busy, resource), mean = share_of(time.mean_busy, resource);
  if (mean > 0 && mean < uneven * busiest)
    notes.push_back(fmt::format("all: {} %", share(mean)));
  const double banks = share_of(time.busy, Resource::shared_banks);
  if (resource == Resource::shared_banks)
    notes.push_back(
        fmt::format("of the memory pipeline's {} %", share(share_of(time.busy, Resource::memory_pipeline))));
  else if (resource == Resource::memory_pipeline && banks >= notable_busy)
    notes.push_back(fmt::format("of it shared banks {} %", share(banks)));
  return notes.empty() ? "" : fmt::format(" ({})", fmt::join(notes, ", "));
}

class TextReport {
public:
  explicit TextReport(const TextOptions& options)
      : options_(options), width_(line_width(options)), style_(options.colour) {}

  std::string print(const Result& result) {
    head(result);
    const std::vector<const KernelResult*> reported = with_most_time(result);
    for (const KernelResult* const kernel : reported)
      print(*kernel);
    if (reported.size() < result.kernels.size()) {
      line("");
      line(fmt::format("Left out: {} further launches of these kernels, with less than {:.0f} % of the time "
                       "each; --format json has them.",
                       result.kernels.size() - reported.size(), 100 * little_time));
    }
    text_ += print_legend(result, options_, width_);
    return std::move(text_);
  }

private:
  void line(const std::string& text) { text_ += text + "\n"; }

  void field(std::string_view name, const std::string& value) {
    text_ += labelled(style_, name, value, width_);
  }

  void head(const Result& result) {
    field("program", result.program);
    field("coverage", coverage(result));
    if (result.trace_truncated)
      line(style_.warm("The trace ends early: the figures cover what was collected up to there."));
    if (result.kernels.empty())
      line("No kernel was traced.");
    for (const judge::Application& application : judge::applications_of(result))
      if (judge::is_worth_reporting(application)) {
        line("");
        text_ += print_application(application, width_);
      }
  }

  static std::string coverage(const Result& result) {
    if (result.executed_accesses_probed) {
      const std::string probed = fmt::format("{} % of the executed memory accesses have a probe",
                                             percent(*result.executed_accesses_probed));
      return are_all_executed(result) && *result.executed_accesses_probed < 1
                 ? "all accesses, as the machine code was executed; " + probed
                 : probed;
    }
    const bool none = std::ranges::all_of(
        result.kernels, [](const KernelResult& kernel) { return kernel.snapshot.warp_accesses == 0; });
    return none && !result.trace_truncated ? "no memory access with a probe was executed"
                                           : "not known (the back end cannot see unprobed accesses)";
  }

  /// Returns the kernels to tell about, in the order of the result: of many, those with a notable time.
  static std::vector<const KernelResult*> with_most_time(const Result& result) {
    std::vector<const KernelResult*> reported;
    for (const KernelResult& kernel : result.kernels)
      reported.push_back(&kernel);
    for (const judge::Application& application : judge::applications_of(result)) {
      std::set<std::string> names; // of each kernel the launch with most time is reported at least
      for (const judge::LaunchTotal& total : application.totals)
        if (!names.insert(total.kernel->name).second && application.totals.size() > many_launches &&
            total.share < little_time)
          std::erase(reported, total.kernel);
    }
    return reported;
  }

  void print(const KernelResult& kernel) {
    line("");
    const std::string gpu = " on " + printable(kernel.gpu);
    const std::size_t room = std::max<std::size_t>(width_, width_of(gpu) + 40) - width_of(gpu) - 3;
    line(style_.bold(cut("── " + display_name(printable(kernel.name), room) + gpu, width_)));
    field("accuracy", judge::accuracy_text(kernel.accuracy, kernel.gpu));
    launch(kernel);
    if (kernel.time)
      time(kernel);
    else if (!kernel.time_unknown.empty())
      field("time", "not known, because " + why_no_time(kernel));
    for (const judge::LabelledText& text : judge::headroom_text(kernel))
      field(text.label, text.text);
    field("occupancy", judge::occupancy_text(kernel));
    field("registers", registers(kernel.compiled));
    if (kernel.snapshot.warp_accesses == 0)
      return line("No access to memory was traced, and nothing else is modelled: there is no time.");
    findings(kernel);
    line("");
    model(kernel);
    line("");
    totals(kernel);
    line("");
    const std::vector<judge::CostlyLine> lines = judge::lines_of(kernel);
    const std::vector<const judge::CostlyLine*> expensive = judge::most_expensive(lines, lines_to_look_at);
    TextOptions options = options_;
    if (options.columns.empty())
      options.columns = default_columns({&kernel, 1});
    if (options.sort)
      text_ += print_site_table(kernel, options);
    else
      text_ += print_annotated_source(lines, expensive, options);
    look_at_first(expensive, kernel);
    if (const std::string lines_of_warps = print_warp_time(kernel, width_); !lines_of_warps.empty())
      text_ += "\n" + style_.bold("Where warps spend their time") + " (% of all)\n" + lines_of_warps;
  }

  void launch(const KernelResult& kernel) {
    const auto shape = [](const trace::Dim3& size) {
      return fmt::format("{}×{}×{}", size.x, size.y, size.z);
    };
    field("launch", fmt::format("grid {}, block {}{}", shape(kernel.grid), shape(kernel.block),
                                judge::times_launched(kernel)));
  }

  /// Prints what is notable about the kernel as a whole.
  void findings(const KernelResult& kernel) {
    const std::vector<judge::Finding> all = judge::findings_on(kernel);
    if (all.empty())
      return;
    line(style_.bold("Of the kernel as a whole"));
    for (const judge::Finding& finding : all)
      advice(printable(finding.text), 2);
  }

  /// Prints from what the figures were modelled.
  void model(const KernelResult& kernel) {
    const double blocks = judge::launch_blocks(kernel);
    field("snapshot",
          fmt::format("{}{}, {}, {}", counted(kernel.snapshot.blocks, "block"),
                      double(kernel.snapshot.blocks) < blocks ? fmt::format(" of {:.0f}", blocks) : "",
                      fmt::format("{} warp accesses", grouped(kernel.snapshot.warp_accesses)),
                      counted(kernel.snapshot.transactions, "transaction")));
    if (!kernel.snapshot.complete)
      line(style_.warm("           The snapshot is partial: not every access of its blocks was collected."));
    if (kernel.l2_start)
      field("L2 start", l2_start(*kernel.l2_start));
    figures(kernel);
  }

  void figures(const KernelResult& kernel) {
    field("trials",
          fmt::format("{}, {}{}", kernel.trials.run, kernel.trials.converged ? "converged" : "not converged",
                      kernel.trials.run < few_trials ? "; spreads and intervals of so few say little" : ""));
    if (!kernel.trials.drawn.empty())
      field("machine", fmt::format("not known, and drawn for every two trials: {}",
                                   fmt::join(kernel.trials.drawn, ", ")));
    if (kernel.executed)
      field("executed", executed(*kernel.executed));
    if (kernel.executed && kernel.executed->execution)
      field("checked", execution(*kernel.executed->execution, kernel.executed->architecture));
    if (!kernel.warps)
      return;
    field("warps",
          fmt::format("{:.1f} per SM in the mean, {:.{}f} cycles from one {} to the next",
                      kernel.warps->resident, kernel.warps->cycles_apart,
                      kernel.warps->cycles_apart < 100 ? 1 : 0, kernel.executed ? "instruction" : "access"));
    field("states", text_of_states(kernel.warps->states) + " (% of their time)");
  }

  static std::string executed(const ExecutedCode& code) {
    std::string text =
        fmt::format("{} warp instructions of sm_{}, {:.2f} per cycle and SM",
                    short_count(double(code.instructions)), code.architecture, code.per_cycle.mean);
    if (code.matched < 0.9995)
      text += fmt::format("; {} % of the accesses were found in the code", percent(code.matched));
    if (!code.inferred.empty())
      text += fmt::format("; which ones is inferred from the accesses: {}", code.inferred);
    return text;
  }

  /// Says whether the machine code did what the program did.
  static std::string execution(const CodeExecution& execution, std::uint32_t architecture) {
    if (execution.different_words == 0)
      return fmt::format("sm_{}, in {} blocks: wrote the same {} bytes as the program", architecture,
                         grouped(execution.blocks), grouped(4 * execution.words));
    std::string text =
        fmt::format("sm_{}, in {} blocks: wrote {} of {} words otherwise than the program", architecture,
                    grouped(execution.blocks), grouped(execution.different_words), grouped(execution.words));
    if (execution.largest_difference != 0)
      text += fmt::format(", by at most {:.1g} as floats", execution.largest_difference);
    return text + (execution.different_atomics == execution.different_words
                       ? ": by atomics, whose order is open"
                       : ": approximate functions or the order of atomics may be why");
  }

  void time(const KernelResult& kernel) {
    const KernelTime& time = *kernel.time;
    const std::string cycles = short_count(time.cycles.mean) + " cycles";
    field("time", duration(time.microseconds) + " (" + judge::note_beside_time(kernel) + ")" +
                      (time.is_extrapolated ? ", extrapolated from the snapshot, which takes " + cycles
                                            : ", " + cycles) +
                      (time.microseconds.mean < short_time && time.launch_us != 0
                           ? fmt::format("; {:.1f} µs of it are the launch itself", time.launch_us)
                           : ""));
    bound_by(time);
    if (!kernel.code_unknown.empty())
      field("code", kernel.code_unknown +
                        ": the time is that of the accesses alone, and what is between them "
                        "is assumed");
  }

  /// Prints what bounds the time, and as many of the other busy resources as fit, the busiest first.
  void bound_by(const KernelTime& time) {
    const auto busy = [&](Resource resource) { return share_of(time.busy, resource); };
    if (time.launch_us > time.microseconds.mean / 2) {
      line(style_.dim(pad_right("bound by", 11)) +
           "the launch itself: there is too little work to see what else binds");
      return;
    }
    if (!time.bounds.empty())
      return bounds_of_machines(time);
    std::string bound(text_of_bound(time.bound));
    if (time.bound)
      bound += fmt::format(", {} % busy{}", share(busy(*time.bound)), beside_busy_share(time, *time.bound));
    std::string others;
    for (const Resource resource : others_by_busyness(time)) {
      // If latency binds, the busiest resource shows how far the kernel is from any limit.
      const bool is_worth_it = busy(resource) >= notable_busy || (!time.bound && others.empty());
      const char* before = !others.empty() ? ", " : time.bound ? "; also " : "; busiest: ";
      const std::string other = fmt::format("{}{} {} %{}", before, text_of(resource), share(busy(resource)),
                                            beside_busy_share(time, resource));
      if (is_worth_it && width_of(bound + others + other) + 11 <= width_)
        others += other;
    }
    line(style_.dim(pad_right("bound by", 11)) + bound + style_.dim(others));
  }

  /// Prints the bounds of the machines that were drawn, where they differ: their mean is that of none.
  void bounds_of_machines(const KernelTime& time) {
    std::vector<std::string> bounds;
    std::uint32_t trials = 0;
    for (const BoundOfMachines& bound_time : time.bounds)
      trials += bound_time.trials;
    for (const BoundOfMachines& bound_time : time.bounds)
      bounds.push_back(fmt::format("{} in {} of {} trials ({})", text_of_bound(bound_time.bound),
                                   bound_time.trials, trials,
                                   duration(Statistic{.mean = bound_time.microseconds})));
    field("bound by",
          fmt::format("{}: depends on unknown parameters of the machine", fmt::join(bounds, "; ")));
  }

  static std::string l2_start(const L2Start& start) {
    return start.warm ? fmt::format("warm: {} {}", bytes(double(start.bytes)), start.why)
                      : "cold: " + start.why;
  }

  void totals(const KernelResult& kernel) {
    const Totals& totals = kernel.totals;
    const bool is_divided = has_part_of_machine(kernel);
    const bool is_part = double(kernel.snapshot.blocks) < judge::launch_blocks(kernel);
    line(style_.dim(pad_right(is_part ? "of the snapshot" : "total", 24) + pad_left("mean", 10) +
                    (is_divided ? pad_left("± order", 10) + pad_left("± machine", 11) + "  (2 std each)"
                                : pad_left("± 2 std", 10))));
    const auto statistic = [&](const char* name, const std::optional<Statistic>& value, double scale,
                               const char* unit) {
      const auto figure = [&](double number) { return value ? fmt::format("{:.1f}", scale * number) : "-"; };
      const Statistic shown = value.value_or(Statistic{});
      std::string row = pad_right(name, 24) + pad_left(figure(shown.mean), 10);
      if (is_divided)
        row += pad_left(figure(2 * std_of_order(shown)), 10) +
               pad_left(shown.machine_deviation ? figure(2 * *shown.machine_deviation) : "-", 11);
      else
        row += pad_left(figure(2 * shown.std_deviation), 10);
      line(row + " " + unit);
    };
    const auto amount = [&](const char* name, const std::optional<double>& value) {
      line(pad_right(name, 24) + pad_left(value ? bytes(*value) : "-", 10));
    };
    if (kernel.time && is_divided) // otherwise it stands above
      statistic("time of the launch", kernel.time->microseconds, 1, "µs");
    statistic("L1 read hit rate", totals.l1_read_hit_rate, 100, "%");
    statistic("L2 read hit rate", totals.l2_read_hit_rate, 100, "%");
    if (totals.cold_miss_share)
      line(pad_right("L2 misses on first use", 24) + pad_left(percent(*totals.cold_miss_share), 10) +
           pad_left("", is_divided ? 21 : 10) + " %");
    statistic("L2 write hit rate", totals.l2_write_hit_rate, 100, "%");
    if (totals.constant_hit_rate)
      statistic("constant hit rate", totals.constant_hit_rate, 100, "%");
    if (totals.constant_group_hit_rate)
      statistic("… of a group of SMs", totals.constant_group_hit_rate, 100, "%");
    statistic("DRAM latency", totals.dram_latency_ns, 1, "ns");
    if (!headroom_of(kernel)) { // otherwise the launch's stand above
      amount("read from DRAM", totals.dram_read_bytes);
      amount("written to DRAM", totals.dram_write_bytes);
      if (totals.dram_write_bytes_before && *totals.dram_write_bytes_before > 0)
        amount("… that was there before", totals.dram_write_bytes_before);
    }
  }

  void look_at_first(std::vector<const judge::CostlyLine*> expensive, const KernelResult& kernel) {
    if (expensive.empty()) {
      if (judge::findings_on(kernel).empty())
        line(fmt::format("No line has a share of the {}: there is nothing to look at first.",
                         kernel.time ? "time" : "latency"));
      return;
    }
    const std::optional<Headroom> headroom = headroom_of(kernel);
    const bool has_nothing_to_mend =
        headroom && judge::roofline_verdict(*headroom, kernel).has_nothing_to_mend;
    line(style_.bold(has_nothing_to_mend ? "Where its time goes" : "What to look at first"));
    std::ranges::stable_partition(
        expensive, [&](const judge::CostlyLine* costly) { return judge::is_at_fault(*costly, kernel); });
    for (const judge::CostlyLine* costly : expensive) {
      const std::vector<const SiteResult*> sites = judge::sites_to_explain(*costly, kernel);
      const SiteResult& worst = *sites.front();
      const std::string place = fmt::format(":{}", costly->line);
      const std::string file = printable(std::filesystem::path(costly->file).filename().string());
      line(cut(pad_left(share(costly->share), 5) + " %  " + cut(file, 40) + place + "  " +
                   printable(worst.site.expression),
               width_));
      if (const std::string time = judge::time_verdict_on(worst, kernel); !time.empty())
        advice(time, 9);
      for (const std::string& clause : judge::clauses_on(worst, kernel))
        advice(clause, 9);
      for (auto other = sites.begin() + 1; other != sites.end(); ++other)
        advice_on(**other, kernel);
    }
  }

  void advice_on(const SiteResult& site, const KernelResult& kernel) {
    const std::vector<std::string> clauses = judge::clauses_on(site, kernel);
    advice(cut(printable(site.site.expression), 40) + "  " + clauses.front(), 9);
    for (auto further = clauses.begin() + 1; further != clauses.end(); ++further)
      advice(*further, 11);
  }

  /// Prints a clause, with its further lines indented by more than its first.
  void advice(const std::string& clause, std::size_t indent) {
    std::string before(indent, ' ');
    for (const std::string& part : wrapped(clause, width_ - indent - 2)) {
      line(before + part);
      before.resize(indent + 2, ' ');
    }
  }

  const TextOptions& options_;
  std::size_t width_;
  Style style_;
  std::string text_;
};

} // namespace

std::string print_text(const Result& result, const TextOptions& options) {
  if (options.source)
    return TextReport(options).print(result);
  std::string text;
  for (const KernelResult& kernel : result.kernels)
    text += print_site_lines(kernel, options);
  return text;
}

} // namespace warplens::report
