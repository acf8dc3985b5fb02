// The contents of a trace, in memory: the one contract between the runtime, which writes it, and the model,
// which reads it. It is independent of Clang and CUDA.
#pragma once

#include "vocabulary/geometry.h"
#include "vocabulary/site.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::trace {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct Program {
  std::string name;    ///< the name on the command line
  std::string backend; ///< "cpu" or "gpu"
  std::string device;  ///< the device that the program saw
};

/// A range of device memory that the program allocated.
struct Allocation {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string label;
};

/// A file of machine code (sass/code_table.h), as NVIDIA's compiler makes it of one source.
struct Cubin {
  std::uint64_t id = 0; ///< a hash of the bytes, not 0
  std::string bytes;
};

/// The properties of the machine code that NVIDIA's compiler makes of a kernel for GPUs of one compute
/// capability; of the user's own variant, without probes.
struct MachineCode {
  std::uint32_t capability = 0; ///< 89 is 8.9
  std::uint32_t architecture =
      0; ///< the code's architecture; newer than the capability if there is no compiler for that
  std::uint32_t registers = 0;   ///< per thread
  std::uint32_t stack_bytes = 0; ///< per thread, in local memory, the functions that it calls included
  std::uint32_t spill_store_bytes = 0, spill_load_bytes = 0; ///< per thread, each instruction counted once
  std::uint32_t shared_bytes = 0;                            ///< static, per block
  std::string symbol;                                        ///< the kernel's name in the cubin
  std::uint64_t cubin_id = 0;                                ///< Cubin::id; 0: the code is not known
  std::string_view cubin; ///< its bytes, in the program or the reader; empty if the trace lacks them

  friend bool operator==(const MachineCode&, const MachineCode&) = default;
};

/// The device memory whose lines a launch's access policy window lets persist in the L2.
struct AccessWindow {
  std::uint64_t begin = 0, end = 0;  ///< addresses
  double hit_ratio = 1;              ///< the share of its lines that persist
  std::uint64_t set_aside_bytes = 0; ///< of the L2, that the program asked for; a GPU may have less

  friend bool operator==(const AccessWindow&, const AccessWindow&) = default;
};

/// One traced launch. Blocks are linear ids (x fastest); the snapshot is blocks [first_block, first_block +
/// blocks).
struct Launch {
  std::uint32_t id = 0; ///< 0, 1, 2, … in trace order
  std::string kernel;   ///< demangled
  std::string symbol;   ///< mangled
  /// Tells kernels of one symbol apart while the program runs, which several files or libraries may have; not
  /// in the file.
  std::uint64_t code = 0;
  Dim3 grid, block;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t registers_per_thread = 0; ///< registers of the uninstrumented kernel, if it ran; 0: not known
  std::vector<MachineCode> machine_code;  ///< known machine codes, at most one for each capability
  std::uint64_t first_block = 0;
  std::uint64_t blocks = 0;
  std::optional<AccessWindow> window = {}; ///< none: nothing persists
};

/// Consecutive blocks of a launch, by their linear ids.
struct BlockWindow {
  std::uint64_t first = 0, blocks = 0;
  std::uint64_t stands_for =
      0; ///< the number of the launch's blocks that they represent, themselves included

  friend bool operator==(const BlockWindow&, const BlockWindow&) = default;
};

/// What a launch did in all its blocks, estimated from some of them; 0: not known.
struct LaunchWork {
  std::uint64_t accesses = 0; ///< of warps, to the memory hierarchy: not to shared or constant memory
  std::uint64_t lines = 0;    ///< that they touch, each access by itself

  friend bool operator==(const LaunchWork&, const LaunchWork&) = default;
};

/// The outcome of a traced launch. A trace cut short lacks it.
struct LaunchEnd {
  std::uint32_t launch = 0;
  bool complete = false; ///< every access of the snapshot's blocks was collected
  std::uint64_t executed_accesses =
      0; ///< lane-level memory accesses the back end saw executed in the snapshot; 0: it cannot see
  std::uint64_t probed_accesses = 0; ///< the number of those with a probe
  /// The number of the launch's blocks that were collected from the first on; 0: all of them.
  std::uint64_t blocks = 0;
  /// Blocks behind these, in ascending windows, which were collected since their work differs; the first ones
  /// stand for all that these do not.
  std::vector<BlockWindow> windows = {};
  LaunchWork work = {};
  /// Iterations of long loops may be left out of what was executed (executed.h). The source's accesses are
  /// those of a part of the blocks then, and of these the first ones.
  bool leaves_out = false;
};

/// How the machine code of a traced launch was executed beside the program, for GPUs of one capability: the
/// recorded blocks, each before it ran.
struct Execution {
  /// Consecutive instructions of the code, by whose numbers the trace says what was executed.
  struct Section {
    std::string name;                 ///< the function's, mangled
    std::uint32_t begin = 0, end = 0; ///< the numbers of its instructions

    friend bool operator==(const Section&, const Section&) = default;
  };
  std::uint32_t launch = 0;
  std::uint32_t capability = 0; ///< MachineCode::capability
  std::vector<Section> sections = {};
  std::string failure = {}; ///< why a block was not executed to its end; empty: all were
  std::uint64_t blocks = 0; ///< that were executed to their end
  std::uint64_t warp_instructions = 0;
  std::uint64_t words = 0;             ///< of 4 bytes, that these blocks wrote to device memory
  std::uint64_t different_words = 0;   ///< in which the program's own blocks left something else
  std::uint64_t different_atomics = 0; ///< those of them that atomics wrote last: their order is open
  /// The largest difference of these words as floats, relative to the larger one; of those that are finite.
  double largest_difference = 0;

  bool is_complete() const { return failure.empty(); }
  friend bool operator==(const Execution&, const Execution&) = default;
};

/// The program's accesses to device memory before a traced launch and after the traced launch before it. A
/// launch's uses are in the order of time.
struct MemoryUse {
  /// `unseen` stands for unknown accesses, such as a launch without tracing.
  enum class Kind : std::uint8_t { read = 0, written = 1, unseen = 2 };
  std::uint32_t launch = 0; ///< the traced launch that comes next
  Kind kind = Kind::read;
  std::uint64_t address = 0;   ///< the first of `rows` rows
  std::uint64_t row_bytes = 0; ///< 0: the place is not known
  std::uint64_t pitch = 0;     ///< bytes from one row to the next
  std::uint64_t rows = 0;
  std::string what; ///< for unseen: "an untraced launch of f()"

  std::uint64_t bytes() const { return row_bytes * rows; }
  friend bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

/// The number of a kernel's launches, traced or not, of one shape and about the same work.
struct KernelLaunches {
  std::string kernel, symbol;
  std::uint64_t launches = 0;
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  LaunchWork work = {}; ///< of one launch, in the mean
};

/// One execution of one site by one warp: an access, or the arrival at a barrier. Addresses of inactive lanes
/// are 0. Addresses in shared memory are offsets into the block's shared memory; all others are the device's
/// own.
struct WarpAccess {
  std::uint64_t site = 0;   ///< Site::id
  std::uint32_t active = 0; ///< bit n: lane n takes part
  std::uint16_t bytes = 0;  ///< per lane
  Space space = Space::global;
  AccessKind kind = AccessKind::load;
  std::array<std::uint64_t, warp_lanes> addresses{};

  friend bool operator==(const WarpAccess&, const WarpAccess&) = default;
};

} // namespace warplens::trace
