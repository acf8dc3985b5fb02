// A unified diff as edits of a text that may have moved on.
#pragma once

#include "support/expected.h"

#include <cstddef>
#include <string>
#include <vector>

namespace warplens::driver::lsp {

/// Replaces the lines [begin, end), from 0 on, by others.
struct LineEdit {
  std::size_t begin = 0, end = 0;
  std::vector<std::string> lines;
};

/// Returns the edits that a unified diff of one file makes in the lines, in their order. A hunk may lie
/// further up or down than it says; it is applied at the nearest place that has its lines. The error says
/// that there is none, or that the text is no unified diff.
Expected<std::vector<LineEdit>> edits_of(const std::string& patch, const std::vector<std::string>& lines);

} // namespace warplens::driver::lsp
