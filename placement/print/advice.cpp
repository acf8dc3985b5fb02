#include "placement/change/rewrite.h"
#include "placement/print/advice_report.h"
#include "result/figure_text.h"
#include "result/resources.h"
#include "support/display_name.h"

namespace warplens::placement {
namespace {

/// The table of a kernel's changes for programs: the suggestions, then those without a gain.
class ChangeTable {
public:
  explicit ChangeTable(const KernelAdvice& kernel) : experiment_(*kernel.experiment) {
    table_.audience = document::Audience::programs;
    for (const Suggestion& suggestion : kernel.suggestions)
      table_.rows.push_back({cells(suggestion, true)});
    for (const Candidate& candidate : kernel.without_gain)
      table_.rows.push_back({cells({.candidate = candidate}, false)});
  }

  document::Table table() && { return std::move(table_); }

private:
  static document::Cell gain(const TimeChange& change) {
    return document::figure(change.share, change.share - change.half_width, change.share + change.half_width,
                            gain_text(change));
  }

  static document::Cell time(double microseconds) {
    return document::figure(microseconds, duration({.mean = microseconds}));
  }

  std::vector<document::Cell> cells(const Suggestion& one, bool is_suggested) const {
    using document::words;
    const KernelResult& sample = *experiment_.sample().result;
    const Candidate& candidate = one.candidate;
    return {words(sample.name),
            words(experiment_.gpu().id),
            words(text_of(candidate.moves, experiment_.arrays())),
            words(is_suggested ? "true" : "false"),
            time(sample.time->microseconds.mean),
            time(candidate.microseconds->mean),
            gain(candidate.change),
            words(std::string(text_of_bound(sample.time->bound))),
            words(std::string(text_of_bound(candidate.result->time->bound))),
            words(one.file),
            one.line == 0 ? document::Cell{} : document::figure(one.line, fmt::format("{}", one.line)),
            words(one.edit),
            one.rule ? words(std::string(name_of(one.rule->counter))) : document::Cell{},
            one.rule ? document::figure(one.rule->share, fmt::format("{:+.0f} %", 100 * one.rule->share))
                     : document::Cell{},
            one.patch_change ? gain(*one.patch_change) : document::Cell{},
            words(one.patch),
            words(one.without_patch)};
  }

  static std::vector<document::Column> columns() {
    using enum document::Kind;
    return {{"kernel"},
            {"gpu"},
            {"change"},
            {"suggested"},
            {"before", number, "us"},
            {"after", number, "us"},
            {"gain", interval, "fraction"},
            {"bound before"},
            {"bound after"},
            {"file"},
            {"line", number},
            {"edit"},
            {"rule"},
            {"gain by the rule", number, "fraction"},
            {"gain of the patch", interval, "fraction"},
            {"patch"},
            {"no patch because"}};
  }

  const Experiment& experiment_;
  document::Table table_{columns()};
};

document::Finding finding_of(const Suggestion& one, const Experiment& experiment) {
  document::Finding finding{
      .severity = gain_text(one.candidate.change),
      .place = fmt::format("{}:{}", one.file, one.line),
      .statement = fmt::format("{}; {}", one.edit, bound_text(experiment.sample(), one.candidate)),
      .tone = document::Tone::strong};
  if (one.rule)
    finding.evidence.push_back(
        fmt::format("{} alone would promise up to {:+.0f} %, as Nsight Compute's rules do",
                    name_of(one.rule->counter), 100 * one.rule->share));
  if (one.patch_change)
    finding.evidence.push_back(
        fmt::format("this patch compiles, the program prints the same, and modelled anew it takes {}:",
                    gain_text(*one.patch_change)));
  else if (!one.without_patch.empty())
    finding.evidence.push_back("no patch: " + one.without_patch);
  return finding;
}

document::Section section_of(const KernelAdvice& kernel) {
  constexpr auto people = document::Audience::people;
  const Experiment& experiment = *kernel.experiment;
  const KernelResult& sample = *experiment.sample().result;
  document::Section section{fmt::format("{}  {}  {}", display_name(sample.name), experiment.gpu().id,
                                        duration(sample.time->microseconds))};
  const auto say = [&](std::string text, document::Tone tone = document::Tone::plain) {
    section.blocks.push_back(document::Paragraph{std::move(text), tone, people});
  };
  say(fmt::format("bound by {}; its busiest resource is busy for {}", text_of_bound(sample.time->bound),
                  duration({.mean = kernel.min_us})));
  if (std::string note = note_on_waits(experiment); !note.empty())
    say(std::move(note));
  document::Findings findings{{}, people};
  const auto put_findings = [&] {
    if (!findings.findings.empty())
      section.blocks.push_back(std::exchange(findings, {{}, people}));
  };
  for (const Suggestion& one : kernel.suggestions) {
    findings.findings.push_back(finding_of(one, experiment));
    if (one.patch_change) { // it stands below its suggestion
      put_findings();
      section.blocks.push_back(document::Listing{"diff", one.patch, people});
    }
  }
  put_findings();
  if (kernel.suggestions.empty())
    say("nothing that was tried makes it faster");
  std::string tried;
  for (const Candidate& one : kernel.without_gain)
    tried += fmt::format("{}{} {:+.0f} %", tried.empty() ? "" : ", ", text_of(one.moves, experiment.arrays()),
                         100 * one.change.share);
  if (!tried.empty())
    say("tried without gain: " + tried, document::Tone::faint);
  section.blocks.push_back(ChangeTable(kernel).table());
  return section;
}

} // namespace

std::string change_word(const Move& move) {
  return std::string(move.rewrite != Rewrite::none ? name_of(move.rewrite) : name_of(move.to));
}

std::string gain_text(const TimeChange& change) {
  return fmt::format("{:+.0f} % ±{:.0f}", 100 * change.share, 100 * change.half_width);
}

std::string bound_text(const Candidate& before, const Candidate& after) {
  const std::string_view was = text_of_bound(before.result->time->bound);
  const std::string_view is = text_of_bound(after.result->time->bound);
  return was == is ? fmt::format("still bound by {}", is) : fmt::format("bound by {}, now by {}", was, is);
}

document::Document advice_document(const AdviceReport& report) {
  document::Document document{"Advice on " + report.program};
  for (const KernelAdvice& kernel : report.kernels)
    document.sections.push_back(section_of(kernel));
  return document;
}

} // namespace warplens::placement
