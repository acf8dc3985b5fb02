// Threads that do the work of several: merged warps, and the instructions that they then execute.
#include "model/code/copied_instructions.h"
#include "model/snapshot/coarsen.h"
#include "test/catch.h"
#include "test/model/made_code.h"

using namespace warplens;
using namespace warplens::model;
using namespace warplens::test;

namespace {

sass::RegisterSpan general(std::uint8_t first, std::uint8_t count = 1) {
  return {sass::RegisterFile::general, first, count};
}

sass::Instruction instruction(sass::InstructionClass kind, std::initializer_list<sass::RegisterSpan> writes,
                              std::initializer_list<sass::RegisterSpan> reads) {
  sass::Instruction made;
  made.kind = kind;
  made.control.stall = 5;
  for (const sass::RegisterSpan span : writes)
    made.writes.add(span);
  for (const sass::RegisterSpan span : reads)
    made.reads.add(span);
  return made;
}

/// b[i] = 2 * a[i]: R0 is i, R2:3 and R4:5 are addresses, R6 the value and R7 its double.
Code doubles() {
  using sass::InstructionClass;
  sass::Instruction load = test::load(), store = test::load();
  load.writes.add(general(6));
  load.reads.add(general(2, 2));
  load.control.stall = 1;
  store.kind = InstructionClass::store_global;
  store.reads.add(general(4, 2));
  store.reads.add(general(7));
  return made_code({{{instruction(InstructionClass::special_register, {general(0)}, {}),
                      instruction(InstructionClass::wide_integer, {general(2, 2)}, {general(0)}),
                      instruction(InstructionClass::wide_integer, {general(4, 2)}, {general(0)}), load,
                      instruction(InstructionClass::fp32, {general(7)}, {general(6)}), store,
                      instruction(InstructionClass::exit, {}, {})},
                     {}}},
                   {0, 1});
}

/// Two blocks of four warps, each of which loads a line and stores one.
Snapshot copy(bool with_code) {
  Snapshot snapshot;
  snapshot.sites.resize(2);
  snapshot.warp_accesses = 16;
  for (SiteSummary& site : snapshot.sites) {
    site.bytes = 4;
    site.executions = site.cached = 8;
    site.active_lanes = 256;
  }
  for (std::uint32_t number = 0; number < 8; ++number) {
    Warp& warp = snapshot.warps.emplace_back();
    warp.block = number / 4;
    warp.warp = number % 4;
    for (std::uint32_t site = 0; site < 2; ++site) {
      Access access;
      access.site = site;
      access.kind = site == 0 ? AccessKind::load : AccessKind::store;
      access.transactions = 1;
      access.starts_bulk = true;
      warp.accesses.push_back(access);
      warp.transactions.push_back({.line = site * 1000 + number, .sectors = whole_line});
    }
    warp.bulks = 2;
  }
  snapshot.blocks = {{0, 0, 4}, {1, 4, 4}};
  if (with_code) {
    Code code = doubles();
    code.paths.push_back({{0}, {1, 1}});
    snapshot.code = std::make_shared<const Code>(std::move(code));
  }
  return snapshot;
}

trace::Launch launch() {
  trace::Launch made;
  made.block.x = 128;
  made.grid.x = 2;
  made.machine_code.push_back({.capability = 80, .architecture = 80, .registers = 8});
  return made;
}

std::vector<std::uint32_t> lines_of(const Warp& warp) {
  std::vector<std::uint32_t> lines;
  for (const Transaction& transaction : warp.transactions)
    lines.push_back(transaction.line);
  return lines;
}

} // namespace

TEST_CASE("what depends on loads and on their addresses has copies; the thread's index serves all") {
  const Code code = doubles();
  const CopiedInstructions apart = find_copied(code, {false, false});
  CHECK(apart.is_copied == std::vector<bool>{false, true, true, true, true, true, false});
  // Both addresses are alive behind the second one: four registers.
  CHECK(apart.registers == 4);
  // Wide accesses need one address; each copy has its value and its double, one after the other.
  const CopiedInstructions wide = find_copied(code, {true, true});
  CHECK(wide.is_copied == std::vector<bool>{false, false, false, false, true, false, false});
  CHECK(wide.registers == 1);

  Code copied = code;
  copy_instructions(copied, apart, 2);
  CHECK(copied.kernel.instructions.size() == 12);
  CHECK(copied.slots.size() == 4);
  CHECK(copied.kernel.blocks[0].end == 12);
  CHECK(copied.kernel.instructions[copied.slots[2].instruction].kind == sass::InstructionClass::store_global);
  // Two cycles behind the first copy of the product comes the second, and what waits for the first another
  // three behind that: five, as it was.
  CHECK(copied.kernel.instructions[1].control.stall == 2);
  CHECK(copied.kernel.instructions[2].control.stall == 3);
}

TEST_CASE("warps of a block are merged, those that are apart or neighbours") {
  for (const bool with_code : {false, true}) {
    Snapshot snapshot = copy(with_code);
    trace::Launch of = launch();
    REQUIRE(coarsen(snapshot, of, {.threads = 2}));
    CHECK(of.block.count() == 64);
    CHECK(of.machine_code[0].registers == (with_code ? 8 + 4 : 8));
    REQUIRE(snapshot.warps.size() == 4);
    CHECK(snapshot.blocks[1].first_warp == 2);
    CHECK(lines_of(snapshot.warps[0]) == std::vector<std::uint32_t>{0, 2, 1000, 1002});
    CHECK(snapshot.sites[0].executions == 8);
    if (with_code)
      CHECK(snapshot.code->paths[0].makes_access == std::vector<std::uint8_t>{1, 1, 1, 1});
  }
  Snapshot snapshot = copy(true);
  trace::Launch of = launch();
  REQUIRE(coarsen(snapshot, of, {.threads = 4, .neighbours = true}));
  CHECK(of.block.count() == 32);
  CHECK(of.machine_code[0].registers == 8 + 3); // one value of each further copy
  REQUIRE(snapshot.warps.size() == 2);
  CHECK(lines_of(snapshot.warps[1]) == std::vector<std::uint32_t>{4, 5, 6, 7, 1004, 1005, 1006, 1007});
  CHECK(snapshot.warps[1].accesses.size() == 2);
  CHECK(snapshot.warps[1].accesses[0].passes == 4);
  CHECK(snapshot.sites[0].executions == 2);
  CHECK(snapshot.warp_accesses == 4);
}

TEST_CASE("warps that cannot be merged say why") {
  const auto refusal = [](Snapshot snapshot, const trace::Coarsening& coarsening) {
    trace::Launch of = launch();
    const auto merged = coarsen(snapshot, of, coarsening);
    return merged ? std::string() : merged.error().message;
  };
  CHECK(refusal(copy(true), {.threads = 8}).find("no 8 x 32") != std::string::npos);
  CHECK(refusal(copy(false), {.threads = 4, .neighbours = true}).find("not known") != std::string::npos);
  Snapshot other = copy(true);
  other.warps[1].accesses[0].site = 1;
  CHECK(refusal(other, {.threads = 2, .neighbours = true}).find("do not execute the same") !=
        std::string::npos);
  Snapshot scattered = copy(true);
  scattered.warps[1].transactions[0].line = 77;
  CHECK(refusal(scattered, {.threads = 2, .neighbours = true}).find("side by side") != std::string::npos);
}
