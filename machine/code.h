// The decoded form of a kernel and of a program, for the component's own files.
#pragma once

#include "machine/launch.h"
#include "machine/operation.h"
#include "machine/program.h"
#include "sass/bits.h"

#include <array>
#include <map>

namespace warplens::machine {

/// A section of code: the kernel's own, or that of a function that it calls by its address.
struct CodeSection {
  std::string name;
  std::uint32_t begin = 0, end = 0; ///< in Code::operations
  std::uint64_t text_address = 0;   ///< as device code sees it
};

/// A word that each lane may read as an operand: an immediate, or a constant of a bank.
struct ConstantWord {
  enum class Source : std::uint8_t { immediate, bank };
  Source source = Source::immediate;
  std::uint8_t bank = 0;
  std::uint32_t section = 0; ///< whose bank 2 it is
  std::uint32_t value = 0;   ///< or the offset in the bank
};

struct Code {
  int architecture = 0;
  std::vector<Operation> operations;
  std::vector<sass::Operands> operands;
  std::vector<sass::Word> words;
  std::vector<std::string> refusals; ///< of refused operations, by their instruction; else empty
  std::vector<CodeSection> sections; ///< the kernel's own is the first
  std::vector<ConstantWord> constants;
  std::uint32_t rows = 0; ///< of each warp
  std::uint32_t zero_row = 0;
  std::uint32_t parameter_base = 0; ///< in bank 0
  bool uses_local = false;

  const CodeSection* section_of(std::uint32_t instruction) const {
    for (const CodeSection& section : sections)
      if (instruction >= section.begin && instruction < section.end)
        return &section;
    return nullptr;
  }
};

/// Where text lies: sections have addresses that are far apart, so that each fits in 32 bits with its upper
/// word zero.
inline constexpr std::uint64_t text_stride = std::uint64_t{1} << 24;
inline constexpr std::uint64_t builtin_address = std::uint64_t{1} << 48;

/// Functions that are not in the cubin, by the order of their addresses.
enum class Builtin : std::uint8_t { vprintf, malloc, free, assert_fail, unknown };

struct Relocation64 {
  enum class To : std::uint8_t { variable, text, builtin };
  std::uint32_t offset = 0;
  To to = To::variable;
  std::uint32_t index = 0; ///< of the variable; of the builtin's name
  std::uint64_t addend = 0;
};

/// The data of a program, as the file has it.
struct Program::Image {
  std::vector<Variable> variables;
  struct Place {
    std::uint64_t offset = 0; ///< in the private image, or in bank 3
  };
  std::vector<Place> places; ///< of the variables
  std::vector<std::byte> bank1, bank3, bank4;
  std::vector<Relocation64> of_bank4;
  std::map<std::string, std::vector<std::byte>, std::less<>> bank2; ///< by section
  std::map<std::string, std::vector<Relocation64>, std::less<>> of_bank2;
  std::vector<std::string> builtins; ///< the names of undefined functions
  /// The variables that no launch places elsewhere, at their addresses in this process.
  std::unique_ptr<std::byte[]> storage;
  std::byte* private_image = nullptr; ///< in `storage`, aligned to a page
  std::uint64_t private_bytes = 0;
};

/// Returns the function that computes an operation; null if there is none.
Handler select_handler(const sass::Operands& operands, Engine engine);

} // namespace warplens::machine
