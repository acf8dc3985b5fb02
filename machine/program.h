// A cubin as a program that can be executed: its kernels, decoded once, its constants and its variables.
#pragma once

#include "machine/launch.h"
#include "support/expected.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warplens::machine {

struct Code;

/// An instruction that the executor does not know whole. Execution that reaches it ends there.
struct UnsupportedInstruction {
  std::uint32_t index = 0; ///< of the kernel's instructions
  std::string listing;     ///< with the bits that nothing explains
};

struct Parameter {
  std::uint32_t offset = 0; ///< in the parameters' bytes
  std::uint32_t bytes = 0;
};

class Kernel {
public:
  std::string name; ///< mangled
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;     ///< static, with what the system reserves at the begin
  std::uint32_t local_bytes = 0;      ///< of the stack, per thread; recursion needs more
  std::uint32_t parameter_bytes = 0;  ///< of all parameters
  Dimensions cluster;                 ///< that __cluster_dims__ sets
  Dimensions max_block{0, 0, 0};      ///< of __launch_bounds__; 0: it sets none
  Dimensions required_block{0, 0, 0}; ///< of PTX's .reqntid; 0: any
  std::vector<Parameter> parameters;

  /// Returns the instructions that are not supported, of all code that the kernel may reach.
  std::span<const UnsupportedInstruction> unsupported() const { return unsupported_; }
  std::uint32_t instruction_count() const;
  /// Returns an instruction's address in its section: 16 bytes for each.
  std::uint32_t address_of(std::uint32_t instruction) const;
  /// The instructions of a function that the kernel is made of, or may call by its address.
  struct Section {
    std::string name;                 ///< mangled
    std::uint32_t begin = 0, end = 0; ///< numbers of instructions
  };
  /// Returns the sections, the kernel's own first.
  std::vector<Section> sections() const;
  /// An operand of an instruction that is a word of `__constant__` memory.
  struct ConstantOperand {
    std::uint32_t instruction = 0;
    std::uint32_t offset = 0; ///< in the bank of `__constant__` variables
    std::uint32_t bytes = 4;
  };
  /// Returns these operands, in the order of the instructions.
  std::vector<ConstantOperand> constant_operands() const;
  /// Returns whether the instruction is an atomic operation on memory.
  bool is_atomic(std::uint32_t instruction) const;
  /// Returns the instruction as a listing has it.
  std::string listing_of(std::uint32_t instruction) const;

  const Code& code() const { return *code_; }

private:
  friend class ProgramLoader;
  std::vector<UnsupportedInstruction> unsupported_;
  std::shared_ptr<const Code> code_;
};

/// A `__device__` or `__constant__` variable, or data of the compiler's, such as a table of virtual
/// functions.
struct Variable {
  std::string name; ///< mangled
  std::uint64_t bytes = 0;
  bool is_constant = false;
  std::vector<std::byte> initial; ///< as many, with the relocations that need no address
};

/// Which implementation of the operations a program is decoded for.
enum class Engine : std::uint8_t {
  vector,    ///< the fastest that the processor has
  portable,  ///< the same, for any processor
  reference, ///< one lane after the other, by `compute_lane`
};

class Program {
public:
  /// Decodes a linked cubin for sm_75 or later. Its bytes may be anything: the error says what is wrong.
  static Expected<Program> load(std::span<const std::byte> cubin, Engine engine = Engine::vector);

  int architecture() const { return architecture_; }
  std::span<const Kernel> kernels() const { return kernels_; }
  const Kernel* find(std::string_view kernel) const;
  /// Returns the variables, in the order of the file. A launch may say where they lie.
  std::span<const Variable> variables() const;

  /// Returns the variable at an offset in the bank of `__constant__` variables, and the offset in it; null if
  /// there is none.
  std::pair<const Variable*, std::uint64_t> constant_at(std::uint64_t offset) const;
  struct Image;
  const Image& image() const { return *image_; }

private:
  friend class ProgramLoader;
  int architecture_ = 0;
  std::vector<Kernel> kernels_;
  std::shared_ptr<const Image> image_;
};

} // namespace warplens::machine
