// Tests the code table of a recorded cubin: what was worked out by hand from its source and its disassembly.
#include "sass/print.h"
#include "test/sass/decoded.h"

#include <algorithm>

using namespace warplens::sass;

namespace {

/// Returns the instructions of a line of the source, in their order, by name; inlined code counts for its own
/// line.
std::string names_at(const CodeTable& code, std::uint32_t line) {
  std::string names;
  for (const Instruction& instruction : code.kernels.front().instructions)
    if (instruction.position != none && code.positions[instruction.position].line == line)
      names += (names.empty() ? "" : " ") + std::string(name_of(instruction));
  return names;
}

} // namespace

TEST_CASE("the kernel's resources") {
  for (const int architecture : {80, 100}) {
    const auto code = decode(recorded_cubin(architecture));
    REQUIRE(code);
    CHECK(code->architecture == architecture);
    REQUIRE(code->kernels.size() == 1);
    const Kernel& kernel = code->kernels.front();
    // ptxas -v: 15 registers (sm_100: 14), 512 bytes smem, used 1 barriers, 0 bytes stack frame
    CHECK(kernel.name == "_Z6reducePfPKfPdi");
    CHECK(kernel.registers == (architecture == 80 ? 15 : 14));
    CHECK(kernel.shared_bytes == 512);
    CHECK(kernel.barriers == 1);
    CHECK(kernel.local_bytes == 0);
    CHECK(kernel.unknown_instructions == 0);
    REQUIRE(kernel.functions.size() == 3);
    CHECK(kernel.functions[0].name == kernel.name);
    CHECK(kernel.functions[1].name == "$_Z6reducePfPKfPdi$_Z6calledfi");
    CHECK(kernel.functions[1].begin == kernel.functions[0].end);
    CHECK(kernel.functions[2].name == "$__internal_0_$__cuda_sm20_sqrt_rn_f32_slowpath");
  }
}

TEST_CASE("instructions have the lines of the source, and inlined ones those of the call too") {
  const auto code = decode(recorded_cubin(80));
  REQUIRE(code);
  CHECK(names_at(*code, 10) == "FFMA"); // x * x + 1, inlined at line 18
  CHECK(names_at(*code, 16) == "ISETP EXIT");
  CHECK(names_at(*code, 19) == "BAR");
  CHECK(names_at(*code, 25) == "FMUL BRA");
  const auto& instructions = code->kernels.front().instructions;
  const auto inlined = std::ranges::find_if(instructions, [&](const Instruction& instruction) {
    return instruction.position != none && code->positions[instruction.position].line == 10;
  });
  const Position& place = code->positions[inlined->position];
  CHECK(code->files[place.file] == "/src/reduce.cu");
  REQUIRE(place.inlined_at != none);
  CHECK(code->positions[place.inlined_at].line == 18);
  CHECK(code->positions[place.inlined_at].inlined_at == none);
  CHECK(code->inlined_functions[place.function] == "_Z7inlinedf");
}

TEST_CASE("blocks and their successors") {
  const auto code = decode(recorded_cubin(80));
  REQUIRE(code);
  const Kernel& kernel = code->kernels.front();
  const auto block_at = [&](std::uint32_t address) {
    return std::ranges::find_if(kernel.blocks, [&](const Block& block) {
      return kernel.instructions[block.begin].address == address;
    });
  };
  const auto successors = [&](const auto& block) {
    std::vector<std::uint32_t> addresses;
    for (const std::uint32_t successor : kernel.successors_of(*block))
      addresses.push_back(kernel.instructions[kernel.blocks[successor].begin].address);
    return addresses;
  };
  using Addresses = std::vector<std::uint32_t>;
  CHECK(block_at(0)->how == BlockEnd::exit); // @P0 EXIT
  CHECK(successors(block_at(0)) == Addresses{0x60});
  CHECK(successors(block_at(0x60)) == Addresses{0x150, 0x130}); // @!P0 BRA
  CHECK(block_at(0x130)->how == BlockEnd::call);
  CHECK(successors(block_at(0x130)) == Addresses{0x150});
  CHECK(kernel.instructions[block_at(0x130)->end - 1].target == kernel.functions[1].begin);
  CHECK(block_at(0x150)->how == BlockEnd::reconverge);
  // The switch: BRX with the table {0x280, 0x260, 0x1e0, 0x3a0}
  CHECK(block_at(0x190)->how == BlockEnd::indirect);
  CHECK(successors(block_at(0x190)) == Addresses{0x280, 0x260, 0x1e0, 0x3a0});
  CHECK(block_at(0x3a0)->how == BlockEnd::exit);
  CHECK(successors(block_at(0x3a0)).empty());
  std::uint32_t next = 0;
  for (const Block& block : kernel.blocks) { // they cover the code
    CHECK(block.begin == next);
    next = block.end;
  }
  CHECK(next == kernel.instructions.size());
}

TEST_CASE("the printed table has a line for each instruction") {
  const auto code = decode(recorded_cubin(80));
  REQUIRE(code);
  const std::string text = print(*code);
  CHECK(
      text.starts_with("sm_80\n\nkernel _Z6reducePfPKfPdi: 192 instructions, 15 registers, 512 bytes shared, "
                       "0 bytes local, 1 barriers, 0 unknown\n"));
  CHECK(
      text.find("    00d0  5y - - --2--- fp32 FFMA R2 <- R4,R4 | /src/reduce.cu:10 < /src/reduce.cu:18\n") !=
      text.npos);
  CHECK(text.find("    0050  5  - - ------ exit @P0 EXIT - <- - | /src/reduce.cu:16\n") != text.npos);
}
