// Notes say what the last result that has a source file knows of its lines.
#pragma once

#include "report/line_notes.h"
#include "result/result.h"
#include "support/content_cache.h"
#include "support/expected.h"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace warplens::driver::lsp {

/// The notes on one file, and the text that they are about.
struct FileNotes {
  std::vector<std::string> lines;   ///< of that text, without their ends
  std::vector<std::string> sources; ///< of the program: those to profile again
  std::vector<report::LineNote> notes;
};

/// Keeps the notes by a file's path, and in a cache on disk for the next time.
class Notes {
public:
  /// An empty folder keeps them in memory alone.
  explicit Notes(const std::filesystem::path& folder);

  /// Returns the notes on the file; null: there are none.
  std::shared_ptr<const FileNotes> find(const std::filesystem::path& file);

  /// Takes the result's notes in place of those that the same program had, for files whose text is still the
  /// one that the result was made of: named sources by their hash, others if they did not change after
  /// `made_at`. Returns the names of the other files, which have no notes now.
  std::vector<std::string> replace(const Result& result, const std::vector<std::string>& sources,
                                   std::filesystem::file_time_type made_at);

private:
  void keep(const std::filesystem::path& file, FileNotes notes);

  ContentCache cache_;
  std::mutex mutex_;
  std::map<std::filesystem::path, std::shared_ptr<const FileNotes>> by_file_;
};

} // namespace warplens::driver::lsp
