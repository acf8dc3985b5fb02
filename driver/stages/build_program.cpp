#include "driver/stages/build_program.h"

#include "driver/help/groups.h"
#include "driver/progress.h"
#include "driver/stages/capabilities.h"
#include "driver/stages/run_program.h"
#include "support/process.h"
#include "toolchain/nvcc/checks.h"
#include "toolchain/nvcc/clang_arguments.h"
#include "toolchain/steps/build.h"
#include "toolchain/steps/instrument.h"
#include "toolchain/steps/objection.h"

#include <algorithm>

namespace warplens::driver {
namespace {

Backend chosen_backend(const SourceOptions& options, const TraceOptions& trace) {
  if (options.backend != Backend::automatic)
    return options.backend;
  const bool needs_cpu = trace.checks.any() || trace.deterministic || trace.stop_when_traced;
  return gpu_present() && !needs_cpu ? Backend::gpu : Backend::cpu;
}

Expected<toolchain::BuildRequest> prepare(const SourceOptions& options, const TraceOptions& trace,
                                          const model::Gpu& gpu, const std::filesystem::path& directory) {
  TRY_LET(words, split_words(options.nvcc));
  auto all = *words;
  all.insert(all.end(), options.files.begin(), options.files.end());
  TRY_LET(nvcc, toolchain::parse_nvcc_arguments(all));
  TRY_LET(toolkit, toolchain::find_toolkit());
  toolchain::BuildRequest request;
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    const auto& file = options.files[i];
    const bool is_cuda =
        options.files.size() == 1 || std::ranges::find(nvcc->cuda_inputs, file) != nvcc->cuda_inputs.end();
    request.sources.push_back({file, file, is_cuda, directory / std::to_string(i)});
    std::error_code problem; // writing there will report a missing folder
    std::filesystem::create_directories(request.sources.back().directory, problem);
  }
  request.clang_arguments = toolchain::clang_arguments(*nvcc, *toolkit, gpu.capability());
  request.nvcc = std::move(*nvcc);
  request.toolkit = std::move(*toolkit);
  request.directory = directory;
  request.checks = trace.checks;
  return request;
}

/// Starts to determine the machine code. It takes nvcc as long as all our stages until the program starts, so
/// it begins first.
void start_machine_code(toolchain::BuildRequest& request, const std::vector<int>& capabilities) {
  for (auto& source : request.sources)
    if (source.is_cuda && !capabilities.empty())
      source.machine_code = toolchain::start_machine_code(
          {request.nvcc, request.toolkit, source.original, source.directory, capabilities});
}

/// Returns the asynchronous copies without a probe, with their places: what they move is missing in all
/// figures of memory.
std::string unseen_copies(const std::vector<toolchain::UnseenAccess>& unseen) {
  std::string text;
  for (const toolchain::UnseenAccess& access : unseen)
    if (access.reason.starts_with("asynchronous copy"))
      text += fmt::format("; {}:{}: {} without a probe", access.file, access.line, access.reason);
  return text;
}

Expected<void> instrument_sources(toolchain::BuildRequest& request, bool quiet) {
  for (auto& source : request.sources) {
    if (!source.is_cuda)
      continue;
    Stage stage("instrument", quiet);
    const auto instrumented =
        toolchain::instrument(source.original, request.clang_arguments, source.directory);
    if (!instrumented)
      return tl::unexpected(toolchain::with_nvccs_opinion(instrumented.error(), source.original, request.nvcc,
                                                          request.toolkit, source.directory));
    source.source = instrumented->file;
    source.refused = instrumented->refused;
    source.site_table = instrumented->site_table;
    stage.done(fmt::format("{}: {} accesses probed, {} removed by the compiler, {} not seen{}",
                           source.original.string(), instrumented->accesses, instrumented->removed,
                           instrumented->unseen.size(), unseen_copies(instrumented->unseen)));
  }
  return {};
}

Expected<std::filesystem::path> build(const toolchain::BuildRequest& request, Backend backend, bool quiet) {
  Stage stage("build", quiet);
  auto program =
      backend == Backend::gpu ? toolchain::build_for_gpu(request) : toolchain::build_for_cpu(request);
  if (program)
    stage.done(backend == Backend::gpu ? "for the GPU, with nvcc" : "for the CPU back end, with Clang");
  return program;
}

} // namespace

void add_source_options(CLI::App& command, SourceOptions& options) {
  const help::GroupScope group(command, help::runs_group);
  command
      .add_option_function<std::string>(
          "--backend",
          [&options](const std::string& name) {
            options.backend = name == "gpu"   ? Backend::gpu
                              : name == "cpu" ? Backend::cpu
                                              : Backend::automatic;
          },
          "where the program runs: auto takes the GPU where there is one")
      ->check(CLI::IsMember({"auto", "gpu", "cpu"}))
      ->default_str("auto");
  command
      .add_option("--nvcc", options.nvcc,
                  "what nvcc is given to compile it, as one word: --nvcc \"-O3 -Iinclude\"")
      ->type_name("ARGS");
}

Expected<std::filesystem::path> build_program(const SourceOptions& options, const TraceOptions& trace,
                                              const std::vector<model::Gpu>& gpus,
                                              const std::filesystem::path& directory, bool quiet) {
  if (options.backend == Backend::gpu) {
    for (const cpu::CheckName& check : cpu::check_names)
      if (trace.checks.has(check.check))
        return fail("--{} works on the CPU back end{}", check.name, toolchain::on_a_gpu(check.check));
    for (const auto& [name, is_chosen] : {std::pair("--deterministic", trace.deterministic),
                                          std::pair("--stop-when-traced", trace.stop_when_traced)})
      if (is_chosen)
        return fail("{} works on the CPU back end", name);
  }
  TRY_LET(request, prepare(options, trace, gpus.front(), directory));
  const Backend backend = chosen_backend(options, trace);
  if (backend == Backend::cpu)
    start_machine_code(*request, capabilities_of(gpus));
  if (!options.no_probes)
    TRY(instrument_sources(*request, quiet));
  return build(*request, backend, quiet);
}

} // namespace warplens::driver
