// A kernel's machine code, instruction by instruction, as the warps of its snapshot executed it.
#pragma once

#include "result/warp_states.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens {

/// The states of warps at an instruction, as shares of the time of all the kernel's warps; means over trials.
struct InstructionTime {
  ByState states{};   ///< they wait to issue it, or issue it
  double awaited = 0; ///< they wait anywhere for its result, or at its barrier
};

struct InstructionResult {
  std::uint32_t function = 0;         ///< index into CodeResult::functions
  std::uint32_t offset = 0;           ///< bytes from the begin of its section, as branches name it
  std::string text;                   ///< "@!P0 IADD3 R4, P1, R2, 0x10, RZ"
  std::uint32_t file = 0, line = 0;   ///< index into CodeResult::files; line 0: none of the user's is known
  std::uint64_t executions = 0;       ///< of warps, in the snapshot
  std::optional<double> active_lanes; ///< mean over executions; none: not executed, or lanes are not known
  std::uint64_t requests = 0;         ///< executions that access memory
  std::uint64_t sectors = 0;          ///< of 32 bytes, of all requests; not of shared and constant memory
  std::uint64_t passes = 0;           ///< of all requests through the SM's memory pipeline
  std::optional<std::uint64_t> site;  ///< the id of the site that has the requests, if it is one
  std::optional<InstructionTime> time;
};

/// Results have at most this number of instructions of a kernel: those that are executed most.
inline constexpr std::size_t max_instructions_of_code = 1u << 16;

struct CodeResult {
  std::vector<std::string> functions, files;   ///< the functions mangled, the kernel first
  std::vector<InstructionResult> instructions; ///< by function and offset
  /// Accesses that take a warp's turn on the clock and of which no instruction is known. With the
  /// instructions' executions they are ExecutedCode::instructions.
  std::uint64_t accesses_apart = 0;
  std::uint64_t left_out = 0, executions_left_out = 0; ///< instructions that the result does not have
};

} // namespace warplens
