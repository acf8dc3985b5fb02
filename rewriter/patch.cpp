// The unified diff. Edits keep the number of lines, so line n of the original is line n of what replaces it,
// after the line on top.
#include "rewriter/instrument.h"
#include "support/line_diff.h"

namespace warplens::rewriter {

std::string print_patch(const Instrumented& instrumented,
                        const std::filesystem::path& probe_include_directory) {
  std::string result = fmt::format("# Instrumentation by Warplens. Compile what it patches with the flag\n"
                                   "#   -I {}\n"
                                   "# and link the program with Warplens' runtime.\n",
                                   probe_include_directory.string());
  bool on_top = true; // only the source itself, which comes first, gets a line on top
  for (const RewrittenFile& file : instrumented.files) {
    const std::size_t added_on_top = on_top ? 1 : 0;
    on_top = false;
    result += line_diff(file.original.string(), file.unchanged, file.patched, added_on_top);
  }
  return result;
}

} // namespace warplens::rewriter
