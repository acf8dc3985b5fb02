#include "rewriter/template_keywords.h"

#include "rewriter/text_record.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/Preprocessor.h>
#include <vector>

namespace warplens::rewriter {
namespace {

using clang::tok::TokenKind;

struct Word {
  TokenKind kind;
  unsigned offset;
  bool is_template;
};

/// Returns the tokens from one offset of a file to another, as written.
std::vector<Word> words_of(llvm::StringRef text, const clang::LangOptions& language, unsigned begin,
                           unsigned end) {
  clang::Lexer lexer(clang::SourceLocation(), language, text.begin(), text.begin() + begin, text.end());
  std::vector<Word> words;
  for (clang::Token token; !lexer.LexFromRawLexer(token);) {
    const auto offset = static_cast<unsigned>(lexer.getBufferLocation() - text.begin()) - token.getLength();
    if (offset >= end)
      break;
    words.push_back({token.getKind(), offset,
                     token.is(clang::tok::raw_identifier) && token.getRawIdentifier() == "template"});
  }
  return words;
}

/// Returns the index behind the template arguments that begin with `<` at words[at]; 0: they are none.
std::size_t behind_arguments(const std::vector<Word>& words, std::size_t at) {
  int open = 0;
  for (std::size_t i = at; i < words.size(); ++i) {
    switch (words[i].kind) {
    case TokenKind::less: ++open; break;
    case TokenKind::greater: --open; break;
    case TokenKind::greatergreater: open -= 2; break;
    case TokenKind::semi:
    case TokenKind::l_brace:
    case TokenKind::r_brace: return 0;
    default: break;
    }
    if (open <= 0)
      return i + 1;
  }
  return 0;
}

bool qualifies(TokenKind kind) {
  return kind == TokenKind::coloncolon || kind == TokenKind::period || kind == TokenKind::arrow;
}

} // namespace

KeywordPlaces lacking_keywords(const clang::SourceManager& sources, const clang::LangOptions& language,
                               clang::SourceRange function) {
  const auto [file, begin] = sources.getDecomposedExpansionLoc(function.getBegin());
  const auto [last_file, end] = sources.getDecomposedExpansionLoc(function.getEnd());
  if (file != last_file)
    return {};
  const std::string path = real_path(sources, sources.getExpansionLoc(function.getBegin()));
  const auto words = words_of(sources.getBufferData(file), language, begin, end);
  KeywordPlaces places;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    const Word& name = words[i + 1];
    if (!qualifies(words[i].kind) || name.kind != TokenKind::raw_identifier || name.is_template ||
        words[i + 2].kind != TokenKind::less)
      continue;
    const std::size_t behind = behind_arguments(words, i + 2);
    if (behind != 0 && behind < words.size() && words[behind].kind == TokenKind::l_paren)
      places.insert({path, name.offset});
  }
  return places;
}

void insert_keyword(clang::Preprocessor& preprocessor, const clang::Token& token,
                    const KeywordPlaces& places) {
  if (places.empty() || !qualifies(token.getKind()) || !token.getLocation().isFileID())
    return;
  const clang::SourceManager& sources = preprocessor.getSourceManager();
  const auto next = clang::Lexer::findNextToken(token.getLocation(), sources, preprocessor.getLangOpts());
  if (!next ||
      !places.contains({real_path(sources, next->getLocation()), sources.getFileOffset(next->getLocation())}))
    return;
  auto keyword = std::make_unique<clang::Token[]>(1);
  keyword[0].startToken();
  keyword[0].setKind(clang::tok::kw_template);
  keyword[0].setIdentifierInfo(preprocessor.getIdentifierInfo("template"));
  keyword[0].setLocation(next->getLocation());
  keyword[0].setLength(0);
  preprocessor.EnterTokenStream(std::move(keyword), 1, /*DisableMacroExpansion=*/true, /*IsReinject=*/false);
}

} // namespace warplens::rewriter
