// A kernel's machine code, and what of it each warp of a snapshot executed.
#pragma once

#include "sass/code_table.h"
#include "sass/matrix_product.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace warplens::model {

constexpr std::uint32_t first_block[] = {0}; ///< what a warp executes first

/// An instruction that makes accesses which a trace has.
struct MemorySlot {
  std::uint32_t instruction = 0; ///< index into sass::Kernel::instructions
  std::uint32_t label = 0;       ///< the accesses that it may make: model/code/labels.h
  std::uint8_t bytes = 0;        ///< of each lane
  bool is_optional = false;      ///< it may be executed without an access of the trace
};

/// The blocks that a warp executed, from its first instruction to its end.
struct Path {
  /// Stands in `blocks` for an access of which the instruction is not known.
  static constexpr std::uint32_t unmatched = ~0u;
  std::vector<std::uint32_t> blocks; ///< indices into sass::Kernel::blocks
  /// For each slot of these blocks in turn: whether it made an access. The accesses are in this order.
  std::vector<std::uint8_t> makes_access;
};

/// A line of the user's source; line 0: none is known.
struct SourceLine {
  std::uint32_t file = 0; ///< index into Code::files
  std::uint32_t line = 0;
};

/// The machine code of a launch's kernel.
struct Code {
  int architecture = 0; ///< 80 for sm_80
  sass::Kernel kernel;
  std::vector<MemorySlot> slots;         ///< in the order of the instructions
  std::vector<std::uint32_t> first_slot; ///< of each block; one more at the end
  /// The bodies without accesses that the trace counts.
  struct MarkedBody {
    std::uint32_t step = 0; ///< by which each iteration of a loop changes its counter; 0: not known
    std::uint64_t divisor =
        0; ///< divides each number of executions in a row that a warp has; 0: none has any
  };
  std::vector<MarkedBody> marked;
  /// The body without accesses that each block belongs to, or sass::none. Empty where the trace
  /// does not count these. An index into `marked`.
  std::vector<std::uint32_t> mark_of_block;
  /// For each block with a mark, by how much its additions change what may be the counter of the marked loop.
  std::vector<std::vector<std::uint32_t>> counter_steps;
  std::vector<Path> paths;        ///< Warp::path is an index
  double matched = 1;             ///< the share of the trace's accesses that have an instruction
  std::vector<std::string> files; ///< of the user's
  std::vector<SourceLine> lines;  ///< of each instruction
  /// The active lanes of each instruction, mean over its executions. Empty where no code was executed.
  std::vector<double> active_lanes;
  /// The products of tensor memory, by instruction: a program computes their shapes.
  std::map<std::uint32_t, sass::MatrixProduct> tensor_memory_products;

  /// Returns whether the machine code was executed; then accesses without an instruction of their own are a
  /// part of one.
  bool was_executed() const { return !active_lanes.empty(); }

  std::span<const MemorySlot> slots_of(std::uint32_t block) const {
    return std::span(slots).subspan(first_slot[block], first_slot[block + 1] - first_slot[block]);
  }
};

} // namespace warplens::model
