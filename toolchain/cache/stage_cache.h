// Leaves out a compiler's run where nothing that it depends on has changed: its outputs are those of an
// earlier run.
#pragma once

#include "support/content_cache.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::toolchain {

/// One run of compilers in a folder of our own, whose name differs from run to run: wherever it stands in
/// `words`, in the names of files and in outputs that are text, it counts as the same.
struct StageRun {
  std::filesystem::path folder;
  std::vector<std::string> words;              ///< the stage's name and all arguments that matter
  std::vector<std::filesystem::path> programs; ///< the compilers, which their size and time identify
  /// The user's folders of headers in the order in which they are searched: a header that appears in an
  /// earlier one than that from which it was read makes another run.
  std::vector<std::filesystem::path> searched;
  bool outputs_are_text = false;
  /// A file that changed later may not be what the compilers read.
  std::filesystem::file_time_type begun = std::filesystem::file_time_type::clock::now();
};

/// The cache of stages, as ccache's direct mode works: for each run the files that it read with the hashes of
/// their contents, and its outputs. Not kept are runs that depend on more than that (__DATE__, __TIME__,
/// __TIMESTAMP__, .incbin), or on a file that changed while they ran.
class StageCache {
public:
  /// Uses the folder of cache_folder().
  StageCache();

  /// Puts the outputs of an earlier run that read the same into `run.folder`. Returns their paths there, or
  /// none if there was no such run.
  std::vector<std::filesystem::path> restore(const StageRun& run) const;

  /// Keeps the outputs, files in `run.folder`, of a run that read `read` (paths as the compilers print them).
  void keep(const StageRun& run, const std::vector<std::filesystem::path>& read,
            const std::vector<std::filesystem::path>& outputs) const;

private:
  ContentCache cache_;
};

/// A rule as compilers write it for make (-MD).
struct MakeRule {
  std::vector<std::filesystem::path> targets, prerequisites;
};

/// Reads a file of one rule; without a file the rule is empty.
MakeRule read_rule(const std::filesystem::path& file);

/// Returns the user's folders of headers that clang's or nvcc's arguments name, behind the source's own.
std::vector<std::filesystem::path> searched_folders(const std::filesystem::path& source,
                                                    const std::vector<std::string>& arguments);

/// Returns the program that a name without a slash stands for by PATH; the name itself if there is none.
std::filesystem::path program_in_path(const std::string& name);

} // namespace warplens::toolchain
