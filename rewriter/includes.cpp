#include "rewriter/includes.h"

#include <algorithm>
#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

namespace warplens::rewriter {

std::map<unsigned, Include> includes_beside(const std::filesystem::path& path, const std::string& text) {
  clang::LangOptions options;
  options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus17 = options.RawStringLiterals = true;
  clang::Lexer lexer(clang::SourceLocation::getFromRawEncoding(1), options, text.data(), text.data(),
                     text.data() + text.size());

  std::map<unsigned, Include> result;
  std::string before[2]; // the spellings of the last two tokens
  for (;;) {
    clang::Token token;
    const bool end = lexer.LexFromRawLexer(token);
    const unsigned length = token.getLength();
    const auto offset = static_cast<unsigned>(lexer.getBufferLocation() - text.data()) - length;
    const std::string spelling = token.is(clang::tok::raw_identifier) ? token.getRawIdentifier().str()
                                 : token.is(clang::tok::hash) && token.isAtStartOfLine() ? "#"
                                 : token.is(clang::tok::l_paren)                         ? "("
                                                                                         : "";
    const bool named = (before[0] == "#" && (before[1] == "include" || before[1] == "import")) ||
                       (before[0] == "__has_include" && before[1] == "(");
    if (named && token.is(clang::tok::string_literal) && length > 2) {
      const std::filesystem::path target = path.parent_path() / text.substr(offset + 1, length - 2);
      std::error_code error;
      if (std::filesystem::is_regular_file(target, error))
        if (const auto real = std::filesystem::canonical(target, error); !error)
          result[offset] = {length, real.string()};
    }
    before[0] = std::move(before[1]);
    before[1] = spelling;
    if (end || token.is(clang::tok::eof))
      return result;
  }
}

std::set<std::string> with_includers(std::set<std::string> changed, const UserFiles& files) {
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [path, file] : files)
      if (!changed.contains(path) &&
          std::any_of(file.includes.begin(), file.includes.end(),
                      [&](const auto& include) { return changed.contains(include.second.target); }))
        grown = changed.insert(path).second;
  }
  return changed;
}

} // namespace warplens::rewriter
