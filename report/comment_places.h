// Where a comment can be put behind a line of C++ without changing what the compiler sees.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace warplens::report {

struct CommentPlace {
  enum class Form {
    none,  ///< the line ends within a string or a comment, or in the middle of a token
    line,  ///< `// …` as the line's last
    block, ///< only `/* … */`: the line goes on after its backslash
  } form = Form::none;
  std::size_t at = 0; ///< bytes from the start of the line
};

/// One for each line of `text`.
std::vector<CommentPlace> comment_places(std::string_view text);

} // namespace warplens::report
