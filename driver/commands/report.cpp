// `warplens report`: result to what a person or a tool reads.

#include "driver/commands/commands.h"
#include "driver/options.h"
#include "driver/stages/print.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

namespace warplens::driver {
namespace {

struct ReportOptions {
  std::string result;
  OutputOptions output;
};

Expected<void> read_and_print(const ReportOptions& options) {
  std::ifstream file(options.result);
  if (!file)
    return fail("{}: cannot be read: {}", options.result, std::strerror(errno));
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded())
    return fail("{}: not JSON: a result is what --format json writes", options.result);
  const auto result = result_from_json(json);
  if (!result)
    return fail("{}: {}", options.result, result.error().message);
  return print(*result, options.output);
}

} // namespace

void declare_report(CLI::App& app, Action& chosen) {
  auto* command = app.add_subcommand("report", "print a result for a person or a tool");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("result", options->result, "a result, as --format json writes it")
      ->required()
      ->type_name("RESULT");
  add_output_options(*command, options->output, Format::text);
  command->callback([options, &chosen] { chosen = [options] { return read_and_print(*options); }; });
}

} // namespace warplens::driver
