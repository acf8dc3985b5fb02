// `Caster<T>::cast<4>(p)`: nvcc takes the template of a dependent class without the keyword `template` in
// front, Clang takes the `<` for a comparison. Such a source is parsed once more, with the keyword put in
// between its tokens.
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

/// Names that lack the keyword: real path and offset of each.
using KeywordPlaces = std::set<std::pair<std::string, unsigned>>;

/// In the text of a function that Clang refused: the names behind `::`, `.` and `->` that template arguments
/// and a call follow. That the keyword does not belong there does no harm: the function is lost anyway.
KeywordPlaces lacking_keywords(const clang::SourceManager& sources, const clang::LangOptions& language,
                               clang::SourceRange function);

/// To be called with each token of a parse, as it is made: puts the keyword behind it where the next is such
/// a name.
void insert_keyword(clang::Preprocessor& preprocessor, const clang::Token& token,
                    const KeywordPlaces& places);

} // namespace warplens::rewriter
