#include "driver/stages/recorded_programs.h"

#include "driver/stages/read_result.h"
#include "driver/stages/run_program.h"
#include "driver/stages/simulate.h"
#include "report/recorded_kernel.h"
#include "support/files.h"
#include "support/pattern.h"
#include "support/process.h"
#include "support/temporary.h"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t max_baseline_bytes = std::uintmax_t{64} << 20;

bool is_result(const std::string& file) {
  return file.ends_with(".json");
}

Expected<Result> profiled(const RecordingOptions& options, const std::vector<std::string>& arguments,
                          const Result& known) {
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(directory, TemporaryDirectory::create());
  SourceOptions source = options.source;
  source.files = options.files;
  TRY_LET(program, build_program(source, options.trace, *gpus, directory->path(), options.quiet));
  RunRequest run = run_request(*program, arguments, options.trace, options.model, *gpus);
  run.name = options.files.front();
  run.sources = options.files;
  run.nvcc = source.nvcc;
  run.trace = trace_path(options.trace, directory->path());
  run.stdout_to_stderr = true;
  OutputOptions output;
  output.quiet = options.quiet;
  return whole_result(run, options.model, output, known);
}

} // namespace

void add_recording_options(CLI::App& command, RecordingOptions& options) {
  command.add_option("files", options.files, "all sources of a program, or results of --format json")
      ->required()
      ->type_name("FILE");
  command.add_option("--baseline", options.baseline, "the file with what is recorded")
      ->type_name("FILE")
      ->capture_default_str();
  add_source_options(command, options.source);
  add_quiet_option(command, options.quiet);
  add_model_options(command, options.model, {.ends_early = false, .timeline = false, .sharing = false});
  add_registers_option(command, options.model);
  add_trace_options(command, options.trace);
  add_loops_option(command, options.trace);
}

Expected<Baseline> load_baseline(const std::string& file, bool may_be_absent) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    if (may_be_absent)
      return Baseline();
    return fail("{}: there is no such baseline: `warplens baseline` with the same options writes it", file);
  }
  if (const auto bytes = fs::file_size(file, error); !error && bytes > max_baseline_bytes)
    return fail("{}: {} MB are no baseline, which has about 1 kB for each kernel: restore the file", file,
                bytes >> 20);
  TRY_LET(text, read_file(file));
  return read_baseline(*text, file);
}

Expected<std::vector<RecordedProgram>> recorded_programs(const RecordingOptions& options,
                                                         const std::vector<std::string>& arguments,
                                                         const Baseline& known) {
  std::vector<RecordedProgram> programs;
  if (std::ranges::none_of(options.files, is_result)) {
    const std::string name = report::recorded_program(options.files.front(), quote(arguments));
    TRY_LET(result, profiled(options, arguments, report::known_kernels(known, name)));
    programs.push_back({std::move(*result), {}});
  } else {
    if (!std::ranges::all_of(options.files, is_result))
      return fail("results (.json) and sources together: a program is either run, or was");
    for (const std::string& file : options.files) {
      TRY_LET(result, read_result(file));
      programs.push_back({std::move(*result), {}});
    }
  }
  for (RecordedProgram& program : programs) {
    TRY_LET(kernels, report::recorded_kernels(program.result, known));
    program.kernels = std::move(*kernels);
  }
  return programs;
}

std::function<bool(const RecordedKernel&)> asked_for(const RecordingOptions& options) {
  return [pattern = Pattern(options.trace.kernel)](const RecordedKernel& kernel) {
    return pattern.is_found_in(kernel.kernel);
  };
}

std::string record_command(const CLI::App& command, const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 9> gate_options = {"--format",      "--output",      "--ratchet",
                                                            "--same-within", "--sarif",       "--quiet",
                                                            "--picture",     "--picture-url", "--badge"};
  std::vector<std::string> words{"warplens", "baseline"};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || std::ranges::find(gate_options, name) != gate_options.end())
      continue;
    if (option->get_positional() && !name.starts_with('-')) {
      words.insert(words.begin() + 2, option->results().begin(), option->results().end());
      continue;
    }
    if (option->get_items_expected_max() == 0)
      words.push_back(name);
    else if (option->get_delimiter() != '\0') // "a100,h100-sxm" is one word again
      words.push_back(
          fmt::format("{}={}", name, fmt::join(option->results(), std::string(1, option->get_delimiter()))));
    else
      for (const std::string& value : option->results()) // which may begin with a dash
        words.push_back(fmt::format("{}={}", name, value));
  }
  if (!arguments.empty()) {
    words.emplace_back("--run");
    words.insert(words.end(), arguments.begin(), arguments.end());
  }
  return quote(words);
}

} // namespace warplens::driver
