// Records what the preprocessor did to the user's files during a parse: macro invocations with the tokens
// they became.
#pragma once

#include "analysis/definition_targets.h"
#include "rewriter/access.h"
#include "rewriter/template_keywords.h"

#include <clang/Basic/FileEntry.h>
#include <clang/Basic/SourceLocation.h>
#include <clang/Lex/Token.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace clang {
class PPConditionalDirectiveRecord;
class Preprocessor;
class SourceManager;
} // namespace clang

namespace warplens::rewriter {

/// Returns whether the place is in a file of the user's, not in a system or toolkit header.
bool is_users(const clang::SourceManager& sources, clang::SourceLocation place);

/// Returns the file's name as the user gave it; Clang puts ./ in front of files beside a source without a
/// folder.
std::string name_of(clang::FileEntryRef file);

/// Returns the real path of the file that the place (a file location) lies in; empty if there is none.
std::string real_path(const clang::SourceManager& sources, clang::SourceLocation place);

/// Observes a preprocessor from its construction on; must outlive the parse.
class TextRecord {
public:
  /// Inserts the keyword `template` at the places in `keywords`, and attributes in front of the definitions
  /// in `targets`.
  explicit TextRecord(clang::Preprocessor& preprocessor, KeywordPlaces keywords = {},
                      analysis::DefinitionTargets targets = {});

  struct Expansion {
    clang::SourceLocation begin,
        end; ///< the ends of the invocation: its first character, and behind its last
    std::vector<clang::SourceLocation> places; ///< one for each token
    std::vector<std::string> tokens;
    bool stringizes = false;
  };

  /// Returns the outermost invocation that a macro location comes from; null if it is not one in the user's
  /// files.
  const Expansion* expansion_of(clang::SourceLocation place) const;

  /// Returns the place behind the token in front of a loop's pragmas, the first of which is at `pragma`;
  /// invalid if there is none.
  clang::SourceLocation end_of_token_before_pragma(clang::SourceLocation pragma) const;

  /// Returns whether two places of a file are in the same branch of each #if.
  bool under_same_conditions(clang::SourceLocation one, clang::SourceLocation other) const;

  /// Returns the user's files that were read, with their names and includes.
  const UserFiles& files() const { return files_; }

private:
  class Callbacks;
  using Key = std::pair<unsigned, unsigned>; ///< FileID's hash, offset
  void note_token(const clang::Token& token);
  Key key_of(clang::SourceLocation file_location) const;

  clang::Preprocessor& preprocessor_;
  KeywordPlaces keywords_;
  analysis::DefinitionTargets targets_;
  std::map<Key, Expansion> expansions_;
  std::map<clang::SourceLocation, clang::SourceLocation> before_pragmas_; ///< the tokens in front of pragmas
  clang::SourceLocation last_token_;
  clang::PPConditionalDirectiveRecord* conditions_; ///< owned by the preprocessor
  UserFiles files_;
};

} // namespace warplens::rewriter
