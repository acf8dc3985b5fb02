#include "driver/commands/ab_scan.h"

#include "driver/document_formats.h"
#include "driver/stages/run_program.h"
#include "driver/stages/simulate.h"
#include "report/scan_report.h"
#include "support/process.h"
#include "support/temporary.h"

#include <algorithm>
#include <deque>
#include <map>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t words_of_range = 4, words_of_list = 2;
constexpr const char* scan_option = "-P or -L";

Expected<std::vector<VariedParameter>> parameters_of(const AbOptions& options) {
  std::vector<VariedParameter> varied;
  for (std::size_t at = 0; at < options.ranges.size(); at += words_of_range) {
    const auto* word = &options.ranges[at];
    TRY_LET(one, parse_varied(fmt::format("{}={}:{}:{}", word[0], word[1], word[2], word[3]), "-P"));
    varied.push_back(std::move(*one));
  }
  for (std::size_t at = 0; at < options.lists.size(); at += words_of_list) {
    TRY_LET(one, parse_varied(fmt::format("{}={}", options.lists[at], options.lists[at + 1]), "-L"));
    varied.push_back(std::move(*one));
  }
  return varied;
}

/// A program in one configuration: what nvcc and the program are given.
struct Configured {
  std::string nvcc;
  std::vector<std::string> arguments;
};

Expected<Configured> configured(const AbOptions& options, const std::vector<std::string>& arguments,
                                const significance::Parameters& parameters) {
  Configured result;
  TRY_LET(nvcc, fill_in(options.source.nvcc, parameters, scan_option));
  result.nvcc = *nvcc;
  for (const std::string& word : arguments) {
    TRY_LET(filled, fill_in(word, parameters, scan_option));
    result.arguments.push_back(*filled);
  }
  const auto fills_in = [&](const std::string& name) {
    return mentions(options.source.nvcc, name) ||
           std::ranges::any_of(arguments, [&](const std::string& word) { return mentions(word, name); });
  };
  for (const auto& [name, value] : parameters)
    if (!fills_in(name))
      result.nvcc += " " + quote({fmt::format("-D{}={}", name, value)});
  return result;
}

/// The program, built once for each text that nvcc is given.
class Builds {
public:
  Builds(const AbOptions& options, const std::vector<model::Gpu>& gpus, fs::path directory)
      : options_(options), gpus_(gpus), directory_(std::move(directory)) {}

  Expected<fs::path> program(const std::string& nvcc) {
    if (const auto known = built_.find(nvcc); known != built_.end())
      return known->second;
    SourceOptions source = options_.source;
    source.files = options_.files;
    source.nvcc = nvcc;
    const fs::path folder = directory_ / fmt::format("program{}", built_.size());
    std::error_code problem; // writing there will report a missing folder
    fs::create_directories(folder, problem);
    TRY_LET(program, build_program(source, options_.trace, gpus_, folder, options_.output.quiet));
    built_.emplace(nvcc, *program);
    return program;
  }

private:
  const AbOptions& options_;
  const std::vector<model::Gpu>& gpus_;
  fs::path directory_;
  std::map<std::string, fs::path> built_;
};

/// Profiles one configuration. Kernels that are as in `known` are not modelled again.
Expected<Result> result_of(const AbOptions& options, const Configured& configuration, Builds& builds,
                           const std::vector<model::Gpu>& gpus, const fs::path& trace, const Result& known) {
  TRY_LET(program, builds.program(configuration.nvcc));
  RunRequest run = run_request(*program, configuration.arguments, options.trace, options.model, gpus);
  run.name = options.files.front();
  run.sources = options.files;
  run.nvcc = configuration.nvcc;
  run.trace = trace;
  run.stdout_to_stderr = options.output.file.empty();
  return whole_result(run, options.model, options.output, known);
}

} // namespace

void add_scan_options(CLI::App& command, AbOptions& options) {
  const auto takes = [](CLI::Option* option, std::size_t words, const char* names) {
    option->type_size(static_cast<int>(words))
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name(names);
  };
  takes(
      command.add_option("-P,--parameter-scan", options.ranges,
                         "time one file with {NAME} in --run or --nvcc, or the macro NAME, at each of these "
                         "numbers"),
      words_of_range, "NAME FROM TO STEP");
  takes(command.add_option("-L,--parameter-list", options.lists, "likewise, for each of these values"),
        words_of_list, "NAME VALUE[,VALUE...]");
}

Expected<void> scan_program(const AbOptions& options, const std::vector<std::string>& arguments) {
  if (options.files.size() != 1 || !options.revision.empty())
    return fail(
        "ab: -P and -L time one file in several configurations: a second one or --at does not go with "
        "them");
  if (options.exit_with_verdict)
    return fail("ab: --exit-code is about two versions, and -P and -L have as many times as values");
  TRY_LET(varied, parameters_of(options));
  TRY_LET(configurations, configurations_of(*varied));
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(directory, TemporaryDirectory::create());
  Builds builds(options, *gpus, directory->path());
  report::ScanReport report;
  report.program = options.files.front();
  report.tolerance = options.tolerance;
  std::deque<Result> results; // the times refer to them
  const Result nothing_known;
  for (const significance::Parameters& parameters : *configurations) {
    TRY_LET(configuration, configured(options, arguments, parameters));
    auto result = result_of(options, *configuration, builds, *gpus, directory->path() / "trace",
                            results.empty() ? nothing_known : results.back());
    if (!result)
      return fail("{}: {}", significance::text_of(parameters), result.error().message);
    results.push_back(std::move(*result));
    report.configurations.push_back(parameters);
  }
  std::vector<const Result*> all;
  for (const Result& result : results)
    all.push_back(&result);
  report.gpus = judge::scan(all, options.tolerance);
  if (report.gpus.empty())
    return fail("{}: no kernel was launched", options.files.front());
  return print_document(
      report::scan_document(report), [&] { return report::print_scan_json(report); }, options.format,
      options.output);
}

} // namespace warplens::driver
