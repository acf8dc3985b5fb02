// The machine code of kernels as a table: what a clocked trial must know of each instruction. A *cubin* is
// the ELF file that ptxas makes of one PTX module for one architecture; *SASS* is its machine code.
#pragma once

#include "sass/bits.h"

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::sass {

/// The kinds of instructions, by the unit of an SM that executes them.
enum class InstructionClass : std::uint8_t {
  other, ///< an instruction that is unknown, or whose unit is
  fp32,
  fp16,
  fp64,
  alu,              ///< integer and logic, and selections and comparisons of single precision
  multiply_add,     ///< IMAD with a result of 32 bits; the compiler uses it for moves as well
  wide_integer,     ///< IMAD with a product of 64 bits
  special_function, ///< MUFU, and the bit counts that have its rate
  conversion,
  wide_conversion, ///< from or to a type of 64 bits
  tensor,
  load_global,
  load_shared,
  load_local,
  load_constant,
  load_generic,
  load_texture, ///< textures and surfaces
  store_global,
  store_shared,
  store_local,
  store_generic,
  store_surface,
  copy_to_shared, ///< from global memory, by a thread (LDGSTS) or in bulk
  copy_to_global, ///< from shared memory, in bulk
  atomic_global,
  atomic_shared,
  atomic_generic,
  atomic_surface,
  reduction_global, ///< an atomic operation without a result
  shuffle,
  vote,
  branch, ///< branches, calls, returns, and the instructions that reconverge a warp
  barrier,
  fence,
  wait,        ///< waits for time, and yields
  end_group,   ///< LDGDEPBAR: ends a group of copies to shared memory, which a scoreboard counts
  await_group, ///< DEPBAR: waits until a scoreboard counts no more than a number
  exit,
  move,
  special_register, ///< reads a special register, such as the thread's index
  uniform,          ///< the uniform datapath: one result for the warp
  predicate,
  nop,
};

/// Returns the class as one word, such as "load_global".
std::string_view name_of(InstructionClass kind);

enum class RegisterFile : std::uint8_t { general, uniform, predicate, uniform_predicate };

/// Consecutive registers of 32 bits, or one predicate. RZ, URZ, PT and UPT are no registers here.
struct RegisterSpan {
  RegisterFile file = RegisterFile::general;
  std::uint8_t first = 0;
  std::uint8_t count = 0;

  bool operator==(const RegisterSpan&) const = default;
};

/// Returns the registers as the disassembler names them: "R4", "R4:7", "UP0".
std::string name_of(RegisterSpan registers);

/// The registers of one instruction, in the order of its operands.
template <std::size_t capacity> class RegisterList {
public:
  void add(RegisterSpan span) {
    if (span.count != 0 && size_ < capacity)
      spans_[size_++] = span;
  }
  const RegisterSpan* begin() const { return spans_.data(); }
  const RegisterSpan* end() const { return spans_.data() + size_; }
  std::size_t size() const { return size_; }
  const RegisterSpan& operator[](std::size_t index) const { return spans_[index]; }

private:
  std::array<RegisterSpan, capacity> spans_{};
  std::uint8_t size_ = 0;
};

/// The predicate that an instruction runs under.
struct Guard {
  static constexpr std::uint8_t always = 7; ///< PT
  std::uint8_t predicate = always;
  bool negated = false;
  bool uniform = false;

  bool is_always() const { return predicate == always && !negated; }
  bool is_never() const { return predicate == always && negated; }
};

/// The compiler's schedule of one instruction: bits 105 to 125 (Jia et al., "Dissecting the NVIDIA Volta GPU
/// architecture via microbenchmarking", 2018; CuAssembler).
struct Control {
  static constexpr std::uint8_t no_scoreboard = 7;
  std::uint8_t stall = 0;                        ///< cycles until the warp may issue its next instruction
  bool yields = false;                           ///< whether the scheduler prefers another warp next
  std::uint8_t write_scoreboard = no_scoreboard; ///< which counter the result clears
  std::uint8_t read_scoreboard = no_scoreboard;  ///< which counter the operands' read clears
  std::uint8_t wait_mask = 0;                    ///< the counters that must be clear before it issues
  std::uint8_t reuse = 0; ///< the operands that stay in the register cache, a bit for each
};

/// The index of nothing: no target, no position.
inline constexpr std::uint32_t none = ~0u;

struct Instruction {
  static constexpr std::uint8_t no_barrier = 16;
  static constexpr std::int32_t not_in_frame = std::numeric_limits<std::int32_t>::min();

  std::uint32_t address = 0;     ///< bytes from the begin of the function's section
  Word word;                     ///< its bits; all 0: no cubin has it
  std::uint32_t target = none;   ///< the instruction of the table that it branches to, or calls
  std::uint32_t position = none; ///< in CodeTable::positions
  std::uint16_t operation = 0;   ///< which operation: `name_of(instruction)`
  InstructionClass kind = InstructionClass::other;
  std::uint8_t access_bytes = 0; ///< the bytes that each lane accesses; 0 for other instructions
  /// Of a load or store of local memory whose address is R1, the stack pointer, and a constant: the constant.
  std::int32_t frame_offset = not_in_frame;
  std::int32_t addend = 0;           ///< of an addition of a constant to one register (IADD3, UIADD3)
  std::uint8_t pending = 0;          ///< of DEPBAR and WARPGROUP.DEPBAR: what may still be on its way
  std::uint8_t barrier = no_barrier; ///< the convergence barrier (B0 to B15) of BSSY, BSYNC and BREAK
  Guard guard;
  Control control;
  RegisterList<6> reads; ///< without the guard
  RegisterList<4> writes;
};

/// Returns the operation's name, without modifiers but for those that change its unit or its width: "FFMA",
/// "IMAD.WIDE". An unknown operation has the name "?".
std::string_view name_of(const Instruction& instruction);

/// A place in the source. Code of an inlined function has the place of its call as well.
struct Position {
  std::uint32_t file = 0;          ///< in CodeTable::files
  std::uint32_t line = 0;          ///< from 1
  std::uint32_t inlined_at = none; ///< the position of the call, in CodeTable::positions
  std::uint32_t function = none;   ///< the inlined function, in CodeTable::inlined_functions
};

/// Says how control leaves a block's last instruction.
enum class BlockEnd : std::uint8_t {
  falls_through, ///< the next block begins here, as something else branches to it
  branch,        ///< to each of the successors; with a guard or condition the next block is one of them
  indirect,      ///< to a place that is computed: the successors if they are known, else none
  call,          ///< of the block that `target` begins; the successor is the place after the call
  indirect_call,
  returns,
  exit,       ///< with a guard the next block is the successor
  reconverge, ///< BSYNC, WARPSYNC: waits for other lanes
};

std::string_view name_of(BlockEnd end);

/// Instructions that run one after the other.
struct Block {
  std::uint32_t begin = 0, end = 0;                       ///< in Kernel::instructions
  std::uint32_t first_successor = 0, successor_count = 0; ///< in Kernel::successors
  BlockEnd how = BlockEnd::falls_through;
};

/// Consecutive instructions of one function: the kernel itself, which is the first, or one that it calls.
struct Function {
  std::string name;                 ///< mangled
  std::uint32_t begin = 0, end = 0; ///< in Kernel::instructions
};

struct Kernel {
  std::string name; ///< mangled
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0; ///< static shared memory per block, without what the system reserves
  std::uint32_t local_bytes = 0;  ///< stack per thread, with the functions that it calls
  std::uint32_t barriers = 0;     ///< named barriers in use; __syncthreads() is one
  std::uint32_t unknown_instructions = 0; ///< those whose operation is not known: class other, no registers
  std::vector<Function> functions;
  std::vector<Instruction> instructions;
  std::vector<Block> blocks;             ///< in the order of the instructions
  std::vector<std::uint32_t> successors; ///< blocks

  std::span<const std::uint32_t> successors_of(const Block& block) const {
    return std::span(successors).subspan(block.first_successor, block.successor_count);
  }
};

struct CodeTable {
  int architecture = 0; ///< 80 for sm_80
  std::vector<Kernel> kernels;
  std::vector<std::string> files;
  std::vector<std::string> inlined_functions; ///< mangled
  std::vector<Position> positions;
};

/// Returns the table's kernel of this name; compilers prefix those of a file's own under -rdc. Null if there
/// is none.
inline const Kernel* find_kernel(const CodeTable& table, std::string_view symbol) {
  for (const Kernel& kernel : table.kernels)
    if (kernel.name == symbol || (kernel.name.starts_with("__nv_static_") && kernel.name.ends_with(symbol)))
      return &kernel;
  return nullptr;
}

} // namespace warplens::sass
