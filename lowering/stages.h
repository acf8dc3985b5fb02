// The stages of lowering, in the order in which lower.cpp runs them.
#pragma once

#include "lowering/kernel.h"
#include "support/expected.h"

#include <filesystem>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <memory>
#include <vector>

namespace warplens::lowering {

/// The module of one bitcode file.
Expected<std::unique_ptr<llvm::Module>> read_bitcode(const std::filesystem::path& path,
                                                     llvm::LLVMContext& context);
/// One module of all the bitcode that lies in objects and archives (-rdc). Other files hold none.
Expected<std::unique_ptr<llvm::Module>> link_bitcode(const std::vector<std::string>& files,
                                                     llvm::LLVMContext& context);

/// The machine this process runs on.
Expected<std::unique_ptr<llvm::TargetMachine>> host_target(unsigned optimisation);

/// Refuses what an annotation in the source asks for and this back end has not.
Expected<void> check_annotations(llvm::Module& module);

/// The module's kernels; everything that neither they nor device variables reach is removed.
std::vector<Kernel> find_kernels(llvm::Module& module, llvm::TargetMachine& machine);

/// Host triple, data layout and processor instead of NVPTX's.
void retarget(llvm::Module& module, const llvm::TargetMachine& machine);

/// __device__ and __constant__ variables become private globals of the host.
Expected<std::vector<DeviceVariable>> lower_device_variables(llvm::Module& module);

/// Divisions, shifts and conversions to integers get a result for all operands.
void define_arithmetic(llvm::Module& module);

/// Inline PTX becomes intrinsics; what is not known is refused.
Expected<void> lower_inline_assembly(llvm::Module& module);

/// llvm.nvvm.* becomes plain IR or calls of the runtime, except the special registers, which stay until
/// bind_lane.
Expected<void> lower_intrinsics(llvm::Module& module);

/// Calls of libdevice, printf, malloc, … become plain IR or calls of the runtime; what is not defined
/// anywhere is refused.
Expected<void> lower_device_functions(llvm::Module& module);

/// Inlines all that can be into the kernels, keeping program order.
void inline_calls(llvm::Module& module, llvm::TargetMachine& machine);

/// Makes values of locals, and so of the probes' arguments, keeping program order.
void make_values(llvm::Module& module, llvm::TargetMachine& machine);

/// Fuses products into sums where the source allows it, and nothing else does so later.
void contract(llvm::Module& module);

/// Where -ftz=true asks for it, single precision knows no subnormal numbers.
void flush_denormals(llvm::Module& module);

// For --memcheck: calls of the runtime before accesses to memory that other threads may know of. They end the
// program where the access is wrong.

/// Copies of classes, before make_values takes them apart: as wholes they want more of an address.
void check_copies(llvm::Module& module);
/// Every access.
void check_accesses(llvm::Module& module, std::vector<Kernel>& kernels,
                    std::vector<DeviceVariable>& variables);

/// Gives each kernel's __shared__ variables their places in the block's buffer.
Expected<void> lay_out_shared_memory(llvm::Module& module, std::vector<Kernel>& kernels);

/// Replaces each __warplens_access by a probe with its order key, and marks where loops end.
Expected<std::vector<Key>> assign_order_keys(llvm::Module& module, const std::vector<Kernel>& kernels);

/// Splits each kernel into its untraced and its traced form and makes the entries that the runtime calls.
void make_forms(llvm::Module& module, std::vector<Kernel>& kernels, llvm::TargetMachine& machine);

/// Probes become entries in the lane's log; counts the accesses that traced code executes.
void append_to_logs(llvm::Module& module, const std::vector<Kernel>& kernels, const std::vector<Key>& keys);

/// Gives every function the lane it runs for, and the values of the special registers.
void bind_lanes(llvm::Module& module);

/// A constructor that registers the kernels and variables with the runtime, under the module's name.
void add_records(llvm::Module& module, const std::vector<Kernel>& kernels,
                 const std::vector<DeviceVariable>& variables, const std::vector<Key>& keys,
                 const std::string& name);

Expected<void> optimise(llvm::Module& module, llvm::TargetMachine& machine, unsigned level);
Expected<void> emit_object(llvm::Module& module, llvm::TargetMachine& machine,
                           const std::filesystem::path& object);

} // namespace warplens::lowering
