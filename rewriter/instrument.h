// The rewriter's main flow: parse → find memory operations → run the analyses → plan edits → print.
#pragma once

#include "support/expected.h"
#include "trace/records.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace warplens::rewriter {

struct Request {
  std::filesystem::path source;
  /// A clang++ command line without the source, mode (--cuda-device-only / --cuda-host-only) and output: -x
  /// cuda, --cuda-path, --cuda-gpu-arch, -isystem, -I, -D, -std, … (toolchain/nvcc/clang_arguments.h makes
  /// it).
  std::vector<std::string> clang_arguments;
  std::filesystem::path output_directory; ///< the folder for the copies; instrument() writes nothing
  bool keep_removed = false;              ///< probe also accesses that the compiler removes
  std::filesystem::path cache;            ///< folder of precompiled headers; empty: there are none
};

/// One file, rewritten. `text` is for the compiler (with #line, redirected includes and the site table);
/// `patched` is the original after the instrumentation patch.
struct RewrittenFile {
  std::filesystem::path original;
  std::filesystem::path copy;
  std::string text;
  std::string patched;
  std::string unchanged; ///< the user's text
};

/// An access that has no probe, or one that counts too much, and the reason.
struct Unseen {
  std::string file;
  std::uint32_t line = 0, column = 0;
  std::string expression;
  std::string reason;
};

struct Instrumented {
  std::vector<RewrittenFile>
      files; ///< the source first, then headers of the user's that changed or include one that did
  std::vector<Site> sites;     ///< ordered by file, line, column
  std::vector<Unseen> removed; ///< accesses that the compiler eliminates
  std::vector<Unseen> unseen;
  std::vector<Unseen>
      repeated;        ///< accesses counted in every iteration of a loop that the compiler hoists them out of
  std::string refused; ///< why Clang makes no code of some device function; empty: it does of all
  std::set<std::string> read; ///< all files that were read, as the compiler names them
};

/// Rewrites one source and its headers. The error for a file that does not parse holds Clang's first error as
/// file:line:column: reason.
Expected<Instrumented> instrument(const Request& request);

/// Returns the instrumentation patch: a unified diff with paths as given (`patch -p0` and `git apply -p0`
/// take it). Its header names the flags that the patched file needs to compile.
std::string print_instrumentation_patch(const Instrumented& instrumented,
                                        const std::filesystem::path& probe_include_directory);

} // namespace warplens::rewriter
