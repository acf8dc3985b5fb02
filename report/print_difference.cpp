#include "report/print_difference.h"

#include "report/annotated_source.h"
#include "report/versus_text.h"
#include "result/names.h"
#include "support/display_name.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

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

/// Builds the section of a kernel, and counts its figures.
class KernelSection {
public:
  struct Counts {
    std::size_t differing = 0, significant = 0, same = 0;
  };

  KernelSection(const judge::KernelChange& kernel, const judge::Speed& speed, Counts& counts)
      : kernel_(kernel), counts_(counts) {
    const bool is_renamed = kernel.before->name != kernel.after->name;
    section_.heading = fmt::format("{}{} on {}", is_renamed ? display_name(kernel.before->name) + " → " : "",
                                   display_name(kernel.after->name), kernel.after->gpu);
    say(describe(speed));
    if (kernel.snapshots_differ()) {
      say(judge::snapshots_of(kernel), document::Tone::notable);
      say("bytes and executions are compared per launch, scaled by its blocks", document::Tone::notable);
    }
    if (kernel.l2_starts_differ())
      say(judge::l2_starts_of(kernel), document::Tone::notable);
    if (kernel.only_one_has_time())
      say(judge::missing_times_of(kernel), document::Tone::notable);
    for (const judge::FigureChange& change : kernel.totals)
      add(change, nullptr);
    for (const judge::SiteChange& site : kernel.sites) {
      above_ = heading_of(site);
      for (const judge::FigureChange& change : site.figures)
        add(change, &site);
    }
    section_.blocks.push_back(std::move(table_));
    for (const auto& [sites, side] :
         {std::pair(&kernel.removed, "before"), std::pair(&kernel.added, "after")})
      for (const SiteResult* site : *sites)
        say(fmt::format("{}  {}{}: only {}", site_place(*site), site->site.expression, note_on(*site), side));
  }

  document::Section section() && { return std::move(section_); }

private:
  void say(std::string text, document::Tone tone = document::Tone::plain) {
    section_.blocks.push_back(document::Paragraph{std::move(text), tone});
  }

  static std::string heading_of(const judge::SiteChange& site) {
    const Site &before = site.before->site, &after = site.after->site;
    std::string heading = site_place(*site.before);
    if (after.line != before.line)
      heading += fmt::format(" → {}", after.line);
    heading += "  " + before.expression;
    if (after.expression != before.expression)
      heading += " → " + after.expression;
    return heading + note_on(*site.after);
  }

  /// Adds the row of a figure, which people are shown where it differs; `site` is null for those of the
  /// kernel.
  void add(const judge::FigureChange& change, const judge::SiteChange* site) {
    const bool differs = change.differs(), is_significant = differs && change.is_significant();
    ++(differs ? counts_.differing : counts_.same);
    counts_.significant += is_significant;
    const std::string title = fmt::format("{}{}", site == nullptr ? "total." : "", change.figure);
    const Site* const after = site == nullptr ? nullptr : &site->after->site;
    const double difference = change.difference();
    std::string notes =
        fmt::format("{}{}{}", interval_of(change), unit_of(change.unit), is_significant ? " *" : "");
    if (!notes.empty())
      notes.erase(0, 1); // the blank before the first
    document::Row row{{document::words(kernel_.after->name), document::words(kernel_.after->gpu),
                       document::words(after != nullptr ? after->file : ""),
                       after != nullptr ? document::figure(after->line, "") : document::Cell{},
                       document::words(after != nullptr ? after->expression : ""), document::words(title),
                       document::figure(change.before, number(change.before)),
                       document::figure(change.after, number(change.after)),
                       document::figure(difference, difference - change.interval,
                                        difference + change.interval, signed_number(difference)),
                       document::words(std::move(notes)),
                       document::words(change.is_beyond_interval() ? "yes" : "no")},
                      is_significant ? document::Tone::notable : document::Tone::plain,
                      differs ? document::Audience::all : document::Audience::programs};
    if (differs && site != nullptr)
      row.above = std::exchange(above_, "");
    table_.rows.push_back(std::move(row));
  }

  const judge::KernelChange& kernel_;
  Counts& counts_;
  document::Section section_;
  std::string above_; ///< the words that the next row of a site begins with
  document::Table table_{{{"kernel", document::Kind::words, "", document::Audience::programs},
                          {"GPU", document::Kind::words, "", document::Audience::programs},
                          {"file", document::Kind::words, "", document::Audience::programs},
                          {"line", document::Kind::number, "", document::Audience::programs},
                          {"expression", document::Kind::words, "", document::Audience::programs},
                          {"figure"},
                          {"before", document::Kind::number},
                          {"after", document::Kind::number},
                          {"difference", document::Kind::interval},
                          {"", document::Kind::words, "", document::Audience::people},
                          {"beyond its interval", document::Kind::words, "", document::Audience::programs}}};
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

document::Document difference_document(const DifferenceReport& report) {
  document::Document document{"Difference",
                              {{"", {table_of_sides({{"before", report.before}, {"after", report.after}})}}}};
  KernelSection::Counts counts;
  for (std::size_t index = 0; index < report.difference->kernels.size(); ++index)
    document.sections.push_back(
        KernelSection(report.difference->kernels[index], report.speed->kernels[index], counts).section());
  for (const auto& [kernels, side] :
       {std::pair(&report.difference->removed, "before"), std::pair(&report.difference->added, "after")})
    for (const KernelResult* kernel : *kernels)
      document.sections.push_back(
          {fmt::format("{} on {}: only {}", display_name(kernel->name), kernel->gpu, side)});
  document::Section totals;
  const auto say = [&](std::string text, document::Tone tone) {
    totals.blocks.push_back(document::Paragraph{std::move(text), tone});
  };
  say(fmt::format("{} figure{}; {} of them beyond {} 95 % interval and by more than half a percent (*); {} "
                  "the same",
                  counts.differing, counts.differing == 1 ? " differs" : "s differ", counts.significant,
                  counts.differing == 1 ? "its" : "their", counts.same),
      document::Tone::plain);
  for (const judge::TotalSpeed& total : report.speed->totals)
    say(fmt::format("in total on {}: {}", total.gpu, describe(total.speed)), document::Tone::strong);
  for (const judge::Failure& failure : *report.failures)
    say(fmt::format("fails {}: {}", failure.threshold->text, describe(failure)), document::Tone::alarming);
  document.sections.push_back(std::move(totals));
  return document;
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
