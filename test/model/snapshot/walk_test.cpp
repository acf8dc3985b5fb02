// The path of a warp through its kernel's code, from its accesses.
#include "model/code/labels.h"
#include "model/code/marks.h"
#include "model/code/walk.h"
#include "numeric/random.h"
#include "test/catch.h"
#include "test/model/made_code.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

namespace warplens::test {
namespace {

using model::Path;
using model::Walk;
using model::WalkedAccess;

/// Returns accesses of four bytes with these labels, "a" is 0.
std::vector<WalkedAccess> accesses_of(const std::string& labels, std::uint8_t bytes = 4) {
  std::vector<WalkedAccess> accesses;
  for (const char label : labels)
    accesses.push_back({.label = std::uint32_t(label - 'a'), .bytes = bytes});
  return accesses;
}

/// Returns the blocks of a walk, as "0 1 1 2"; "-" is an access without an instruction.
std::string blocks_of(const Walk& walk) {
  std::string text;
  for (const std::uint32_t block : walk.path.blocks)
    text += (text.empty() ? "" : " ") + (block == Path::unmatched ? std::string("-") : std::to_string(block));
  return text;
}

sass::Instruction guarded(sass::Instruction instruction) {
  instruction.guard.predicate = 0;
  return instruction;
}
const sass::Instruction plain;

TEST_CASE("A block takes its accesses in any order, and issues them in its own") {
  // The source reads a, then b; the compiler loads b first.
  const model::Code code = made_code({{{load(), plain, load()}, {}}}, {1, 0});
  const Walk walk = model::Walker(code).walk(accesses_of("ab"));
  CHECK(blocks_of(walk) == "0");
  CHECK(walk.order == std::vector<std::uint32_t>{1, 0});
  CHECK(walk.path.makes_access == std::vector<std::uint8_t>{1, 1});
  CHECK(walk.unmatched == 0);
}

TEST_CASE("An unrolled loop comes before its remainder") {
  // 0: entry; 1: four iterations; 2: between; 3: one iteration; 4: end
  const model::Code code = made_code({{{plain}, {1, 2}},
                                      {{load(), load(), load(), load()}, {1, 2}},
                                      {{plain}, {3, 4}},
                                      {{load()}, {3, 4}},
                                      {{plain}, {}}},
                                     {0, 0, 0, 0, 0});
  const model::Walker walker(code);
  CHECK(blocks_of(walker.walk(accesses_of("aaaaaaaaaaa"))) == "0 1 1 2 3 3 3 4");
  CHECK(blocks_of(walker.walk(accesses_of("aa"))) == "0 2 3 3 4");
  CHECK(blocks_of(walker.walk({})) == "0 2 4");
}

TEST_CASE("The accesses of a loop's iterations may be apart from each other") {
  // Two iterations of s += x[i] * y[i], whose loads the compiler collects.
  const model::Code code =
      made_code({{{load(), load(), load(), load()}, {0, 1}}, {{plain}, {}}}, {0, 0, 1, 1});
  const Walk walk = model::Walker(code).walk(accesses_of("abababab"));
  CHECK(blocks_of(walk) == "0 0 1");
  CHECK(walk.order == std::vector<std::uint32_t>{0, 2, 1, 3, 4, 6, 5, 7});
}

TEST_CASE("A load may be moved in front of a branch") {
  // 0: a, and c from behind; 1: b; 2: end
  const model::Code code = made_code({{{load(), load()}, {1, 2}}, {{load()}, {2}}, {{plain}, {}}}, {0, 2, 1});
  const Walk walk = model::Walker(code).walk(accesses_of("abc"));
  CHECK(blocks_of(walk) == "0 1 2");
  CHECK(walk.order == std::vector<std::uint32_t>{0, 2, 1});
  CHECK(walk.jumps == 0);
}

TEST_CASE("A warp whose lanes diverge executes both sides of a branch") {
  // 0: if; 1: then; 2: else; 3: end
  const model::Code code =
      made_code({{{plain}, {1, 2}}, {{load()}, {3}}, {{load()}, {3}}, {{load()}, {}}}, {0, 1, 2});
  const Walk walk = model::Walker(code).walk(accesses_of("abc"));
  CHECK(blocks_of(walk) == "0 1 2 3");
  CHECK(walk.jumps == 1);
  CHECK(blocks_of(model::Walker(code).walk(accesses_of("bc"))) == "0 2 3");
}

TEST_CASE("A guard may turn an access off") {
  const model::Code code = made_code({{{load(), guarded(load())}, {0, 1}}, {{plain}, {}}}, {0, 1});
  const Walk walk = model::Walker(code).walk(accesses_of("aaba"));
  CHECK(blocks_of(walk) == "0 0 0 1");
  CHECK(walk.path.makes_access == std::vector<std::uint8_t>{1, 0, 1, 1, 1, 0});
  CHECK(walk.order == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("A wide instruction makes several accesses at once, and one of a structure may take several") {
  const model::Code wide = made_code({{{load(16), load(4)}, {}}}, {0, 0});
  const Walk four = model::Walker(wide).walk(accesses_of("aaaaa"));
  CHECK(blocks_of(four) == "0");
  CHECK(four.joined == std::vector<std::uint8_t>{4, 1});
  const model::Code narrow = made_code({{{load(4), load(4), load(4), load(4)}, {}}}, {0, 0, 0, 0});
  const Walk one = model::Walker(narrow).walk(accesses_of("a", 16));
  CHECK(one.path.makes_access == std::vector<std::uint8_t>{1, 0, 0, 0});
  CHECK(one.unmatched == 0);
}

TEST_CASE("A wide instruction joins accesses of one site that lie behind each other") {
  // Of two arrays on one line the second one is loaded by words behind each other.
  const model::Code code =
      made_code({{{load(4), load(8), load(4), load(8), load(4), load(4)}, {}}}, {0, 0, 0, 0, 0, 0});
  std::vector<WalkedAccess> accesses;
  for (std::uint32_t i = 0; i < 4; ++i) {
    accesses.push_back({.label = 0, .site = 0, .bytes = 4});
    accesses.push_back({.label = 0, .site = 1, .bytes = 4, .continues = i != 0});
  }
  const Walk walk = model::Walker(code).walk(accesses);
  CHECK(walk.order == std::vector<std::uint32_t>{0, 1, 3, 2, 5, 7, 4, 6});
  CHECK(walk.joined == std::vector<std::uint8_t>{1, 2, 1, 2, 1, 1});
}

TEST_CASE("The accesses of a block are its own, however many a compiler has unrolled into it") {
  // The source reads a and b in turn; the compiler has made wide instructions of 150 reads of each.
  constexpr std::uint32_t wide = 75;
  std::vector<sass::Instruction> instructions;
  std::vector<std::uint32_t> labels;
  std::string source;
  for (std::uint32_t i = 0; i < 2 * wide; ++i) {
    instructions.push_back(load(8));
    labels.push_back(i / wide);
    source += "ab";
  }
  const model::Code code = made_code({{instructions, {}}}, labels);
  const Walk walk = model::Walker(code).walk(accesses_of(source));
  CHECK(blocks_of(walk) == "0");
  CHECK(walk.unmatched == 0);
  CHECK(walk.joined == std::vector<std::uint8_t>(2 * wide, 2));
}

TEST_CASE("An access of which no instruction is known stays in its place") {
  const model::Code code = made_code({{{load()}, {1}}, {{load()}, {}}}, {0, 1});
  const Walk walk = model::Walker(code).walk(accesses_of("azb"));
  CHECK(blocks_of(walk) == "0 - 1");
  CHECK(walk.unmatched == 1);
  CHECK(walk.order == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("A constant that the compiler loads before a loop is not loaded in it") {
  sass::Instruction constant = load();
  constant.kind = sass::InstructionClass::load_constant;
  model::Code code =
      made_code({{{constant, constant}, {1}}, {{load(), plain}, {1, 2}}, {{plain}, {}}}, {0, 0, 1});
  for (model::MemorySlot& slot : code.slots)
    slot.is_optional = code.kernel.instructions[slot.instruction].kind == constant.kind;
  const Walk walk = model::Walker(code).walk(accesses_of("aabaabaab"));
  CHECK(blocks_of(walk) == "0 1 1 1 2");
  CHECK(walk.removed == std::vector<std::uint32_t>{3, 4, 6, 7});
  CHECK(walk.unmatched == 0);
  // The source loads one of them alone; the compiler, ahead of the condition, loads both.
  const Walk one = model::Walker(code).walk(accesses_of("abab"));
  CHECK(blocks_of(one) == "0 1 1 2");
  CHECK(one.path.makes_access == std::vector<std::uint8_t>{1, 0, 1, 1});
  CHECK(one.removed == std::vector<std::uint32_t>{2});
}

TEST_CASE("A constant that is loaded in each iteration tells how many there are") {
  sass::Instruction constant = load();
  constant.kind = sass::InstructionClass::load_constant;
  model::Code code = made_code({{{plain}, {1}}, {{constant, plain}, {1, 2}}, {{plain}, {}}}, {0});
  code.slots.front().is_optional = true;
  const Walk walk = model::Walker(code).walk(accesses_of("aaaa"));
  CHECK(blocks_of(walk) == "0 1 1 1 1 2");
  CHECK(walk.removed.empty());
}

TEST_CASE("Whatever the code and the accesses, each access is there once") {
  Random random(3, 0, 0);
  for (int round = 0; round < 3000; ++round) {
    std::vector<MadeBlock> blocks(1 + random.below(8));
    std::vector<std::uint32_t> labels;
    for (MadeBlock& block : blocks) {
      for (std::uint32_t i = random.below(5); i != 0; --i) {
        block.instructions.push_back(random.below(2) == 0 ? plain
                                                          : load(std::uint8_t(4u << random.below(3))));
        if (random.below(4) == 0)
          block.instructions.back() = guarded(block.instructions.back());
        if (random.below(4) == 0 && block.instructions.back().access_bytes != 0)
          block.instructions.back().kind = sass::InstructionClass::load_constant;
        if (block.instructions.back().access_bytes != 0)
          labels.push_back(random.below(5));
      }
      for (std::uint32_t i = random.below(3); i != 0; --i)
        block.successors.push_back(random.below(std::uint32_t(blocks.size())));
    }
    const model::Code code = made_code(blocks, labels);
    std::vector<WalkedAccess> accesses(random.below(60));
    for (WalkedAccess& access : accesses)
      access = {random.below(6), random.below(2), std::uint8_t(4u << random.below(3)), random.below(2) != 0};
    const Walk walk = model::Walker(code).walk(accesses);

    std::vector<std::uint32_t> sorted = walk.order, all(accesses.size());
    const std::size_t made = sorted.size();
    sorted.insert(sorted.end(), walk.removed.begin(), walk.removed.end());
    std::ranges::sort(sorted);
    std::iota(all.begin(), all.end(), 0u);
    REQUIRE(sorted == all);
    REQUIRE(std::accumulate(walk.joined.begin(), walk.joined.end(), std::size_t{0}) == made);
    std::size_t slots = 0, makes = 0;
    for (const std::uint32_t block : walk.path.blocks)
      if (block == Path::unmatched)
        ++makes;
      else
        slots += code.slots_of(block).size();
    REQUIRE(walk.path.makes_access.size() == slots);
    makes += std::size_t(std::ranges::count(walk.path.makes_access, 1));
    REQUIRE(walk.joined.size() == makes);
  }
}

TEST_CASE("A walk along a path finds accesses at that path's slots") {
  // Code in which each block has a label of its own: there is one path only.
  Random random(4, 0, 0);
  for (int round = 0; round < 500; ++round) {
    std::vector<MadeBlock> blocks(2 + random.below(8));
    std::vector<std::uint32_t> labels;
    const auto last = std::uint32_t(blocks.size() - 1);
    for (std::uint32_t block = 0; block <= last; ++block) {
      blocks[block].instructions = {plain, load(), plain};
      labels.push_back(block);
      if (block != last)
        blocks[block].successors = {block + 1, random.below(last + 1)};
    }
    const model::Code code = made_code(blocks, labels);
    std::vector<WalkedAccess> accesses;
    std::vector<std::uint32_t> taken;
    for (std::uint32_t block = 0, steps = 0;;) {
      taken.push_back(block);
      accesses.push_back({.label = block, .bytes = 4});
      if (block == last || ++steps == 200)
        break;
      block = blocks[block].successors[random.below(2)];
    }
    const Walk walk = model::Walker(code).walk(accesses);
    std::vector<std::uint32_t> found = walk.path.blocks;
    REQUIRE(found == taken);
    REQUIRE(walk.jumps == 0);
  }
}

TEST_CASE("Instructions make the accesses of their place, or of the closest line without another") {
  sass::CodeTable table;
  table.files = {"/home/user/src/kernel.cu", "/usr/include/wrapper.h"};
  table.positions = {{0, 10, sass::none, sass::none},
                     {1, 77, 0, 0}, // inlined into line 10
                     {0, 12, sass::none, sass::none},
                     {0, 20, sass::none, sass::none}};
  model::Labels labels;
  const auto at_10 = labels.add("src/kernel.cu", 10, model::SlotKind::load, model::SlotMemory::global);
  const auto at_14 = labels.add("src/kernel.cu", 14, model::SlotKind::load, model::SlotMemory::global);
  const auto stored = labels.add("src/kernel.cu", 20, model::SlotKind::store, model::SlotMemory::shared);
  model::Code code = made_code({{{plain, plain, plain, plain, plain}, {}}});
  auto& instructions = code.kernel.instructions;
  const auto set = [&](std::size_t index, sass::InstructionClass kind, std::uint32_t position) {
    instructions[index].kind = kind;
    instructions[index].position = position;
    instructions[index].access_bytes = 4;
  };
  set(0, sass::InstructionClass::load_global, 1);
  set(1, sass::InstructionClass::load_generic, 2);
  set(2, sass::InstructionClass::store_shared, 3);
  set(3, sass::InstructionClass::store_global, 3); // no site: nothing stores to global memory there
  labels.find_slots(table, code);
  REQUIRE(code.slots.size() == 3);
  CHECK(code.slots[0].label == at_10);
  CHECK(code.slots[1].label == at_14);
  CHECK(code.slots[2].label == stored);
  CHECK(code.first_slot == std::vector<std::uint32_t>{0, 3});
}

TEST_CASE("A warp executes the sides of branches that the trace marks, and no others") {
  // 0: a; 1: a side of three instructions; 2: the other side, of one; 3: b; 4: a side without the other; 5:
  // end
  model::Code code = made_code({{{load()}, {1, 2}},
                                {{plain, plain, plain}, {3}},
                                {{plain}, {3}},
                                {{load()}, {4, 5}},
                                {{plain, plain}, {5}},
                                {{plain}, {}}},
                               {0, 1});
  const auto none = sass::none;
  code.mark_of_block = {none, 0, 1, none, 2, none};
  code.marked.resize(3);
  const model::Walker walker(code);
  const auto path = [&](std::vector<model::WalkedMark> marks) {
    return blocks_of(walker.walk(accesses_of("ab"), marks));
  };
  CHECK(path({{1, 0, 1}}) == "0 1 3 5");
  CHECK(path({{1, 1, 1}}) == "0 2 3 5");
  CHECK(path({{1, 1, 1}, {2, 2, 1}}) == "0 2 3 4 5");
  CHECK(path({}) == "0 2 3 5"); // neither side was executed, as far as is known: the short one
  CHECK(path({{1, 0, 1}, {1, 1, 1}}) == "0 1 2 3 5"); // the lanes diverge: one side after the other
  // The compiler moved b in front of the branch: the mark comes before b in the source.
  model::Code moved = made_code({{{load(), load()}, {1, 2}}, {{plain, plain}, {2}}, {{plain}, {}}}, {0, 1});
  moved.mark_of_block = {none, 0, none};
  moved.marked.resize(1);
  CHECK(blocks_of(model::Walker(moved).walk(accesses_of("ab"), std::vector<model::WalkedMark>{{1, 0, 1}})) ==
        "0 1 2");
  CHECK(blocks_of(model::Walker(moved).walk(accesses_of("ab"))) == "0 2");
}

TEST_CASE(
    "A loop without accesses is passed as often as its mark says, the unrolled one before its remainder") {
  sass::Instruction product = plain;
  product.kind = sass::InstructionClass::fp32;
  // 0: a; 1: four iterations; 2: between; 3: one iteration; 4: end
  model::Code code = made_code({{{load()}, {1, 2}},
                                {{product, product, product, product, plain}, {1, 2}},
                                {{plain}, {3, 4}},
                                {{product, plain}, {3, 4}},
                                {{plain}, {}}},
                               {0});
  const auto none = sass::none;
  code.mark_of_block = {none, 0, none, 0, none};
  code.marked.resize(1);
  const model::Walker walker(code);
  const auto path = [&](std::uint64_t iterations) {
    return blocks_of(walker.walk(accesses_of("a"), std::vector<model::WalkedMark>{{1, 0, iterations}}));
  };
  CHECK(path(11) == "0 1 1 2 3 3 3 4");
  CHECK(path(8) == "0 1 1 2 4");
  CHECK(path(2) == "0 2 3 3 4");
  CHECK(blocks_of(walker.walk(accesses_of("a"))) == "0 2 4");
  // Several marks of one loop, which the iterations of one around it divide, add up.
  CHECK(blocks_of(walker.walk(accesses_of("a"), std::vector<model::WalkedMark>{{1, 0, 1}, {1, 0, 4}})) ==
        "0 1 2 3 4");
  CHECK(walker.walk(accesses_of("a"), std::vector<model::WalkedMark>{{1, 0, 1ull << 40}}).path.blocks.size() <
        1'100'000);
}

TEST_CASE("A loop of several blocks, and one whose copies of the body tell how it is unrolled") {
  sass::Instruction product = plain;
  product.kind = sass::InstructionClass::fp32;
  product.position = 0;
  // 0: a; 1: the body; 2: its latch; 3: end
  model::Code code =
      made_code({{{load()}, {1}}, {{product, product, plain}, {2}}, {{plain}, {1, 3}}, {{plain}, {}}}, {0});
  const auto none = sass::none;
  code.mark_of_block = {none, 0, none, none};
  code.counter_steps.resize(4);
  code.marked.resize(1);
  const auto path = [&](std::uint64_t iterations) {
    code.marked[0].divisor = iterations;
    return blocks_of(
        model::Walker(code).walk(accesses_of("a"), std::vector<model::WalkedMark>{{1, 0, iterations}}));
  };
  CHECK(path(4) == "0 1 2 1 2 3");
  CHECK(path(5) == "0 1 2 1 2 1 2 1 2 1 2 3"); // without a remainder, it cannot have two copies
  // The body's line has two products in each iteration: the loop's counter steps by one.
  code.counter_steps[1] = {1};
  code.marked[0].step = 1;
  CHECK(path(4) == "0 1 2 1 2 1 2 1 2 3");
  code.counter_steps[1] = {2};
  CHECK(path(4) == "0 1 2 1 2 3");
}

TEST_CASE("A loop that is unrolled by sixteen, eight, four and one has its iterations on any way") {
  sass::Instruction product = plain;
  product.kind = sass::InstructionClass::fp32;
  const auto copies = [&](std::size_t count) {
    std::vector<sass::Instruction> body(count, product);
    body.push_back(plain);
    return body;
  };
  // 0: a; 1, 2: are there iterations, and sixteen; 3: sixteen; 4, 5: eight; 6, 7: four; 8, 9: one; 10: b
  model::Code code = made_code({{{load()}, {10, 1}},
                                {{plain}, {8, 2}},
                                {{plain}, {4, 3}},
                                {copies(16), {3, 4}},
                                {{plain}, {6, 5}},
                                {copies(8), {6}},
                                {{plain}, {8, 7}},
                                {copies(4), {7, 8}},
                                {{plain}, {10, 9}},
                                {copies(1), {9, 10}},
                                {{load()}, {}}},
                               {0, 1});
  const auto none = sass::none;
  code.mark_of_block = {none, 0, 0, 0, 0, 0, 0, 0, 0, 0, none};
  code.marked.resize(1);
  for (const std::uint64_t iterations : {1u, 3u, 4u, 11u, 16u, 17u, 64u, 1000u, 12345u}) {
    const Walk walk =
        model::Walker(code).walk(accesses_of("ab"), std::vector<model::WalkedMark>{{1, 0, iterations}});
    std::array<std::uint64_t, 11> times{};
    for (const std::uint32_t block : walk.path.blocks)
      ++times.at(block);
    CHECK(16 * times[3] + 8 * times[5] + 4 * times[7] + times[9] == iterations);
    CHECK(times[3] >= iterations / 16 - std::min<std::uint64_t>(1, iterations / 16));
  }
  CHECK(blocks_of(model::Walker(code).walk(accesses_of("ab"))) == "0 10");
}

TEST_CASE("A block belongs to the innermost marked body that holds most of its instructions") {
  sass::CodeTable table;
  table.files = {"/a/kernel.cu", "/b/math.h"};
  // In lines 12 and 14 of the kernel; in a header, inlined at line 14; in line 20.
  table.positions = {{0, 12}, {0, 14}, {1, 3, 1}, {0, 20}};
  const auto at = [](std::uint32_t position) {
    sass::Instruction instruction;
    instruction.position = position;
    return instruction;
  };
  model::Code code = made_code(
      {{{at(0), at(0), at(1)}, {1}}, {{at(2), at(2), at(0)}, {2}}, {{at(3), at(0)}, {3}}, {{at(3)}, {}}}, {});
  model::find_marked_blocks(
      table, std::vector<model::MarkedLines>{{"kernel.cu", 10, 16}, {"kernel.cu", 13, 15}}, code);
  CHECK(code.mark_of_block == std::vector<std::uint32_t>{0, 1, sass::none, sass::none});
  model::find_marked_blocks(table, {}, code);
  CHECK(code.mark_of_block.empty());
}

TEST_CASE("A loop's counter steps in its header, and not in that of the loop around it") {
  sass::CodeTable table;
  table.files = {"kernel.cu"};
  table.positions = {{0, 10}, {0, 11}, {0, 12}};
  const auto at = [](std::uint32_t position, std::int32_t addend) {
    sass::Instruction instruction;
    instruction.position = position;
    instruction.addend = addend;
    instruction.reads.add({sass::RegisterFile::general, 4, 1});
    instruction.writes.add({sass::RegisterFile::general, 4, 1});
    return instruction;
  };
  // The loop around it has its header in line 10 and the inner one in line 11 or 12.
  model::Code code = made_code({{{at(2, 0), at(2, 0), at(2, 0), at(2, 8), at(1, -4), at(0, 2)}, {}}}, {});
  const auto steps = [&](std::uint32_t outer, std::uint32_t inner) {
    model::find_marked_blocks(
        table, std::vector<model::MarkedLines>{{"kernel.cu", outer, 13}, {"kernel.cu", inner, 12}}, code);
    return std::exchange(code.counter_steps, {}).at(0);
  };
  CHECK(steps(10, 12) == std::vector<std::uint32_t>{8, 4});
  CHECK(steps(10, 11) == std::vector<std::uint32_t>{8, 4});
  CHECK(steps(11, 12) == std::vector<std::uint32_t>{8}); // line 11 is the body of the loop around it
}

} // namespace
} // namespace warplens::test
