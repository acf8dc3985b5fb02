// Runs all stages of the lowering.
#include "lowering/lower.h"

#include "lowering/debugging.h"
#include "lowering/device_link.h"
#include "lowering/noted_accesses.h"
#include "lowering/parts.h"
#include "lowering/places.h"
#include "lowering/progress.h"
#include "lowering/refused_code.h"
#include "lowering/stages.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

namespace warplens::lowering {

Expected<void> verify(const llvm::Module& module, const char* when) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream))
    return fail("{}: {} the module is not valid: {}", module.getSourceFileName(), when,
                problem.substr(0, problem.find('\n')));
  return {};
}

static Expected<void> lower(std::unique_ptr<llvm::Module> owned, const Output& output, Progress& progress) {
  llvm::Module& module = *owned;
  const bool debugged = is_debugged(module);
  Progress::Track track(progress, "");
  track.next("lower operations", module.getInstructionCount());
  if (auto valid = verify(module, "as it was read"); !valid)
    return valid;
  TRY_LET(machine, host_target(output.optimisation));

  set_system_folders(module, output.system_folders);
  check_annotations(module);
  auto kernels = find_kernels(module, **machine);
  for (Kernel& kernel : kernels)
    kernel.checks = output.checks;
  define_arithmetic(module);
  lower_inline_assembly(module);
  lower_intrinsics(module);
  refuse_device_runtime(module);
  empty_refused_kernels(module, kernels);
  for (const Kernel& kernel : kernels)
    if (!kernel.refusal.empty()) {
      if (!output.keeps_refused)
        return fail("{}", kernel.refusal);
      fmt::print("{} (its machine code will be executed, which is slower)\n", kernel.refusal);
    }
  if (auto done = lower_device_functions(module); !done)
    return done;
  TRY_LET(variables, lower_device_variables(module));
  retarget(module, **machine);
  describe_built_in_variables(module);

  flush_denormals_of_some(module);
  track.next("inline", module.getInstructionCount());
  inline_calls(module, **machine, output.checks.bits() == 0 && !debugged, output.limits.inlined);
  hide_foreign_code(module);
  mark_nested(module, kernels);
  if (output.checks.has(cpu::Check::memory))
    check_copies(module);
  track.next("make values", module.getInstructionCount());
  make_values(module, **machine);
  contract(module);
  flush_denormals(module);
  keep_lock_step(module, kernels, output.checks.has(cpu::Check::lock_step)); // checks follow the stops
  check_accesses(module, kernels, output.checks);
  mark_noted_accesses(module);
  store_places(module);
  track.next("assign keys", module.getInstructionCount());
  if (auto done = lay_out_shared_memory(module, kernels); !done)
    return done;
  std::vector<KeptFunction> kept;
  if (auto done = assign_order_keys(module, kernels, kept); !done)
    return done;
  if (!debugged)
    llvm::StripDebugInfo(module);
  track.next("compile", module.getInstructionCount());
  return compile_in_parts(std::move(owned), std::move(kernels), kept, std::move(*variables), output,
                          progress);
}

Expected<void> lower(const std::filesystem::path& bitcode, const Output& output) {
  llvm::LLVMContext context;
  TRY_LET(module, read_bitcode(bitcode, context));
  if (!output.source.empty())
    (*module)->setSourceFileName(output.source);
  Progress progress((*module)->getSourceFileName(), output.times);
  return lower(std::move(*module), output, progress);
}

Expected<void> link(const std::vector<std::string>& files, const Output& output) {
  llvm::LLVMContext context;
  TRY_LET(linked, link_bitcode(files, context));
  Progress progress("device link", output.times);
  Output with_objects = output;
  with_objects.referenced_symbols = linked->object_symbols;
  return lower(std::move(linked->module), with_objects, progress);
}

} // namespace warplens::lowering
