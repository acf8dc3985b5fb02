// Parses PTX statements, such as an asm statement's text, into instructions. Grammar: PTX ISA, "Syntax".
#pragma once

#include "support/expected.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::ptx {

struct Operand {
  enum class Kind {
    name,     ///< a register, a special register (%laneid), an operand of the asm statement ($0) or _
    integer,  ///< `number`
    floating, ///< `real`
    vector,   ///< {a, b}
    pair,     ///< a|b
    address,  ///< [base + number], or [texture, {parts}]
  };
  Kind kind = Kind::name;
  std::string name;
  std::uint64_t number = 0;
  double real = 0;
  bool negated = false; ///< !p
  std::vector<Operand> parts;
};

struct Instruction {
  std::string text; ///< the instruction's own text without comments, for messages
  std::string opcode;
  std::vector<std::string> modifiers; ///< the parts after the opcode's dots
  std::vector<Operand> operands;
  std::string guard; ///< @p: runs only where p is true
  bool guard_negated = false;
};

struct Register {
  std::string name; ///< unique in the text: scopes are resolved
  std::string type; ///< "b32"
};

/// The statements of a function's body, or of a part of one.
struct Body {
  std::vector<Register> registers;
  std::vector<Instruction> instructions;
};

/// Labels, branches and directives other than .reg are errors.
Expected<Body> parse_body(std::string_view text);

} // namespace warplens::ptx
