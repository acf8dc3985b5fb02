#include "placement/print/check_report.h"
#include "result/figure_text.h"
#include "support/display_name.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace warplens::placement {
namespace {

using Json = nlohmann::ordered_json;

std::string share_text(const TimeChange& change) {
  return fmt::format("{:+.1f} % ±{:.1f}", 100 * change.share, 100 * change.half_width);
}

std::string time_text(double microseconds) {
  return duration({.mean = microseconds});
}

/// Returns the kernel's change as a sentence, with the lines at which it changed as its evidence.
document::Finding finding_of(const ComparedKernel& kernel) {
  document::Finding finding{
      .severity = "",
      .place = display_name(kernel.name_after.empty() ? kernel.name_before : kernel.name_after),
      .statement = ""};
  if (!kernel.change) {
    finding.statement =
        kernel.name_after.empty()
            ? fmt::format("removed, {} of {} launches", time_text(kernel.before_us), kernel.launches_before)
            : fmt::format("new, {} of {} launches", time_text(kernel.after_us), kernel.launches_after);
    return finding;
  }
  const bool is_bound_alike = kernel.bound_before == kernel.bound_after;
  finding.statement = fmt::format("{} → {}, {}; bound by {}{}", time_text(kernel.before_us),
                                  time_text(kernel.after_us), share_text(*kernel.change), kernel.bound_before,
                                  is_bound_alike ? ", still" : ", now by " + kernel.bound_after);
  if (kernel.launches_before != kernel.launches_after)
    finding.evidence.push_back(
        fmt::format("launches {} → {}", kernel.launches_before, kernel.launches_after));
  for (const MovedLine& line : kernel.lines)
    finding.evidence.push_back(fmt::format("{}: waits {} → {}{}{}", line.place, time_text(line.before_us),
                                           time_text(line.after_us), line.figures.empty() ? "" : "; ",
                                           fmt::join(line.figures, ", ")));
  return finding;
}

document::Cell time_cell(double microseconds) {
  return document::figure(microseconds, time_text(microseconds));
}

document::Cell change_cell(const TimeChange& change) {
  return document::figure(change.share, change.share - change.half_width, change.share + change.half_width,
                          share_text(change));
}

/// Returns the times of each program's launches, and of a launch of each of its kernels.
document::Table table_of_kernels(const std::vector<ComparedProgram>& programs) {
  using document::words;
  using document::Kind::interval, document::Kind::number;
  document::Table table{{{"gpu"},
                         {"kernel before"},
                         {"kernel after"},
                         {"time before", number, "us"},
                         {"time after", number, "us"},
                         {"change", interval, "fraction"},
                         {"verdict"},
                         {"launches before", number},
                         {"launches after", number},
                         {"bound before"},
                         {"bound after"}}};
  table.audience = document::Audience::programs;
  const auto verdict = [](const TimeChange& change) {
    return words(std::string(name_of(verdict_on(change))));
  };
  const auto count = [](std::uint64_t launches) {
    return document::figure(double(launches), fmt::format("{}", launches));
  };
  for (const ComparedProgram& program : programs) {
    table.rows.push_back({{words(program.gpu),
                           {},
                           {},
                           time_cell(program.before_us),
                           time_cell(program.after_us),
                           change_cell(program.change),
                           verdict(program.change),
                           {},
                           {},
                           {},
                           {}}});
    for (const ComparedKernel& kernel : program.kernels)
      table.rows.push_back(
          {{words(program.gpu), words(kernel.name_before), words(kernel.name_after),
            kernel.name_before.empty() ? document::Cell{} : time_cell(kernel.before_us),
            kernel.name_after.empty() ? document::Cell{} : time_cell(kernel.after_us),
            kernel.change ? change_cell(*kernel.change) : document::Cell{},
            kernel.change ? verdict(*kernel.change) : document::Cell{}, count(kernel.launches_before),
            count(kernel.launches_after), words(kernel.bound_before), words(kernel.bound_after)}});
  }
  return table;
}

document::Table table_of_lines(const std::vector<ComparedProgram>& programs) {
  using document::words;
  using document::Kind::number;
  document::Table table{{{"gpu"},
                         {"kernel after"},
                         {"place"},
                         {"waits before", number, "us"},
                         {"waits after", number, "us"},
                         {"figures"}}};
  table.audience = document::Audience::programs;
  for (const ComparedProgram& program : programs)
    for (const ComparedKernel& kernel : program.kernels)
      for (const MovedLine& line : kernel.lines)
        table.rows.push_back(
            {{words(program.gpu), words(kernel.name_after), words(line.place), time_cell(line.before_us),
              time_cell(line.after_us), words(fmt::format("{}", fmt::join(line.figures, "; ")))}});
  return table;
}

Json json_of(const TimeChange& change) {
  return {
      {"share", change.share}, {"half_width", change.half_width}, {"verdict", name_of(verdict_on(change))}};
}

} // namespace

document::Document check_document(const CheckReport& report) {
  document::Document document{fmt::format("{} → {}", report.before, report.after)};
  document.sections.push_back(
      {"", {document::Paragraph{document.title, document::Tone::plain, document::Audience::people}}});
  for (const ComparedProgram& program : report.programs) {
    document::Findings kernels{{}, document::Audience::people};
    for (const ComparedKernel& kernel : program.kernels)
      kernels.findings.push_back(finding_of(kernel));
    document.sections.push_back({fmt::format("{}: {} → {}, {}: {}", program.gpu, time_text(program.before_us),
                                             time_text(program.after_us), share_text(program.change),
                                             name_of(verdict_on(program.change))),
                                 {std::move(kernels)}});
  }
  document::Section tables{"", {table_of_kernels(report.programs)}};
  if (document::Table lines = table_of_lines(report.programs); !lines.rows.empty())
    tables.blocks.push_back(std::move(lines));
  document.sections.push_back(std::move(tables));
  return document;
}

Json to_json(const CheckReport& report) {
  Json json{{"schema", check_schema}, {"before", report.before}, {"after", report.after}};
  json["programs"] = Json::array();
  for (const ComparedProgram& program : report.programs) {
    Json one{{"gpu", program.gpu},
             {"before_us", program.before_us},
             {"after_us", program.after_us},
             {"change", json_of(program.change)}};
    one["kernels"] = Json::array();
    for (const ComparedKernel& kernel : program.kernels) {
      Json of{{"before", kernel.name_before},
              {"after", kernel.name_after},
              {"before_us", kernel.before_us},
              {"after_us", kernel.after_us},
              {"launches_before", kernel.launches_before},
              {"launches_after", kernel.launches_after},
              {"bound_before", kernel.bound_before},
              {"bound_after", kernel.bound_after}};
      if (kernel.change)
        of["change"] = json_of(*kernel.change);
      of["lines"] = Json::array();
      for (const MovedLine& line : kernel.lines)
        of["lines"].push_back({{"place", line.place},
                               {"before_us", line.before_us},
                               {"after_us", line.after_us},
                               {"figures", line.figures}});
      one["kernels"].push_back(std::move(of));
    }
    json["programs"].push_back(std::move(one));
  }
  return json;
}

} // namespace warplens::placement
