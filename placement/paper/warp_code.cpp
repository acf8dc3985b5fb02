#include "placement/paper/warp_code.h"

#include "sass/decode.h"
#include "trace/machine_code.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace warplens::placement {
namespace {

/// The executions of instructions and the sites of accesses, by function and offset.
using Executed = std::map<std::pair<std::string, std::uint32_t>, const InstructionResult*>;

/// Calls visit(file, register) for each register of the spans.
template <class Spans, class Visit> void each_register(const Spans& spans, Visit&& visit) {
  for (const sass::RegisterSpan& span : spans)
    for (unsigned i = 0; i < span.count; ++i)
      visit(std::pair(span.file, unsigned{span.first} + i));
}

/// Returns the number of instructions in the longest chain of a block in which each needs a result of the one
/// before.
unsigned longest_chain(std::span<const sass::Instruction> block) {
  std::map<std::pair<sass::RegisterFile, unsigned>, unsigned> depth; // of the results in registers
  unsigned longest = 1;
  for (const sass::Instruction& instruction : block) {
    unsigned needs = 0;
    const auto need = [&](const auto& which) {
      if (const auto found = depth.find(which); found != depth.end())
        needs = std::max(needs, found->second);
    };
    each_register(instruction.reads, need);
    if (!instruction.guard.is_always() && instruction.guard.predicate != sass::Guard::always)
      need(std::pair(instruction.guard.uniform ? sass::RegisterFile::uniform_predicate
                                               : sass::RegisterFile::predicate,
                     unsigned{instruction.guard.predicate}));
    each_register(instruction.writes, [&](const auto& which) { depth[which] = needs + 1; });
    longest = std::max(longest, needs + 1);
  }
  return longest;
}

/// Returns whether the address of the block's access at `at` is a sum of 64 bits with a carry, as of an index
/// of 64 bits.
bool has_wide_index(std::span<const sass::Instruction> block, std::size_t at) {
  const auto address = std::ranges::find_if(block[at].reads, [](const sass::RegisterSpan& span) {
    return span.file == sass::RegisterFile::general && span.count == 2;
  });
  if (address == block[at].reads.end())
    return false;
  for (std::size_t i = at; i-- > 0;) {
    bool writes = false;
    each_register(block[i].writes, [&](const auto& which) {
      writes |= which == std::pair(sass::RegisterFile::general, address->first + 1u);
    });
    if (writes)
      return sass::name_of(block[i]).starts_with("LEA.HI") || sass::name_of(block[i]).ends_with(".X");
  }
  return false;
}

} // namespace

WarpCode warp_code(const KernelResult& result, const trace::Launch& launch, const model::Gpu& gpu) {
  WarpCode found;
  const trace::MachineCode* const code =
      trace::machine_code_for(launch.machine_code, gpu.capability(), gpu.registers.max_per_thread);
  if (code == nullptr || code->cubin.empty() || !result.code)
    return found;
  const auto table = sass::decode(std::as_bytes(std::span(code->cubin)));
  const sass::Kernel* const kernel = table ? sass::find_kernel(*table, code->symbol) : nullptr;
  if (kernel == nullptr)
    return found;
  Executed executed;
  for (const InstructionResult& one : result.code->instructions)
    executed.emplace(std::pair(result.code->functions[one.function], one.offset), &one);
  double instructions = 0, chains = 0;
  for (const sass::Block& block : kernel->blocks) {
    const auto function = std::ranges::find_if(kernel->functions, [&](const sass::Function& one) {
      return one.begin <= block.begin && block.begin < one.end;
    });
    if (function == kernel->functions.end())
      continue;
    const std::span all = std::span(kernel->instructions).subspan(block.begin, block.end - block.begin);
    const auto result_of = [&](const sass::Instruction& instruction) {
      const auto one = executed.find(std::pair(function->name, instruction.address));
      return one == executed.end() ? nullptr : one->second;
    };
    const InstructionResult* const first = result_of(all.front());
    if (first == nullptr || first->executions == 0)
      continue;
    instructions += double(first->executions) * double(all.size());
    chains += double(first->executions) * longest_chain(all);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const InstructionResult* const one = result_of(all[i]); one != nullptr && one->site)
        if (has_wide_index(all, i))
          found.wide_sites.insert(*one->site);
  }
  if (chains > 0)
    found.instruction_parallelism = instructions / chains;
  return found;
}

} // namespace warplens::placement
