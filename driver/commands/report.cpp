// `warplens report`: prints a result for a person or a tool.

#include "driver/commands/commands.h"
#include "driver/options.h"
#include "driver/stages/print.h"
#include "driver/stages/read_result.h"

#include <memory>

namespace warplens::driver {
namespace {

struct ReportOptions {
  std::string result, other;
  OutputOptions output;
};

Expected<void> read_and_print(const ReportOptions& options) {
  TRY(check_format(options.output.format));
  TRY_LET(result, read_result(options.result));
  if (options.other.empty())
    return print(*result, options.result, options.output);
  TRY_LET(other, read_result(options.other));
  return print_comparison({{options.result, &*result}, {options.other, &*other}}, options.output);
}

} // namespace

void declare_report(CLI::App& app, Action& chosen) {
  auto* command = app.add_subcommand("report", "print a result for a person or a tool");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("result", options->result, "a result, as --format json writes it")
      ->required()
      ->type_name("RESULT");
  command->add_option("other", options->other, "html: a second result, to compare the first with")
      ->type_name("RESULT");
  add_output_options(*command, options->output, Format::text);
  command->callback([options, &chosen] {
    if (!options->other.empty() && options->output.format != Format::html)
      throw CLI::ValidationError("a second result",
                                 "only --format html takes one; `warplens diff` compares as text");
    chosen = [options] { return read_and_print(*options); };
  });
}

} // namespace warplens::driver
