// What the result has of each instruction, on code and counts made by hand.
#include "model/code_result.h"
#include "test/catch.h"
#include "test/model/made_code.h"
#include "test/model/made_trace.h"

using namespace warplens;
using namespace warplens::model;
using namespace warplens::test;

namespace {

sass::Instruction plain(sass::InstructionClass kind, std::uint32_t address) {
  sass::Instruction made;
  made.kind = kind;
  made.address = address;
  return made;
}

/// Two warps: arithmetic, a load of every eighth word whose access has two parts, an operand in constant
/// memory, a load by half of the lanes at a site of the first or of its own.
struct Made {
  Made() : trace(1, 64) {
    const auto wide = [](unsigned lane) { return (1u << 21) + 32 * lane; };
    const auto line = [](unsigned lane) { return (1u << 21) + 4 * lane; };
    const std::uint64_t first = trace.site(), operand = trace.site(), second = trace.site();
    for (const std::uint32_t warp : {0u, 1u}) {
      trace.access(0, warp, first, 4, wide);
      trace.access(0, warp, first, 4, line);
      trace.access(0, warp, operand, 4, [](unsigned) { return 64; }, ~0u, Space::constant);
      trace.access(0, warp, warp == 0 ? second : first, 4, line, 0xffff);
    }
    snapshot = *trace.decode({}, Accesses::all_in_program_order);
    using enum sass::InstructionClass;
    code = made_code({{{plain(fp32, 0), load()}, {1}}, {{load(), plain(exit, 48)}, {}}}, {0, 1});
    code.kernel.functions = {{"kernel", 0, 3}, {"callee", 3, 4}};
    code.files = {"a.cu"};
    code.lines = {{0, 0}, {0, 7}, {0, 8}, {0, 9}};
    code.active_lanes = {32, 32, 16, 24};
    code.paths.push_back({{0, Path::unmatched, Path::unmatched, 1}, {1, 1}});
    // Of places: four instructions, three sites, and the idle one.
    counts.states.resize(8);
    const std::uint64_t issued[] = {2, 2, 2, 2, 2, 2, 0, 0};
    for (std::size_t place = 0; place < 8; ++place)
      counts.states[place].cycles[std::size_t(WarpState::selected)] = issued[place];
    counts.states[2].cycles[std::size_t(WarpState::long_scoreboard)] = 28;
    counts.states[1].awaited = 20;
    counts.time.cycles = 20;
    counts.time.warp_cycles = 40;
  }
  CodeResult result() {
    snapshot.code = std::make_shared<const Code>(code);
    return code_result(std::vector{counts, counts}, snapshot, trace.sites());
  }
  MadeTrace trace;
  Snapshot snapshot;
  Code code;
  TrialCounts counts;
};

} // namespace

TEST_CASE("each instruction has its executions, lanes, accesses and time") {
  Made made;
  const CodeResult result = made.result();
  CHECK(result.functions == std::vector<std::string>{"kernel", "callee"});
  REQUIRE(result.instructions.size() == 4);
  const InstructionResult& load = result.instructions[1];
  CHECK(load.line == 7);
  CHECK(load.executions == 2);
  CHECK(load.active_lanes == 32);
  CHECK(load.requests == 2);
  CHECK(load.sectors == 2 * (32 + 4)); // with the further part, not with the operand
  CHECK(load.site == 1000);
  CHECK(load.time->awaited == 0.5);
  const InstructionResult& second = result.instructions[2];
  CHECK(second.requests == 2);
  CHECK(second.sectors == 2 * 2);
  CHECK_FALSE(second.site); // it is of two sites
  CHECK(second.time->states[std::size_t(WarpState::long_scoreboard)] == 0.7);
  CHECK(result.instructions[0].line == 0);
  CHECK(result.instructions[0].requests == 0);
  CHECK(result.instructions[3].function == 1);
  CHECK(result.instructions[3].offset == 48);
  CHECK(result.accesses_apart == 0); // the operands and further parts are of these instructions
  CHECK(result.left_out == 0);
}

TEST_CASE("without executed code, lanes are not known, and an access without an instruction is none's") {
  Made made;
  made.code.active_lanes.clear();
  const CodeResult result = made.result();
  CHECK_FALSE(result.instructions[1].active_lanes);
  CHECK(result.instructions[1].sectors == 2 * 32);
  CHECK(result.accesses_apart == 4);
}

TEST_CASE("of too much code, the instructions that are executed most are in the result") {
  Made made;
  constexpr std::size_t further = 1u << 16;
  made.code.kernel.instructions.resize(4 + further);
  made.code.lines.resize(4 + further);
  made.code.active_lanes.resize(4 + further);
  made.counts.states.resize(8 + further);
  made.counts.states[4 + further - 1].cycles[std::size_t(WarpState::selected)] = 5;
  const CodeResult result = made.result();
  CHECK(result.instructions.size() == max_instructions_of_code);
  CHECK(result.left_out == 4);
  CHECK(result.instructions[3].executions == 2);
  CHECK(result.instructions.back().executions == 5);
  std::uint64_t all = result.accesses_apart + result.executions_left_out;
  for (const InstructionResult& instruction : result.instructions)
    all += instruction.executions;
  CHECK(all == 8 + 4 + 5);
}
