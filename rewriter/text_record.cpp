#include "rewriter/text_record.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/PPConditionalDirectiveRecord.h>
#include <clang/Lex/Preprocessor.h>

namespace warplens::rewriter {

bool is_users(const clang::SourceManager& sources, clang::SourceLocation place) {
  if (place.isInvalid())
    return false;
  const clang::SourceLocation file_location = sources.getExpansionLoc(place);
  return !clang::SrcMgr::isSystem(sources.getFileCharacteristic(file_location)) &&
         sources.getFileEntryRefForID(sources.getFileID(file_location));
}

namespace {

std::string real_path(clang::FileEntryRef file) {
  const llvm::StringRef real = file.getFileEntry().tryGetRealPathName();
  return (real.empty() ? file.getName() : real).str();
}

} // namespace

std::string name_of(clang::FileEntryRef file) {
  llvm::StringRef name = file.getName();
  while (name.consume_front("./"))
    name = name.ltrim('/');
  return name.str();
}

std::string real_path(const clang::SourceManager& sources, clang::SourceLocation place) {
  const auto file = sources.getFileEntryRefForID(sources.getFileID(place));
  return file ? real_path(*file) : std::string();
}

class TextRecord::Callbacks : public clang::PPCallbacks {
public:
  explicit Callbacks(TextRecord& record) : record_(record) {}

  void MacroExpands(const clang::Token& name, const clang::MacroDefinition& definition, clang::SourceRange,
                    const clang::MacroArgs*) override {
    const clang::SourceManager& sources = record_.preprocessor_.getSourceManager();
    const clang::MacroInfo* macro = definition.getMacroInfo();
    // A system header's macro (assert) is best left alone: its expansion need not mean the same to every
    // compiler.
    if (!macro || !is_users(sources, macro->getDefinitionLoc()) || !is_users(sources, name.getLocation()))
      return;
    for (const clang::Token& token : macro->tokens())
      if (token.isOneOf(clang::tok::hash, clang::tok::hashhash))
        record_.expansions_[record_.key_of(sources.getExpansionLoc(name.getLocation()))].stringizes = true;
  }

  void InclusionDirective(clang::SourceLocation hash, const clang::Token&, llvm::StringRef, bool,
                          clang::CharSourceRange name, clang::OptionalFileEntryRef target, llvm::StringRef,
                          llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind kind) override {
    const clang::SourceManager& sources = record_.preprocessor_.getSourceManager();
    if (!target || clang::SrcMgr::isSystem(kind) || !is_users(sources, hash) ||
        real_path(sources, hash).empty())
      return;
    const std::string to = real_path(*target);
    record_.files_[to].name = name_of(*target);
    UserFile& from = record_.files_[real_path(sources, hash)];
    const clang::SourceLocation begin = sources.getExpansionLoc(name.getBegin());
    const clang::SourceLocation end = clang::Lexer::getAsCharRange(sources.getExpansionRange(name), sources,
                                                                   record_.preprocessor_.getLangOpts())
                                          .getEnd();
    const unsigned offset = sources.getFileOffset(begin);
    const auto [include, is_new] =
        from.includes.try_emplace(offset, Include{sources.getFileOffset(end) - offset, to});
    include->second.varies |= !is_new && include->second.target != to;
  }

private:
  TextRecord& record_;
};

TextRecord::TextRecord(clang::Preprocessor& preprocessor, KeywordPlaces keywords,
                       analysis::DefinitionTargets targets)
    : preprocessor_(preprocessor), keywords_(std::move(keywords)), targets_(std::move(targets)) {
  preprocessor.addPPCallbacks(std::make_unique<Callbacks>(*this));
  auto conditions = std::make_unique<clang::PPConditionalDirectiveRecord>(preprocessor.getSourceManager());
  conditions_ = conditions.get();
  preprocessor.addPPCallbacks(std::move(conditions));
  preprocessor.setTokenWatcher([this](const clang::Token& token) {
    note_token(token);
    insert_keyword(preprocessor_, token, keywords_);
    analysis::insert_targets(preprocessor_, token, targets_);
  });
}

TextRecord::Key TextRecord::key_of(clang::SourceLocation file_location) const {
  const auto [file, offset] = preprocessor_.getSourceManager().getDecomposedLoc(file_location);
  return {file.getHashValue(), offset};
}

void TextRecord::note_token(const clang::Token& token) {
  if (token.is(clang::tok::annot_pragma_loop_hint))
    before_pragmas_.try_emplace(token.getLocation(), last_token_);
  else if (!token.isAnnotation())
    last_token_ = token.getLocation();
  if (!token.getLocation().isMacroID() || token.isAnnotation())
    return;
  const clang::SourceManager& sources = preprocessor_.getSourceManager();
  const clang::CharSourceRange range = sources.getExpansionRange(token.getLocation());
  if (!is_users(sources, range.getBegin()))
    return;
  Expansion& expansion = expansions_[key_of(range.getBegin())];
  if (expansion.begin.isInvalid()) {
    expansion.begin = range.getBegin();
    expansion.end =
        clang::Lexer::getLocForEndOfToken(range.getEnd(), 0, sources, preprocessor_.getLangOpts());
  }
  expansion.places.push_back(token.getLocation());
  expansion.tokens.push_back(preprocessor_.getSpelling(token));
}

const TextRecord::Expansion* TextRecord::expansion_of(clang::SourceLocation place) const {
  const auto found = expansions_.find(key_of(preprocessor_.getSourceManager().getExpansionLoc(place)));
  return found == expansions_.end() || found->second.begin.isInvalid() ? nullptr : &found->second;
}

clang::SourceLocation TextRecord::end_of_token_before_pragma(clang::SourceLocation pragma) const {
  const auto found = before_pragmas_.find(pragma);
  if (found == before_pragmas_.end())
    return {};
  const clang::SourceManager& sources = preprocessor_.getSourceManager();
  return clang::Lexer::getLocForEndOfToken(sources.getExpansionRange(found->second).getEnd(), 0, sources,
                                           preprocessor_.getLangOpts());
}

bool TextRecord::under_same_conditions(clang::SourceLocation one, clang::SourceLocation other) const {
  return !conditions_->areInDifferentConditionalDirectiveRegion(one, other);
}

} // namespace warplens::rewriter
