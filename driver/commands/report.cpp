// `warplens report`: prints a result for a person or a tool.

#include "driver/commands/commands.h"
#include "driver/options.h"
#include "driver/stages/print.h"
#include "driver/stages/read_result.h"
#include "support/files.h"

#include <memory>
#include <nlohmann/json.hpp>

namespace warplens::driver {
namespace {

struct ReportOptions {
  std::string result, other, advice;
  OutputOptions output;
};

/// Reads what `warplens advise --format json` wrote.
Expected<std::vector<report::Suggestion>> read_suggestions(const std::string& file) {
  TRY_LET(text, read_file(file));
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (json.is_discarded())
    return fail("{}: not JSON: --advice takes what warplens advise --format json writes", file);
  auto suggestions = report::suggestions_from_json(json);
  if (!suggestions)
    return fail("{}: {}", file, suggestions.error().message);
  return suggestions;
}

Expected<void> read_and_print(ReportOptions options) {
  TRY(check_format(*options.output.format));
  if (!options.advice.empty()) {
    TRY_LET(suggestions, read_suggestions(options.advice));
    options.output.suggestions = std::move(*suggestions);
  }
  TRY_LET(result, read_result(options.result));
  if (options.other.empty())
    return print(*result, options.result, options.output);
  TRY_LET(other, read_result(options.other));
  return print_comparison({{options.result, &*result}, {options.other, &*other}}, options.output);
}

} // namespace

void declare_report(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand("report", "print a result for a person or a tool");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("result", options->result, "a result, as --format json writes it")
      ->required()
      ->type_name("RESULT");
  command->add_option("other", options->other, "html: a second result, to compare the first with")
      ->type_name("RESULT");
  add_output_options(*command, options->output);
  command
      ->add_option("--advice", options->advice,
                   "brief, brief-json: name the changes that `warplens advise --format json` found to pay")
      ->type_name("FILE");
  command->callback([options, &chosen] {
    if (!options->advice.empty() && !options->output.format->takes_suggestions)
      throw CLI::ValidationError("--advice", "only --format brief and brief-json take it");
    if (!options->other.empty() && !options->output.format->is_page)
      throw CLI::ValidationError("a second result",
                                 "only --format html takes one; `warplens diff` compares as text");
    chosen = [options] { return read_and_print(*options); };
  });
}

} // namespace warplens::driver
