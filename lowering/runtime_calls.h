// Declarations of the runtime functions that lowered code calls. Their semantics: runtime/abi/intrinsics.h.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace warplens::lowering {

/// The assumptions that the optimiser may make about a runtime function.
enum class Effects {
  suspends, ///< other threads run meanwhile: all memory may change; convergent
  ends,     ///< does not return
  acts,     ///< acts in a way that the optimiser cannot see, but does not suspend
  reads,    ///< may read memory, no other effect
  none,     ///< a function of its arguments
};

llvm::FunctionCallee runtime_function(llvm::Module& module, llvm::StringRef name, Effects effects,
                                      llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters);

/// Calls a runtime function with the types of the arguments.
llvm::CallInst* call_runtime(llvm::IRBuilderBase& builder, llvm::StringRef name, Effects effects,
                             llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);

// Placeholders: calls that later stages replace.

/// Returns the running lane's LaneContext*; bind_lanes makes it the function's parameter or a call of the
/// runtime.
llvm::Value* current_lane(llvm::IRBuilderBase& builder);
inline constexpr char lane_function[] = "__warplens_cpu_current_lane";
/// The functions for the block's shared memory and its dynamic part; bind_lanes reads both from the
/// BlockContext.
inline constexpr char shared_function[] = "__warplens_shared";
inline constexpr char dynamic_shared_function[] = "__warplens_dynamic_shared";

/// Takes the lane and a position in program order, which assign_order_keys fills in.
inline constexpr char active_mask_function[] = "__warplens_cpu_active_mask";

/// Stops where lanes of a warp wait for each other because a GPU would run them in lock step; takes the lane
/// and a position, as above.
inline constexpr char lock_step_function[] = "__warplens_cpu_lock_step";
/// Reports an access to shared memory to the runtime, in the traced variants of kernels with such stops.
inline constexpr char observe_function[] = "__warplens_cpu_observe";
/// The metadata of a loop with such stops: the position of its end.
inline constexpr char position_metadata[] = "warplens.position";
/// Returns whether the call makes lanes of a warp, or of the block, wait for each other.
bool synchronises(const llvm::CallInst& call);

/// The rewriter's call: (u64 site, ptr address, u32 bytes, u32 kind).
inline constexpr char access_function[] = "__warplens_access";
/// Runtime functions that probes of textures and surfaces call; they only look data up.
inline constexpr const char* lookup_functions[] = {"__warplens_texel_address", "__warplens_texel_bytes",
                                                   "__warplens_surface_address"};
/// An access with its key: (ptr address, u32 key). It touches no memory that code can see, so accesses move
/// freely around it, but neither past another probe nor past a suspending call.
inline constexpr char probe_function[] = "__warplens_probe";
llvm::Function* declare_probe(llvm::Module& module);

/// Asynchronous copies: bytes at an address are in flight from here on; a group of copies ends; the thread
/// waits until at most that many groups are left. The copies themselves are done at once: check_accesses
/// makes these calls of the runtime for --racecheck, and removes them otherwise.
inline constexpr char copy_function[] = "__warplens_copy_in_flight";
inline constexpr char copies_end_function[] = "__warplens_copies_end";
inline constexpr char copies_wait_function[] = "__warplens_copies_wait";
void mark_copy(llvm::IRBuilderBase& builder, llvm::Value* to, std::uint64_t bytes);
void mark_copies_end(llvm::IRBuilderBase& builder);
void mark_copies_wait(llvm::IRBuilderBase& builder, llvm::Value* pending);

/// The attribute of functions with a body that stay calls, though they could be inlined, and in which no lane
/// waits for another or exits.
inline constexpr char kept_call[] = "warplens-kept-call";
bool is_kept_call(const llvm::CallInst& call);
/// Sets the first key of a call of such a function, counted in its caller; it is the call's metadata until
/// make_variants.
void set_first_key(llvm::CallInst& call, std::uint32_t key);
std::uint32_t first_key(const llvm::CallInst& call);

/// Returns whether the call is of a runtime function that suspends or ends the lane.
bool may_stop_lane(const llvm::CallInst& call);
/// Returns whether the lane may suspend in the call, or exit as if its function had returned. A function that
/// could not be inlined may do anything.
bool may_suspend(const llvm::CallInst& call);

} // namespace warplens::lowering
