#include "report/gate_report.h"

#include "judge/accuracy_text.h"
#include "judge/kernel_findings.h"
#include "report/rule_id.h"
#include "report/versus_text.h"
#include "result/figure_text.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;
using judge::GateEntry;
using judge::GateVerdict;
using enum judge::GateVerdict;

constexpr std::size_t max_markdown_lines = 60;

std::string name_of(const RecordedKernel& kernel) {
  std::string name = display_name(kernel.kernel);
  if (kernel.number > 1)
    name += fmt::format(" (launch {})", kernel.number);
  return printable(name);
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
  for (std::string& detail : details)
    detail = printable(detail);
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

std::string waivers_text(const GateReport& report, bool is_markdown) {
  std::string text;
  const char* const bullet = is_markdown ? "- " : "";
  for (const Waiver* waiver : report.gate->expired)
    text += fmt::format("{}{}:{}: the waiver of {} has expired on {} ({}): mend the kernel, or record it and "
                        "delete the line\n",
                        bullet, printable(report.baseline), waiver->line, printable(waiver->kernel),
                        waiver->until, printable(waiver->reason));
  for (const Waiver* waiver : report.gate->idle)
    text += fmt::format("{}{}:{}: the waiver of {} is needed no more: delete the line\n", bullet,
                        printable(report.baseline), waiver->line, printable(waiver->kernel));
  return text;
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

/// Returns the picture as Markdown shows it: characters that would end the link are as URLs have them.
std::string picture_link(const std::string& place) {
  std::string link;
  for (const unsigned char c : place)
    link += c <= ' ' || c == '(' || c == ')' || c == '<' || c == '>' || c == 0x7f ? fmt::format("%{:02X}", c)
                                                                                  : std::string(1, char(c));
  return fmt::format("![Times of the kernels that moved, recorded and now]({})", link);
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

std::string print_gate_text(const GateReport& report) {
  std::string text;
  for (const GateEntry& entry : report.gate->entries) {
    if (!is_to_show(entry))
      continue;
    const std::string change = entry.speed ? time_change(entry) : presence_of(entry);
    text += fmt::format("{}: {} on {}: {}\n", text_of(entry.verdict), name_of(entry.kernel()),
                        printable(entry.kernel().gpu), change);
    for (const std::string& detail : gate_details(entry, *report.result))
      text += fmt::format("    {}\n", detail);
  }
  text += waivers_text(report, false);
  text += gate_summary(*report.gate) + "\n";
  if (is_recording_due(*report.gate))
    text += fmt::format("to record it: {}\n", report.record_command);
  return text;
}

std::string print_gate_markdown(const GateReport& report) {
  const judge::Gate& gate = *report.gate;
  std::vector<std::string> head{
      fmt::format("**Warplens: {}**",
                  cell(gate.outcome == judge::GateOutcome::holds      ? "no kernel is worse"
                       : gate.outcome == judge::GateOutcome::worse    ? "worse than recorded"
                       : gate.outcome == judge::GateOutcome::outdated ? "the baseline is to be recorded again"
                                                                      : "cannot say")),
      "", gate_summary(gate), ""};
  if (!report.picture.empty())
    for (std::string line : {picture_link(report.picture), std::string()})
      head.push_back(std::move(line));
  std::vector<std::string> tail;
  if (std::string waivers = waivers_text(report, true); !waivers.empty()) {
    waivers.pop_back();
    tail.push_back(waivers);
    tail.emplace_back();
  }
  if (is_recording_due(gate))
    for (const char* const line : {"```sh", report.record_command.c_str(), "```"})
      tail.emplace_back(line);
  if (const std::string accuracy = accuracy_of(*report.result); !accuracy.empty())
    tail.push_back(fmt::format("<sub>{}.</sub>", cell(accuracy)));

  std::vector<const GateEntry*> shown;
  for (const GateEntry& entry : gate.entries)
    if (is_to_show(entry))
      shown.push_back(&entry);
  std::vector<std::string> table, reasons;
  if (!shown.empty()) {
    table = {"| kernel | GPU | recorded | now | change | |", "|---|---|--:|--:|--:|---|"};
    constexpr std::size_t max_rows = 20;
    for (std::size_t index = 0; index < std::min(shown.size(), max_rows); ++index) {
      const GateEntry& entry = *shown[index];
      const bool timed = entry.speed && entry.speed->change;
      table.push_back(fmt::format(
          "| `{}` | {} | {} | {} | {} | {}{} |", cell(name_of(entry.kernel())), cell(entry.kernel().gpu),
          timed ? time_text(entry.speed->before_us) : "–", timed ? time_text(entry.speed->after_us) : "–",
          !timed                        ? "–"
          : entry.verdict == cannot_say ? entry.speed->reason
                                        : judge::percent_interval(*entry.speed->change),
          text_of(entry.verdict), entry.waiver != nullptr ? ", waived" : ""));
    }
    if (shown.size() > max_rows)
      table.push_back(fmt::format("| … and {} more | | | | | |", shown.size() - max_rows));
    table.emplace_back();
  }
  for (const GateEntry* entry : shown) {
    const auto details = gate_details(*entry, *report.result);
    if (details.empty())
      continue;
    reasons.push_back(fmt::format("`{}` on {}:", cell(name_of(entry->kernel())), cell(entry->kernel().gpu)));
    for (const std::string& detail : details)
      reasons.push_back(fmt::format("- {}", cell(detail)));
    reasons.emplace_back();
  }
  std::size_t others = head.size() + table.size();
  for (const std::string& line : tail)
    others += 1 + std::size_t(std::ranges::count(line, '\n'));
  const std::size_t room = max_markdown_lines > others + 2 ? max_markdown_lines - others - 2 : 0;
  if (reasons.size() > room) {
    const std::size_t left_out = reasons.size() - room;
    reasons.resize(room);
    reasons.push_back(fmt::format("… and {} more lines: `warplens gate` prints all", left_out));
    reasons.emplace_back();
  }
  std::string text;
  for (const auto* lines : {&head, &table, &reasons, &tail})
    for (const std::string& line : *lines)
      text += line + "\n";
  return text;
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
