// Prints the instrumentation patch. Edits keep the number of lines, so line n of the original is line n of
// its replacement, after the line on top.
#include "rewriter/instrument.h"
#include "support/line_diff.h"
#include "support/process.h"

#include <algorithm>
#include <vector>

namespace warplens::rewriter {
namespace {

namespace fs = std::filesystem;

bool leads_outside(const fs::path& name) {
  return name.is_absolute() || std::ranges::find(name, fs::path("..")) != name.end();
}

/// The folder in which the patch applies, relative to the current one, and the files' names there.
struct Names {
  fs::path folder;
  std::vector<fs::path> files;
};

/// Returns the folder that contains all of the absolute paths.
fs::path folder_around(const std::vector<fs::path>& paths) {
  fs::path folder = paths.front().parent_path();
  for (const fs::path& path : paths) {
    const fs::path other = path.parent_path();
    fs::path common;
    for (auto a = folder.begin(), b = other.begin(); a != folder.end() && b != other.end() && *a == *b;
         ++a, ++b)
      common /= *a;
    folder = common;
  }
  return folder;
}

/// Returns the names as given, unless one leads out of the current folder: `patch` and `git apply` refuse to
/// follow it there.
Names names_in_patch(const std::vector<RewrittenFile>& rewritten) {
  Names names{".", {}};
  for (const RewrittenFile& file : rewritten)
    names.files.push_back(file.original);
  if (std::ranges::none_of(names.files, leads_outside))
    return names;
  std::error_code ignored; // they were read a moment ago
  for (fs::path& name : names.files)
    name = fs::canonical(fs::absolute(name).parent_path(), ignored) / name.filename();
  const fs::path folder = folder_around(names.files);
  for (fs::path& name : names.files)
    name = name.lexically_relative(folder);
  names.folder = fs::relative(folder, ignored);
  return names;
}

} // namespace

std::string print_instrumentation_patch(const Instrumented& instrumented,
                                        const fs::path& probe_include_directory) {
  const Names names = names_in_patch(instrumented.files);
  std::string result = fmt::format("# Instrumentation by Warplens. It is applied by\n"
                                   "#   {}\n"
                                   "# Compile what it patches with the flag\n"
                                   "#   {}\n"
                                   "# and link the program with Warplens' runtime.\n",
                                   quote({"patch", "-p0", "-d", names.folder.string()}),
                                   quote({"-I", probe_include_directory.string()}));
  for (std::size_t i = 0; i < instrumented.files.size(); ++i) {
    const RewrittenFile& file = instrumented.files[i];
    const std::size_t added_on_top = i == 0; // only the source itself, which comes first, gets a line on top
    result += line_diff(names.files[i].string(), file.unchanged, file.patched, added_on_top);
  }
  return result;
}

} // namespace warplens::rewriter
