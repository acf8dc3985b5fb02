// The Language Server Protocol over stdio (microsoft.github.io/language-server-protocol, version 3.17): shows
// in an editor, at the lines of a source, what its accesses cost.
#pragma once

#include "driver/stages/profile_in_child.h"

#include <iosfwd>
#include <string>

namespace warplens::driver::lsp {

struct Settings {
  std::string version;  ///< of Warplens
  std::string result;   ///< a result's file, in place of profiles of our own; empty: none
  std::string advice;   ///< a file of `warplens advise --format json`, whose patches are offered; empty: none
  bool profiles = true; ///< a saved program is profiled anew
  ProfileRequest profile; ///< how; without sources a program is the file that was saved
  std::string cache;      ///< the folder that keeps notes on files; empty: none does
};

/// Answers a client until it says `exit` or the input ends; a profile under way ends then. Returns the exit
/// code that the protocol wants: 1 after an `exit` without `shutdown`.
int serve(std::istream& input, std::ostream& output, const Settings& settings);

} // namespace warplens::driver::lsp
