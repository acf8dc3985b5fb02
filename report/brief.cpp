#include "report/brief.h"

#include "judge/accuracy_text.h"
#include "judge/application.h"
#include "judge/kernel_findings.h"
#include "judge/verdict.h"
#include "report/annotated_source.h"
#include "report/warp_time_text.h"
#include "result/json_node.h"
#include "result/metrics.h"
#include "result/names.h"
#include "result/no_time.h"
#include "result/resources.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/ranges.h>

namespace warplens::report {
namespace {

// The longest text of each kind, in bytes: the smallest report, of one kernel without lines, must fit.
constexpr std::size_t name_bytes = 80, place_bytes = 48, expression_bytes = 48, finding_bytes = 200,
                      note_bytes = 110;

/// Returns printable text of at most `bytes` bytes; an ellipsis marks the cut.
std::string short_text(std::string_view text, std::size_t bytes) {
  constexpr std::string_view ellipsis = "…";
  std::string result = printable(text);
  if (result.size() <= bytes)
    return result;
  std::size_t end = bytes - ellipsis.size();
  while (end > 0 && (static_cast<unsigned char>(result[end]) & 0xC0) == 0x80) // within a character
    --end;
  result.resize(end);
  return result.append(ellipsis);
}

std::string place(const std::string& file, std::uint32_t line) {
  return short_text(fmt::format("{}:{}", std::filesystem::path(file).filename().string(), line), place_bytes);
}

BriefLine brief_line(const judge::CostlyLine& costly, const KernelResult& kernel) {
  BriefLine line;
  line.place = place(costly.file, costly.line);
  line.expression =
      short_text(judge::sites_to_explain(costly, kernel).front()->site.expression, expression_bytes);
  line.share = costly.share;
  if (const std::optional<Stall> stall = main_stall_at(costly.file, costly.line, kernel)) {
    line.stall = name_of(stall->state);
    line.stall_share = stall->share;
  }
  return line;
}

void add_suggestions(BriefKernel& brief, const KernelResult& kernel,
                     const std::vector<Suggestion>& suggestions) {
  std::vector<const Suggestion*> ours;
  for (const Suggestion& one : suggestions)
    if (one.kernel == kernel.name && one.gpu == kernel.gpu)
      ours.push_back(&one);
  std::ranges::stable_sort(ours, {}, &Suggestion::share); // the largest gain first
  for (const Suggestion* one : ours)
    brief.findings.push_back({one->line == 0 ? "kernel" : place(one->file, one->line),
                              short_text(one->edit, finding_bytes), Gain{one->share, one->half_width}});
}

/// Adds the findings on the kernel and on its costly lines, those that cost most first.
void add_findings(BriefKernel& brief, const KernelResult& kernel,
                  const std::vector<const judge::CostlyLine*>& costly) {
  std::vector<std::pair<double, BriefFinding>> found;
  for (const judge::Finding& finding : judge::findings_on(kernel))
    found.push_back({finding.cost, {"kernel", short_text(finding.text, finding_bytes), {}}});
  // At the roofline, most of what lines do is no fault of theirs.
  const bool has_nothing_to_mend =
      brief.roofline && judge::roofline_verdict(*headroom_of(kernel), kernel).has_nothing_to_mend;
  for (const judge::CostlyLine* line : costly)
    for (const SiteResult* site : line->sites)
      for (const judge::Finding& finding : judge::findings_on(*site, kernel))
        if (!has_nothing_to_mend || judge::is_waste(finding))
          found.push_back(
              {finding.cost,
               {place(line->file, line->line),
                short_text(fmt::format("{}: {}", site->site.expression, finding.text), finding_bytes),
                {}}});
  std::ranges::stable_sort(found, std::ranges::greater(), &std::pair<double, BriefFinding>::first);
  for (auto& [cost, finding] : found)
    brief.findings.push_back(std::move(finding));
}

/// Says what limits the time. Where the launch itself takes most of it, or nothing was modelled, there is no
/// headroom to speak of.
void add_limiter(BriefKernel& brief, const KernelResult& kernel) {
  const SiteResult* const waits = judge::waiting_site(kernel);
  if (!kernel.time || waits != nullptr) {
    const std::string reason =
        !kernel.time
            ? why_no_time(kernel)
            : fmt::format(
                  "at {} threads may wait in a loop until others change a flag, for how long the model "
                  "does not know",
                  place(waits->site.file, waits->site.line));
    brief.reasons = {{"microseconds", reason},
                     {"limiter", "there is no time"},
                     {"busy", "there is no time"},
                     {"headroom", "there is no time"}};
    return;
  }
  const KernelTime& time = *kernel.time;
  brief.microseconds = time.microseconds;
  brief.is_extrapolated = time.is_extrapolated;
  if (time.launch_us > time.microseconds.mean / 2) {
    brief.limiter = "launch";
    brief.reasons["busy"] = brief.reasons["headroom"] = "there is too little work to see what binds";
    return;
  }
  const auto busiest = static_cast<Resource>(std::ranges::max_element(time.busy) - time.busy.begin());
  const Resource resource = time.bound.value_or(busiest);
  brief.limiter = time.bound ? name_of(resource) : "latency";
  brief.busiest = name_of(resource);
  brief.busy = std::clamp(share_of(time.busy, resource), 0.0, 1.0);
}

void add_roofline(BriefKernel& brief, const KernelResult& kernel) {
  const std::optional<Headroom> headroom = headroom_of(kernel);
  if (!headroom || !brief.microseconds)
    return;
  BriefRoofline& roofline = brief.roofline.emplace();
  roofline.dram_bytes = headroom->dram_read_bytes + headroom->dram_write_bytes;
  roofline.dram_share_of_peak = headroom->dram_share_of_peak;
  roofline.microseconds = headroom->roofline_us;
  roofline.times = headroom->times_roofline;
  if (!headroom->limits.empty())
    roofline.by = name_of(headroom->limits.front().resource);
  roofline.text = short_text(judge::roofline_verdict(*headroom, kernel).text, note_bytes);
}

/// Returns what the figures leave out, each note once.
std::vector<std::string> not_modelled(const Result& result) {
  std::vector<std::string> notes;
  const auto add = [&](const std::string& text) {
    const std::string note = short_text(text, note_bytes);
    if (std::ranges::find(notes, note) == notes.end())
      notes.push_back(note);
  };
  if (result.trace_truncated)
    add("what came after the trace ended, early");
  if (!result.executed_accesses_probed)
    add("accesses without a probe: how many there are is not known");
  else if (*result.executed_accesses_probed < 1 && !are_all_executed(result))
    add(fmt::format("accesses without a probe: {:.2g} % of those executed",
                    100 * (1 - *result.executed_accesses_probed)));
  for (const KernelResult& kernel : result.kernels) {
    if (!kernel.snapshot.complete)
      add("accesses of the snapshot's blocks that were not collected");
    if (!kernel.code_unknown.empty())
      add(fmt::format("instructions between accesses: {}", kernel.code_unknown));
    if (!kernel.trials.drawn.empty())
      add(fmt::format("unknown, sampled: {}", fmt::join(kernel.trials.drawn, ", ")));
    if (kernel.accuracy && !kernel.accuracy->without.empty())
      add(fmt::format("not validated on {}: {}", kernel.accuracy->gpu,
                      fmt::join(kernel.accuracy->without, ", ")));
  }
  return notes;
}

std::optional<Accuracy> short_accuracy(std::optional<Accuracy> accuracy) {
  if (accuracy)
    accuracy->gpu = short_text(accuracy->gpu, name_bytes);
  return accuracy;
}

BriefKernel brief_kernel(const KernelResult& kernel, const std::vector<Suggestion>& suggestions) {
  BriefKernel brief;
  brief.name = short_text(display_name(kernel.name), name_bytes);
  brief.gpu = short_text(kernel.gpu, name_bytes);
  add_limiter(brief, kernel);
  add_roofline(brief, kernel);
  const std::vector<judge::CostlyLine> lines = judge::lines_of(kernel);
  const std::vector<const judge::CostlyLine*> costly = judge::most_expensive(lines, max_brief_findings);
  for (std::size_t index = 0; index < std::min(costly.size(), max_brief_lines); ++index)
    brief.lines.push_back(brief_line(*costly[index], kernel));
  add_suggestions(brief, kernel, suggestions);
  add_findings(brief, kernel, costly);
  brief.findings.resize(std::min(brief.findings.size(), max_brief_findings));
  brief.accuracy = short_accuracy(kernel.accuracy);
  brief.likely = likely_time_of(kernel);
  brief.time_note = short_text(judge::accuracy_beside_time(kernel), note_bytes);
  if (std::ranges::any_of(brief.lines, [](const BriefLine& line) { return line.stall.empty(); }))
    brief.reasons["stall"] = kernel.time ? "warps do not wait to issue there" : why_no_time(kernel);
  return brief;
}

/// Takes the last item away if there are more than `least`; returns whether there were.
template <class Item> bool drop_last(std::vector<Item>& items, std::size_t least) {
  if (items.size() <= least)
    return false;
  items.pop_back();
  return true;
}

/// Returns the time that the program spends in the kernel, as far as it is known.
double program_time(const KernelResult& kernel) {
  return kernel.time ? kernel.time->microseconds.mean * judge::times_of(kernel) : -1;
}

} // namespace

Brief brief_of(const Result& result, const std::vector<Suggestion>& suggestions) {
  std::vector<const KernelResult*> kernels;
  for (const KernelResult& kernel : result.kernels)
    kernels.push_back(&kernel);
  std::ranges::stable_sort(kernels, std::ranges::greater(),
                           [](const KernelResult* kernel) { return program_time(*kernel); });
  Brief brief;
  brief.program = short_text(result.program, name_bytes);
  for (const KernelResult* kernel : kernels)
    brief.kernels.push_back(brief_kernel(*kernel, suggestions));
  brief.not_modelled = not_modelled(result);
  return brief;
}

bool shorten(Brief& brief) {
  if (brief.kernels.empty())
    return drop_last(brief.not_modelled, 0) && ++brief.notes_left_out;
  BriefKernel& first = brief.kernels.front();
  const auto drop_kernel = [&](std::size_t least) {
    return drop_last(brief.kernels, least) && ++brief.kernels_left_out;
  };
  const auto drop_note = [&](std::size_t least) {
    return drop_last(brief.not_modelled, least) && ++brief.notes_left_out;
  };
  const auto drop_detail_of_others = [&](std::size_t least) {
    return std::any_of(brief.kernels.rbegin(), brief.kernels.rend() - 1, [&](BriefKernel& kernel) {
      return drop_last(kernel.findings, least) || drop_last(kernel.lines, least);
    });
  };
  return drop_kernel(4) || drop_detail_of_others(1) || drop_last(first.findings, 3) ||
         drop_detail_of_others(0) || drop_kernel(2) || drop_last(first.findings, 1) || drop_kernel(1) ||
         drop_last(first.lines, 1) || drop_note(1) || drop_last(first.findings, 0) ||
         drop_last(first.lines, 0) || drop_note(0);
}

Expected<std::vector<Suggestion>> suggestions_from_json(const nlohmann::json& json) {
  std::optional<Error> error;
  const JsonNode root(json, error);
  std::string schema;
  root["schema"].read(schema);
  root["schema"].require(schema == "warplens-advice/1", "\"warplens-advice/1\"");
  std::vector<Suggestion> suggestions;
  root["kernels"].for_each([&](const JsonNode& kernel) {
    Suggestion one;
    kernel["kernel"].read(one.kernel);
    kernel["gpu"].read(one.gpu);
    kernel["suggestions"].for_each([&](const JsonNode& suggestion) {
      suggestion["file"].read(one.file);
      suggestion["line"].read(one.line);
      suggestion["edit"].read(one.edit);
      suggestion["share"].read(one.share);
      suggestion["half_width"].read(one.half_width);
      one.patch.clear();
      if (suggestion.has("patch"))
        suggestion["patch"].read(one.patch);
      suggestions.push_back(one);
    });
  });
  if (error)
    return fail("not a warplens-advice/1 document: {}", error->message);
  return suggestions;
}

} // namespace warplens::report
