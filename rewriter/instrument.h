// The rewriter's main flow: parse → find memory operations → ask the analyses → plan edits → print.
#pragma once

#include "support/expected.h"
#include "trace/records.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::rewriter {

struct Request {
  std::filesystem::path source;
  /// A clang++ command line without the source, mode (--cuda-device-only / --cuda-host-only) and output: -x
  /// cuda, --cuda-path,
  /// --cuda-gpu-arch, -isystem, -I, -D, -std, … (driver/clang_arguments.h makes it).
  std::vector<std::string> clang_arguments;
  std::filesystem::path output_directory; ///< where the copies will lie; nothing is written by instrument()
  bool keep_removed = false;              ///< probe also what the compiler removes
};

/// One file, rewritten. `text` is what the compiler gets (with #line, redirected includes and the site
/// table); `patched` is what a patch leaves in the original's place.
struct RewrittenFile {
  std::filesystem::path original;
  std::filesystem::path copy;
  std::string text;
  std::string patched;
  std::string unchanged; ///< as the user has it
};

/// An access that has no probe, or one that counts too much, and why.
struct Unseen {
  std::string file;
  std::uint32_t line = 0, column = 0;
  std::string expression;
  std::string reason;
};

struct Instrumented {
  std::vector<RewrittenFile>
      files; ///< the source first, then headers of the user's that changed or include one that did
  std::vector<trace::Site> sites; ///< by file, line, column
  std::vector<Unseen> removed;    ///< what the compiler eliminates
  std::vector<Unseen> unseen;
  std::vector<Unseen> repeated; ///< counted in every iteration of a loop that the compiler hoists it out of
};

/// The error of a file that does not parse holds Clang's first error as file:line:column: reason.
Expected<Instrumented> instrument(const Request& request);

/// The instrumentation as a unified diff with paths as given (`patch -p0` and `git apply -p0` take it). Its
/// header names the flags that the patched file needs to compile.
std::string print_patch(const Instrumented& instrumented,
                        const std::filesystem::path& probe_include_directory);

} // namespace warplens::rewriter
