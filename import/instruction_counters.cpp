#include "import/instruction_counters.h"

#include "sass/decode.h"

#include <algorithm>
#include <tuple>

namespace warplens::import {
namespace {

constexpr std::string_view counters_of_lines[] = {"inst_executed",
                                                  "thread_inst_executed",
                                                  "memory_l1_tag_requests_global",
                                                  "memory_l2_theoretical_sectors_global",
                                                  "memory_l2_theoretical_sectors_global_ideal",
                                                  "memory_l1_wavefronts_shared",
                                                  "memory_l1_wavefronts_shared_ideal"};

struct Access {
  std::string_view space, operation;
};

/// Returns what a memory instruction does; nothing for other instructions.
std::optional<Access> access_of(sass::InstructionClass kind) {
  using enum sass::InstructionClass;
  switch (kind) {
  case load_global: return Access{"global", "load"};
  case load_shared: return Access{"shared", "load"};
  case load_local: return Access{"local", "load"};
  case load_generic: return Access{"generic", "load"};
  case store_global: return Access{"global", "store"};
  case store_shared: return Access{"shared", "store"};
  case store_local: return Access{"local", "store"};
  case store_generic: return Access{"generic", "store"};
  case copy_to_shared: return Access{"global", "copy"};
  case atomic_global:
  case reduction_global: return Access{"global", "atomic"};
  case atomic_shared: return Access{"shared", "atomic"};
  case atomic_generic: return Access{"generic", "atomic"};
  default: return std::nullopt;
  }
}

/// An instruction of a table, and the function's kernel.
const sass::Instruction* instruction_at(const sass::CodeTable& code, std::string_view function,
                                        std::uint64_t offset) {
  for (const sass::Kernel& kernel : code.kernels)
    for (const sass::Function& one : kernel.functions) {
      if (one.name != function || one.begin == one.end)
        continue;
      const auto begin = kernel.instructions.begin() + one.begin, end = kernel.instructions.begin() + one.end;
      const auto found = std::lower_bound(begin, end, begin->address + offset,
                                          [](const sass::Instruction& instruction, std::uint64_t address) {
                                            return instruction.address < address;
                                          });
      if (found != end && found->address == begin->address + offset)
        return &*found;
    }
  return nullptr;
}

} // namespace

bool is_instruction_counter(std::string_view name) {
  return std::ranges::find(counters_of_lines, name) != std::end(counters_of_lines);
}

Expected<std::vector<LineCounters>> lines_of(const InstructionCounters& counters, const Module& module) {
  if (module.cubin.empty())
    return fail("the report does not have the kernel's code");
  const auto code = sass::decode(std::as_bytes(std::span(module.cubin)));
  if (!code)
    return fail("the kernel's code in the report: {}", code.error().message);
  if (code->positions.empty())
    return fail("the kernel's code has no line table: compile with -lineinfo");
  std::map<std::tuple<std::string, std::uint32_t, std::string_view, std::string_view>, LineCounters> lines;
  for (const auto& [address, values] : counters) {
    const auto next = module.functions.upper_bound(address);
    if (next == module.functions.begin())
      continue;
    const auto& [begin, function] = *std::prev(next);
    const sass::Instruction* instruction = instruction_at(*code, function, address - begin);
    if (instruction == nullptr || instruction->position == sass::none)
      continue;
    const auto access = access_of(instruction->kind);
    if (!access)
      continue;
    const sass::Position& position = code->positions[instruction->position];
    const std::string& file = code->files[position.file];
    LineCounters& line = lines[{file, position.line, access->space, access->operation}];
    line.file = file;
    line.line = position.line;
    line.space = access->space;
    line.operation = access->operation;
    for (const auto& [name, value] : values)
      line.counters[name] += value;
  }
  std::vector<LineCounters> sorted;
  for (auto& [key, line] : lines)
    sorted.push_back(std::move(line));
  return sorted;
}

} // namespace warplens::import
