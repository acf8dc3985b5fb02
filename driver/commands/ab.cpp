// `warplens ab`: profiles two versions of a program, and says how much faster one is.

#include "driver/commands/ab_scan.h"
#include "driver/commands/commands.h"
#include "driver/commands/exit_code.h"
#include "driver/document_formats.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/stages/build_program.h"
#include "driver/stages/print.h"
#include "driver/stages/run_program.h"
#include "driver/stages/simulate.h"
#include "report/print_difference.h"
#include "report/versus.h"
#include "support/files.h"
#include "support/process.h"
#include "support/temporary.h"

#include <algorithm>
#include <memory>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;

/// A version of the program: a file, and how it is called.
struct Version {
  std::string name, file;
};

/// Writes the file as git has it at a revision, under its own name. Its folder is searched for what the file
/// includes beside itself.
Expected<Version> version_at(const std::string& revision, const fs::path& file, const fs::path& directory) {
  Command command;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  // Git would take a word that begins with a dash for an option.
  if (revision.starts_with('-'))
    return fail("--at {}: not a revision", revision);
  command.arguments = {"git", "-C", folder.string(), "show",
                       fmt::format("{}:./{}", revision, file.filename().string())};
  const Version version{fmt::format("{} at {}", file.string(), revision),
                        (directory / file.filename()).string()};
  command.stdout_file = version.file;
  command.stderr_file = directory / "git.txt";
  TRY_LET(finished, run(command));
  if (finished->exit_code != 0) {
    const auto why = read_file(command.stderr_file);
    return fail("--at {}: git has no such version of {}: {}", revision, file.string(),
                why ? std::string(*why).substr(0, why->find('\n')) : "");
  }
  return version;
}

Expected<std::pair<Version, Version>> versions_of(const AbOptions& options, const fs::path& directory) {
  if (options.revision.empty()) {
    if (options.files.size() != 2)
      return fail("ab: expected two files, or one with --at REVISION, for which it is compared with itself");
    return std::pair(Version{options.files[0], options.files[0]},
                     Version{options.files[1], options.files[1]});
  }
  if (options.files.size() != 1)
    return fail("ab: --at {} compares one file with itself at that revision, and here are two",
                options.revision);
  TRY_LET(before, version_at(options.revision, options.files[0], directory));
  return std::pair(*before, Version{options.files[0], options.files[0]});
}

/// Returns whether both versions are one program: one file, or a file that a revision has with the same
/// bytes. Equal files of different names may include other headers, or print their names.
bool are_one_program(const std::pair<Version, Version>& versions, const AbOptions& options) {
  std::error_code error;
  if (options.revision.empty())
    return fs::equivalent(versions.first.file, versions.second.file, error);
  const auto before = read_file(versions.first.file), now = read_file(versions.second.file);
  return before && now && *before == *now;
}

/// Returns the result of a version. Kernels that are as in `known` are not modelled again.
Expected<Result> result_of(const Version& version, const AbOptions& options,
                           const std::vector<model::Gpu>& gpus, const std::vector<std::string>& arguments,
                           const fs::path& directory, const Result& known) {
  SourceOptions source = options.source;
  source.files = {version.file};
  if (!options.revision.empty()) {
    const fs::path folder = fs::absolute(options.files[0]).parent_path();
    source.nvcc += " " + quote({"-I" + folder.string()});
  }
  std::error_code problem; // writing there will report a missing folder
  fs::create_directories(directory, problem);
  TRY_LET(program, build_program(source, options.trace, gpus, directory, options.output.quiet));
  RunRequest run = run_request(*program, arguments, options.trace, options.model, gpus);
  run.name = version.name;
  run.sources = {version.file};
  run.nvcc = source.nvcc;
  run.trace = directory / "trace";
  run.stdout_to_stderr = options.output.file.empty();
  return whole_result(run, options.model, options.output, known);
}

/// Returns the result of the second version. One program is built and run once: a second run by the same
/// compilers, options, arguments, environment and files would differ by what the program draws at random
/// only.
Expected<Result> result_of_other(const std::pair<Version, Version>& versions, const Result& first,
                                 const AbOptions& options, const std::vector<model::Gpu>& gpus,
                                 const std::vector<std::string>& arguments, const fs::path& directory) {
  if (!are_one_program(versions, options))
    return result_of(versions.second, options, gpus, arguments, directory, first);
  Stage stage("equal", options.output.quiet);
  stage.done(fmt::format("{}: the same file in both versions, built and run once", versions.second.name));
  return first;
}

/// Returns whether the texts of the named sources differ.
bool have_other_sources(const Result& a, const Result& b) {
  return !std::ranges::equal(a.manifest->sources, b.manifest->sources, {}, &NamedHash::hash,
                             &NamedHash::hash);
}

Expected<void> compare_versions(const AbOptions& options, const std::vector<std::string>& arguments,
                                int& exit_code) {
  if (!options.trace.keep_trace.empty())
    return fail("--trace keeps one trace, and two versions leave two: profile each with --trace");
  TRY(check_writable(options.output.file));
  if (!options.ranges.empty() || !options.lists.empty())
    return scan_program(options, arguments);
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(directory, TemporaryDirectory::create());
  TRY_LET(versions, versions_of(options, directory->path()));
  const Result nothing_known;
  TRY_LET(a, result_of(versions->first, options, *gpus, arguments, directory->path() / "a", nothing_known));
  TRY_LET(b, result_of_other(*versions, *a, options, *gpus, arguments, directory->path() / "b"));
  const judge::Difference difference = judge::compare(*a, *b, {});
  if (difference.kernels.empty())
    return fail(
        "{} and {} have no kernel in common: kernels correspond by name, unless each version has only "
        "one; --kernel REGEX chooses it",
        versions->first.name, versions->second.name);
  const judge::SpeedComparison speed = compare_speed(*a, *b, difference, options.tolerance);
  const report::Versus versus{versions->first.name, versions->second.name, &difference, &speed,
                              have_other_sources(*a, *b)};
  const std::vector<judge::Failure> none;
  TRY(print_document(
      report::versus_document(versus),
      [&] { return report::print_difference_json({versus.a, versus.b, &difference, &speed, &none}); },
      options.format, options.output));
  exit_code = options.exit_with_verdict ? exit_code_of(speed.verdict) : 0;
  return {};
}

} // namespace

void declare_ab(const CommandLine& line) {
  const std::vector<std::string>& rest = line.rest;
  Action& chosen = line.chosen;
  int& exit_code = line.exit_code;
  auto* command = line.app.add_subcommand("ab", "how much faster the second of two versions of a file is");
  auto options = std::make_shared<AbOptions>();
  command->add_option("files", options->files, "the two versions, or one file with --at")
      ->required()
      ->expected(1, 2)
      ->type_name("A.cu B.cu");
  command
      ->add_option("--at", options->revision, "compare one file with itself as git has it at this revision")
      ->type_name("REVISION");
  add_scan_options(*command, *options);
  add_same_within_option(*command, options->tolerance);
  add_exit_code_option(*command, options->exit_with_verdict);
  add_document_options(*command, options->format, options->output,
                       {{"json", "warplens-diff/1, or warplens-scan/1"}});
  add_source_options(*command, options->source);
  add_quiet_option(*command, options->output.quiet);
  add_model_options(*command, options->model, {.timeline = false, .sharing = false});
  add_registers_option(*command, options->model);
  add_trace_options(*command, options->trace);
  add_loops_option(*command, options->trace);
  set_usage(*command, "warplens ab A.cu B.cu [OPTIONS] [--run ARGS...]");
  command->footer(
      "  --run ARGS...                   the rest of the line: the arguments of both programs\n\n"
      "  warplens ab naive.cu tiled.cu --gpu a100,h100-sxm --run 4096\n"
      "  warplens ab kernel.cu --at HEAD~1 --format markdown\n"
      "  warplens ab gemm.cu -L TILE 8,16,32 -P n 512 2048 512 --run {n}\n\n"
      "Kernels correspond by name; where each version has one, whatever their names are. Both draw the "
      "same random\nnumbers, so that what neither knows of the machine falls out of the ratio. Exit code: "
      "see --exit-code.");
  command->callback([options, &rest, &chosen, &exit_code] {
    chosen = [options, &rest, &exit_code] { return compare_versions(*options, rest, exit_code); };
  });
}

} // namespace warplens::driver
