// `warplens doctor`: says what works on this machine, what does not, and how to get it.

#include "driver/commands/commands.h"
#include "driver/document_formats.h"
#include "driver/stages/diagnose.h"
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

document::Tone tone_of(Condition condition) {
  switch (condition) {
  case Condition::works: return document::Tone::plain;
  case Condition::limited: return document::Tone::notable;
  case Condition::absent: return document::Tone::alarming;
  }
  return document::Tone::plain;
}

document::Document document_of(const std::vector<Diagnosis>& parts) {
  using enum document::Kind;
  using enum document::Audience;
  document::Table table{{{"part"},
                         {"condition"},
                         {"found"},
                         {"needed for", words, "", programs},
                         {"remedy", words, "", programs}}};
  table.has_headings = false;
  for (const Diagnosis& part : parts) {
    document::Cell found = document::words(part.found);
    if (part.condition != Condition::works)
      found.below = {fmt::format("for {}", part.needed_for), part.remedy};
    table.rows.push_back(
        {{document::words(std::string(part.part)),
          document::words(std::string(word_of(part.condition)), tone_of(part.condition)), std::move(found),
          document::words(std::string(part.needed_for)), document::words(part.remedy)}});
  }
  const document::Paragraph rest{
      "report, diff, model, explain, and placement of traces need nothing of these."};
  return {"What works on this machine", {{"", {std::move(table)}}, {"", {rest}}}};
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
  TRY(print_document(document_of(parts), [&] { return as_json(parts); }, options.format, options.output));
  const auto profiling = std::ranges::find(parts, "CPU back end", &Diagnosis::part);
  if (profiling->condition != Condition::works)
    return fail("programs cannot be profiled here: {}", printable(profiling->found));
  return {};
}

} // namespace

void declare_doctor(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command =
      line.app.add_subcommand("doctor", "what works on this machine, what does not, and how to get it");
  auto options = std::make_shared<DoctorOptions>();
  add_document_options(*command, options->format, options->output, {{"json", "warplens-doctor/1"}});
  command->footer("Exit code 0: programs can be profiled on the CPU back end; 1: they cannot.");
  command->callback([options, &chosen] { chosen = [options] { return look(*options); }; });
}

} // namespace warplens::driver
