// `warplens baseline`: records what a program's kernels cost, as text for its repository.

#include "driver/commands/commands.h"
#include "driver/options.h"
#include "driver/stages/print.h"
#include "driver/stages/recorded_programs.h"
#include "judge/gate.h"

#include <memory>

namespace warplens::driver {
namespace {

Expected<void> record(const RecordingOptions& options, const std::vector<std::string>& arguments) {
  TRY(check_writable(options.baseline));
  TRY_LET(baseline, load_baseline(options.baseline, true));
  TRY_LET(programs, recorded_programs(options, arguments, *baseline));
  for (const RecordedProgram& program : *programs)
    *baseline = judge::recorded(std::move(*baseline), program.kernels, asked_for(options));
  return print_text(print_baseline(*baseline), options.baseline);
}

} // namespace

void declare_baseline(const CommandLine& line) {
  const std::vector<std::string>& rest = line.rest;
  Action& chosen = line.chosen;
  auto* command =
      line.app.add_subcommand("baseline", "record what a program's kernels cost, as text for its repository");
  auto options = std::make_shared<RecordingOptions>();
  add_recording_options(*command, *options);
  set_usage(*command, "warplens baseline FILE... [OPTIONS] [--run ARGS...]");
  command->footer(
      "  --run ARGS...                   the rest of the line: the program's own arguments\n\n"
      "  warplens baseline spmv.cu --gpu a100,h100-sxm --run u 4096\n\n"
      "The file has the kernels of any number of programs, which differ in their sources or "
      "arguments;\nwhat is recorded takes the place of the same program's on the same GPUs. `warplens gate` "
      "compares.");
  command->callback(
      [options, &rest, &chosen] { chosen = [options, &rest] { return record(*options, rest); }; });
}

} // namespace warplens::driver
