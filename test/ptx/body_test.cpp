// Tests the parser of PTX statements. What each instruction computes is tested in
// test/lowering/ptx_*test.cpp.
#include "ptx/body.h"
#include "test/catch.h"

using namespace warplens::ptx;

namespace {

Body parsed(std::string_view text) {
  const auto body = parse_body(text);
  if (!body)
    FAIL(body.error().message);
  return *body;
}

Instruction only_instruction(std::string_view text) {
  const auto body = parsed(text);
  REQUIRE(body.instructions.size() == 1);
  return body.instructions[0];
}

std::string error_of(std::string_view text) {
  const auto body = parse_body(text);
  return body ? "none" : body.error().message;
}

} // namespace

TEST_CASE("An instruction has a guard, an opcode, modifiers and operands") {
  const auto instruction = only_instruction("@!p setp.lt.and.s32 q|_, $0, -5, !r;");
  CHECK(instruction.guard == "p");
  CHECK(instruction.guard_negated);
  CHECK(instruction.opcode == "setp");
  CHECK(instruction.modifiers == std::vector<std::string>{"lt", "and", "s32"});
  REQUIRE(instruction.operands.size() == 4);
  CHECK(instruction.operands[0].kind == Operand::Kind::pair);
  CHECK(instruction.operands[0].parts[1].name == "_");
  CHECK(instruction.operands[1].name == "$0");
  CHECK(instruction.operands[2].number == static_cast<std::uint64_t>(-5));
  CHECK(instruction.operands[3].negated);
  CHECK(instruction.text == "@!p setp.lt.and.s32 q|_, $0, -5, !r");
}

TEST_CASE("Operands are registers, literals, vectors and addresses") {
  const auto operands = only_instruction("op %tid.x, 0x10, -0f3F800000, {a, 2}, [b-4], [t, {x, y}]").operands;
  REQUIRE(operands.size() == 6);
  CHECK(operands[0].name == "%tid.x");
  CHECK(operands[1].number == 16);
  CHECK(operands[2].kind == Operand::Kind::floating);
  CHECK(operands[2].real == -1);
  CHECK(operands[3].kind == Operand::Kind::vector);
  CHECK(operands[3].parts[1].number == 2);
  CHECK(operands[4].kind == Operand::Kind::address);
  CHECK(operands[4].number == static_cast<std::uint64_t>(-4));
  CHECK(operands[5].parts[1].name == "y");
}

TEST_CASE("A modifier may consist of several words") {
  CHECK(only_instruction("cp.mbarrier::complete_tx::bytes [a], b;").modifiers ==
        std::vector<std::string>{"mbarrier::complete_tx::bytes"});
}

TEST_CASE("A register is the one of its innermost scope") {
  const auto body = parsed(".reg .b32 r, s<2>; mov r, s1; { .reg .pred r; mov r, s0; } mov r, s0;");
  REQUIRE(body.registers.size() == 4);
  CHECK(body.registers[2].name == "s1");
  CHECK(body.registers[3].type == "pred");
  REQUIRE(body.instructions.size() == 3);
  CHECK(body.instructions[0].operands[0].name == "r");
  CHECK(body.instructions[1].operands[0].name == body.registers[3].name);
  CHECK(body.instructions[1].operands[0].name != "r");
  CHECK(body.instructions[2].operands[0].name == "r");
}

TEST_CASE("Statements that are not understood are errors") {
  CHECK(error_of("{ ret;") == "a brace is not closed");
  CHECK(error_of("again: bra again;") == "labels and branches are not understood");
  CHECK(error_of(".pragma \"nounroll\";") == "only the directive .reg is understood");
  for (const auto* text : {"}", "add.s32 r, a b;", "mov r, {a;", "mov r, [a+b];", ".reg .b32 r<2000>;",
                           "mov r, 12a;", "mov r, 0f12;", "@ ;", "mov r,"})
    CHECK(error_of(text) == "its syntax is not understood");
}
