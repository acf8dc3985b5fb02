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

/// __device__ and __constant__ variables become globals of the host, which stay until add_records has them
/// registered, used or not.
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

/// Inlines all that can be into the kernels, keeping program order. With `simplify`, functions are simplified
/// as by make_values before they move into their callers. A function that would grow beyond
/// `most_instructions` keeps its largest callees as calls.
void inline_calls(llvm::Module& module, llvm::TargetMachine& machine, bool simplify,
                  std::uint64_t most_instructions);

/// Makes values of locals, and so of the probes' arguments, keeping program order.
void make_values(llvm::Module& module, llvm::TargetMachine& machine);

/// Fuses products into sums where the source allows it, and nothing else does so later.
void contract(llvm::Module& module);

/// Where -ftz=true asks for it, single precision knows no subnormal numbers.
void flush_denormals(llvm::Module& module);

// For --memcheck, --racecheck and --initcheck: calls of the runtime before accesses to memory that other
// threads may know of.

/// Copies of classes, before make_values takes them apart: as wholes they want more of an address.
void check_copies(llvm::Module& module);
/// Every access.
void check_accesses(llvm::Module& module, std::vector<Kernel>& kernels, cpu::Checks checks);
/// For --memcheck, strings and the compiler's own tables are variables, too: they are read through pointers.
/// To be called when nothing is removed any more.
void add_tables(llvm::Module& module, std::vector<DeviceVariable>& variables);

/// Puts stops where lanes of a warp rely on running in lock step; with `everywhere` between all accesses that
/// need not be to different places.
void keep_lock_step(llvm::Module& module, std::vector<Kernel>& kernels, bool everywhere);

/// Gives each kernel's __shared__ variables their places in the block's buffer.
Expected<void> lay_out_shared_memory(llvm::Module& module, std::vector<Kernel>& kernels);

/// Replaces each __warplens_access by a probe with its order key, marks where loops end, and keeps with each
/// kernel what its keys stand for. The functions that stay calls within kernels go to `kept`, callees first.
Expected<void> assign_order_keys(llvm::Module& module, std::vector<Kernel>& kernels,
                                 std::vector<KeptFunction>& kept);

/// Splits each kernel into its untraced and its traced form and makes the entries that the runtime calls.
void make_forms(llvm::Module& module, std::vector<Kernel>& kernels, const std::vector<KeptFunction>& kept,
                llvm::TargetMachine& machine);

/// Probes become entries in the lane's log; counts the accesses that traced code executes.
void append_to_logs(llvm::Module& module, const std::vector<Kernel>& kernels,
                    const std::vector<KeptFunction>& kept);

/// Gives every function the lane it runs for, and the values of the special registers.
void bind_lanes(llvm::Module& module);

/// A constructor that registers the kernels and variables with the runtime, under the module's name. The
/// variables become private.
void add_records(llvm::Module& module, const std::vector<Kernel>& kernels,
                 const std::vector<DeviceVariable>& variables, const std::string& name);

/// Functions that could not be inlined are to be checked.
void mark_nested(llvm::Module& module, const std::vector<Kernel>& kernels);
/// Puts calls of the runtime where a thread may need more of its stack than the compiler can tell.
void check_stacks(llvm::Module& module);

/// A module that LLVM's verifier refuses would crash later stages.
Expected<void> verify(const llvm::Module& module, const char* when);

void optimise(llvm::Module& module, llvm::TargetMachine& machine, unsigned level);
/// The bytes of the object file.
Expected<std::string> emit_object(llvm::Module& module, llvm::TargetMachine& machine);

} // namespace warplens::lowering
