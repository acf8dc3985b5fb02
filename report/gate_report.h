// Prints what a gate says of a program: for a terminal, a pull request, or a tool.
#pragma once

#include "document/print.h"
#include "judge/gate.h"

#include <string>

namespace warplens::report {

struct GateReport {
  std::string baseline;       ///< the name of its file
  std::string record_command; ///< the command that records what the baseline does not have
  std::string picture;        ///< where the comment's picture is, a path or URL; empty: it has none
  std::string svg;            ///< that picture
  const judge::Gate* gate;
  const Result* result; ///< of the program, for the lines of its accesses
};

/// Returns one line: "2 kernels worse, 41 equal", with the word that decides first.
std::string gate_summary(const judge::Gate& gate);

/// The lines that a comment on a pull request has at most.
inline constexpr document::Look gate_comment{.max_lines = 60};

/// Returns a finding for each kernel that is not as recorded, with what changed as its evidence, the summary,
/// and what to do, which is last on a terminal. Pages have a table and the picture besides.
document::Document gate_document(const GateReport& report);

/// Prints `warplens-gate/1`.
std::string print_gate_json(const GateReport& report);

/// Returns the part of the result that is about kernels that are worse: for SARIF.
Result worse_kernels(const GateReport& report);

} // namespace warplens::report
