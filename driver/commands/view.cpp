// `warplens view`: opens the page of a result, or of two to compare, in the browser.
#include "driver/commands/commands.h"
#include "driver/stages/print.h"
#include "driver/stages/read_result.h"

#include <memory>

namespace warplens::driver {
namespace {

struct ViewOptions {
  std::string result, other;
  OutputOptions output;
};

Expected<void> view(const ViewOptions& options) {
  TRY(check_page());
  TRY_LET(result, read_result(options.result));
  if (options.other.empty())
    return print_comparison({{options.result, &*result}}, options.output);
  TRY_LET(other, read_result(options.other));
  return print_comparison({{options.result, &*result}, {options.other, &*other}}, options.output);
}

} // namespace

void declare_view(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand("view", "open the page of a result in the browser");
  auto options = std::make_shared<ViewOptions>();
  options->output.opens_page = true;
  command->add_option("result", options->result, "a result, as --format json writes it")
      ->required()
      ->type_name("RESULT");
  command->add_option("other", options->other, "a second result, to compare the first with")
      ->type_name("RESULT");
  command->add_option("-o,--output", options->output.file, "keep the page in this file")->type_name("FILE");
  command->callback([options, &chosen] { chosen = [options] { return view(*options); }; });
}

} // namespace warplens::driver
