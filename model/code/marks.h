// Which blocks of a kernel's code a warp executes where it accesses nothing: a trace *marks* the bodies of
// loops and the sides of branches without accesses, and says how often a warp executed each.
#pragma once

#include "model/code/code.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warplens::model {

/// The lines of a body without accesses.
struct MarkedLines {
  std::string file;
  std::uint32_t first = 0, last = 0;
  std::uint32_t step = 0; ///< Code::MarkedBody::step
};

/// Sets Code::mark_of_block: a block belongs to the innermost body that holds most of its instructions, by
/// their lines or those of the calls that they are inlined at.
void find_marked_blocks(const sass::CodeTable& table, std::span<const MarkedLines> marks, Code& code);

/// Returns for each block how many executions of its body one of the block is: of an unrolled loop, as many
/// as it has copies of the body's arithmetic; of a branch's side, one where it is entered; elsewhere 0. Empty
/// if the code has no marked blocks. `is_passable`: for each block, whether a warp may execute it without an
/// access.
std::vector<std::uint32_t> executions_of_blocks(const Code& code, const std::vector<bool>& is_passable);

} // namespace warplens::model
