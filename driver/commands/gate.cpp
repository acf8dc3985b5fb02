// `warplens gate`: holds a program against what its repository records of it.

#include "judge/gate.h"

#include "driver/commands/commands.h"
#include "driver/commands/exit_code.h"
#include "driver/document_formats.h"
#include "driver/options.h"
#include "driver/stages/print.h"
#include "driver/stages/recorded_programs.h"
#include "driver/today.h"
#include "report/gate_picture.h"
#include "report/gate_report.h"
#include "report/report.h"
#include "toolchain/version.h"

#include <filesystem>
#include <memory>

namespace warplens::driver {
namespace {

struct GateCommandOptions {
  RecordingOptions recording;
  std::vector<std::string> ratchets;
  double tolerance = 0;
  std::string format = "text", sarif, picture, picture_url;
  std::vector<std::string> badges;
  OutputOptions output;
};

/// Returns the results of all programs as one, and their kernels.
RecordedProgram together(std::vector<RecordedProgram> programs) {
  RecordedProgram all = std::move(programs.front());
  for (std::size_t index = 1; index < programs.size(); ++index) {
    auto& more = programs[index];
    std::ranges::move(more.result.kernels, std::back_inserter(all.result.kernels));
    std::ranges::move(more.kernels, std::back_inserter(all.kernels));
  }
  return all;
}

/// Returns where the comment finds the picture: at the given URL, or from the folder of the comment.
std::string link_to_picture(const GateCommandOptions& options) {
  if (options.picture.empty() || !options.picture_url.empty())
    return options.picture_url;
  const auto comment = std::filesystem::absolute(options.output.file.empty() ? "." : options.output.file);
  const auto folder = options.output.file.empty() ? comment : comment.parent_path();
  return std::filesystem::absolute(options.picture)
      .lexically_normal()
      .lexically_relative(folder.lexically_normal())
      .string();
}

Expected<void> hold(const GateCommandOptions& options, const std::vector<std::string>& arguments,
                    const std::string& command, int& exit_code) {
  TRY(check_writable(options.output.file));
  TRY(check_writable(options.sarif));
  TRY(check_writable(options.picture));
  for (const std::string& badge : options.badges)
    TRY(check_writable(badge));
  TRY_LET(baseline, load_baseline(options.recording.baseline, false));
  TRY_LET(programs, recorded_programs(options.recording, arguments, *baseline));
  const RecordedProgram program = together(std::move(*programs));
  judge::GateOptions gate_options;
  gate_options.today = today();
  gate_options.ratchets = {options.ratchets.begin(), options.ratchets.end()};
  gate_options.tolerance = options.tolerance;
  gate_options.was_asked_for = asked_for(options.recording);
  const judge::Gate gate = judge::hold_against(*baseline, program.kernels, gate_options);
  const report::GateReport report{options.recording.baseline, command, link_to_picture(options),
                                  report::draw_gate(gate),    &gate,   &program.result};
  TRY(print_document(gate_document(report), {{"json", [&] { return print_gate_json(report); }}},
                     options.format, options.output, report::gate_comment.max_lines));
  if (!options.picture.empty())
    TRY(print_text(report.svg, options.picture));
  for (const std::string& badge : options.badges)
    TRY(print_text(badge.ends_with(".json") ? report::badge_endpoint(gate) : report::draw_badge(gate),
                   badge));
  if (!options.sarif.empty())
    TRY(print_text(report::print_sarif(report::worse_kernels(report), {.version = toolchain::version}),
                   options.sarif));
  exit_code = exit_code_of(gate.outcome);
  return {};
}

std::vector<std::string> names_of_exact_figures() {
  std::vector<std::string> names;
  for (const ExactFigure& figure : exact_figures())
    names.push_back(figure.name);
  return names;
}

} // namespace

void declare_gate(const CommandLine& line) {
  const std::vector<std::string>& rest = line.rest;
  Action& chosen = line.chosen;
  int& exit_code = line.exit_code;
  auto* command = line.app.add_subcommand(
      "gate", "hold a program against the baseline of its repository; fails where it got worse");
  auto options = std::make_shared<GateCommandOptions>();
  command
      ->add_option("--ratchet", options->ratchets,
                   "figures without an interval that fail where they get worse, such as\n"
                   "registers,spill_bytes,warps_per_sm,instructions; others are named where they change")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of_exact_figures()))
      ->expected(1, 64)
      ->option_text("FIGURE,...");
  add_same_within_option(*command, options->tolerance);
  add_document_options(
      *command, options->format, options->output,
      {{"markdown", "a comment for a pull request, at most 60 lines"}, {"json", "warplens-gate/1"}});
  command->add_option("--sarif", options->sarif, "write the findings on kernels that are worse, as SARIF")
      ->type_name("FILE");
  auto* picture =
      command
          ->add_option("--picture", options->picture,
                       "write the times of kernels that moved as a picture (SVG), to which the comment links")
          ->type_name("FILE");
  command
      ->add_option("--picture-url", options->picture_url,
                   "the address at which the comment finds the picture; its path if not given")
      ->type_name("URL")
      ->needs(picture);
  command
      ->add_option("--badge", options->badges,
                   "write a badge, such as \"a100: 2 faster, 1 slower\": as SVG, or a FILE.json for "
                   "shields.io;\nmay be given several times")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_recording_options(*command, options->recording);
  set_usage(*command, "warplens gate FILE... [OPTIONS] [--run ARGS...]");
  command->footer(
      "  --run ARGS...                   the rest of the line: the program's own arguments\n\n"
      "  warplens gate spmv.cu --gpu a100,h100-sxm --ratchet spill_bytes --run u 4096\n\n"
      "Exit code 0: it holds; 1: the work failed; 2: the command line is wrong; 3: nothing is worse, but a "
      "kernel is\nbetter, new or removed, and the last line is the command that records it; 4: a kernel is "
      "worse, "
      "or a waiver has\nexpired; 5: the interval is too wide to say.");
  command->callback([options, command, &rest, &chosen, &exit_code] {
    chosen = [options, command, &rest, &exit_code] {
      return hold(*options, rest, record_command(*command, rest), exit_code);
    };
  });
}

} // namespace warplens::driver
