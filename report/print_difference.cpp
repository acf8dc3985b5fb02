#include "report/print_difference.h"

#include "report/annotated_source.h"
#include "result/names.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t figure_name_width = 24, value_width = 12;

std::string number(double value) {
  return fmt::format("{:.5g}", value);
}

std::string signed_number(double value) {
  return fmt::format("{:+.4g}", value);
}

std::string interval_of(const judge::FigureChange& change) {
  return change.interval > 0 ? fmt::format(" ±{:.2g}", change.interval) : "";
}

/// Returns the unit behind a difference, with a blank before it; empty where figures are plain numbers.
const char* unit_of(Unit unit) {
  switch (unit) {
  case Unit::fraction: return " of 1";
  case Unit::microseconds: return " µs";
  case Unit::nanoseconds: return " ns";
  case Unit::cycles: return " cycles";
  case Unit::bytes: return " B";
  case Unit::per_request: return " per request";
  case Unit::count: return "";
  }
  return "";
}

std::string site_place(const SiteResult& site) {
  return fmt::format("{}:{}", std::filesystem::path(site.site.file).filename().string(), site.site.line);
}

class DifferenceText {
public:
  explicit DifferenceText(const TextOptions& options) : width_(line_width(options)), style_(options.colour) {}

  std::string print(const DifferenceReport& report) {
    line(style_.dim("before  ") + cut(printable(report.before), width_ - 8));
    line(style_.dim("after   ") + cut(printable(report.after), width_ - 8));
    for (std::size_t index = 0; index < report.difference->kernels.size(); ++index)
      print(report.difference->kernels[index], report.speed->kernels[index]);
    for (const KernelResult* kernel : report.difference->removed)
      only(*kernel, "before");
    for (const KernelResult* kernel : report.difference->added)
      only(*kernel, "after");
    line("");
    line(fmt::format(
        "{} figure{}; {} of them beyond {} 95 % interval and by more than half a percent (*); {} the "
        "same",
        differing_, differing_ == 1 ? " differs" : "s differ", significant_,
        differing_ == 1 ? "its" : "their", same_));
    for (const judge::TotalSpeed& total : report.speed->totals)
      line(style_.bold(
          cut(fmt::format("in total on {}: {}", printable(total.gpu), printable(describe(total.speed))),
              width_)));
    for (const judge::Failure& failure : *report.failures)
      line(style_.hot(
          cut(fmt::format("fails {}: {}", failure.threshold->text, printable(describe(failure))), width_)));
    return std::move(text_);
  }

private:
  void line(const std::string& text) { text_ += text + "\n"; }

  static std::string short_name(const KernelResult& kernel) { return display_name(printable(kernel.name)); }

  void only(const KernelResult& kernel, const char* side) {
    line("");
    line(cut(fmt::format("── {} on {}: only {}", short_name(kernel), printable(kernel.gpu), side), width_));
  }

  void print(const judge::KernelChange& kernel, const judge::Speed& speed) {
    line("");
    const bool renamed = kernel.before->name != kernel.after->name;
    line(style_.bold(cut(fmt::format("── {}{} on {}", renamed ? short_name(*kernel.before) + " → " : "",
                                     short_name(*kernel.after), printable(kernel.after->gpu)),
                         width_)));
    line(cut(printable(describe(speed)), width_));
    if (kernel.snapshots_differ()) {
      line(style_.warm(cut(judge::snapshots_of(kernel), width_)));
      line(style_.warm(cut("bytes and executions are compared per launch, scaled by its blocks", width_)));
    }
    if (kernel.l2_starts_differ())
      line(style_.warm(cut(judge::l2_starts_of(kernel), width_)));
    if (kernel.only_one_has_time())
      line(style_.warm(cut(judge::missing_times_of(kernel), width_)));
    line(style_.dim(pad_right("", figure_name_width) + pad_left("before", value_width) +
                    pad_left("after", value_width) + pad_left("difference", value_width)));
    print(kernel.totals, "total.");
    for (const judge::SiteChange& site : kernel.sites)
      print(site);
    for (const SiteResult* site : kernel.removed)
      line(cut(site_place(*site) + "  " + printable(site->site.expression) + note_on(*site) + ": only before",
               width_));
    for (const SiteResult* site : kernel.added)
      line(cut(site_place(*site) + "  " + printable(site->site.expression) + note_on(*site) + ": only after",
               width_));
  }

  void print(const judge::SiteChange& site) {
    const std::size_t start = text_.size();
    print(site.figures, "  ");
    if (text_.size() == start)
      return; // nothing differs
    std::string head = printable(site_place(*site.before));
    if (site.after->site.line != site.before->site.line)
      head += fmt::format(" → {}", site.after->site.line);
    head += "  " + printable(site.before->site.expression);
    if (site.after->site.expression != site.before->site.expression)
      head += " → " + printable(site.after->site.expression);
    text_.insert(start, cut(head + note_on(*site.after), width_) + "\n");
  }

  void print(const std::vector<judge::FigureChange>& changes, const char* before_name) {
    for (const judge::FigureChange& change : changes) {
      if (!change.differs()) {
        ++same_;
        continue;
      }
      ++differing_;
      const bool is_significant = change.is_significant();
      significant_ += is_significant;
      const std::string row = pad_right(fmt::format("{}{}", before_name, change.figure), figure_name_width) +
                              pad_left(number(change.before), value_width) +
                              pad_left(number(change.after), value_width) +
                              pad_left(signed_number(change.difference()), value_width) +
                              interval_of(change) + unit_of(change.unit);
      line(is_significant ? style_.warm(row + " *") : row);
    }
  }

  std::size_t width_, differing_ = 0, significant_ = 0, same_ = 0;
  Style style_;
  std::string text_;
};

Json to_json(const judge::FigureChange& change) {
  Json json = {{"figure", change.figure},        {"before", change.before},
               {"after", change.after},          {"difference", change.difference()},
               {"interval95", change.interval},  {"beyond_interval", change.is_beyond_interval()},
               {"per_launch", change.per_launch}};
  if (change.is_better() || change.is_worse())
    json["effect"] = change.is_better() ? "better" : "worse";
  return json;
}

Json to_json(const SiteResult& site) {
  return {{"id", fmt::format("{:016x}", site.site.id)},
          {"file", site.site.file},
          {"line", site.site.line},
          {"column", site.site.column},
          {"expression", site.site.expression},
          {"kind", name_of(site.site.kind)}};
}

Json to_json(const std::vector<const SiteResult*>& sites) {
  Json list = Json::array();
  for (const SiteResult* site : sites)
    list.push_back(to_json(*site));
  return list;
}

Json to_json(const std::vector<const KernelResult*>& kernels) {
  Json list = Json::array();
  for (const KernelResult* kernel : kernels)
    list.push_back({{"name", kernel->name}, {"gpu", kernel->gpu}});
  return list;
}

Json snapshot_to_json(const KernelResult& kernel) {
  return {{"blocks", kernel.snapshot.blocks}, {"launch_blocks", judge::launch_blocks(kernel)}};
}

Json to_json(const judge::Speed& speed) {
  Json json = {{"verdict", text_of(speed.verdict)}};
  if (speed.change)
    json.update({{"before_us", speed.before_us},
                 {"after_us", speed.after_us},
                 {"change", speed.change->share},
                 {"interval95", {speed.change->low, speed.change->high}},
                 {"paired", speed.is_paired}});
  if (!speed.reason.empty())
    json["reason"] = speed.reason;
  return json;
}

Json to_json(const judge::SpeedComparison& speed) {
  Json json = {{"verdict", text_of(speed.verdict)}, {"tolerance", speed.tolerance}};
  Json& totals = json["totals"] = Json::array();
  for (const judge::TotalSpeed& total : speed.totals) {
    Json& one = totals.emplace_back(Json{{"gpu", total.gpu}});
    one.update(to_json(total.speed));
  }
  return json;
}

Json to_json(const judge::KernelChange& kernel, const judge::Speed& speed) {
  Json json;
  json["name"] = kernel.after->name;
  if (kernel.before->name != kernel.after->name)
    json["name_before"] = kernel.before->name;
  json["gpu"] = kernel.after->gpu;
  json["speed"] = to_json(speed);
  json["snapshots"] = {{"before", snapshot_to_json(*kernel.before)},
                       {"after", snapshot_to_json(*kernel.after)},
                       {"differ", kernel.snapshots_differ()}};
  json["l2_starts_differ"] = kernel.l2_starts_differ();
  json["times"] = {{"before", kernel.before->time.has_value()},
                   {"after", kernel.after->time.has_value()},
                   {"differ", kernel.only_one_has_time()}};
  json["totals"] = report::to_json(kernel.totals);
  Json& sites = json["sites"] = Json::array();
  for (const judge::SiteChange& site : kernel.sites)
    sites.push_back({{"before", to_json(*site.before)},
                     {"after", to_json(*site.after)},
                     {"figures", report::to_json(site.figures)}});
  json["only_before"] = to_json(kernel.removed);
  json["only_after"] = to_json(kernel.added);
  return json;
}

Json to_json(const judge::Failure& failure) {
  Json json;
  json["threshold"] = failure.threshold->text;
  json["kernel"] = failure.kernel->after->name;
  json["gpu"] = failure.kernel->after->gpu;
  if (failure.site)
    json["site"] = to_json(*failure.site->after);
  json["change"] = to_json(*failure.change);
  return json;
}

} // namespace

Json to_json(const std::vector<judge::FigureChange>& changes) {
  Json list = Json::array();
  for (const judge::FigureChange& change : changes)
    list.push_back(to_json(change));
  return list;
}

std::string describe(const judge::Failure& failure) {
  std::string where = display_name(failure.kernel->after->name) + " on " + failure.kernel->after->gpu;
  if (failure.site)
    where += fmt::format(", {} {}", site_place(*failure.site->after), failure.site->after->site.expression);
  const judge::FigureChange& change = *failure.change;
  return fmt::format("{}: {} {} → {}, {}{}{}", where, change.figure, number(change.before),
                     number(change.after), signed_number(change.difference()), interval_of(change),
                     failure.kernel->snapshots_differ() ? "; " + judge::snapshots_of(*failure.kernel) : "");
}

std::string print_difference_text(const DifferenceReport& report, const TextOptions& options) {
  return DifferenceText(options).print(report);
}

std::string print_difference_json(const DifferenceReport& report) {
  Json json;
  json["schema"] = "warplens-diff/1";
  json["before"] = report.before;
  json["after"] = report.after;
  json["speed"] = to_json(*report.speed);
  Json& kernels = json["kernels"] = Json::array();
  for (std::size_t index = 0; index < report.difference->kernels.size(); ++index)
    kernels.push_back(to_json(report.difference->kernels[index], report.speed->kernels[index]));
  json["only_before"] = to_json(report.difference->removed);
  json["only_after"] = to_json(report.difference->added);
  Json& failures = json["failures"] = Json::array();
  for (const judge::Failure& failure : *report.failures)
    failures.push_back(to_json(failure));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
