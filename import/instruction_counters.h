// From counters of instructions to those of source lines, by the line table of the kernel's code.
#pragma once

#include "import/kernel_counters.h"

#include <string_view>

namespace warplens::import {

/// The counters of each instruction, by its address in the GPU's memory, then by name.
using InstructionCounters = std::map<std::uint64_t, std::map<std::string, double>>;

/// Code that was on the GPU.
struct Module {
  std::string_view cubin;
  std::map<std::uint64_t, std::string_view> functions; ///< mangled names, by the address of their begin
};

/// Returns whether the counter is one of those that are added up by line.
bool is_instruction_counter(std::string_view name);

/// Returns the counters of the memory instructions, added up by line, space and operation. It is an error
/// if the code cannot be decoded, or was compiled without -lineinfo.
Expected<std::vector<LineCounters>> lines_of(const InstructionCounters& counters, const Module& module);

} // namespace warplens::import
