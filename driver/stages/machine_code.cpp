#include "driver/stages/machine_code.h"

#include "driver/resources.h"
#include "driver/stages/compile_source.h"
#include "driver/stages/compiler.h"
#include "driver/stages/gpu_object.h"
#include "driver/stages/stage_cache.h"
#include "ptx/module.h"
#include "support/files.h"
#include "trace/machine_code.h"

#include <algorithm>
#include <array>
#include <future>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Returns whether the word is one of the options, with a value or without.
bool is_one_of(const std::string& word, std::initializer_list<std::string_view> options) {
  return std::ranges::find(options, std::string_view(word).substr(0, word.find('='))) != options.end();
}

/// Returns the user's flags, but for those that choose the output and the architectures. Link-time
/// optimisation would leave ptxas nothing to do.
Words own_flags(const NvccArguments& nvcc) {
  return words_without(nvcc, [](const NvccArgument& argument) {
    switch (argument.kind) {
    case OptionKind::architecture:
    case OptionKind::code_generation:
    case OptionKind::keep:
    case OptionKind::keep_directory:
    case OptionKind::parallelism:
    case OptionKind::verbose:
    case OptionKind::relocatable:
    case OptionKind::linker:
    case OptionKind::library:
    case OptionKind::library_path: return true;
    default:
      return describes_result(argument) ||
             is_one_of(argument.words.front(),
                       {"-code", "--gpu-code", "-dlto", "--dlink-time-opt", "-lto", "--lto"});
    }
  });
}

Expected<std::string> run_nvcc(const MachineCodeRequest& request, const Words& arguments) {
  Command command;
  command.arguments.push_back((request.toolkit.root / "bin/nvcc").string());
  for (const auto& words : {own_flags(request.nvcc), arguments})
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  if (request.nvcc.relocatable)
    command.arguments.push_back("-rdc=true");
  command.environment = {{"TMPDIR", request.directory.string()}};
  command.without = nvcc_variables;
  return run_compiler(std::move(command));
}

/// Returns whether the PTX calls functions of other files: the resources of a kernel with such a call are
/// known after the device link.
bool calls_other_files(const fs::path& file) {
  constexpr auto of_the_driver =
      std::to_array<std::string_view>({"vprintf", "malloc", "free", "__assertfail"});
  const auto items = read_file(file).and_then(ptx::items_of);
  return items && std::ranges::any_of(*items, [&](const ptx::Item& item) {
           return item.kind == ptx::ItemKind::declaration && item.text.starts_with(".extern") &&
                  std::ranges::find(of_the_driver, item.name) == of_the_driver.end();
         });
}

/// The machine code for one GPU: a cubin, and what ptxas said of it.
struct Assembled {
  fs::path cubin, log;
};

Assembled assembled(const MachineCodeRequest& request, const std::string& architecture,
                    const std::string& binary) {
  const auto name = fmt::format("code_{}_{}", architecture, binary);
  return {request.directory / (name + ".cubin"), request.directory / (name + ".log")};
}

/// Compiles the source to one architecture's PTX, and that for each binary's GPU. Returns the files that were
/// made, none of a source that nvcc refuses, or whose kernels' resources are known after the device link.
std::vector<fs::path> compile_ptx(const MachineCodeRequest& request, const std::string& architecture,
                                  const std::map<std::string, std::vector<int>>& binaries,
                                  const fs::path& dependencies) {
  const fs::path ptx = request.directory / fmt::format("code_{}.ptx", architecture);
  if (!run_nvcc(request,
                {"-ptx", "-lineinfo", "-MD", "-MF", dependencies.string(), "-arch=compute_" + architecture,
                 "-x", "cu", request.source.string(), "-o", ptx.string()}) ||
      (request.nvcc.relocatable && calls_other_files(ptx)))
    return {};
  const auto assemble = [&](const std::string& binary) -> Expected<void> {
    const auto [cubin, log] = assembled(request, architecture, binary);
    // The input has no -x option: the file is PTX.
    TRY_LET(output,
            run_nvcc(request, {"-cubin", "-lineinfo",
                               fmt::format("-gencode=arch=compute_{},code=sm_{}", architecture, binary),
                               "-Xptxas", "-v", ptx.string(), "-o", cubin.string()}));
    return write_file(log, *output);
  };
  std::map<std::string, std::future<Expected<void>>> running;
  for (const auto& entry : binaries)
    running.emplace(entry.first, std::async(std::launch::async, assemble, entry.first));
  std::vector<fs::path> files;
  for (auto& [binary, assembled_binary] : running)
    if (assembled_binary.get()) {
      const auto [cubin, log] = assembled(request, architecture, binary);
      files.insert(files.end(), {cubin, log});
    }
  return files;
}

/// Returns the machine code made from one architecture's PTX.
std::vector<KernelCode> from_ptx(const MachineCodeRequest& request, const std::string& architecture,
                                 const std::map<std::string, std::vector<int>>& binaries) {
  Words words = own_flags(request.nvcc);
  words.insert(words.end(), {"machine code", request.source.string(), architecture,
                             request.nvcc.relocatable ? "-rdc" : ""});
  for (const auto& entry : binaries)
    words.push_back(entry.first);
  const auto programs = request.toolkit.root / "bin";
  Words preprocessing = request.nvcc.host_compiler; // the order of nvcc's commands
  preprocessing.insert(preprocessing.end(), request.nvcc.preprocessing.begin(),
                       request.nvcc.preprocessing.end());
  const StageCache cache;
  const StageRun run{request.directory,
                     words,
                     {programs / "nvcc", programs / "nvcc.profile", programs / "ptxas",
                      programs / "../nvvm/bin/cicc", program_in_path("gcc")},
                     searched_folders(request.source, preprocessing)};
  if (cache.restore(run).empty()) {
    const fs::path dependencies = request.directory / fmt::format("code_{}.d", architecture);
    const auto made = compile_ptx(request, architecture, binaries, dependencies);
    if (made.size() == 2 * binaries.size())
      cache.keep(run, read_rule(dependencies).prerequisites, made);
  }
  std::vector<KernelCode> all;
  for (const auto& [binary, capabilities] : binaries) {
    const auto [cubin, log] = assembled(request, architecture, binary);
    for (const KernelCode& kernel : read_ptxas(read_file(log).value_or("")))
      for (const int capability : capabilities) {
        all.push_back(kernel);
        all.back().code.capability = static_cast<std::uint32_t>(capability);
        all.back().code.architecture = static_cast<std::uint32_t>(architecture_number(binary));
        all.back().cubin = cubin;
      }
  }
  return all;
}

} // namespace

std::vector<KernelCode> machine_code(const MachineCodeRequest& request) {
  const auto architectures =
      request.nvcc.architectures.empty() ? Words{"75"} : request.nvcc.architectures; // nvcc 13's default
  std::map<std::string, std::map<std::string, std::vector<int>>> choices; // PTX → binary → capabilities
  for (const int capability : request.capabilities) {
    const CodeChoice choice = choose_code(architectures, capability);
    choices[choice.ptx][choice.binary].push_back(capability);
  }
  std::vector<std::future<std::vector<KernelCode>>> running;
  for (const auto& choice : choices)
    running.push_back(
        std::async(std::launch::async, [&] { return from_ptx(request, choice.first, choice.second); }));
  std::vector<KernelCode> all;
  for (auto& made : running)
    std::ranges::move(made.get(), std::back_inserter(all));
  return all;
}

MachineCodes start_machine_code(MachineCodeRequest request) {
  return std::async(std::launch::async, [request = std::move(request)] { return machine_code(request); })
      .share();
}

std::vector<int> capabilities_of(const std::vector<model::Gpu>& gpus) {
  std::set<int> capabilities;
  for (const auto& gpu : gpus)
    if (gpu.registers.max_per_thread >= trace::registers_of_todays_threads)
      capabilities.insert(gpu.capability());
  return {capabilities.begin(), capabilities.end()};
}

std::vector<int> known_capabilities() {
  std::vector<model::Gpu> gpus;
  for (const auto& name : model::list_gpus(resources().gpus).value_or(Words{}))
    if (auto gpu = model::load_gpu(name, resources().gpus))
      gpus.push_back(std::move(*gpu));
  return capabilities_of(gpus);
}

} // namespace warplens::driver
