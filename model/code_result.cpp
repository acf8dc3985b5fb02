#include "model/code_result.h"

#include "model/figures.h"
#include "model/snapshot/scaled.h"
#include "sass/operands.h"

#include <algorithm>
#include <bit>

namespace warplens::model {
namespace {

/// The accesses of one instruction, of all warps.
struct InstructionAccesses {
  static constexpr std::uint32_t several = sass::none - 1;
  std::uint64_t requests = 0, sectors = 0, passes = 0;
  std::uint32_t site =
      sass::none; ///< index into Snapshot::sites; `several`: it has accesses of more than one
};

/// Adds up the accesses by the instructions that make them.
class AccessWalk {
public:
  explicit AccessWalk(const Snapshot& snapshot)
      : snapshot_(snapshot), code_(*snapshot.code), of_(code_.kernel.instructions.size()) {}

  void add(const Warp& warp) {
    const Path& path = code_.paths[warp.path];
    access_ = warp.accesses.data();
    transaction_ = warp.transactions.data();
    std::size_t slots = 0;
    std::uint32_t large = sass::none; // the instruction of which further parts of an access may follow
    std::uint32_t site_of_large = 0;
    for (const std::uint32_t block : path.blocks) {
      if (block == Path::unmatched) {
        if (large != sass::none && access_->site == site_of_large)
          add_part(large);
        else
          large = sass::none; // it is an operand, or an access that the code lacks
        pass();
        continue;
      }
      large = sass::none;
      for (const MemorySlot& slot : code_.slots_of(block)) {
        if (path.makes_access[slots++] == 0)
          continue;
        site_of_large = access_->site;
        add_request(slot.instruction);
        pass();
        const bool ends_block = slot.instruction + 1 == code_.kernel.blocks[block].end;
        large = ends_block && code_.was_executed() ? slot.instruction : sass::none;
      }
    }
  }

  const InstructionAccesses& operator[](std::size_t instruction) const { return of_[instruction]; }

private:
  void add_request(std::uint32_t instruction) {
    if (access_->kind == AccessKind::barrier)
      return;
    InstructionAccesses& of = of_[instruction];
    ++of.requests;
    const SiteSummary& summary = snapshot_.sites[access_->site];
    const std::uint32_t site =
        summary.measures == SiteSummary::not_measured ? std::uint32_t(access_->site) : summary.measures;
    of.site = of.site == sass::none || of.site == site ? site : InstructionAccesses::several;
    add_part(instruction);
  }
  void add_part(std::uint32_t instruction) {
    InstructionAccesses& of = of_[instruction];
    of.passes += access_->passes;
    if (access_->cache != FirstCache::constant)
      for (const Transaction& one : std::span(transaction_, access_->transactions))
        of.sectors += unsigned(std::popcount(unsigned{one.sectors}));
  }
  void pass() { transaction_ += access_++->transactions; }

  const Snapshot& snapshot_;
  const Code& code_;
  std::vector<InstructionAccesses> of_;
  const Access* access_ = nullptr;
  const Transaction* transaction_ = nullptr;
};

InstructionTime time_at(std::span<const TrialCounts> trials, std::span<const TimeSums> sums,
                        std::size_t place) {
  InstructionTime time;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const StateCounts& at = trials[i].states[place];
    const double all = sums[i].active * double(trials.size());
    for (std::size_t state = 0; state < warp_state_count; ++state)
      time.states[state] += double(at.cycles[state]) / all;
    time.awaited += double(at.awaited) / all;
  }
  return time;
}

/// Leaves out the instructions that are executed least, where there are too many for a result.
void limit(CodeResult& code) {
  if (code.instructions.size() <= max_instructions_of_code)
    return;
  std::vector<std::uint64_t> executions;
  for (const InstructionResult& instruction : code.instructions)
    executions.push_back(instruction.executions);
  std::ranges::nth_element(executions, executions.begin() + max_instructions_of_code, std::greater());
  const std::uint64_t least = executions[max_instructions_of_code];
  auto equal =
      max_instructions_of_code -
      std::size_t(std::ranges::count_if(code.instructions, [&](const InstructionResult& instruction) {
        return instruction.executions > least;
      }));
  std::erase_if(code.instructions, [&](const InstructionResult& instruction) {
    if (instruction.executions > least || (instruction.executions == least && equal != 0 && equal-- != 0))
      return false;
    ++code.left_out;
    code.executions_left_out += instruction.executions;
    return true;
  });
}

} // namespace

CodeResult code_result(std::span<const TrialCounts> trials, const Snapshot& snapshot,
                       const std::vector<Site>& sites) {
  const Code& code = *snapshot.code;
  AccessWalk accesses(snapshot);
  for (const Warp& warp : snapshot.warps)
    accesses.add(warp);
  const std::vector<TimeSums> sums = time_sums(trials);
  CodeResult result;
  result.files = code.files;
  std::vector<sass::Function> functions = code.kernel.functions;
  if (functions.empty())
    functions.push_back({code.kernel.name, 0, std::uint32_t(code.kernel.instructions.size())});
  for (const sass::Function& function : functions)
    result.functions.push_back(function.name);
  std::uint32_t function = 0;
  for (std::uint32_t i = 0; i < code.kernel.instructions.size(); ++i) {
    const sass::Instruction& coded = code.kernel.instructions[i];
    while (function + 1 < functions.size() && i >= functions[function].end)
      ++function;
    InstructionResult& instruction = result.instructions.emplace_back();
    instruction.function = function;
    instruction.offset = coded.address;
    instruction.text = coded.word.low == 0 && coded.word.high == 0
                           ? std::string(sass::name_of(coded))
                           : sass::listing_of(coded.word, coded.address, code.architecture);
    if (i < code.lines.size() && code.lines[i].line != 0) {
      instruction.file = code.lines[i].file;
      instruction.line = code.lines[i].line;
    }
    instruction.executions = trials.front().states[i].issued();
    if (instruction.executions != 0 && code.was_executed())
      instruction.active_lanes = code.active_lanes[i];
    const double times = snapshot.leaves_out ? snapshot.executions_of_replayed[i] : 1;
    instruction.requests = scaled(accesses[i].requests, times);
    instruction.sectors = scaled(accesses[i].sectors, times);
    instruction.passes = scaled(accesses[i].passes, times);
    if (accesses[i].site < InstructionAccesses::several)
      instruction.site = sites[snapshot.sites[accesses[i].site].site].id;
    instruction.time = time_at(trials, sums, i);
  }
  result.accesses_apart = accesses_apart(trials.front(), snapshot);
  limit(result);
  return result;
}

} // namespace warplens::model
