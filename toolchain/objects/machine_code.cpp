#include "toolchain/objects/machine_code.h"

#include "ptx/module.h"
#include "support/files.h"
#include "toolchain/cache/stage_cache.h"
#include "toolchain/nvcc/clang_arguments.h"
#include "toolchain/objects/assemble.h"
#include "toolchain/objects/gpu_object.h"
#include "toolchain/resources.h"
#include "trace/machine_code.h"

#include <algorithm>
#include <array>
#include <future>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace warplens::toolchain {
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

/// The functions of CUDA's runtime by which kernels launch kernels: nvcc's code calls those of libcudadevrt,
/// which call the driver's. As the library is not linked, the code is made to call these.
constexpr std::string_view of_device_runtime = "__cudaCDP2", of_driver = "__cuda_syscall_cnpv2";

std::string calling_the_driver(std::string ptx) {
  for (std::size_t at = 0; (at = ptx.find(of_device_runtime, at)) != ptx.npos; at += of_driver.size())
    ptx.replace(at, of_device_runtime.size(), of_driver);
  return ptx;
}

/// Returns whether the PTX calls functions of other files: the resources of a kernel with such a call are
/// known after the device link.
bool calls_other_files(const std::string& ptx) {
  constexpr auto of_the_driver =
      std::to_array<std::string_view>({"vprintf", "malloc", "free", "__assertfail"});
  const auto items = ptx::items_of(ptx);
  return items && std::ranges::any_of(*items, [&](const ptx::Item& item) {
           return item.kind == ptx::ItemKind::declaration && item.text.starts_with(".extern") &&
                  !item.name.starts_with(of_driver) &&
                  std::ranges::find(of_the_driver, item.name) == of_the_driver.end();
         });
}

/// Compiles the source to one architecture's PTX. Returns nothing of a source that nvcc refuses, or whose
/// kernels' resources are known after the device link.
std::optional<std::string> compile_ptx(const MachineCodeRequest& request, const Words& flags,
                                       const std::string& architecture) {
  const fs::path ptx = request.directory / fmt::format("code_{}.ptx", architecture),
                 dependencies = request.directory / fmt::format("code_{}.d", architecture);
  Words words = flags;
  words.insert(words.end(), {"ptx", request.source.string(), architecture});
  Words preprocessing = request.nvcc.host_compiler; // the order of nvcc's commands
  preprocessing.insert(preprocessing.end(), request.nvcc.preprocessing.begin(),
                       request.nvcc.preprocessing.end());
  StageRun run{request.directory, words, nvccs_programs(request.toolkit),
               searched_folders(request.source, preprocessing)};
  run.outputs_are_text = true;
  const StageCache cache;
  if (cache.restore(run).empty()) {
    if (!run_nvcc(request.toolkit, flags,
                  {"-ptx", "-lineinfo", "-MD", "-MF", dependencies.string(), "-arch=compute_" + architecture,
                   "-x", "cu", request.source.string(), "-o", ptx.string()},
                  request.directory))
      return std::nullopt;
    cache.keep(run, read_rule(dependencies).prerequisites, {ptx});
  }
  auto text = read_file(ptx);
  if (!text || !request.nvcc.relocatable)
    return text ? std::optional(std::move(*text)) : std::nullopt;
  std::string linked = calling_the_driver(std::move(*text));
  return calls_other_files(linked) ? std::nullopt : std::optional(std::move(linked));
}

} // namespace

MachineCode machine_code(const MachineCodeRequest& request) {
  SourcePtx ptx;
  ptx.architectures =
      request.nvcc.architectures.empty() ? Words{"75"} : request.nvcc.architectures; // nvcc 13's default
  ptx.flags = own_flags(request.nvcc);
  // Code that calls no other file is whole by itself: ptxas makes what executes without a device link.
  Words flags_of_ptx = ptx.flags;
  if (request.nvcc.relocatable)
    flags_of_ptx.push_back("-rdc=true");
  /// One architecture's PTX, and the kernels that are made of it at once.
  struct Part {
    std::optional<std::string> module;
    std::vector<KernelCode> kernels;
  };
  std::vector<int> all = request.capabilities;
  all.insert(all.end(), request.later.begin(), request.later.end());
  std::map<std::string, std::future<Part>> running;
  for (const auto& choice : choose_binaries(ptx.architectures, all))
    running.emplace(choice.first, std::async(std::launch::async, [&, architecture = choice.first] {
                      Part part{compile_ptx(request, flags_of_ptx, architecture), {}};
                      if (part.module)
                        part.kernels =
                            assemble({ptx.architectures, ptx.flags, {{architecture, *part.module}}},
                                     request.toolkit, request.capabilities, request.directory);
                      return part;
                    }));
  MachineCode made;
  for (auto& [architecture, future] : running) {
    Part part = future.get();
    if (part.module)
      ptx.modules[architecture] = std::move(*part.module);
    std::ranges::move(part.kernels, std::back_inserter(made.kernels));
  }
  const fs::path file = request.directory / "code.ptx.pack";
  if (!request.later.empty() && !ptx.modules.empty() && write_file(file, packed(ptx)))
    made.ptx = file;
  return made;
}

MachineCodes start_machine_code(MachineCodeRequest request) {
  return std::async(std::launch::async, [request = std::move(request)] { return machine_code(request); })
      .share();
}

MachineCodes start_machine_code_for_any_gpu(const NvccArguments& nvcc, const Toolkit& toolkit,
                                            const fs::path& source, const fs::path& directory,
                                            std::vector<int> later) {
  return start_machine_code({nvcc, toolkit, source, directory, {default_capability}, std::move(later)});
}

} // namespace warplens::toolchain
