// What a trace holds, in memory: the one contract between the runtime, which writes it, and the model, which
// reads it. Nothing here knows of Clang or CUDA.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace warplens::trace {

inline constexpr unsigned warp_lanes = 32;

/// `update` is a read-modify-write by plain code (`a[i] += x`): a load, then a store of the same addresses.
enum class AccessKind : std::uint8_t { load = 0, store = 1, update = 2, atomic = 3 };

enum class Space : std::uint8_t { generic = 0, global = 1, shared = 2, local = 3, constant = 4 };

/// PTX cache operators (PTX ISA, "Cache Operators"); `none` is the compiler's default, `nc` is ld.global.nc.
/// `tex`: none of those, but a texture fetch or a surface access, which goes through the texture units.
enum class CacheOperator : std::uint8_t { none = 0, ca, cg, cs, lu, cv, wb, wt, nc, tex };

/// A place in the source that accesses memory. `id` is a hash of that place, stable between builds.
struct Site {
  std::uint64_t id = 0;
  std::string file;         ///< as the user named it
  std::uint32_t line = 0;   ///< 1-based
  std::uint32_t column = 0; ///< 1-based
  std::string expression;   ///< as written
  AccessKind kind = AccessKind::load;
  Space space = Space::generic; ///< what static analysis knows; each WarpAccess carries what was seen
  std::uint32_t element_bytes = 0;
  CacheOperator cache_operator = CacheOperator::none;
  std::uint32_t sequence = 0; ///< scheduling sequence within its kernel (the paper's bulk scheduling)
  std::vector<std::uint64_t> depends_on; ///< sites whose loaded values this site's address needs
  std::string object;                    ///< name of the array, empty where there is none
  std::string macro; ///< the macro whose expansion the expression comes out of, empty where there is none
  bool in_template = false; ///< the enclosing function is a template's instantiation
};

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct Program {
  std::string name;    ///< as it was started
  std::string backend; ///< "cpu" or "gpu"
  std::string device;  ///< the device that the program saw
};

/// A range of device memory the program asked for.
struct Allocation {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string label;
};

/// What NVIDIA's compiler made of a kernel for GPUs of one compute capability; of the user's own form,
/// without probes.
struct MachineCode {
  std::uint32_t capability = 0; ///< 89 is 8.9
  std::uint32_t architecture =
      0; ///< that it is for; newer than the capability where no compiler for that is there
  std::uint32_t registers = 0;   ///< of a thread
  std::uint32_t stack_bytes = 0; ///< of a thread, in local memory, the functions that it calls included
  std::uint32_t spill_store_bytes = 0, spill_load_bytes = 0; ///< of a thread, each instruction counted once
  std::uint32_t shared_bytes = 0;                            ///< static, of a block

  friend bool operator==(const MachineCode&, const MachineCode&) = default;
};

/// One traced launch. Blocks are linear ids (x fastest); the snapshot is blocks [first_block, first_block +
/// blocks).
struct Launch {
  std::uint32_t id = 0; ///< 0, 1, 2, … in trace order
  std::string kernel;   ///< demangled
  std::string symbol;   ///< mangled
  Dim3 grid, block;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t registers_per_thread = 0; ///< of the uninstrumented kernel, where it ran; 0: not known
  std::vector<MachineCode> machine_code;  ///< what is known of it on GPUs, at most one for each capability
  std::uint64_t first_block = 0;
  std::uint64_t blocks = 0;
};

/// What is known once a traced launch has ended. A trace cut short lacks it.
struct LaunchEnd {
  std::uint32_t launch = 0;
  bool complete = false; ///< every access of the snapshot's blocks was collected
  std::uint64_t executed_accesses =
      0; ///< lane-level memory accesses the back end saw executed in the snapshot; 0: it cannot see
  std::uint64_t probed_accesses = 0; ///< how many of those had a probe
  std::uint64_t blocks = 0; ///< the snapshot is so many of the launch's blocks after all; 0: all of them
};

/// What the program did to device memory before a traced launch and after the traced launch before it. A
/// launch's uses are in the order of time.
struct MemoryUse {
  /// `unseen`: something whose accesses are not known, such as a launch without tracing.
  enum class Kind : std::uint8_t { read = 0, written = 1, unseen = 2 };
  std::uint32_t launch = 0; ///< the traced launch that comes next
  Kind kind = Kind::read;
  std::uint64_t address = 0;   ///< of the first of `rows` rows
  std::uint64_t row_bytes = 0; ///< 0: nothing is known of where
  std::uint64_t pitch = 0;     ///< bytes from one row to the next
  std::uint64_t rows = 0;
  std::string what; ///< of what is unseen: "an untraced launch of f()"

  std::uint64_t bytes() const { return row_bytes * rows; }
  friend bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

/// How often each kernel was launched in all, traced or not.
struct KernelLaunches {
  std::string kernel, symbol;
  std::uint64_t launches = 0;
};

/// One execution of one site by one warp. Addresses of inactive lanes are 0. Addresses in shared memory are
/// offsets into the block's shared memory; all others are as the device saw them.
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
