// The functions that lowered code calls, declared into a module. Their meanings: runtime/cpu/intrinsics.h.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace warplens::lowering {

/// What the optimiser may assume of a runtime function.
enum class Effects {
  suspends, ///< other threads run meanwhile: all memory may change; convergent
  ends,     ///< does not return
  acts,     ///< does something that the optimiser cannot see, but does not suspend
  reads,    ///< may read memory, and nothing else
  none,     ///< a function of its arguments
};

llvm::FunctionCallee runtime_function(llvm::Module& module, llvm::StringRef name, Effects effects,
                                      llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters);

/// Calls a runtime function with the types of the arguments.
llvm::CallInst* call_runtime(llvm::IRBuilderBase& builder, llvm::StringRef name, Effects effects,
                             llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);

// Placeholders: calls that later stages replace.

/// The running lane's LaneContext*; bind_lanes makes it the function's parameter or a call of the runtime.
llvm::Value* current_lane(llvm::IRBuilderBase& builder);
inline constexpr char lane_function[] = "__warplens_cpu_current_lane";
/// The block's shared memory, and the dynamic part of it; bind_lanes reads them from the BlockContext.
inline constexpr char shared_function[] = "__warplens_shared";
inline constexpr char dynamic_shared_function[] = "__warplens_dynamic_shared";

/// Takes the lane and a position in program order, which assign_order_keys fills in.
inline constexpr char active_mask_function[] = "__warplens_cpu_active_mask";

/// Where lanes of a warp wait for each other because a GPU would run them in lock step: the lane and a
/// position, as above.
inline constexpr char lock_step_function[] = "__warplens_cpu_lock_step";
/// Tells the runtime of an access to shared memory in a kernel that has such stops; only its traced form has
/// it.
inline constexpr char observe_function[] = "__warplens_cpu_observe";
/// A loop's property where such stops are: the position of its end.
inline constexpr char position_metadata[] = "warplens.position";
/// Does the call make lanes of a warp, or of the block, wait for each other?
bool synchronises(const llvm::CallInst& call);

/// The rewriter's call: (u64 site, ptr address, u32 bytes, u32 kind).
inline constexpr char access_function[] = "__warplens_access";
/// What probes of textures and surfaces ask the runtime, which only looks it up.
inline constexpr const char* lookup_functions[] = {"__warplens_texel_address", "__warplens_texel_bytes",
                                                   "__warplens_surface_address"};
/// An access with its key: (ptr address, u32 key). Touches no memory that code can see, so accesses move
/// freely around it; but neither past another probe nor past what suspends.
inline constexpr char probe_function[] = "__warplens_probe";
llvm::Function* declare_probe(llvm::Module& module);

/// The attribute of functions with a body that stay calls, though they could move into their callers, and in
/// which no lane waits for another or ends.
inline constexpr char kept_call[] = "warplens-kept-call";
bool is_kept_call(const llvm::CallInst& call);
/// The first key of a call of such a function, counted in its caller; the call's metadata until make_forms.
void set_first_key(llvm::CallInst& call, std::uint32_t key);
std::uint32_t first_key(const llvm::CallInst& call);

/// Does it call a function of the runtime that suspends or ends the lane?
bool may_stop_lane(const llvm::CallInst& call);
/// May the lane stop there to go on later, or end as if its function had returned? A function that could not
/// be inlined may do anything.
bool may_suspend(const llvm::CallInst& call);

} // namespace warplens::lowering
