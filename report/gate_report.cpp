#include "report/gate_report.h"

#include "judge/accuracy_text.h"
#include "judge/kernel_findings.h"
#include "report/rule_id.h"
#include "report/versus_text.h"
#include "result/figure_text.h"
#include "support/display_name.h"

#include <algorithm>
#include <filesystem>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;
using judge::GateEntry;
using judge::GateVerdict;
using enum judge::GateVerdict;

std::string name_of(const RecordedKernel& kernel) {
  std::string name = display_name(kernel.kernel);
  if (kernel.number > 1)
    name += fmt::format(" (launch {})", kernel.number);
  return name;
}

/// Returns what became of the time: "12.3 µs → 14.1 µs, +14.6 % (+14.2 to +15.0 %)".
std::string time_change(const GateEntry& entry) {
  if (!entry.speed)
    return "";
  if (!entry.speed->change)
    return entry.speed->reason;
  std::string text =
      fmt::format("{} → {}", time_text(entry.speed->before_us), time_text(entry.speed->after_us));
  return entry.verdict == cannot_say
             ? fmt::format("{}: {}", text, entry.speed->reason)
             : fmt::format("{}, {}", text, judge::percent_interval(*entry.speed->change));
}

std::string exact_text(const judge::ExactChange& change) {
  const bool is_first = change.before == 0 && change.is_worse;
  return fmt::format("{} {} → {}{}{}", change.figure, grouped(change.before), grouped(change.after),
                     is_first && change.figure == "spill_bytes" ? ": registers do not suffice any more" : "",
                     change.fails ? ", which --ratchet forbids" : "");
}

/// Returns the kernel in the result; null: it is not there.
const KernelResult* find_recorded(const Result& result, const RecordedKernel& recorded) {
  std::uint64_t number = 0;
  for (const KernelResult& kernel : result.kernels)
    if (kernel.name == recorded.kernel && kernel.gpu == recorded.gpu && ++number == recorded.number)
      return &kernel;
  return nullptr;
}

/// Returns the clause with the figures of the finding that it says is new.
std::string explained(std::string clause, const std::vector<judge::Finding>& findings) {
  if (const std::size_t news = clause.find("new: "); news != std::string::npos)
    for (const judge::Finding& finding : findings)
      if (clause.find(id_of(finding.rule), news) != std::string::npos)
        return fmt::format("{} ({})", clause, finding.text);
  return clause;
}

/// Returns the clause with the line at which the access is now, and why.
std::string with_line(const std::string& clause, const KernelResult* kernel) {
  if (kernel != nullptr)
    for (const SiteResult& site : kernel->sites) {
      const std::string file = std::filesystem::path(site.site.file).filename().string();
      if (const std::string place = file + " " + site.site.expression; clause.starts_with(place + ":"))
        return explained(fmt::format("{}:{} {}", file, site.site.line, clause.substr(file.size() + 1)),
                         judge::findings_on(site, *kernel));
    }
  return kernel != nullptr ? explained(clause, judge::findings_on(*kernel)) : clause;
}

/// Returns what is to be said of a kernel below its verdict.
std::vector<std::string> gate_details(const GateEntry& entry, const Result& result) {
  std::vector<std::string> details;
  for (const judge::ExactChange& change : entry.exact)
    details.push_back(exact_text(change));
  const KernelResult* const kernel = find_recorded(result, entry.kernel());
  for (const std::string& cause : entry.causes)
    details.push_back(with_line(cause, kernel));
  if (!entry.note.empty())
    details.push_back(entry.note);
  if (entry.waiver != nullptr)
    details.push_back(fmt::format("waived until {}: {}", entry.waiver->until, entry.waiver->reason));
  return details;
}

bool is_to_show(const GateEntry& entry) {
  return entry.verdict != equal && (entry.verdict != same || !entry.exact.empty());
}

/// Returns how a new or vanished kernel is to be understood.
std::string presence_of(const GateEntry& entry) {
  return entry.verdict == is_new ? "it is not in the baseline"
                                 : "it is in the baseline, and is no more launched";
}

std::vector<document::Finding> findings_on_waivers(const GateReport& report) {
  std::vector<document::Finding> findings;
  const auto add = [&](const Waiver& waiver, std::string statement) {
    findings.push_back({"", fmt::format("{}:{}", report.baseline, waiver.line), std::move(statement)});
  };
  for (const Waiver* waiver : report.gate->expired)
    add(*waiver, fmt::format("the waiver of {} has expired on {} ({}): mend the kernel, or record it and "
                             "delete the line",
                             waiver->kernel, waiver->until, waiver->reason));
  for (const Waiver* waiver : report.gate->idle)
    add(*waiver, fmt::format("the waiver of {} is needed no more: delete the line", waiver->kernel));
  return findings;
}

bool is_recording_due(const judge::Gate& gate) {
  return gate.count(better) + gate.count(is_new) + gate.count(removed) != 0;
}

/// Returns how far off times of the GPUs are, which recorded and new times share.
std::string accuracy_of(const Result& result) {
  std::vector<std::string> texts;
  for (const KernelResult& kernel : result.kernels)
    if (kernel.accuracy)
      if (std::string text = judge::accuracy_in_mean(kernel.accuracy);
          !text.empty() && std::ranges::find(texts, text) == texts.end())
        texts.push_back(std::move(text));
  return texts.empty() ? "" : fmt::format("{}, most of which both sides share", fmt::join(texts, "; "));
}

const char* word_of(judge::GateOutcome outcome) {
  switch (outcome) {
  case judge::GateOutcome::holds: return "holds";
  case judge::GateOutcome::worse: return "worse";
  case judge::GateOutcome::outdated: return "outdated";
  case judge::GateOutcome::cannot_say: return "cannot say";
  }
  return "";
}

const char* headline_of(judge::GateOutcome outcome) {
  switch (outcome) {
  case judge::GateOutcome::holds: return "no kernel is worse";
  case judge::GateOutcome::worse: return "worse than recorded";
  case judge::GateOutcome::outdated: return "the baseline is to be recorded again";
  case judge::GateOutcome::cannot_say: return "cannot say";
  }
  return "";
}

document::Tone tone_of(GateVerdict verdict) {
  switch (verdict) {
  case worse: return document::Tone::alarming;
  case cannot_say: return document::Tone::notable;
  default: return document::Tone::strong;
  }
}

document::Finding finding_on(const GateEntry& entry, const Result& result) {
  return {.severity = std::string(text_of(entry.verdict)),
          .place = fmt::format("{} on {}", name_of(entry.kernel()), entry.kernel().gpu),
          .statement = entry.speed ? time_change(entry) : presence_of(entry),
          .evidence = gate_details(entry, result),
          .tone = tone_of(entry.verdict)};
}

/// Returns the kernels' times, recorded and now; programs read those of all kernels.
document::Table table_of_kernels(const GateReport& report) {
  using enum document::Kind;
  using enum document::Audience;
  document::Table table{{{"program", words, "", programs},
                         {"kernel", name, "", pages},
                         {"kernel", words, "", programs},
                         {"launch", number, "", programs},
                         {"GPU"},
                         {"recorded", number, "us"},
                         {"now", number, "us"},
                         {"change", interval, "fraction"},
                         {"verdict"},
                         {"waived until", words, "", programs},
                         {"details", words, "", programs}}};
  table.audience = all_but_terminals;
  for (const GateEntry& entry : report.gate->entries) {
    const RecordedKernel& kernel = entry.kernel();
    document::Cell recorded = document::words("–"), now = recorded, change = recorded;
    if (entry.speed && entry.speed->change) {
      const judge::RelativeChange& by = *entry.speed->change;
      recorded = document::figure(entry.speed->before_us, time_text(entry.speed->before_us));
      now = document::figure(entry.speed->after_us, time_text(entry.speed->after_us));
      change =
          document::figure(by.share, by.low, by.high,
                           entry.verdict == cannot_say ? entry.speed->reason : judge::percent_interval(by));
    }
    const std::string verdict(text_of(entry.verdict));
    table.rows.push_back(
        {{document::words(kernel.program), document::words(name_of(kernel)), document::words(kernel.kernel),
          document::figure(double(kernel.number), ""), document::words(kernel.gpu), std::move(recorded),
          std::move(now), std::move(change),
          document::words(verdict + (entry.waiver != nullptr ? ", waived" : "")),
          document::words(entry.waiver != nullptr ? entry.waiver->until : ""),
          document::words(fmt::format("{}", fmt::join(gate_details(entry, *report.result), "; ")))},
         document::Tone::plain,
         is_to_show(entry) ? all : programs});
  }
  return table;
}

} // namespace

std::string gate_summary(const judge::Gate& gate) {
  std::vector<std::string> parts;
  for (const GateVerdict verdict : {worse, cannot_say, better, is_new, removed, same, equal})
    if (const std::size_t count = gate.count(verdict); count != 0)
      parts.push_back(fmt::format("{} {}", count, verdict == same ? "the same" : text_of(verdict)));
  if (!gate.expired.empty())
    parts.push_back(
        fmt::format("{} waiver{} expired", gate.expired.size(), gate.expired.size() == 1 ? "" : "s"));
  const bool all_equal = gate.count(equal) == gate.entries.size();
  return fmt::format("kernels: {}{}", fmt::join(parts, ", "),
                     all_equal ? ": machine code, launches and inputs are as recorded" : "");
}

document::Document gate_document(const GateReport& report) {
  using enum document::Tone;
  using enum document::Audience;
  const judge::Gate& gate = *report.gate;
  document::Findings findings{{}, people};
  for (const GateEntry& entry : gate.entries)
    if (is_to_show(entry))
      findings.findings.push_back(finding_on(entry, *report.result));
  document::Section section;
  section.blocks = {
      document::Paragraph{fmt::format("Warplens: {}", headline_of(gate.outcome)), strong, pages},
      document::Paragraph{gate_summary(gate), plain, pages},
      document::Figure{"Times of the kernels that moved, recorded and now", report.svg, report.picture},
      table_of_kernels(report),
      std::move(findings),
      document::Findings{findings_on_waivers(report), people},
      document::Paragraph{gate_summary(gate), plain, terminals},
  };
  if (is_recording_due(gate)) {
    section.blocks.push_back(document::Listing{"", "to record it: " + report.record_command, terminals});
    section.blocks.push_back(document::Listing{"sh", report.record_command, pages});
  }
  if (const std::string accuracy = accuracy_of(*report.result); !accuracy.empty())
    section.blocks.push_back(document::Paragraph{accuracy + ".", faint, pages});
  return {"Warplens gate", {std::move(section)}};
}

std::string print_gate_json(const GateReport& report) {
  const judge::Gate& gate = *report.gate;
  Json json = {{"schema", "warplens-gate/1"},
               {"baseline", report.baseline},
               {"outcome", word_of(gate.outcome)},
               {"summary", gate_summary(gate)}};
  Json& kernels = json["kernels"] = Json::array();
  for (const GateEntry& entry : gate.entries) {
    const RecordedKernel& kernel = entry.kernel();
    Json one = {{"program", kernel.program},
                {"gpu", kernel.gpu},
                {"kernel", kernel.kernel},
                {"number", kernel.number},
                {"verdict", text_of(entry.verdict)}};
    if (entry.speed && entry.speed->change) {
      one["before_us"] = entry.speed->before_us;
      one["after_us"] = entry.speed->after_us;
      one["change"] = {{"share", entry.speed->change->share},
                       {"low", entry.speed->change->low},
                       {"high", entry.speed->change->high},
                       {"paired", entry.speed->is_paired}};
    }
    if (entry.speed && !entry.speed->reason.empty())
      one["reason"] = entry.speed->reason;
    for (const judge::ExactChange& change : entry.exact)
      one["exact"].push_back({{"figure", change.figure},
                              {"before", change.before},
                              {"after", change.after},
                              {"worse", change.is_worse},
                              {"fails", change.fails}});
    if (const auto details = gate_details(entry, *report.result); !details.empty())
      one["details"] = details;
    if (entry.waiver != nullptr)
      one["waived_until"] = entry.waiver->until;
    kernels.push_back(std::move(one));
  }
  for (const Waiver* waiver : gate.expired)
    json["expired"].push_back({{"line", waiver->line}, {"kernel", waiver->kernel}, {"until", waiver->until}});
  if (is_recording_due(gate))
    json["record"] = report.record_command;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result worse_kernels(const GateReport& report) {
  Result worse_ones = *report.result;
  worse_ones.kernels.clear();
  for (const GateEntry& entry : report.gate->entries)
    if (entry.verdict == worse && entry.waiver == nullptr)
      if (const KernelResult* const kernel = find_recorded(*report.result, entry.kernel()))
        worse_ones.kernels.push_back(*kernel);
  return worse_ones;
}

} // namespace warplens::report
