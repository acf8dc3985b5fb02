// Finds the places where a comment can stand behind a line of C++ without changing the compiler's view.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace warplens::report {

struct CommentPlace {
  enum class Form {
    none,  ///< the line ends within a string or a comment, or in the middle of a token
    line,  ///< `// …` at the end of the line
    block, ///< only `/* … */`: the line goes on after its backslash
  } form = Form::none;
  std::size_t at = 0; ///< bytes from the start of the line
};

/// Returns one place for each line of `text`.
std::vector<CommentPlace> comment_places(std::string_view text);

} // namespace warplens::report
