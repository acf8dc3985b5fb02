#include "model/gpu/machine_code.h"

#include "trace/machine_code.h"

namespace warplens::model {

std::optional<CompiledKernel> compiled_for(const Gpu& gpu, const trace::Launch& launch) {
  if (const auto* code =
          trace::machine_code_for(launch.machine_code, gpu.capability(), gpu.registers.max_per_thread))
    return CompiledKernel{code->architecture,      !trace::is_own(*code, gpu.capability()),
                          code->registers,         code->stack_bytes,
                          code->spill_store_bytes, code->spill_load_bytes,
                          code->shared_bytes};
  if (launch.registers_per_thread == 0)
    return std::nullopt;
  CompiledKernel known; // from the device on which the program ran
  known.registers = launch.registers_per_thread;
  return known;
}

} // namespace warplens::model
