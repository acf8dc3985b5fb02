#include "runtime/cpu/machine/prepared_launch.h"

#include "runtime/cpu/device/registry.h"
#include "runtime/cpu/machine/loaded_programs.h"
#include "runtime/cpu/machine/program_images.h"

#include <cstring>
#include <optional>
#include <string_view>

namespace warplens::cpu {
namespace {

machine::Dimensions dimensions_of(const trace::Dim3& dim) {
  return {dim.x, dim.y, dim.z};
}

/// Returns the kernel's parameters one after the other, as device code has them.
Expected<std::vector<std::byte>> pack_parameters(const machine::Kernel& kernel,
                                                 const LaunchToExecute& launch) {
  if (kernel.parameters.size() != launch.kernel.parameter_count)
    return fail("it has {} parameters, and the program's kernel has {}", kernel.parameters.size(),
                launch.kernel.parameter_count);
  std::vector<std::byte> bytes(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const machine::Parameter& parameter = kernel.parameters[i];
    if (parameter.bytes != launch.kernel.parameters[i].bytes ||
        std::size_t{parameter.offset} + parameter.bytes > bytes.size())
      return fail("its parameter {} has {} bytes, and that of the program's kernel {}", i, parameter.bytes,
                  launch.kernel.parameters[i].bytes);
    std::memcpy(bytes.data() + parameter.offset, launch.arguments[i], parameter.bytes);
  }
  return bytes;
}

} // namespace

Expected<PreparedLaunch> prepare_launch(const trace::MachineCode& machine_code,
                                        const LaunchToExecute& launch) {
  static const ProgramImages images;
  PreparedLaunch prepared;
  TRY_LET(loaded, load_kernel(machine_code));
  prepared.program = loaded->program;
  prepared.kernel = loaded->kernel;
  TRY_LET(parameters, pack_parameters(*prepared.kernel, launch));
  auto variables = addresses_of_variables(*prepared.program, launch.kernel.module);
  prepared.launch.grid = dimensions_of(launch.launch.grid);
  prepared.launch.block = dimensions_of(launch.launch.block);
  prepared.launch.cluster =
      launch.cluster.count() != 1 ? dimensions_of(launch.cluster) : prepared.kernel->cluster;
  prepared.launch.dynamic_shared_bytes = launch.launch.dynamic_shared_bytes;
  prepared.launch.parameters = std::move(*parameters);
  prepared.launch.images = &images;
  prepared.launch.workspace = reinterpret_cast<std::uintptr_t>(launch.workspace);
  for (const machine::Kernel::ConstantOperand& operand : prepared.kernel->constant_operands())
    if (const auto [variable, offset] = prepared.program->constant_at(operand.offset); variable != nullptr)
      if (const auto address = variables.find(variable->name); address != variables.end())
        prepared.operands.push_back({operand.instruction, address->second + offset, operand.bytes});
  prepared.launch.address_of =
      [known = std::move(variables)](std::string_view name) -> std::optional<std::uint64_t> {
    const auto found = known.find(name);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  };
  return prepared;
}

} // namespace warplens::cpu
