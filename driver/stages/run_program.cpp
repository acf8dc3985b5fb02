#include "driver/stages/run_program.h"

#include "driver/progress.h"
#include "driver/resources.h"
#include "driver/stages/manifest.h"
#include "driver/stages/print.h"
#include "driver/stages/simulate.h"
#include "model/snapshot/snapshot_size.h"
#include "support/process.h"
#include "support/temporary.h"

#include <algorithm>
#include <cstring>
#include <fstream>
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

/// The environment that steers the recorder; runtime/host/settings.h lists the variables.
Expected<std::vector<std::pair<std::string, std::string>>> recorder_environment(const RunRequest& request) {
  std::error_code error;
  const auto trace = std::filesystem::absolute(request.trace, error);
  if (error)
    return fail("{}: cannot be written: the current folder: {}", request.trace.string(), error.message());
  const model::SnapshotThreads threads = model::snapshot_threads(request.gpus);
  std::vector<std::pair<std::string, std::string>> environment{
      {"WARPLENS_TRACE", trace.string()},
      {"WARPLENS_RUNTIME", resources().gpu_runtime.string()},
      {"WARPLENS_SNAPSHOT_THREADS", std::to_string(threads.min)},
      {"WARPLENS_SNAPSHOT_MOST_THREADS", std::to_string(threads.max)},
      {"WARPLENS_SNAPSHOT_ENOUGH", std::to_string(model::enough_accesses)}};
  // Which launches are still to come is known only where the first ones are wanted.
  if (request.options.launches || request.options.stop_when_traced)
    environment.emplace_back("WARPLENS_LAUNCHES", std::to_string(request.options.launches.value_or(1)));
  if (!request.options.kernel.empty())
    environment.emplace_back("WARPLENS_KERNEL", request.options.kernel);
  if (request.snapshot_blocks)
    environment.emplace_back("WARPLENS_SNAPSHOT_BLOCKS", std::to_string(*request.snapshot_blocks));
  return environment;
}

/// Returns the runtime's message about the first kernel that failed; empty if none has.
std::string first_failed_kernel(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Returns whether a program for GPUs found none, which leaves a trace that does not say why.
bool lacks_gpu(const trace::Reader& trace) {
  return trace.launches().empty() && trace.program().backend == "gpu" && !gpu_present();
}

} // namespace

bool gpu_present() {
  // The driver makes the first as it is loaded; the second is WSL's.
  for (const char* node : {"/dev/nvidia0", "/dev/dxg"})
    if (access(node, R_OK | W_OK) == 0)
      return true;
  return false;
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

  const auto stopped = directory->path() / "stopped";
  if (request.options.stop_when_traced)
    command.environment.emplace_back("WARPLENS_STOP_WHEN_TRACED", stopped.string());

  TRY_LET(finished, run(command));
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
  const auto bytes = std::filesystem::file_size(request.trace, error);
  stage.done(
      error ? request.name
            : fmt::format("{}: {:.1f} MB of trace{}", request.name, static_cast<double>(bytes) / 1e6, how));
  return ending;
}

Expected<TracedProgram> trace_program(const RunRequest& request, bool quiet) {
  TRY(check_writable(request.trace)); // fails before the program runs, not after
  std::error_code error;
  if (std::filesystem::is_regular_file(request.trace, error)) // an old trace must not pass for the new one
    std::filesystem::remove(request.trace, error);
  TRY_LET(ending, run_program(request, quiet));
  if (!std::filesystem::exists(request.trace, error))
    return ending->empty() ? fail("{}: it left no trace: it launched no kernel, or was built without probes",
                                  request.name)
                           : fail("{}; it left no trace", *ending);
  auto trace = trace::Reader::open(request.trace);
  if (!trace)
    return ending->empty() ? tl::unexpected(trace.error()) : fail("{}; {}", *ending, trace.error().message);
  if (lacks_gpu(*trace))
    return fail("{}: it needs an NVIDIA GPU, and there is none here that programs may use (/dev/nvidia0); "
                "`warplens profile --backend cpu` needs none",
                request.name);
  return TracedProgram{std::move(*ending), std::move(*trace)};
}

Expected<void> trace_model_print(const RunRequest& request, const ModelOptions& model,
                                 const OutputOptions& output) {
  TRY(check_writable(output.file));
  TRY(check_format(*output.format));
  TRY_LET(traced, trace_program(request, output.quiet));
  const std::string& ending = traced->ending;
  auto result = simulate(traced->trace, request.gpus, model, output, request.options.kernel, request.name);
  if (!result)
    return ending.empty() ? tl::unexpected(result.error()) : fail("{}; {}", ending, result.error().message);
  result->program = request.name;
  result->manifest = make_manifest(model.gpus, request.sources, request.nvcc);
  TRY(print(*result, result->program, output));
  if (!ending.empty())
    return fail("{}; the report covers what was collected until then", ending);
  if (result->trace_truncated)
    return fail("{}: its trace was cut short; the report covers what was collected", request.name);
  return {};
}

} // namespace warplens::driver
