// The binary interface between lowered kernels and the CPU back end's runtime. The lowering (lowering/)
// builds IR against these layouts; the runtime (runtime/cpu/) is compiled against them. Plain C layouts only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warplens::cpu {

/// A row of the log of a warp's 32 lanes: each lane fills its own column, row by row. An entry is one traced
/// access, or the passing of a loop's end (where lanes meet, as on a GPU). Lanes on the same path have their
/// entries in the same rows, which then are warp accesses.
struct LogRow {
  std::uint64_t addresses[32];
  std::uint32_t keys[32]; ///< index into the kernel's KeyRecord table; smaller keys come first in program
                          ///< order with loop bodies contiguous
};

/// The access that a key stands for.
struct KeyRecord {
  std::uint64_t site;  ///< 0: the end of a loop's body, not an access
  std::uint16_t bytes; ///< per lane
  std::uint8_t kind;   ///< AccessKind
  std::uint8_t reserved[5];
};

/// A running block. One OS thread runs all lanes of a block.
struct BlockContext {
  std::uint32_t block_index[3];
  std::uint32_t block_dim[3];
  std::uint32_t grid_dim[3];
  std::uint32_t dynamic_shared_bytes;
  std::uint8_t*
      shared; ///< static part first (each variable at its offset from the lowering), then the dynamic part
  std::uint8_t* dynamic_shared;
  void* scheduler;      ///< private to the runtime
  void* grid_workspace; ///< memory through which a cooperative launch's blocks synchronise; else null
  void* frames; ///< KernelRecord::frame_bytes for each thread, aligned for every type; for untraced_block
};

/// A running CUDA thread. Lowered code gets a pointer to it as its last parameter and reads the indices from
/// it.
struct LaneContext {
  BlockContext* block;
  std::uint64_t* log_next; ///< address of the next entry; traced code appends inline, a row at a time, while
                           ///< log_next != log_end
  std::uint64_t* log_end;  ///< null: the lane is not traced
  std::uint64_t log_keys;  ///< bytes from an entry's address to its key; unchanging
  std::uint64_t executed_accesses; ///< traced code adds per basic block
  std::uint64_t probed_accesses;
  std::uint32_t thread_index[3];
  std::uint32_t linear_thread; ///< x fastest
  void* fiber;                 ///< private to the runtime
  const char* place; ///< "file:line" of the last operation that could suspend or end the thread; null: none
};

/// Added to a thread's next region in BlockContext::frames: the thread waits for others.
inline constexpr std::uint32_t waits_mark = 0x80000000;

/// One of a kernel's parameters, which are packed one after the other.
struct ParameterRecord {
  std::uint32_t offset, bytes;
};

/// Runs one CUDA thread; may suspend its fiber in any of the runtime's calls.
using LaneFunction = void (*)(void** arguments, LaneContext* lane);
/// Runs all threads of a block in loops, one from each barrier to the next; only for kernels that wait for
/// nothing else.
using BlockFunction = void (*)(void** arguments, BlockContext* block);

/// A kernel, registered by a constructor in the lowered object under the mangled name in
/// __cudaRegisterFunction.
struct KernelRecord {
  const char* symbol;
  const char* module;           ///< the object's name, which distinguishes internal symbols of several files
  BlockFunction untraced_block; ///< null: threads need stacks of their own
  LaneFunction untraced_lane;   ///< null where untraced_block is not
  LaneFunction traced_lane;
  const KeyRecord* keys; ///< the kernel's table
  std::uint32_t key_count;
  std::uint32_t parameter_count;
  std::uint32_t static_shared_bytes;
  std::uint32_t
      stack_bytes; ///< deepest frame of one lane that the lowering could determine; 0: unknown (recursion)
  std::uint32_t checks;       ///< Checks::bits(): the checks that its code makes
  std::uint32_t in_lock_step; ///< nonzero: its lanes wait for each other where a GPU runs them in lock step
  std::uint32_t
      largest_struct_bytes; ///< the largest parameter passed by value, which stays in the argument buffer
  std::uint32_t max_block_threads;   ///< the bound of __launch_bounds__; 0: none
  std::uint64_t frame_bytes;         ///< bytes of each thread's frame between barriers, for untraced_block
  const ParameterRecord* parameters; ///< array of parameter_count
  std::uint64_t architecture;        ///< the one it was compiled for: 80 if __CUDA_ARCH__ was 800
  const char*
      refusal; ///< why it has no code for this processor, so that its machine code is executed; or null
};

/// A __device__, __constant__ or __managed__ variable, found by __cudaRegisterVar.
struct VariableRecord {
  const char* symbol;
  const char* module; ///< see KernelRecord
  void* address;
  std::uint64_t bytes;
  bool is_constant; ///< __constant__
};

/// A kernel's machine code, from NVIDIA's compiler, for GPUs of one compute capability; from a table that the
/// driver puts into an object (toolchain/objects/cpu_object.cpp).
struct CompiledRecord {
  const char* symbol; ///< nvcc's mangled name, which sometimes differs from Clang's
  const char* module; ///< see KernelRecord
  std::uint32_t capability, architecture, registers, stack_bytes, spill_store_bytes, spill_load_bytes,
      shared_bytes;
  std::uint32_t reserved;
  const unsigned char* cubin; ///< the file with the code; null: not known
  const unsigned char* cubin_end;
};

/// The PTX of a source, packed (toolchain/objects/assemble.h), for GPUs that were not known when it was
/// compiled.
struct PtxRecord {
  const char* module; ///< see KernelRecord
  const unsigned char *packed, *packed_end;
};

} // namespace warplens::cpu

extern "C" {
/// Says what to do if the object's own calls of CUDA's runtime go to another one: `registration` is
/// __cudaRegisterFatBinary as the object's program or library sees it; null: it has no host half.
void __warplens_cpu_check_runtime(const void* registration);
/// Forgets everything of the program or library that the address lies in, which is being unloaded.
void __warplens_cpu_unregister(const void* address);
void __warplens_cpu_register_compiled(const warplens::cpu::CompiledRecord* records, std::uint64_t count);
void __warplens_cpu_register_ptx(const warplens::cpu::PtxRecord* ptx);
void __warplens_cpu_register_kernel(const warplens::cpu::KernelRecord* kernel);
void __warplens_cpu_register_variable(const warplens::cpu::VariableRecord* variable);
/// Registers a __managed__ variable, which the host half defines.
void __warplens_cpu_register_managed(void* address, std::uint64_t bytes);
/// Registers a __constant__ variable, in addition to its record: accesses to it are in the constant space.
void __warplens_cpu_register_constant(const void* address, std::uint64_t bytes);

/// Makes room in a log that is full (log_next == log_end), perhaps by running other lanes first.
void __warplens_cpu_log_full(warplens::cpu::LaneContext* lane);
}
// The calls that nvvm intrinsics become are declared in runtime/abi/intrinsics.h.
