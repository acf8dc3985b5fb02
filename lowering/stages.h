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

/// Reads the module of one bitcode file.
Expected<std::unique_ptr<llvm::Module>> read_bitcode(const std::filesystem::path& path,
                                                     llvm::LLVMContext& context);

/// Returns the machine this process runs on.
Expected<std::unique_ptr<llvm::TargetMachine>> host_target(unsigned optimisation);

/// Marks kernels as refused whose annotations this back end cannot follow.
void check_annotations(llvm::Module& module);

/// Returns the module's kernels, and removes everything that neither they nor device variables reach.
std::vector<Kernel> find_kernels(llvm::Module& module, llvm::TargetMachine& machine);

/// Replaces NVPTX's triple, data layout and processor by the host's.
void retarget(llvm::Module& module, const llvm::TargetMachine& machine);

/// Turns __device__ and __constant__ variables into globals of the host, which stay, used or not, until
/// add_records registers them.
Expected<std::vector<DeviceVariable>> lower_device_variables(llvm::Module& module);

/// Defines the results of divisions, shifts and conversions to integers for all operands.
void define_arithmetic(llvm::Module& module);

/// Turns inline PTX into intrinsics; unknown instructions are marked as refused.
void lower_inline_assembly(llvm::Module& module);

/// Turns llvm.nvvm.* into plain IR or calls of the runtime, except the special registers, which stay until
/// bind_lanes. Unknown ones are marked as refused.
void lower_intrinsics(llvm::Module& module);

/// Turns calls of libdevice, printf, malloc, … into plain IR or calls of the runtime; calls of undefined
/// functions are refused.
Expected<void> lower_device_functions(llvm::Module& module);

/// Inlines all calls that it can into the kernels, keeping program order. With `simplify`, functions are
/// simplified as by make_values before they are inlined. A function that would grow beyond `max_instructions`
/// keeps its largest callees as calls.
void inline_calls(llvm::Module& module, llvm::TargetMachine& machine, bool simplify,
                  std::uint64_t max_instructions);

/// Turns locals, and so the probes' arguments, into values, keeping program order.
void make_values(llvm::Module& module, llvm::TargetMachine& machine);

/// Fuses products into sums where the source allows it; no later pass does so.
void contract(llvm::Module& module);

/// Flushes subnormal numbers in single precision where the source has -ftz=true.
void flush_denormals(llvm::Module& module);

/// Does the same before functions are inlined, if only some functions of a device link flush: inlining mixes
/// their operations. Products and sums of these functions are not contracted.
void flush_denormals_of_some(llvm::Module& module);

// Inserts calls of the runtime for --memcheck, --racecheck and --initcheck before accesses to memory that
// other threads may know of.

/// Checks copies of classes, before make_values splits them: as wholes they require a larger alignment.
void check_copies(llvm::Module& module);
/// Checks every access.
void check_accesses(llvm::Module& module, std::vector<Kernel>& kernels, cpu::Checks checks);
/// Adds, for --memcheck, strings and the compiler's own tables to the variables: they are read through
/// pointers. Must run after the last removal of variables.
void add_tables(llvm::Module& module, std::vector<DeviceVariable>& variables);

/// Inserts stops where lanes of a warp rely on lock step; with `everywhere`, between all accesses that may be
/// to the same place.
void keep_lock_step(llvm::Module& module, std::vector<Kernel>& kernels, bool everywhere);

/// Gives each kernel's __shared__ variables their offsets in the block's buffer.
Expected<void> lay_out_shared_memory(llvm::Module& module, std::vector<Kernel>& kernels);

/// Replaces each __warplens_access by a probe with its order key, marks the ends of loops, and stores in each
/// kernel what its keys mean. The functions that stay calls within kernels go to `kept`, callees first.
Expected<void> assign_order_keys(llvm::Module& module, std::vector<Kernel>& kernels,
                                 std::vector<KeptFunction>& kept);

/// Splits each kernel into its untraced and its traced variant and makes the entries that the runtime calls.
void make_variants(llvm::Module& module, std::vector<Kernel>& kernels, const std::vector<KeptFunction>& kept,
                   llvm::TargetMachine& machine);

/// Turns probes into appends to the lane's log; counts the accesses that traced code executes.
void append_to_logs(llvm::Module& module, const std::vector<Kernel>& kernels,
                    const std::vector<KeptFunction>& kept);

/// Gives every function its lane, and the values of the special registers.
void bind_lanes(llvm::Module& module);

/// Adds a constructor that registers the kernels and variables with the runtime, under the module's name. The
/// variables become private.
void add_records(llvm::Module& module, const std::vector<Kernel>& kernels,
                 const std::vector<DeviceVariable>& variables, const std::string& name);

/// Marks the functions that could not be inlined for check_stacks.
void mark_nested(llvm::Module& module, const std::vector<Kernel>& kernels);
/// Inserts calls of the runtime where a thread may need more stack than the compiler can determine.
void check_stacks(llvm::Module& module);

/// Runs LLVM's verifier: a module that it refuses would crash later stages.
Expected<void> verify(const llvm::Module& module, const char* when);

void optimise(llvm::Module& module, llvm::TargetMachine& machine, unsigned level);
/// Returns the bytes of the object file.
Expected<std::string> emit_object(llvm::Module& module, llvm::TargetMachine& machine);

} // namespace warplens::lowering
