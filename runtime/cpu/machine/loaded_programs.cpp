#include "runtime/cpu/machine/loaded_programs.h"

#include "runtime/cpu/device/registry.h"

#include <algorithm>
#include <mutex>
#include <string_view>

namespace warplens::cpu {
namespace {

/// Returns the kernel of this name; compilers prefix those of a file's own under -rdc.
const machine::Kernel* kernel_named(const machine::Program& program, const std::string& symbol) {
  const auto found = std::ranges::find_if(program.kernels(), [&](const machine::Kernel& kernel) {
    return kernel.name == symbol ||
           (kernel.name.starts_with("__nv_static_") && kernel.name.ends_with(symbol));
  });
  return found == program.kernels().end() ? nullptr : &*found;
}

} // namespace

Expected<LoadedKernel> load_kernel(const trace::MachineCode& code) {
  static std::mutex mutex;
  static std::map<std::uint64_t, Expected<machine::Program>>& programs =
      *new std::map<std::uint64_t, Expected<machine::Program>>;
  const std::scoped_lock lock(mutex);
  auto found = programs.find(code.cubin_id);
  if (found == programs.end())
    found =
        programs
            .emplace(code.cubin_id,
                     machine::Program::load(std::as_bytes(std::span(code.cubin.data(), code.cubin.size()))))
            .first;
  if (!found->second)
    return tl::unexpected(found->second.error());
  const machine::Kernel* kernel = kernel_named(*found->second, code.symbol);
  if (kernel == nullptr)
    return fail("the cubin has no kernel '{}'", code.symbol);
  return LoadedKernel{&*found->second, kernel};
}

std::map<std::string, std::uint64_t, std::less<>> addresses_of_variables(const machine::Program& program,
                                                                         const char* module) {
  std::map<std::string, std::uint64_t, std::less<>> addresses;
  for (const machine::Variable& variable : program.variables())
    if (const VariableRecord* const record = find_device_variable(variable.name, module))
      addresses.emplace(variable.name, reinterpret_cast<std::uintptr_t>(record->address));
  return addresses;
}

} // namespace warplens::cpu
