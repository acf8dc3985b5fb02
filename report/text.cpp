// Prints the report for a terminal: per kernel and GPU a header, totals, the annotated source, and the lines
// to look at first.
#include "report/annotated_source.h"
#include "report/figures.h"
#include "report/machine_code.h"
#include "report/report.h"
#include "report/site_table.h"
#include "report/terminal_text.h"
#include "report/verdict.h"
#include "support/display_name.h"
#include "vocabulary/number_text.h"

#include <algorithm>

namespace warplens::report {
namespace {

constexpr std::size_t lines_to_look_at = 3;

std::vector<const Column*> columns_of(const KernelResult& kernel) {
  return default_columns(std::ranges::any_of(
      kernel.sites, [](const SiteResult& site) { return site.constant_hit_rate.has_value(); }));
}

class TextReport {
public:
  explicit TextReport(const TextOptions& options)
      : options_(options), width_(line_width(options)), style_(options.colour) {}

  std::string print(const Result& result) {
    head(result);
    for (const KernelResult& kernel : result.kernels)
      print(kernel);
    return std::move(text_);
  }

private:
  void line(const std::string& text) { text_ += text + "\n"; }

  void field(std::string_view name, const std::string& value) {
    line(style_.dim(pad_right(name, 11)) + cut(printable(value), width_ - 11));
  }

  void head(const Result& result) {
    field("program", result.program);
    field("coverage", coverage(result));
    if (result.trace_truncated)
      line(style_.warm("The trace ends early: the figures cover what was collected up to there."));
    if (result.kernels.empty())
      line("No kernel was traced.");
  }

  static std::string coverage(const Result& result) {
    if (result.executed_accesses_probed)
      return fmt::format("{} % of the executed memory accesses have a probe",
                         percent(*result.executed_accesses_probed));
    const bool none = std::ranges::all_of(
        result.kernels, [](const KernelResult& kernel) { return kernel.snapshot.warp_accesses == 0; });
    return none && !result.trace_truncated ? "no memory access with a probe was executed"
                                           : "not known (the back end cannot see unprobed accesses)";
  }

  void print(const KernelResult& kernel) {
    line("");
    const std::string gpu = " on " + printable(kernel.gpu);
    const std::size_t room = std::max<std::size_t>(width_, width_of(gpu) + 40) - width_of(gpu) - 3;
    line(style_.bold(cut("── " + display_name(printable(kernel.name), room) + gpu, width_)));
    if (kernel.gpu_validated)
      field("model", *kernel.gpu_validated ? "validated on this GPU" : "not validated on this GPU");
    about(kernel);
    line("");
    totals(kernel.totals);
    line("");
    const std::vector<CostlyLine> lines = lines_of(kernel);
    const std::vector<const CostlyLine*> expensive = most_expensive(lines, lines_to_look_at);
    TextOptions options = options_;
    if (options.columns.empty())
      options.columns = columns_of(kernel);
    if (options.sort)
      text_ += print_site_table(kernel, options);
    else
      text_ += print_annotated_source(lines, expensive, options);
    look_at_first(expensive, kernel);
  }

  void about(const KernelResult& kernel) {
    const auto shape = [](const trace::Dim3& size) {
      return fmt::format("{}×{}×{}", size.x, size.y, size.z);
    };
    const std::string launched = kernel.launches == 0   ? ""
                                 : kernel.launches == 1 ? ", launched once"
                                                        : ", launched " + grouped(kernel.launches) + " times";
    field("launch", fmt::format("grid {}, block {}{}", shape(kernel.grid), shape(kernel.block), launched));
    field("occupancy",
          fmt::format("{} blocks, {} warps per SM, limited by {}", kernel.occupancy.blocks_per_sm,
                      kernel.occupancy.warps_per_sm,
                      kernel.occupancy.limited_by.empty() ? "nothing known" : kernel.occupancy.limited_by));
    field("registers", registers(kernel.compiled));
    field("snapshot",
          fmt::format("{} blocks, {} warp accesses, {} transactions", grouped(kernel.snapshot.blocks),
                      grouped(kernel.snapshot.warp_accesses), grouped(kernel.snapshot.transactions)));
    if (!kernel.snapshot.complete)
      line(style_.warm("           The snapshot is partial: not every access of its blocks was collected."));
    if (kernel.l2_start)
      field("L2 start", l2_start(*kernel.l2_start));
    field(
        "trials",
        fmt::format("{}, {}{}", kernel.trials.run, kernel.trials.converged ? "converged" : "not converged",
                    kernel.trials.run < few_trials ? ", so few that spreads and intervals say little" : ""));
  }

  static std::string l2_start(const L2Start& start) {
    return start.warm ? fmt::format("warm: {} {}", bytes(double(start.bytes)), start.why)
                      : "cold: " + start.why;
  }

  void totals(const Totals& totals) {
    line(style_.dim(pad_right("total", 24) + pad_left("mean", 10) + pad_left("± 2 std", 10)));
    const auto statistic = [&](const char* name, const std::optional<Statistic>& value, double scale,
                               const char* unit) {
      const auto figure = [&](double number) { return fmt::format("{:.1f}", scale * number); };
      line(pad_right(name, 24) + pad_left(value ? figure(value->mean) : "-", 10) +
           pad_left(value ? figure(2 * value->std_deviation) : "-", 10) + " " + unit);
    };
    const auto amount = [&](const char* name, const std::optional<double>& value) {
      line(pad_right(name, 24) + pad_left(value ? bytes(*value) : "-", 10));
    };
    statistic("L1 read hit rate", totals.l1_read_hit_rate, 100, "%");
    statistic("L2 read hit rate", totals.l2_read_hit_rate, 100, "%");
    if (totals.cold_miss_share)
      line(pad_right("L2 misses on first use", 24) + pad_left(percent(*totals.cold_miss_share), 10) +
           pad_left("", 10) + " %");
    statistic("L2 write hit rate", totals.l2_write_hit_rate, 100, "%");
    if (totals.constant_hit_rate)
      statistic("constant hit rate", totals.constant_hit_rate, 100, "%");
    if (totals.constant_group_hit_rate)
      statistic("… of a group of SMs", totals.constant_group_hit_rate, 100, "%");
    statistic("DRAM latency", totals.dram_latency_ns, 1, "ns");
    amount("read from DRAM", totals.dram_read_bytes);
    amount("written to DRAM", totals.dram_write_bytes);
  }

  void look_at_first(const std::vector<const CostlyLine*>& expensive, const KernelResult& kernel) {
    if (expensive.empty())
      return line("No line has a latency: there is nothing to look at first.");
    line(style_.bold("What to look at first"));
    for (const CostlyLine* costly : expensive) {
      const std::vector<LineVerdict> verdicts = verdicts_on(*costly, kernel);
      const std::string place = fmt::format(":{}", costly->line);
      const std::string file = printable(std::filesystem::path(costly->file).filename().string());
      line(cut(pad_left(share(costly->latency_share), 5) + " %  " + cut(file, 40) + place + "  " +
                   printable(verdicts.front().site->site.expression),
               width_));
      line(cut("         " + verdicts.front().text, width_));
      for (auto other = verdicts.begin() + 1; other != verdicts.end(); ++other) {
        const std::string what = cut(printable(other->site->site.expression), 40);
        line(cut("         " + what + "  " + other->text, width_));
      }
    }
  }

  const TextOptions& options_;
  std::size_t width_;
  Style style_;
  std::string text_;
};

} // namespace

std::string print_text(const Result& result, const TextOptions& options) {
  return TextReport(options).print(result);
}

} // namespace warplens::report
