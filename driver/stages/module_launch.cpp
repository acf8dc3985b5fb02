#include "driver/stages/module_launch.h"

#include "machine/program.h"
#include "ptx/module_image.h"
#include "support/files.h"
#include "toolchain/resources.h"
#include "toolchain/toolkit.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/ranges.h>
#include <memory>
#include <numeric>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;

/// A module's machine code for one GPU.
struct GpuCode {
  std::string cubin;
  machine::Program program;
};

Expected<GpuCode> code_for(const fs::path& module, const std::string& image, const model::Gpu& gpu) {
  const auto toolkit = toolchain::find_toolkit();
  auto cubin = cubin_for(image, gpu.capability(), toolkit ? toolkit->root / "bin/ptxas" : find_assembler());
  if (!cubin)
    return fail("{}: {}", module.string(), cubin.error().message);
  auto program = machine::Program::load(std::as_bytes(std::span(cubin->data(), cubin->size())));
  if (!program)
    return fail("{}: {}", module.string(), program.error().message);
  if (!runs_on(program->architecture(), gpu.capability()))
    return fail("{}: its machine code is for sm_{}, and {} has compute capability {}: --gpu names a GPU that "
                "runs it (warplens gpus lists them)",
                module.string(), program->architecture(), gpu.id, gpu.compute_capability);
  return GpuCode{std::move(*cubin), std::move(*program)};
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : symbol;
}

/// Returns whether the name that a person wrote is this kernel's: whole, or without parameters.
bool is_named(const std::string& symbol, const std::string& name) {
  const std::string whole = demangled(symbol);
  const auto without_type = whole.starts_with("void ") ? whole.substr(5) : whole;
  for (const std::string& one : {symbol, whole, without_type})
    if (one == name || one.starts_with(name + "("))
      return true;
  return false;
}

Expected<const machine::Kernel*> find_kernel(const fs::path& module, const machine::Program& program,
                                             const LaunchSpec& spec) {
  std::vector<const machine::Kernel*> found;
  std::vector<std::string> names;
  for (const machine::Kernel& kernel : program.kernels()) {
    names.push_back(demangled(kernel.name));
    if (spec.kernel.empty() || is_named(kernel.name, spec.kernel))
      found.push_back(&kernel);
  }
  if (names.empty())
    return fail("{}: the module has no kernel", module.string());
  if (found.empty())
    return fail("{}: the module has no kernel '{}'; it has {}", module.string(), spec.kernel,
                fmt::join(names, ", "));
  if (found.size() > 1)
    return fail("{}: 'kernel' has to say which one is launched: {}", spec.file.string(),
                fmt::join(names, ", "));
  return found.front();
}

/// Returns an error unless the arguments are of the sizes of the kernel's parameters.
Expected<void> check_arguments(const LaunchSpec& spec, const machine::Kernel& kernel) {
  if (spec.arguments.size() != kernel.parameters.size()) {
    std::vector<std::uint32_t> sizes;
    for (const machine::Parameter& parameter : kernel.parameters)
      sizes.push_back(parameter.bytes);
    return fail("{}: {} takes {} arguments{}, and there are {}", spec.file.string(), demangled(kernel.name),
                sizes.size(), sizes.empty() ? "" : fmt::format(" of {} bytes", fmt::join(sizes, ", ")),
                spec.arguments.size());
  }
  for (std::size_t i = 0; i < spec.arguments.size(); ++i)
    if (spec.arguments[i].bytes != kernel.parameters[i].bytes)
      return fail("{}:{}: argument {} has {} bytes, and the parameter of {} has {}", spec.file.string(),
                  spec.arguments[i].line, i, spec.arguments[i].bytes, demangled(kernel.name),
                  kernel.parameters[i].bytes);
  return {};
}

std::uint64_t product(const std::array<std::uint32_t, 3>& sizes) {
  return std::uint64_t{sizes[0]} * sizes[1] * sizes[2];
}
std::string text_of(const std::array<std::uint32_t, 3>& sizes) {
  return fmt::format("{} × {} × {}", sizes[0], sizes[1], sizes[2]);
}
std::array<std::uint32_t, 3> array_of(const machine::Dimensions& sizes) {
  return {sizes.x, sizes.y, sizes.z};
}

/// Returns what of the launch is beyond the limits of the kernel or the GPU; empty if nothing is (CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability").
std::string beyond_limits(const LaunchSpec& spec, const machine::Kernel& kernel,
                          const machine::Program& program, const model::Gpu& gpu) {
  const std::uint64_t threads = product(spec.block);
  if (spec.block[0] > 1024 || spec.block[1] > 1024 || spec.block[2] > 64 ||
      threads > gpu.max_threads_per_block)
    return fmt::format("a block of {} threads; blocks of {} have at most {}, and 64 in z",
                       text_of(spec.block), gpu.id, gpu.max_threads_per_block);
  if (spec.grid[1] > 65535 || spec.grid[2] > 65535)
    return fmt::format("a grid of {} blocks; grids have at most 65535 in y and z", text_of(spec.grid));
  if (const auto required = array_of(kernel.required_block); required[0] != 0 && required != spec.block)
    return fmt::format("a block of {} threads, and the kernel requires {}", text_of(spec.block),
                       text_of(required));
  if (const std::uint64_t most = product(array_of(kernel.max_block)); most != 0 && threads > most)
    return fmt::format("a block of {} threads, and the kernel's launch bounds allow {}", threads, most);
  if (threads * kernel.registers > gpu.registers.per_block)
    return fmt::format("a block of {} threads with {} registers each; a block of {} has {}", threads,
                       kernel.registers, gpu.id, gpu.registers.per_block);
  const std::uint32_t reserved = program.architecture() >= 90 ? 1024 : 0;
  const std::uint64_t shared = std::uint64_t{spec.shared_bytes} + kernel.shared_bytes - reserved;
  const std::uint64_t max_shared = gpu.shared.max_bytes_per_block - gpu.shared.reserved_bytes_per_block;
  if (shared > max_shared)
    return fmt::format("{} bytes of shared memory; a block of {} has at most {}", shared, gpu.id, max_shared);
  const std::uint64_t cluster = product(spec.cluster);
  if (cluster > 1 && gpu.capability() < 90)
    return fmt::format("clusters of {} blocks, which {} has not", cluster, gpu.id);
  if (cluster > 16)
    return fmt::format("clusters of {} blocks; they have at most 16", cluster);
  for (std::size_t i = 0; i < 3; ++i)
    if (spec.grid[i] % spec.cluster[i] != 0)
      return fmt::format("a grid of {} blocks, no multiple of its clusters of {}", text_of(spec.grid),
                         text_of(spec.cluster));
  std::uint64_t bytes = 0;
  for (const LaunchArgument& argument : spec.arguments)
    bytes += argument.buffer_bytes;
  if (gpu.dram.bytes != 0 && bytes > gpu.dram.bytes)
    return fmt::format("buffers of {:.1f} GB; {} has {:.1f}", double(bytes) / 1e9, gpu.id,
                       double(gpu.dram.bytes) / 1e9);
  return {};
}

nlohmann::json plan_of(const LaunchSpec& spec, const std::string& symbol, const fs::path& module) {
  nlohmann::json plan{{"module", module.string()},
                      {"kernel", symbol},
                      {"grid", spec.grid},
                      {"block", spec.block},
                      {"cluster", spec.cluster},
                      {"shared", spec.shared_bytes},
                      {"arguments", nlohmann::json::array()}};
  for (const LaunchArgument& argument : spec.arguments)
    plan["arguments"].push_back(argument.plan);
  return plan;
}

} // namespace

bool is_module(const fs::path& file) {
  const auto extension = file.extension();
  return extension == ".cubin" || extension == ".ptx" || extension == ".fatbin";
}

Expected<std::vector<std::string>> launch_module(const fs::path& module, const fs::path& spec_file,
                                                 const std::vector<model::Gpu>& gpus,
                                                 const fs::path& folder) {
  TRY_LET(image, read_file(module));
  TRY_LET(spec, read_launch_spec(spec_file));
  std::vector<ArchitectureCubin> cubins;
  std::string symbol;
  for (const model::Gpu& gpu : gpus) {
    TRY_LET(code, code_for(module, *image, gpu));
    TRY_LET(kernel, find_kernel(module, code->program, *spec));
    TRY(check_arguments(*spec, **kernel));
    if (const std::string what = beyond_limits(*spec, **kernel, code->program, gpu); !what.empty())
      return fail("{}: {}", spec->file.string(), what);
    symbol = (*kernel)->name;
    const int architecture = code->program.architecture();
    if (std::ranges::find(cubins, architecture, &ArchitectureCubin::architecture) == cubins.end())
      cubins.push_back({architecture, std::move(code->cubin)});
  }
  const fs::path fatbin = folder / "module.fatbin", plan = folder / "launch.json";
  TRY(write_file(fatbin, make_fatbin(cubins)));
  TRY(write_file(plan, plan_of(*spec, symbol, fatbin).dump()));
  return std::vector{toolchain::resources().launch.string(), plan.string()};
}

} // namespace warplens::driver
