// The whole lowering, stage by stage.
#include "lowering/lower.h"

#include "lowering/places.h"
#include "lowering/stages.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

namespace warplens::lowering {

static Expected<std::unique_ptr<llvm::Module>> read(const std::filesystem::path& path,
                                                    llvm::LLVMContext& context) {
  auto buffer = llvm::MemoryBuffer::getFile(path.string());
  if (!buffer)
    return fail("{}: {}", path.string(), buffer.getError().message());
  auto module = llvm::parseBitcodeFile(**buffer, context);
  if (!module)
    return fail("{}: not LLVM bitcode: {}", path.string(), llvm::toString(module.takeError()));
  if (!llvm::StringRef((*module)->getTargetTriple()).starts_with("nvptx64"))
    return fail("{}: bitcode for {}, not for nvptx64; compile the device half", path.string(),
                (*module)->getTargetTriple());
  return std::move(*module);
}

/// A module that LLVM's verifier refuses would crash later stages.
static Expected<void> verify(const llvm::Module& module, const char* when) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream))
    return fail("{}: {} the module is not valid: {}", module.getSourceFileName(), when,
                problem.substr(0, problem.find('\n')));
  return {};
}

Expected<void> lower(const Request& request) {
  llvm::LLVMContext context;
  auto read_module = read(request.bitcode, context);
  if (!read_module)
    return tl::unexpected(read_module.error());
  llvm::Module& module = **read_module;
  if (auto valid = verify(module, "as it was read"); !valid)
    return valid;
  auto machine = host_target(request.optimisation);
  if (!machine)
    return tl::unexpected(machine.error());

  set_system_folders(module, request.system_folders);
  auto kernels = find_kernels(module, **machine);
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
  if (request.memcheck)
    check_copies(module);
  make_values(module, **machine);
  if (request.memcheck)
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
  add_records(module, kernels, *variables, *keys);
  if (auto valid = verify(module, "after lowering"); !valid)
    return valid;
  if (auto done = optimise(module, **machine, request.optimisation); !done)
    return done;
  return emit_object(module, **machine, request.object);
}

} // namespace warplens::lowering
