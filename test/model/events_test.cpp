#include "model/clock/clocked_trial.h"
#include "model/events.h"
#include "sass/instruction.h"
#include "test/catch.h"
#include "test/model/made_code.h"
#include "test/model/made_trace.h"

using namespace warplens;
using namespace warplens::model;
using namespace warplens::test;

namespace {

sass::Instruction plain(sass::InstructionClass kind) {
  sass::Instruction made;
  made.kind = kind;
  return made;
}

double of(const ByMemoryEvent& events, MemoryEvent event) {
  return events[std::size_t(event)];
}

/// One warp of 32 lanes: a block of arithmetic, a load by all lanes, arithmetic, a load by eight of them,
/// arithmetic.
struct Made {
  Made() : trace(1, 32) {
    const auto line = [](unsigned lane) { return (1u << 21) + 4 * lane; };
    const std::uint64_t first = trace.site(), second = trace.site();
    trace.access(0, 0, first, 4, line);
    trace.access(0, 0, second, 4, line, 0xff);
    snapshot = *trace.decode({}, Accesses::all);
    using enum sass::InstructionClass;
    Code code = made_code({{{plain(fp32), plain(alu)}, {1}},
                           {{load()}, {2}},
                           {{plain(special_function)}, {3}},
                           {{load()}, {4}},
                           {{plain(fp64), plain(exit)}, {}}},
                          {0, 1});
    code.files = {"a.cu"};
    for (std::uint32_t i = 0; i < code.kernel.instructions.size(); ++i)
      code.lines.push_back({0, i < 2 ? 0 : i / 2});
    code.paths.push_back({{0, 1, 2, 3, 4}, {1, 1}});
    snapshot.code = std::make_shared<const Code>(std::move(code));
  }
  MadeTrace trace;
  Snapshot snapshot;
};

} // namespace

TEST_CASE("Blocks without accesses have the lanes of the accesses around them, the more of both") {
  const Made made;
  const std::vector<Instructions> blocks = executions_of_blocks(made.snapshot, 32);
  REQUIRE(blocks.size() == 5);
  const double lanes[] = {32, 32, 32, 8, 32};
  for (std::size_t block = 0; block < 5; ++block) {
    CHECK(blocks[block].warps == 1);
    CHECK(blocks[block].lanes == lanes[block]);
  }
  // A block of 20 threads has no more lanes, but for those that an access has.
  CHECK(executions_of_blocks(made.snapshot, 20)[4].lanes == 20);
}

TEST_CASE("A barrier without an instruction is no block") {
  MadeTrace trace(1, 32);
  const std::uint64_t load_site = trace.site(), barrier = trace.site(AccessKind::barrier);
  trace.barrier(0, 0, barrier);
  trace.access(0, 0, load_site, 4, [](unsigned lane) { return (1u << 21) + 4 * lane; }, 0xffff);
  Snapshot snapshot = *trace.decode({}, Accesses::all);
  Code code = made_code({{{load()}, {}}}, {0});
  code.paths.push_back({{Path::unmatched, 0}, {1}});
  snapshot.code = std::make_shared<const Code>(std::move(code));
  const std::vector<Instructions> blocks = executions_of_blocks(snapshot, 32);
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].warps == 1);
  CHECK(blocks[0].lanes == 16);
}

TEST_CASE("Instructions by kind, of all and by line") {
  const Made made;
  const ExecutedInstructions work = executed_instructions(made.snapshot, 32);
  const auto warps = [](const ByInstructionKind& of_all, InstructionKind kind) {
    return of_all[std::size_t(kind)].warps;
  };
  CHECK(warps(work.all, InstructionKind::fp32) == 1);
  CHECK(warps(work.all, InstructionKind::integer) == 1);
  CHECK(warps(work.all, InstructionKind::memory) == 2);
  CHECK(warps(work.all, InstructionKind::special_function) == 1);
  CHECK(warps(work.all, InstructionKind::fp64) == 1);
  CHECK(warps(work.all, InstructionKind::control) == 1);
  CHECK(work.all[std::size_t(InstructionKind::memory)].lanes == 40);
  REQUIRE(work.lines.size() == 3); // the first two instructions have no line
  CHECK(warps(work.lines.at({"a.cu", 1}), InstructionKind::memory) == 1);
  CHECK(warps(work.lines.at({"a.cu", 1}), InstructionKind::special_function) == 1);
  CHECK(work.lines.at({"a.cu", 2})[std::size_t(InstructionKind::memory)].lanes == 8);
}

TEST_CASE("A multiply-add of pairs counts four operations a lane, and none where it moves a constant") {
  MadeTrace trace(1, 32);
  const std::uint64_t site = trace.site();
  trace.access(0, 0, site, 4, [](unsigned lane) { return (1u << 21) + 4 * lane; });
  const auto operations = [&](bool reads) {
    sass::Instruction pairs = plain(sass::InstructionClass::fp16);
    while (sass::name_of(pairs) != "HFMA2")
      ++pairs.operation;
    if (reads)
      pairs.reads.add({sass::RegisterFile::general, 2, 1});
    Snapshot snapshot = *trace.decode({}, Accesses::all);
    Code code = made_code({{{load(), pairs}, {}}}, {0});
    code.lines.resize(code.kernel.instructions.size());
    code.paths.push_back({{0}, {1}});
    snapshot.code = std::make_shared<const Code>(std::move(code));
    return executed_instructions(snapshot, 32).operations.fp16;
  };
  CHECK(operations(true) == 4 * 32);
  CHECK(operations(false) == 0); // HFMA2 R2, -RZ, RZ, 0, 0
}

TEST_CASE("A product by tensor cores counts apart, once for the warp") {
  MadeTrace trace(1, 32);
  const std::uint64_t site = trace.site();
  trace.access(0, 0, site, 4, [](unsigned lane) { return (1u << 21) + 4 * lane; });
  // HMMA.16816.F32
  constexpr sass::Word word{0x000000160408723c, 0x000180c};
  sass::Instruction product = sass::decode_instruction(word, 0, 80).instruction;
  product.word = word;
  Snapshot snapshot = *trace.decode({}, Accesses::all);
  Code code = made_code({{{load(), product}, {}}}, {0});
  code.lines.resize(code.kernel.instructions.size());
  code.paths.push_back({{0}, {1}});
  snapshot.code = std::make_shared<const Code>(std::move(code));
  const auto work = executed_instructions(snapshot, 32);
  CHECK(work.operations.tensor == 2 * 16 * 8 * 16);
  CHECK(work.operations.fp16 == 0);
}

TEST_CASE("Sectors, rows and passes of a small launch") {
  // A warp loads a line, and then a quarter of it again, from an empty L2.
  Made made;
  const Gpu v100 = gpu("v100");
  const auto occupied = occupancy(v100, made.trace.launch());
  REQUIRE(occupied);
  std::vector<TrialCounts> trials{run_clocked_trial(made.snapshot, v100, *occupied, Random(1, 0, 0)),
                                  run_clocked_trial(made.snapshot, v100, *occupied, Random(1, 0, 1))};
  const ByMemoryEvent events = memory_events(trials, made.snapshot, v100);
  CHECK(of(events, MemoryEvent::l1_read_hit) + of(events, MemoryEvent::l1_read_miss) == 5);
  CHECK(of(events, MemoryEvent::l2_read_miss) == 4);
  CHECK(of(events, MemoryEvent::l2_read_hit) == 0);
  CHECK(of(events, MemoryEvent::dram_read) == 4);
  CHECK(of(events, MemoryEvent::row_activation) == 1);
  CHECK(of(events, MemoryEvent::dram_write) == 0);
  CHECK(of(events, MemoryEvent::shared_pass) == 0);
  const ByMemoryEvent of_first = memory_events(made.snapshot.sites[0], 0, trials, v100);
  CHECK(of(of_first, MemoryEvent::l2_read_miss) == 4);
}
