// A launch of the program as the executor of machine code takes it: the kernel's code, its parameters, and
// where the program's variables, textures and workspace are.
#pragma once

#include "machine/execute.h"
#include "runtime/abi/abi.h"
#include "runtime/cpu/machine/execution_recorder.h"
#include "support/expected.h"
#include "trace/records.h"

#include <cstdint>
#include <vector>

namespace warplens::cpu {

/// A launch as the executor must know it.
struct LaunchToExecute {
  const KernelRecord& kernel;
  const trace::Launch& launch; ///< with its id
  void** arguments;
  trace::Dim3 cluster{1, 1, 1}; ///< that the launch sets
  /// The workspace of a cooperative launch, whose blocks wait for each other, and how many of its first
  /// blocks are recorded. Null: the launch is none.
  const void* workspace = nullptr;
  std::uint64_t recorded_blocks = 0;
  /// How many records a block may have: longer ones leave out iterations of loops.
  std::uint64_t records_of_block = ~std::uint64_t{0};
  /// The launch has blocks that begin while others have long begun.
  bool has_waves = false;
  /// The machine code by which the program's own blocks run; null: they are lowered code.
  const trace::MachineCode* own_code = nullptr;
};

struct PreparedLaunch {
  const machine::Program* program = nullptr;
  const machine::Kernel* kernel = nullptr;
  machine::Launch launch; ///< without functions of the outside world
  std::vector<ConstantOperand> operands;
};

/// Returns in one line why the machine code cannot be executed.
Expected<PreparedLaunch> prepare_launch(const trace::MachineCode& machine_code,
                                        const LaunchToExecute& launch);

} // namespace warplens::cpu
