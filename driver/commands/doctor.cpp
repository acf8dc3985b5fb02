// `warplens doctor`: says what works on this machine, what does not, and how to get it.

#include "driver/commands/commands.h"
#include "driver/options.h"
#include "driver/stages/diagnose.h"
#include "driver/stages/print.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

namespace warplens::driver {
namespace {

struct DoctorOptions {
  std::string format = "text";
  OutputOptions output;
};

std::string_view word_of(Condition condition) {
  switch (condition) {
  case Condition::works: return "works";
  case Condition::limited: return "limited";
  case Condition::absent: return "absent";
  }
  return "";
}

std::string coloured(Condition condition, const Style& style) {
  const std::string word = pad_right(word_of(condition), 9);
  switch (condition) {
  case Condition::works: return word;
  case Condition::limited: return style.warm(word);
  case Condition::absent: return style.hot(word);
  }
  return word;
}

std::string as_text(const std::vector<Diagnosis>& parts, const report::TextOptions& options) {
  constexpr std::size_t part_width = 16, indent = part_width + 9;
  const Style style(options.colour);
  const std::size_t width = std::max(options.width, 80u) - indent;
  std::string text;
  const auto add = [&](std::string before, const std::string& value) {
    for (const std::string& line : wrapped(printable(value), width)) {
      text += before + line + "\n";
      before = std::string(indent, ' ');
    }
  };
  for (const Diagnosis& part : parts) {
    add(pad_right(part.part, part_width) + coloured(part.condition, style), part.found);
    if (part.condition == Condition::works)
      continue;
    add(std::string(indent, ' '), "for " + std::string(part.needed_for));
    add(std::string(indent, ' '), part.remedy);
  }
  text += "\nreport, diff, model, explain, and placement of traces need nothing of these.\n";
  return text;
}

std::string as_json(const std::vector<Diagnosis>& parts) {
  nlohmann::ordered_json json = {{"schema", "warplens-doctor/1"}, {"parts", nlohmann::ordered_json::array()}};
  for (const Diagnosis& part : parts) {
    nlohmann::ordered_json one = {{"part", part.part},
                                  {"condition", word_of(part.condition)},
                                  {"found", part.found},
                                  {"needed_for", part.needed_for}};
    if (!part.remedy.empty())
      one["remedy"] = part.remedy;
    json["parts"].push_back(std::move(one));
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Expected<void> look(const DoctorOptions& options) {
  const std::vector<Diagnosis> parts = diagnose();
  TRY(print_text(options.format == "json" ? as_json(parts) : as_text(parts, text_options(options.output)),
                 options.output.file));
  const auto profiling = std::ranges::find(parts, "CPU back end", &Diagnosis::part);
  if (profiling->condition != Condition::works)
    return fail("programs cannot be profiled here: {}", printable(profiling->found));
  return {};
}

} // namespace

void declare_doctor(CLI::App& app, Action& chosen) {
  auto* command =
      app.add_subcommand("doctor", "what works on this machine, what does not, and how to get it");
  auto options = std::make_shared<DoctorOptions>();
  add_text_or_json_options(*command, options->format, options->output, "warplens-doctor/1");
  command->footer("Exit code 0: programs can be profiled on the CPU back end; 1: they cannot.");
  command->callback([options, &chosen] { chosen = [options] { return look(*options); }; });
}

} // namespace warplens::driver
