// Tests the splitting into blocks, on instructions made by hand.
#include "sass/blocks.h"
#include "sass/instruction.h"
#include "test/catch.h"

using namespace warplens::sass;

namespace {

constexpr Word add{0x7221, 0}, exit_always{0x794d, 0x3800000}, exit_guarded{0x094d, 0x3800000},
    returns{0x14007950, 0}, never_exits{0xf94d, 0x3800000}, bsync{0x7941, 0x3800000};

/// Returns a BRA from instruction `from` to `to`, with a guard or without; or a CALL.REL.
Word branch(std::int64_t from, std::int64_t to, bool guarded, std::uint64_t operation = 0x947) {
  const auto distance = static_cast<std::uint64_t>((to - from - 1) * 16 / 4);
  return {(guarded ? 0u : 0x7000u) | operation | distance << 34, (distance >> 30 & 0x3ffff) | 0x3800000};
}
Word call(std::int64_t from, std::int64_t to, bool guarded) {
  return branch(from, to, guarded, 0x944);
}

/// Returns the blocks as "0-2>1,3 2-3>": instructions and successors.
std::string blocks_of(const std::vector<Word>& words, const IndirectTargets& indirect = {},
                      std::vector<Function> functions = {}) {
  Kernel kernel;
  for (const Word word : words) {
    const auto at = static_cast<std::uint32_t>(kernel.instructions.size());
    auto decoded = decode_instruction(word, at * instruction_bytes, 80);
    if (decoded.target)
      decoded.instruction.target = static_cast<std::uint32_t>(*decoded.target / instruction_bytes);
    kernel.instructions.push_back(decoded.instruction);
  }
  kernel.functions = std::move(functions);
  if (kernel.functions.empty())
    kernel.functions.push_back({"kernel", 0, static_cast<std::uint32_t>(words.size())});
  find_blocks(kernel, indirect);
  std::string text;
  for (const Block& block : kernel.blocks) {
    text += (text.empty() ? "" : " ") + std::to_string(block.begin) + "-" + std::to_string(block.end) + ">";
    for (const std::uint32_t successor : kernel.successors_of(block))
      text += std::to_string(successor) + (successor == kernel.successors_of(block).back() ? "" : ",");
  }
  return text;
}

} // namespace

TEST_CASE("straight code is one block") {
  CHECK(blocks_of({add, add, exit_always}) == "0-3>");
  CHECK(blocks_of({add, never_exits, exit_always}) == "0-3>");
}

TEST_CASE("a loop and a condition") {
  CHECK(blocks_of({add, add, branch(2, 1, true), exit_always}) == "0-1>1 1-3>1,2 3-4>");
  CHECK(blocks_of({branch(0, 2, true), add, bsync, exit_always}) == "0-1>2,1 1-2>2 2-3>3 3-4>");
  CHECK(blocks_of({branch(0, 2, false), add, exit_always}) == "0-1>2 1-2>2 2-3>");
}

TEST_CASE("an exit under a guard goes on") {
  CHECK(blocks_of({exit_guarded, exit_always}) == "0-1>1 1-2>");
}

TEST_CASE("an indirect branch has its table's targets, or none") {
  const Word indirect{0x04007949, 0x3800000};
  CHECK(blocks_of({indirect, add, exit_always}, {{0, {2, 1, 2}}}) == "0-1>2,1 1-2>2 2-3>");
  CHECK(blocks_of({indirect, exit_always}) == "0-1> 1-2>");
  const Word unknown{0x7fff, 0};
  CHECK(blocks_of({unknown, add, exit_always}, {{0, {2}}}) == "0-1>2 1-2>2 2-3>");
}

TEST_CASE("a call returns from a function, and not from the middle of one") {
  CHECK(blocks_of({call(0, 2, false), exit_always, add, returns}, {}, {{"kernel", 0, 2}, {"called", 2, 4}}) ==
        "0-1>1 1-2> 2-4>");
  CHECK(blocks_of({add, call(1, 3, true), branch(2, 0, false), exit_always}) == "0-2>2,1 2-3>0 3-4>");
  CHECK(blocks_of({call(0, 2, false), add, exit_always}) == "0-1>2 1-2>2 2-3>");
}

TEST_CASE("a block does not fall through into another function") {
  CHECK(blocks_of({add, add, returns}, {}, {{"kernel", 0, 1}, {"called", 1, 3}}) == "0-1> 1-3>");
}
