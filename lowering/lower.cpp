// The whole lowering, stage by stage.
#include "lowering/lower.h"

#include "lowering/places.h"
#include "lowering/stages.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

namespace warplens::lowering {

/// A module that LLVM's verifier refuses would crash later stages.
static Expected<void> verify(const llvm::Module& module, const char* when) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream))
    return fail("{}: {} the module is not valid: {}", module.getSourceFileName(), when,
                problem.substr(0, problem.find('\n')));
  return {};
}

static Expected<void> lower(llvm::Module& module, const Output& output) {
  if (auto valid = verify(module, "as it was read"); !valid)
    return valid;
  auto machine = host_target(output.optimisation);
  if (!machine)
    return tl::unexpected(machine.error());

  set_system_folders(module, output.system_folders);
  if (auto done = check_annotations(module); !done)
    return done;
  auto kernels = find_kernels(module, **machine);
  define_arithmetic(module);
  if (auto done = lower_inline_assembly(module); !done)
    return done;
  if (auto done = lower_intrinsics(module); !done)
    return done;
  if (auto done = lower_device_functions(module); !done)
    return done;
  auto variables = lower_device_variables(module);
  if (!variables)
    return tl::unexpected(variables.error());
  retarget(module, **machine);

  inline_calls(module, **machine);
  if (output.memcheck)
    check_copies(module);
  make_values(module, **machine);
  contract(module);
  flush_denormals(module);
  if (output.memcheck)
    check_accesses(module, kernels, *variables);
  store_places(module);
  if (auto done = lay_out_shared_memory(module, kernels); !done)
    return done;
  auto keys = assign_order_keys(module, kernels);
  if (!keys)
    return tl::unexpected(keys.error());
  llvm::StripDebugInfo(module); // the forms are clones: one source function would be described twice

  make_forms(module, kernels, **machine);
  append_to_logs(module, kernels, *keys);
  bind_lanes(module);
  add_records(module, kernels, *variables, *keys, output.module);
  if (auto valid = verify(module, "after lowering"); !valid)
    return valid;
  if (auto done = optimise(module, **machine, output.optimisation); !done)
    return done;
  return emit_object(module, **machine, output.object);
}

Expected<void> lower(const std::filesystem::path& bitcode, const Output& output) {
  llvm::LLVMContext context;
  auto module = read_bitcode(bitcode, context);
  return module ? lower(**module, output) : tl::unexpected(module.error());
}

Expected<void> link(const std::vector<std::string>& files, const Output& output) {
  llvm::LLVMContext context;
  auto module = link_bitcode(files, context);
  return module ? lower(**module, output) : tl::unexpected(module.error());
}

} // namespace warplens::lowering
