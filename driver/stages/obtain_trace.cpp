#include "driver/stages/obtain_trace.h"

#include "driver/progress.h"
#include "driver/stages/run_program.h"

#include <algorithm>
#include <utility>

namespace warplens::driver {

bool is_source(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  return extension == ".cu" || extension == ".cpp" || extension == ".cc" || extension == ".c";
}

Expected<void> refuse_program_options(const SourceOptions& source, const TraceOptions& trace,
                                      const std::vector<std::string>& program_arguments) {
  const std::pair<const char*, bool> given[] = {{"--backend", source.backend != Backend::automatic},
                                                {"--nvcc", !source.nvcc.empty()},
                                                {"--launches", trace.launches.has_value()},
                                                {"a check of the program", trace.checks.any()},
                                                {"--deterministic", trace.deterministic},
                                                {"--stop-when-traced", trace.stop_when_traced},
                                                {"--trace", !trace.keep_trace.empty()},
                                                {"an argument of the program", !program_arguments.empty()}};
  for (const auto& [name, is_given] : given)
    if (is_given)
      return fail("{}: {} is a trace, and no program runs", name, source.files.front());
  return {};
}

Expected<trace::Reader> obtain_trace(const SourceOptions& source, const TraceOptions& trace,
                                     const ModelOptions& model, const std::vector<model::Gpu>& gpus,
                                     const std::vector<std::string>& program_arguments,
                                     const std::filesystem::path& directory, bool quiet) {
  const auto opened = [&]() -> Expected<trace::Reader> {
    if (std::ranges::none_of(source.files, is_source))
      return trace::Reader::open(source.files.front());
    TRY_LET(program, build_program(source, trace, gpus, directory, quiet));
    RunRequest run = run_request(*program, program_arguments, trace, model, gpus);
    run.name = source.files.front();
    run.options.launches = trace.launches.value_or(1);
    run.trace = trace_path(trace, directory);
    run.stdout_to_stderr = true;
    TRY_LET(traced, trace_program(run, quiet));
    if (!traced->ending.empty())
      complain(traced->ending + "; what follows covers what was collected");
    return only_trace(std::move(*traced), run.name);
  };
  auto reader = opened();
  if (reader && reader->launches().empty())
    return fail("{}: no instrumented kernel was launched", source.files.front());
  return reader;
}

} // namespace warplens::driver
