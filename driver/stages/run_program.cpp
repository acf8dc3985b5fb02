#include "driver/stages/run_program.h"

#include "driver/progress.h"
#include "driver/stages/manifest.h"
#include "driver/stages/print.h"
#include "driver/stages/simulate.h"
#include "model/snapshot/snapshot_size.h"
#include "support/process.h"
#include "support/temporary.h"
#include "toolchain/objects/compilation_note.h"
#include "toolchain/resources.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <unistd.h>

namespace warplens::driver {
namespace {

/// Returns the properties of the CPU back end's cudaDeviceProp, as runtime/cpu/device/device_description.h
/// reads them.
std::string device_properties(const model::Gpu& gpu) {
  constexpr std::uint32_t without_opting_in = 48 * 1024; // CUDA C++ Programming Guide, "Shared Memory"
  const auto& shared = gpu.shared;
  return fmt::format(
      "name={};sms={};max_threads_per_sm={};max_blocks_per_sm={};registers_per_sm={};registers_per_block={};"
      "registers_per_thread={};"
      "register_unit={};register_files={};shared_unit={};l2_bytes={};clock_khz={:"
      ".0f};"
      "shared_per_block={};shared_per_block_optin={};shared_per_sm={};shared_reserved_per_block={};"
      "major={};minor={};global_bytes={};bus_width_bits={};memory_clock_khz={:.0f}",
      gpu.name, gpu.sms, gpu.max_threads_per_sm, gpu.max_blocks_per_sm, gpu.registers.per_sm,
      gpu.registers.per_block, gpu.registers.max_per_thread, gpu.registers.allocation_unit,
      gpu.registers.sub_partitions, gpu.shared.allocation_unit, gpu.l2_bytes, gpu.clock_mhz * 1000,
      std::min(shared.max_bytes_per_block, without_opting_in),
      shared.max_bytes_per_block - shared.reserved_bytes_per_block,
      shared.carveout_bytes.empty() ? shared.max_bytes_per_block : shared.carveout_bytes.back(),
      shared.reserved_bytes_per_block, gpu.capability() / 10, gpu.capability() % 10, gpu.dram.bytes,
      gpu.dram.bus_bits, gpu.dram.clock_khz());
}

/// Returns the folder in which each process leaves its trace while the program runs.
std::filesystem::path folder_of_traces(std::filesystem::path trace) {
  return trace += ".processes";
}

/// Returns whether the trace is to be written to a device or a pipe, which take one process's.
bool is_special(const std::filesystem::path& trace) {
  std::error_code error;
  return std::filesystem::exists(trace, error) && !std::filesystem::is_regular_file(trace, error);
}

/// Moves the traces of the processes from their folder to the request's place, and removes the folder. Traces
/// without launches are left out where others have some.
void collect_traces(const RunRequest& request) {
  const auto folder = folder_of_traces(request.trace);
  std::error_code error;
  std::map<std::pair<long, long>, std::filesystem::path> files; // keyed by process id and number
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    long process = 0, number = 0;
    if (std::sscanf(entry.path().filename().c_str(), "%ld-%ld.wlt", &process, &number) == 2)
      files[{process, number}] = entry.path();
  }
  std::vector<std::filesystem::path> with_launches;
  for (const auto& [process, file] : files)
    if (const auto trace = trace::Reader::open(file); !trace || !trace->launches().empty())
      with_launches.push_back(file);
  if (with_launches.empty() && !files.empty())
    with_launches.push_back(files.begin()->second);
  for (std::size_t i = 0; i < with_launches.size(); ++i)
    std::filesystem::rename(with_launches[i], trace_of_process(request.trace, i), error);
  // An earlier run's trace behind these would pass for this one's.
  std::filesystem::remove(trace_of_process(request.trace, std::max<std::size_t>(1, with_launches.size())),
                          error);
  std::filesystem::remove_all(folder, error);
}

/// Returns the compute capabilities of the GPUs whose clock knows instructions: "80,90".
std::string capabilities_of(const std::vector<model::Gpu>& gpus) {
  std::set<int> capabilities;
  for (const model::Gpu& gpu : gpus)
    if (gpu.pipes)
      capabilities.insert(gpu.capability());
  return fmt::format("{}", fmt::join(capabilities, ","));
}

/// The environment that steers the recorder; runtime/host/settings.h lists the variables.
Expected<std::vector<std::pair<std::string, std::string>>> recorder_environment(const RunRequest& request) {
  std::error_code error;
  const auto trace = std::filesystem::absolute(request.trace, error);
  if (error)
    return fail("{}: cannot be written: the current folder: {}", request.trace.string(), error.message());
  const model::SnapshotThreads threads = model::snapshot_threads(request.gpus);
  std::vector<std::pair<std::string, std::string>> environment{
      is_special(trace)
          ? std::pair<std::string, std::string>{"WARPLENS_TRACE", trace.string()}
          : std::pair<std::string, std::string>{"WARPLENS_TRACE_FOLDER", folder_of_traces(trace).string()},
      {"WARPLENS_RUNTIME", toolchain::resources().gpu_runtime.string()},
      {"WARPLENS_SNAPSHOT_THREADS", std::to_string(threads.min)},
      {"WARPLENS_SNAPSHOT_WAVE", std::to_string(threads.wave)},
      {"WARPLENS_SNAPSHOT_SMS", std::to_string(threads.sms)},
      {"WARPLENS_SNAPSHOT_MOST_THREADS", std::to_string(threads.max)},
      {"WARPLENS_SNAPSHOT_ENOUGH", std::to_string(model::enough_accesses)}};
  // Which launches are still to come is known only where the first ones are wanted.
  if (request.options.launches || request.options.stop_when_traced)
    environment.emplace_back("WARPLENS_LAUNCHES", std::to_string(request.options.launches.value_or(1)));
  if (!request.options.kernel.empty())
    environment.emplace_back("WARPLENS_KERNEL", request.options.kernel);
  if (const std::string capabilities = capabilities_of(request.gpus);
      !capabilities.empty() && std::getenv("WARPLENS_EXECUTE") == nullptr)
    environment.emplace_back("WARPLENS_EXECUTE", capabilities);
  if (!request.leaves_out_loops)
    environment.emplace_back("WARPLENS_SNAPSHOT_WHOLE",
                             std::to_string(std::uint64_t{1} << 48)); // the largest
  else if (std::getenv("WARPLENS_SNAPSHOT_WHOLE") == nullptr)
    environment.emplace_back("WARPLENS_SNAPSHOT_WHOLE", std::to_string(model::whole_accesses));
  if (request.snapshot_blocks)
    environment.emplace_back("WARPLENS_SNAPSHOT_BLOCKS", std::to_string(*request.snapshot_blocks));
  return environment;
}

/// The environment that runtime/cpu/device/assembled.h describes.
std::vector<std::pair<std::string, std::string>> assembler_environment(const std::vector<int>& capabilities,
                                                                       const std::filesystem::path& folder) {
  if (capabilities.empty())
    return {};
  return {{"WARPLENS_ASSEMBLER", (executable_directory() / "warplens").string()},
          {"WARPLENS_ASSEMBLED", folder.string()},
          {"WARPLENS_CAPABILITIES", fmt::format("{}", fmt::join(capabilities, " "))}};
}

/// Returns the runtime's message about the first kernel that failed; empty if none has.
std::string first_failed_kernel(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Returns the names of the programs, with the number of processes of each: "solve × 4, plot".
std::string names_of(const std::vector<trace::Reader>& traces) {
  std::vector<std::pair<std::string, int>> programs;
  for (const trace::Reader& trace : traces) {
    const std::string name = std::filesystem::path(trace.program().name).filename().string();
    const auto known = std::ranges::find(programs, name, &std::pair<std::string, int>::first);
    if (known == programs.end())
      programs.emplace_back(name, 1);
    else
      ++known->second;
  }
  std::string list;
  for (const auto& [name, count] : programs)
    list += (list.empty() ? "" : ", ") + name + (count > 1 ? fmt::format(" × {}", count) : "");
  return list;
}

/// Returns whether a program for GPUs found none, which leaves a trace that does not say why.
bool lacks_gpu(const trace::Reader& trace) {
  return trace.launches().empty() && trace.program().backend == "gpu" && !gpu_present();
}

} // namespace

RunRequest run_request(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                       const TraceOptions& options, const ModelOptions& model,
                       const std::vector<model::Gpu>& gpus) {
  RunRequest run;
  run.command = {program.string()};
  run.command.insert(run.command.end(), arguments.begin(), arguments.end());
  run.options = options;
  run.snapshot_blocks = model.snapshot_blocks;
  run.gpus = gpus;
  return run;
}

bool gpu_present() {
  // The driver makes the first as it is loaded; the second is WSL's.
  for (const char* node : {"/dev/nvidia0", "/dev/dxg"})
    if (access(node, R_OK | W_OK) == 0)
      return true;
  return false;
}

std::filesystem::path trace_of_process(std::filesystem::path trace, std::size_t index) {
  return index == 0 ? trace : trace += fmt::format(".{}", index + 1);
}

std::filesystem::path trace_path(const TraceOptions& options, const std::filesystem::path& temporary) {
  return options.keep_trace.empty() ? temporary / "trace.wlt" : std::filesystem::path(options.keep_trace);
}

Expected<std::string> run_program(const RunRequest& request, bool quiet) {
  Stage stage("run", quiet);
  Command command;
  command.arguments = request.command;
  command.stdout_to_stderr = request.stdout_to_stderr;
  if (!request.trace.empty()) {
    std::error_code error;
    std::filesystem::remove_all(folder_of_traces(request.trace), error);
    if (!is_special(request.trace) &&
        !std::filesystem::create_directory(folder_of_traces(request.trace), error))
      return fail("{}: cannot be created: {}", folder_of_traces(request.trace).string(), error.message());
    TRY_LET(environment, recorder_environment(request));
    command.environment = std::move(*environment);
  }
  if (!request.gpus.empty())
    command.environment.emplace_back("WARPLENS_DEVICE", device_properties(request.gpus.front()));

  for (const cpu::CheckName& check : cpu::check_names)
    if (request.options.checks.has(check.check))
      command.environment.emplace_back(check.variable, "1");
  if (request.options.deterministic)
    command.environment.emplace_back("WARPLENS_CPU_THREADS", "1");

  TRY_LET(directory, TemporaryDirectory::create());
  const auto failed_kernels = directory->path() / "failed_kernels";
  command.environment.emplace_back("WARPLENS_FAILED_KERNELS", failed_kernels.string());
  for (auto& variable : assembler_environment(request.assembled_for, directory->path()))
    command.environment.push_back(std::move(variable));

  const auto stopped = directory->path() / "stopped";
  if (request.options.stop_when_traced)
    command.environment.emplace_back("WARPLENS_STOP_WHEN_TRACED", stopped.string());

  const auto ended = run(command);
  if (!request.trace.empty())
    collect_traces(request);
  TRY_LET(finished, ended);
  std::string ending;
  if (finished->signal != 0)
    ending = fmt::format("{} was ended by signal {} ({})", request.name, finished->signal,
                         strsignal(finished->signal));
  else if (finished->exit_code != 0)
    ending = fmt::format("{} exited with code {}", request.name, finished->exit_code);
  else if (const std::string failed = first_failed_kernel(failed_kernels); !failed.empty())
    ending = fmt::format("{}: {}, and the program ended with code 0 all the same", request.name, failed);
  std::error_code error;
  const char* const how = std::filesystem::exists(stopped, error)
                              ? "; it was ended when all was traced: its output is incomplete"
                              : "";
  auto bytes = std::filesystem::file_size(request.trace, error);
  for (std::size_t i = 1; !error; ++i) {
    std::error_code last;
    const auto more = std::filesystem::file_size(trace_of_process(request.trace, i), last);
    if (last)
      break;
    bytes += more;
  }
  stage.done(
      error ? request.name
            : fmt::format("{}: {:.1f} MB of trace{}", request.name, static_cast<double>(bytes) / 1e6, how));
  return ending;
}

Expected<TracedProgram> trace_program(const RunRequest& request, bool quiet) {
  TRY(check_writable(request.trace)); // fails before the program runs, not after
  std::error_code error;
  for (std::size_t i = 0; std::filesystem::is_regular_file(trace_of_process(request.trace, i), error); ++i)
    std::filesystem::remove(trace_of_process(request.trace, i),
                            error); // an old one must not pass for the new
  TRY_LET(ending, run_program(request, quiet));
  if (!std::filesystem::exists(request.trace, error))
    return ending->empty() ? fail("{}: it left no trace: it launched no kernel, or was built without probes",
                                  request.name)
                           : fail("{}; it left no trace", *ending);
  TracedProgram traced{std::move(*ending), {}};
  for (std::size_t i = 0; i == 0 || std::filesystem::exists(trace_of_process(request.trace, i), error); ++i) {
    auto trace = trace::Reader::open(trace_of_process(request.trace, i));
    if (!trace)
      return traced.ending.empty() ? tl::unexpected(trace.error())
                                   : fail("{}; {}", traced.ending, trace.error().message);
    if (lacks_gpu(*trace))
      return fail("{}: it needs an NVIDIA GPU, and there is none here that programs may use (/dev/nvidia0); "
                  "`warplens profile --backend cpu` needs none",
                  request.name);
    traced.traces.push_back(std::move(*trace));
  }
  return traced;
}

Expected<trace::Reader> only_trace(TracedProgram program, const std::string& name) {
  if (program.traces.size() > 1)
    return fail("{}: kernels ran in {} of its processes ({}), and this takes one: start that by itself", name,
                program.traces.size(), names_of(program.traces));
  return std::move(program.traces.front());
}

namespace {

/// Models the traces of all processes; the result names the processes if there are several.
Expected<Result> simulate_all(const std::vector<trace::Reader>& traces, const RunRequest& request,
                              const ModelOptions& model, const OutputOptions& output, const Result* known) {
  Result all;
  std::optional<Error> failure;
  for (const trace::Reader& trace : traces) {
    auto one = simulate(trace, request.gpus, model, output, request.options.kernel,
                        traces.size() == 1 ? request.name : "", known);
    if (!one) { // a process without the wanted kernels
      failure = failure.value_or(one.error());
      continue;
    }
    one->trace_truncated |= all.trace_truncated;
    if (all.executed_accesses_probed) // a share of an unknown number: the smallest is sure
      one->executed_accesses_probed =
          std::min(*all.executed_accesses_probed, one->executed_accesses_probed.value_or(1));
    one->kernels.insert(one->kernels.begin(), std::make_move_iterator(all.kernels.begin()),
                        std::make_move_iterator(all.kernels.end()));
    all = std::move(*one);
  }
  if (all.kernels.empty() && failure)
    return tl::unexpected(*failure);
  all.program = request.name;
  if (traces.size() > 1) {
    all.program += fmt::format(" ({})", names_of(traces));
    complain(fmt::format("note: kernels ran in {} processes, and the report is about all of them: {}",
                         traces.size(), names_of(traces)));
  }
  return all;
}

/// Says which sources of the program were compiled without probes: their kernels are in no report.
void say_what_has_no_probes(const std::string& program) {
  const auto notes = toolchain::read_notes(program);
  if (!notes)
    return; // a script, or a program in PATH
  for (const toolchain::CompilationNote& note : *notes)
    if (!note.fell_back.empty())
      complain(
          fmt::format("note: the kernels of {} are not in the report: it was compiled without probes: {}",
                      note.source, note.fell_back));
}

/// Returns whether all that is wanted can be had of a trace that leaves out iterations: a clock that executes
/// the machine code, and no time-lapse, of which a page shows what there is.
bool can_leave_out_loops(const RunRequest& request, const ModelOptions& model, const OutputOptions& output) {
  const bool wants_timeline = model.timeline && !output.format->shows_timeline && !output.page_has_timeline;
  return !request.options.whole_loops && !model.without_clock && !model.sharing && !wants_timeline &&
         std::ranges::all_of(request.gpus, [](const model::Gpu& gpu) { return gpu.pipes.has_value(); });
}

} // namespace

Expected<ModelledProgram> trace_and_model(RunRequest request, const ModelOptions& model,
                                          const OutputOptions& output, const Result* known) {
  request.leaves_out_loops = can_leave_out_loops(request, model, output);
  TRY_LET(traced, trace_program(request, output.quiet));
  std::string& ending = traced->ending;
  auto result = simulate_all(traced->traces, request, model, output, known);
  if (!result)
    return ending.empty() ? tl::unexpected(result.error()) : fail("{}; {}", ending, result.error().message);
  say_what_has_no_probes(request.command.front());
  result->manifest = make_manifest(model.gpus, request.sources, request.nvcc);
  result->manifest->arguments = quote({request.command.begin() + 1, request.command.end()});
  return ModelledProgram{std::move(*result), std::move(ending)};
}

Expected<Result> whole_result(const RunRequest& request, const ModelOptions& model,
                              const OutputOptions& output, const Result& known) {
  TRY_LET(modelled, trace_and_model(request, model, output, &known));
  if (!modelled->ending.empty())
    return fail("{}", modelled->ending);
  if (modelled->result.trace_truncated)
    return fail("{}: its trace was cut short", request.name);
  return std::move(modelled->result);
}

Expected<void> trace_model_print(const RunRequest& request, const ModelOptions& model,
                                 const OutputOptions& output) {
  TRY(check_writable(output.file));
  TRY(check_format(*output.format));
  if (!output.page.empty()) {
    TRY(check_writable(output.page));
    TRY(check_page());
  }
  TRY_LET(modelled, trace_and_model(request, model, output));
  if (!output.page.empty()) // before the report, of which a pager may not want all
    TRY(print_comparison({{modelled->result.program, &modelled->result}}, {.file = output.page}));
  TRY(print(modelled->result, modelled->result.program, output));
  if (!output.page.empty() && !output.quiet)
    complain("the page is " + output.page);
  if (!modelled->ending.empty())
    return fail("{}; the report covers what was collected until then", modelled->ending);
  if (modelled->result.trace_truncated)
    return fail("{}: its trace was cut short; the report covers what was collected", request.name);
  return {};
}

} // namespace warplens::driver
