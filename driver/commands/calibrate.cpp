// `warplens calibrate`: measures the GPU in this machine, writes a configuration for it.

#include "calibration/gpu_file.h"
#include "calibration/plot.h"
#include "driver/commands/commands.h"
#include "driver/document_formats.h"
#include "driver/progress.h"
#include "driver/stages/print.h"
#include "driver/today.h"
#include "support/files.h"
#include "support/process.h"
#include "support/temporary.h"
#include "toolchain/resources.h"

#include <memory>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string file = "gpu.toml";
  std::string curves; ///< empty: beside the file
  std::string from;   ///< curves measured before; empty: measure
  unsigned device = 0;
  double seconds = 60;
  std::string format = "text";
  bool quiet = false;
};

constexpr int no_gpu = 3; ///< the measuring program's exit code

Expected<void> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail("{}: cannot be created: {}", folder.string(), error.message());
  return {};
}

/// Runs the measuring program, which leaves the curves in the folder.
Expected<void> measure(const Options& options, const fs::path& folder) {
  if (!fs::exists(toolchain::resources().measure))
    return fail("{}: not there: it is built where there is an nvcc", toolchain::resources().measure.string());
  TRY(make_folder(folder));
  Stage stage("measure", options.quiet);
  TRY_LET(finished, run({.arguments = {toolchain::resources().measure.string(), folder.string(),
                                       fmt::format("{}", options.seconds), std::to_string(options.device)},
                         .capture_output = true}));
  const std::string output = finished->output.substr(0, finished->output.find('\n'));
  if (std::error_code ignored; finished->exit_code != 0)
    fs::remove(folder, ignored); // removes the folder if it is empty
  if (finished->exit_code == no_gpu)
    return fail("{}; --from FOLDER analyses curves that were measured elsewhere", output);
  if (finished->exit_code != 0)
    return fail("the measuring program failed ({}): {}", finished->exit_code,
                output.empty() ? "it printed nothing" : output);
  stage.done("the curves are in " + folder.string());
  return {};
}

/// Draws the curves; calibration does not fail if the pictures do.
void plot(const Options& options, const fs::path& folder, const std::string& gpu) {
  Stage stage("plot", options.quiet);
  if (!write_file(folder / "curves.gnuplot", calibration::print_plot_script(gpu)))
    return stage.done("nothing: curves.gnuplot cannot be written");
  const auto finished =
      run({.arguments = {"gnuplot", "curves.gnuplot"}, .directory = folder, .capture_output = true});
  if (!finished)
    return stage.done(fmt::format("nothing: there is no gnuplot here; it draws them from {}",
                                  (folder / "curves.gnuplot").string()));
  stage.done(finished->exit_code == 0 ? "SVG files beside the curves"
                                      : "gnuplot failed: " + finished->output);
}

Expected<void> calibrate(const Options& options) {
  const fs::path curves_folder = !options.from.empty() ? fs::path(options.from)
                                 : !options.curves.empty()
                                     ? fs::path(options.curves)
                                     : fs::path(options.file).replace_extension("curves");
  TRY(check_writable(options.file)); // fails before the minutes that measuring takes
  if (options.from.empty())
    TRY(measure(options, curves_folder));
  TRY_LET(curves, calibration::read_curves(curves_folder));
  Stage stage("analyse", options.quiet);
  const auto findings = calibration::analyse(*curves);
  if (!findings)
    return fail("{}: {}", curves_folder.string(), findings.error().message);
  const auto capability = calibration::compute_capability(*curves);
  if (!capability)
    return fail("{}: {}", curves_folder.string(), capability.error().message);
  TRY_LET(relative, model::nearest_gpu(*capability, toolchain::resources().gpus));
  const auto text = calibration::print_gpu_file(*curves, *findings, today(), *relative);
  if (!text)
    return fail("{}: {}", curves_folder.string(), text.error().message);
  TRY(print_text(*text, options.file));
  stage.done(fmt::format("{}: `--gpu {}` takes it", options.file,
                         options.file.find('/') == std::string::npos ? "./" + options.file : options.file));
  plot(options, curves_folder, curves->device.at("name"));
  return print_document(calibration::findings_document(*curves, *findings), options.format, {});
}

} // namespace

void declare_calibrate(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command =
      line.app.add_subcommand("calibrate", "measure the GPU in this machine, write a configuration for it");
  auto options = std::make_shared<Options>();
  command->add_option("-o,--output", options->file, "the GPU file to write")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--curves", options->curves, "where the raw curves go (default: beside the file)")
      ->type_name("FOLDER");
  auto* from = command->add_option("--from", options->from, "analyse curves that were measured before")
                   ->type_name("FOLDER");
  command->add_option("--device", options->device, "which GPU, as CUDA counts them")->capture_default_str();
  command->add_option("--seconds", options->seconds, "how long to measure, about; less gives coarser curves")
      ->check(CLI::Range(5.0, 3600.0))
      ->capture_default_str();
  command->add_flag("--quiet", options->quiet, "say nothing on stderr but errors");
  add_format_option(*command, options->format);
  for (const char* measuring_option : {"--curves", "--device", "--seconds"})
    from->excludes(measuring_option);
  command->callback([options, &chosen] { chosen = [options] { return calibrate(*options); }; });
}

} // namespace warplens::driver
