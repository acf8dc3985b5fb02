// Inserts missing `template` keywords. In `Caster<T>::cast<4>(p)` nvcc accepts the template of a dependent
// class without the keyword, while Clang takes the `<` for a comparison. Such a source is parsed once more,
// with the keyword put in between its tokens.
#pragma once

#include <clang/Basic/LangOptions.h>
#include <clang/Basic/SourceLocation.h>
#include <clang/Lex/Token.h>
#include <set>
#include <string>
#include <utility>

namespace clang {
class Preprocessor;
class SourceManager;
} // namespace clang

namespace warplens::rewriter {

/// The names that lack the keyword: real path and offset of each.
using KeywordPlaces = std::set<std::pair<std::string, unsigned>>;

/// Returns the names behind `::`, `.` and `->` that template arguments and a call follow, in the text of a
/// function that Clang refused. A wrong keyword does no harm: the function has no probes anyway.
KeywordPlaces lacking_keywords(const clang::SourceManager& sources, const clang::LangOptions& language,
                               clang::SourceRange function);

/// Puts the keyword behind the token if the next is such a name. Must be called with each token of a parse,
/// as it is made.
void insert_keyword(clang::Preprocessor& preprocessor, const clang::Token& token,
                    const KeywordPlaces& places);

} // namespace warplens::rewriter
