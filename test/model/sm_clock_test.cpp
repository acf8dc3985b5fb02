// The SM's clock against the reference that steps every cycle, and both against cases solved by hand.
#include "model/sm/sm_clock.h"
#include "numeric/random.h"
#include "test/catch.h"
#include "test/model/reference_sm.h"

#include <initializer_list>
#include <set>
#include <utility>

namespace warplens::test {
namespace {

/// Pipes of the machine that the cases assume, by index.
enum : std::int16_t { fma, mufu, shared, memory };

SmMachine machine(Cycle fma_interval = 2, std::uint32_t schedulers = 1) {
  SmMachine figures;
  figures.schedulers = schedulers;
  figures.resident_blocks = 32;
  figures.pipes = {
      {.interval = fma_interval}, {.interval = 8}, {.interval = 1}, {.interval = 1, .needs_mshr = true}};
  figures.latencies = {4, 23, 29, 200};
  return figures;
}

/// Returns `count` instructions, each of which needs the result of the one before.
WarpProgram chain(std::int16_t pipe, int count) {
  return WarpProgram(std::size_t(count), {.pipe = pipe, .result = 0, .sources = {0}});
}
WarpProgram independent(std::int16_t pipe, int count, std::uint16_t passes = 1) {
  return WarpProgram(std::size_t(count), {.pipe = pipe, .passes = passes});
}
WarpProgram operator+(WarpProgram first, const WarpProgram& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
const WarpProgram barrier{{.pipe = Instruction::none}};

/// Supplies the clock with the blocks' programs, and results after each pipe's fixed latency.
class Programs {
public:
  struct Program {
    std::uint32_t block, number;
    const WarpProgram* instructions;
    std::size_t next = 0;
  };
  Programs(const SmMachine& machine, const std::vector<BlockProgram>& blocks)
      : machine_(machine), blocks_(blocks), clock_(machine, *this) {}

  SmOutcome run(Cycle step) {
    while (dispatched_ < blocks_.size() && dispatched_ < machine_.resident_blocks)
      dispatch(0);
    for (Cycle end = step; clock_.next() != model::never; end += step)
      clock_.run_until(end);
    return std::move(outcome_);
  }

  bool has_ended(const Program& program) const { return program.next == program.instructions->size(); }
  Instruction next(const Program& program) const { return (*program.instructions)[program.next]; }
  Cycle issue(model::WarpNumber, Program& program, const Instruction& instruction, Cycle now, Cycle leaves) {
    CHECK(leaves >= now);
    outcome_.issues[{program.block, program.number}].push_back(now);
    ++program.next;
    if (instruction.pipe == Instruction::none)
      return now + 1;
    const PipeFigures& pipe = machine_.pipes[std::size_t(instruction.pipe)];
    const Cycle result = now + machine_.latencies[std::size_t(instruction.pipe)] + instruction.passes - 1;
    if (pipe.needs_mshr)
      misses_.insert(result);
    return result;
  }
  Cycle entries_open_at(Cycle from) {
    const auto in_use = misses_.upper_bound(from);
    return std::size_t(std::distance(in_use, misses_.end())) >= machine_.miss_entries ? *in_use : from;
  }
  void waited(model::WarpNumber, const Program&, Stall why, Cycle cycles) { outcome_.stalls[why] += cycles; }
  void ended(std::uint32_t, Cycle now) {
    outcome_.cycles = std::max(outcome_.cycles, now);
    if (dispatched_ < blocks_.size())
      dispatch(now);
  }

private:
  void dispatch(Cycle at) {
    const auto block = std::uint32_t(dispatched_++);
    std::vector<Program> programs;
    for (std::uint32_t number = 0; number < blocks_[block].size(); ++number)
      programs.push_back({block, number, &blocks_[block][number]});
    clock_.dispatch(block, programs, at, block % machine_.kernels);
  }

  const SmMachine& machine_;
  const std::vector<BlockProgram>& blocks_;
  std::size_t dispatched_ = 0;
  std::multiset<Cycle> misses_; ///< when each entry is free
  SmOutcome outcome_;
  model::SmClock<Programs> clock_;
};

/// Runs the blocks in the reference and by the clock, in one go and in steps, which must agree in every issue
/// and every stall.
SmOutcome run(const SmMachine& figures, const std::vector<BlockProgram>& blocks) {
  SmOutcome slow = ReferenceSm(figures, blocks).run();
  for (const Cycle step : {Cycle{1} << 40, Cycle{7}}) {
    SmOutcome fast = Programs(figures, blocks).run(step);
    CHECK(fast.cycles == slow.cycles);
    CHECK(fast.issues == slow.issues);
    for (std::size_t why = 0; why < model::stall_reasons; ++why) {
      INFO("stall reason " << why);
      CHECK(fast.stalls[Stall(why)] == slow.stalls[Stall(why)]);
    }
  }
  std::erase_if(slow.stalls, [](const auto& stall) { return stall.second == 0; });
  return slow;
}
SmOutcome run(const SmMachine& figures, BlockProgram block) {
  return run(figures, std::vector<BlockProgram>{std::move(block)});
}
Cycle cycles(const SmMachine& figures, BlockProgram block) {
  return run(figures, std::move(block)).cycles;
}

TEST_CASE("Kernels take turns at a pipe that takes an instruction every other cycle") {
  SmMachine two = machine();
  two.kernels = 2;
  const SmOutcome outcome =
      run(two, std::vector<BlockProgram>{{independent(fma, 50)}, {independent(fma, 50)}});
  const Cycle one = outcome.issues.at({0, 0}).back(), other = outcome.issues.at({1, 0}).back();
  CHECK(std::max(one, other) - std::min(one, other) <= 2);
}

TEST_CASE("A chain waits for each result") {
  const SmOutcome outcome = run(machine(), {chain(fma, 100)});
  CHECK(outcome.cycles == 400);
  CHECK(outcome.issues.at({0, 0}).back() == 396); // 397 cycles, with its own
  CHECK(outcome.stalls.at(Stall::data) == 297);
  CHECK_FALSE(outcome.stalls.contains(Stall::structural));
}

TEST_CASE("Independent instructions wait for their pipe") {
  CHECK(cycles(machine(), {independent(fma, 100)}) == 202);
  CHECK(cycles(machine(1), {independent(fma, 100)}) == 103);
  CHECK(cycles(machine(), {independent(mufu, 10)}) == 95);
}

TEST_CASE("Warps share the pipe") {
  const auto chains = [](std::size_t warps) { return BlockProgram(warps, chain(fma, 100)); };
  CHECK(cycles(machine(), chains(2)) == 402);
  CHECK(cycles(machine(), chains(4)) == 802);
  CHECK(cycles(machine(1), chains(4)) == 403);
  CHECK(cycles(machine(1), chains(8)) == 803);
}

TEST_CASE("Warps hide each other's latency, as Little's law says") {
  CHECK(cycles(machine(), BlockProgram(8, chain(memory, 10))) == 7 + 2000);
}

TEST_CASE("Misses wait for a free entry") {
  SmMachine figures = machine();
  figures.miss_entries = 8;
  const SmOutcome outcome = run(figures, {independent(memory, 32)});
  for (Cycle i = 0; i < 32; ++i)
    CHECK(outcome.issues.at({0, 0})[i] == 200 * (i / 8) + i % 8);
  CHECK(outcome.cycles == 807);
  CHECK(outcome.stalls.at(Stall::structural) == 576);
}

TEST_CASE("Bank conflicts occupy the pipe and delay the result") {
  CHECK(cycles(machine(), {independent(shared, 10)}) == 38);
  CHECK(cycles(machine(), {independent(shared, 10, 32)}) == 348);
}

TEST_CASE("A barrier opens when the last warp arrives") {
  const SmOutcome outcome = run(
      machine(2, 2), {chain(fma, 10) + barrier + chain(fma, 10), chain(fma, 100) + barrier + chain(fma, 10)});
  CHECK(outcome.issues.at({0, 0})[10] == 37);
  CHECK(outcome.issues.at({0, 1})[100] == 397);
  CHECK(outcome.issues.at({0, 0})[11] == 398);
  CHECK(outcome.cycles == 440);
}

TEST_CASE("A barrier counts one warp after the other") {
  SmMachine figures = machine(2, 4);
  figures.barrier = 22;
  figures.barrier_interval = 2;
  // Four warps arrive in cycle 0, on a scheduler each: the last is counted in cycle 8.
  const SmOutcome outcome = run(figures, {barrier + chain(fma, 1), barrier + chain(fma, 1),
                                          barrier + chain(fma, 1), barrier + chain(fma, 1)});
  for (std::uint32_t warp = 0; warp < 4; ++warp)
    CHECK(outcome.issues.at({0, warp})[1] == 30);
}

TEST_CASE("The two sides of a divergent branch run one after the other") {
  WarpProgram other_side = chain(fma, 20);
  for (Instruction& one : other_side)
    one = {.pipe = fma, .result = 1, .sources = {1}};
  CHECK(cycles(machine(), {chain(fma, 10) + other_side}) == 118);
}

TEST_CASE("Loads of the next iteration do not wait for the arithmetic of this one") {
  SmMachine figures = machine(1);
  figures.latencies[memory] = 40;
  WarpProgram loop;
  for (int i = 0; i < 10; ++i)
    loop = loop + WarpProgram{{.pipe = memory, .result = 0},
                              {.pipe = fma, .result = 1, .sources = {0}},
                              {.pipe = fma, .result = 2, .sources = {1}}};
  const SmOutcome outcome = run(figures, {loop});
  CHECK(outcome.issues.at({0, 0})[1] == 40);
  CHECK(outcome.issues.at({0, 0})[2] == 44);
  CHECK(outcome.issues.at({0, 0})[3] == 45);
  CHECK(outcome.cycles == 453);
}

TEST_CASE("The policy decides who gets a slow pipe") {
  SmMachine figures = machine(1);
  figures.pipes[memory] = {.interval = 8};
  figures.latencies[memory] = 10;
  const WarpProgram one =
      independent(fma, 4) + WarpProgram{{.pipe = memory, .result = 0}, {.pipe = fma, .sources = {0}}};
  const auto last_two = [](const SmOutcome& outcome) {
    std::vector<std::pair<Cycle, Cycle>> of_warps;
    for (const auto& [warp, issues] : outcome.issues)
      of_warps.emplace_back(issues[4], issues[5]);
    return of_warps;
  };
  using Pairs = std::vector<std::pair<Cycle, Cycle>>;
  figures.policy = IssuePolicy::loose_round_robin;
  const SmOutcome in_turn = run(figures, BlockProgram(3, one));
  CHECK(last_two(in_turn) == Pairs{{12, 22}, {20, 30}, {28, 38}});
  CHECK(in_turn.cycles == 42);
  figures.policy = IssuePolicy::greedy_then_oldest;
  const SmOutcome greedy = run(figures, BlockProgram(3, one));
  CHECK(last_two(greedy) == Pairs{{4, 14}, {21, 31}, {13, 23}});
  CHECK(greedy.cycles == 35);
}

TEST_CASE("Policies differ in the order, not always in the time") {
  SmMachine figures = machine(1);
  figures.pipes[memory] = {.interval = 1};
  figures.latencies[memory] = 6;
  const WarpProgram one{{.pipe = fma},
                        {.pipe = fma},
                        {.pipe = memory, .result = 0},
                        {.pipe = fma, .result = 1, .sources = {0}},
                        {.pipe = fma, .sources = {1}}};
  using Cycles = std::vector<Cycle>;
  figures.policy = IssuePolicy::loose_round_robin;
  const SmOutcome in_turn = run(figures, {one, one});
  CHECK(in_turn.issues.at({0, 0}) == Cycles{0, 2, 4, 10, 14});
  CHECK(in_turn.issues.at({0, 1}) == Cycles{1, 3, 5, 11, 15});
  figures.policy = IssuePolicy::greedy_then_oldest;
  const SmOutcome greedy = run(figures, {one, one});
  CHECK(greedy.issues.at({0, 0}) == Cycles{0, 1, 2, 8, 12});
  CHECK(greedy.issues.at({0, 1}) == Cycles{3, 4, 5, 11, 15});
  CHECK((in_turn.cycles == 19 && greedy.cycles == 19));
}

TEST_CASE("Policies rank warps that are all ready") {
  // Xu's thesis, chapter 7: one warp of block 0 waits, three each of blocks 1 and 2. The numbers are slots.
  const std::vector<RankedWarp> warps{
      {.slot = 0,
       .block = 0,
       .idle_since = 99,
       .issued_last = true,
       .issued_last_of_block = true,
       .waiting_in_block = 1},
      {.slot = 1, .block = 0, .idle_since = 95, .waiting_in_block = 1},
      {.slot = 4, .block = 1, .idle_since = 93, .waiting_in_block = 3},
      {.slot = 5, .block = 1, .idle_since = 88, .waiting_in_block = 3},
      {.slot = 8, .block = 2, .idle_since = 97, .issued_last_of_block = true, .waiting_in_block = 3},
      {.slot = 9, .block = 2, .idle_since = 91, .waiting_in_block = 3}};
  const auto order = [&](IssuePolicy policy) {
    std::vector<std::pair<std::vector<std::int64_t>, std::uint32_t>> ranks;
    for (const RankedWarp& warp : warps)
      ranks.emplace_back(rank_of(warp, policy, 0), warp.slot);
    std::ranges::sort(ranks);
    std::vector<std::uint32_t> slots;
    for (const auto& [rank, slot] : ranks)
      slots.push_back(slot);
    return slots;
  };
  using Slots = std::vector<std::uint32_t>;
  CHECK(order(IssuePolicy::loose_round_robin) == Slots{1, 4, 5, 8, 9, 0});
  CHECK(order(IssuePolicy::greedy_then_oldest) == Slots{0, 1, 4, 5, 8, 9});
  CHECK(order(IssuePolicy::greedy_then_youngest) == Slots{0, 9, 8, 5, 4, 1});
  CHECK(order(IssuePolicy::greedy_then_least_recent) == Slots{0, 5, 9, 4, 1, 8});
  CHECK(order(IssuePolicy::two_level_oldest) == Slots{4, 5, 8, 9, 0, 1});
  CHECK(order(IssuePolicy::two_level_least_recent) == Slots{5, 4, 8, 9, 0, 1});
  CHECK(order(IssuePolicy::greedy_two_level_least_recent) == Slots{0, 5, 4, 9, 8, 1});
}

TEST_CASE("A load of many lines occupies the L1 a cycle for each") {
  const SmOutcome outcome = run(machine(), {independent(memory, 2, 32)});
  CHECK(outcome.issues.at({0, 0})[1] == 32);
}

TEST_CASE("Each resident cycle of a warp is an issue or a stall") {
  SmMachine figures = machine(2, 2);
  for (int policy = 0; policy <= int(IssuePolicy::greedy_two_level_least_recent); ++policy) {
    figures.policy = IssuePolicy(policy);
    const BlockProgram block{chain(fma, 5) + barrier + chain(memory, 2), independent(mufu, 6) + barrier,
                             independent(shared, 4, 3) + barrier + chain(fma, 7)};
    const SmOutcome outcome = run(figures, block);
    Cycle accounted = 0;
    for (const auto& [warp, issues] : outcome.issues)
      accounted += issues.size();
    for (const auto& [why, count] : outcome.stalls)
      accounted += count;
    CHECK(accounted == outcome.cycles * block.size());
  }
}

TEST_CASE("A block takes the place of one that ended") {
  SmMachine figures = machine();
  figures.resident_blocks = 1;
  CHECK(run(figures, std::vector<BlockProgram>(3, {chain(fma, 100)})).cycles == 1200);
  figures.resident_blocks = 2;
  CHECK(run(machine(1), std::vector<BlockProgram>(3, {chain(fma, 100)})).cycles == 402);
}

TEST_CASE("A queue before the memory pipeline lets five loads in, then one for each that leaves") {
  // As measured on a GA102 (Huerta et al., MICRO 2025), but that loads leave the queue at once there may be.
  SmMachine figures = machine(1, 4);
  figures.queue = {.entries = 5, .own_interval = 4, .shared_interval = 2};
  figures.pipes[memory] = {.interval = 1, .uses_queue = true};
  figures.latencies[memory] = 32;
  using Cycles = std::vector<Cycle>;
  // They leave the queue in cycles 0, 4, 8, and so on.
  CHECK(run(figures, {independent(memory, 9)}).issues.at({0, 0}) == Cycles{0, 1, 2, 3, 4, 5, 6, 8, 12});
  const SmOutcome all = run(figures, BlockProgram(4, independent(memory, 7)));
  for (std::uint32_t scheduler = 0; scheduler < 4; ++scheduler)
    CHECK(all.issues.at({0, scheduler})[6] == 8 + 2 * scheduler);
}

TEST_CASE("A front end of two issues from two warps, to different pipes") {
  SmMachine figures = machine(1);
  figures.policy = IssuePolicy::greedy_then_oldest;
  using Cycles = std::vector<Cycle>;
  const BlockProgram apart{independent(fma, 4), independent(shared, 4)}, same(2, independent(fma, 4));
  CHECK(run(figures, apart).issues.at({0, 1}) == Cycles{4, 5, 6, 7});
  figures.front_end = 2;
  CHECK(run(figures, apart).issues.at({0, 1}) == Cycles{0, 1, 2, 3});
  CHECK(run(figures, same).issues.at({0, 1}) == Cycles{4, 5, 6, 7});
}

TEST_CASE("Kernels take turns to issue first, each from its oldest warp") {
  SmMachine figures = machine(1);
  figures.resident_blocks = 2;
  figures.policy = IssuePolicy::greedy_then_oldest;
  const std::vector<BlockProgram> blocks{{independent(fma, 2), independent(fma, 2)}, {independent(fma, 5)}};
  using Cycles = std::vector<Cycle>;
  CHECK(run(figures, blocks).issues.at({1, 0}) == Cycles{4, 5, 6, 7, 8});
  figures.kernels = 2; // blocks 0 and 1
  const SmOutcome outcome = run(figures, blocks);
  CHECK(outcome.issues.at({0, 0}) == Cycles{0, 2});
  CHECK(outcome.issues.at({0, 1}) == Cycles{4, 6});
  CHECK(outcome.issues.at({1, 0}) == Cycles{1, 3, 5, 7, 8});
}

TEST_CASE("A queue of its own is not full of what the other kernel waits for") {
  SmMachine figures = machine(1);
  figures.queue = {.entries = 1, .own_interval = 0, .shared_interval = 1};
  figures.pipes[memory] = {.interval = 1, .uses_queue = true};
  figures.pipes[shared] = {.interval = 1, .uses_queue = true};
  figures.latencies[memory] = 50;
  // A conflict of 32 ways holds the pipeline when the next instructions want to enter the queue.
  const BlockProgram block{independent(memory, 3, 32), independent(shared, 2)};
  const Cycle one_queue = run(figures, block).issues.at({0, 1})[1];
  figures.pipes[shared].queue = 1;
  const Cycle own_queue = run(figures, block).issues.at({0, 1})[1];
  CHECK(own_queue < one_queue);
}

TEST_CASE("A warp whose scheduler is full goes to another one") {
  SmMachine figures = machine(1, 2);
  figures.resident_blocks = 2 * model::max_warps_of_scheduler;
  std::vector<BlockProgram> blocks;
  for (int i = 0; i < 300; ++i) // in turn, those of one scheduler would all be long
    blocks.push_back({chain(fma, i % 2 == 0 ? 200 : 1)});
  const SmOutcome outcome = Programs(figures, blocks).run(Cycle{1} << 40);
  CHECK(outcome.issues.size() == blocks.size());
  for (const auto& [warp, issues] : outcome.issues)
    CHECK(issues.size() == (warp.first % 2 == 0 ? 200 : 1));
}

WarpProgram random_program(Random& random, std::size_t pipes, bool barriers) {
  WarpProgram program(random.below(20));
  for (Instruction& one : program) {
    if (barriers && random.below(12) == 0) {
      one.pipe = Instruction::none;
      continue;
    }
    one.pipe = std::int16_t(random.below(std::uint32_t(pipes)));
    one.passes = random.below(4) == 0 ? std::uint16_t(1 + random.below(6)) : std::uint16_t{1};
    one.delay = random.below(4) == 0 ? std::uint16_t(random.below(9)) : std::uint16_t{1};
    one.result = std::int16_t(random.below(5)) - 1;
    for (std::uint32_t i = 0, count = random.below(4) == 0 ? 1 + random.below(3) : random.below(2); i < count;
         ++i)
      one.sources[i] = std::int16_t(random.below(4));
  }
  return program;
}

TEST_CASE("The clock equals the reference on random programs and machines, whatever the policy") {
  Random random(16, 0, 0);
  for (int round = 0; round < 2000; ++round) {
    SmMachine figures;
    figures.schedulers = 1 + random.below(4);
    figures.policy = IssuePolicy(random.below(model::issue_policies));
    figures.front_end = round % 3 == 0 ? 1 + random.below(3) : 1;
    figures.kernels = round % 5 == 0 ? 1 + random.below(3) : 1;
    figures.resident_blocks = 1 + random.below(3);
    figures.barrier = random.below(2) * random.below(9);
    figures.barrier_interval = random.below(2) * random.below(4);
    figures.miss_entries = 1 + random.below(6);
    figures.queue = {
        .entries = 1 + random.below(5), .own_interval = random.below(5), .shared_interval = random.below(3)};
    figures.pipes.resize(1 + random.below(4));
    for (PipeFigures& pipe : figures.pipes)
      pipe = {.interval = 1 + random.below(4),
              .shared = random.below(2) == 0,
              .uses_queue = random.below(3) == 0,
              .queue = std::uint8_t(random.below(model::max_queues)),
              .needs_mshr = random.below(3) == 0};
    for (std::size_t pipe = 0; pipe < figures.pipes.size(); ++pipe)
      figures.latencies.push_back(1 + random.below(30));
    std::vector<BlockProgram> blocks(1 + random.below(5));
    for (BlockProgram& block : blocks) {
      block.resize(1 + random.below(6));
      for (WarpProgram& program : block)
        program = random_program(random, figures.pipes.size(), round % 2 == 0);
    }
    INFO("round " << round << ", policy " << int(figures.policy) << " barrier " << (round % 2 == 0)
                  << " blocks " << blocks.size() << " entries " << figures.queue.entries << " misses "
                  << figures.miss_entries);
    run(figures, blocks);
  }
}

} // namespace
} // namespace warplens::test
