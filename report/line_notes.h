// Notes on the lines of a program's sources, for editors: a few figures beside a costly line, more of them
// and the findings on request.
#pragma once

#include "result/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace warplens::report {

/// A finding on an access.
struct LineProblem {
  std::string rule; ///< its id: "bank-conflicts"
  std::string message;
  std::uint32_t column = 0; ///< of the access in its line, in bytes from 1; 0: not known
  std::uint32_t bytes = 0;  ///< of the access's expression
  bool is_warning = false;  ///< a person could mend it
};

struct LineNote {
  std::string file; ///< as the result names it
  std::uint32_t line = 0;
  std::string hint;    ///< "38 % · 32 sectors/request · long_scoreboard"
  std::string details; ///< Markdown: what it costs each kernel, the figures of each access, the findings
  std::vector<LineProblem> problems;
};

/// Returns the notes on the lines that cost a kernel a hundredth of its time or more, by file and line. A
/// line's hint is about the first GPU, and the kernel in which the program spends the most time there.
std::vector<LineNote> line_notes(const Result& result);

} // namespace warplens::report
