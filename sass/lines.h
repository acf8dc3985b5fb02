// Reads .debug_line: which place of the source each instruction stems from. It is DWARF 2 with two opcodes of
// NVIDIA's for inlined calls.
#pragma once

#include "sass/code_table.h"
#include "sass/elf.h"

namespace warplens::sass {

/// The instructions from an address on, up to the next row, have one position.
struct LineRow {
  std::uint32_t section = 0;     ///< in Elf::sections
  std::uint64_t address = 0;     ///< in bytes from the section's begin
  std::uint32_t position = none; ///< none: the end of a sequence
};

/// The rows by section and address; of rows with one address the last holds.
using LineRows = std::vector<LineRow>;

/// Reads the cubin's table of lines; appends its files, functions and positions to `code`. A cubin without
/// -lineinfo has no rows.
Expected<LineRows> read_lines(const Elf& elf, CodeTable& code);

/// Returns the position of the instruction at an address; `none` without one.
std::uint32_t position_at(const LineRows& rows, std::uint32_t section, std::uint64_t address);

} // namespace warplens::sass
