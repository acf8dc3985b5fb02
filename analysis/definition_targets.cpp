#include "analysis/definition_targets.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <memory>
#include <optional>
#include <vector>

namespace warplens::analysis {
namespace {

using clang::tok::TokenKind;

std::string real_path_of(const clang::SourceManager& sources, clang::FileID file) {
  const auto entry = sources.getFileEntryRefForID(file);
  if (!entry)
    return {};
  const llvm::StringRef real = entry->getFileEntry().tryGetRealPathName();
  return (real.empty() ? entry->getName() : real).str();
}

/// Returns the targets of a declaration; nothing if it is no function or has none.
std::optional<Targets> targets_of(const clang::NamedDecl* declaration) {
  const clang::FunctionDecl* function = declaration ? declaration->getAsFunction() : nullptr;
  if (!function)
    return std::nullopt;
  const Targets targets{function->hasAttr<clang::CUDAHostAttr>(), function->hasAttr<clang::CUDADeviceAttr>()};
  return targets.host || targets.device ? std::optional(targets) : std::nullopt;
}

/// Returns what all functions of the name in the class agree upon.
std::optional<Targets> targets_within(const clang::DeclContext& scope, clang::DeclarationName name) {
  std::optional<Targets> all;
  for (const clang::NamedDecl* declaration : scope.lookup(name)) {
    const auto targets = targets_of(declaration);
    if (!targets || (all && (all->host != targets->host || all->device != targets->device)))
      return std::nullopt;
    all = targets;
  }
  return all;
}

template <class T> const T* pointer(const clang::Diagnostic& error, unsigned index) {
  return reinterpret_cast<const T*>(error.getRawArg(index));
}

std::optional<Targets> targets_of_declaration(const clang::Diagnostic& error) {
  using Engine = clang::DiagnosticsEngine;
  if (error.getID() == clang::diag::err_cuda_ovl_target && error.getNumArgs() == 4 &&
      error.getArgKind(3) == Engine::ak_nameddecl)
    return targets_of(pointer<clang::NamedDecl>(error, 3));
  if (error.getID() == clang::diag::err_member_decl_does_not_match && error.getNumArgs() >= 2 &&
      error.getArgKind(0) == Engine::ak_declarationname && error.getArgKind(1) == Engine::ak_declcontext)
    return targets_within(*pointer<clang::DeclContext>(error, 1),
                          clang::DeclarationName::getFromOpaqueInteger(error.getRawArg(0)));
  return std::nullopt;
}

struct Declaration {
  unsigned begin = 0; ///< the offset of its first token, behind `template <…>`, `extern "C"` and `public:`
  bool is_shared = false; ///< __shared__ is among its specifiers
};

/// Finds the declaration that has its name at the offset.
Declaration declaration_at(llvm::StringRef text, unsigned name) {
  clang::LangOptions language; // what separates declarations is the same in all dialects
  language.CPlusPlus = language.CPlusPlus11 = language.LineComment = language.RawStringLiterals = true;
  clang::Lexer lexer(clang::SourceLocation(), language, text.begin(), text.begin(), text.end());
  std::optional<unsigned> begin;
  bool is_shared = false;
  llvm::StringRef last;
  int angles = 0, brackets = 0; // of a template's parameters
  bool in_template = false, in_directive = false, after_extern = false;
  clang::Token token;
  for (bool end = false; !end;) {
    end = lexer.LexFromRawLexer(token);
    const auto offset = static_cast<unsigned>(lexer.getBufferLocation() - text.begin()) - token.getLength();
    if (offset >= name)
      break;
    if (token.isAtStartOfLine()) {
      const bool directive = token.is(TokenKind::hash);
      if (directive || in_directive)
        begin.reset();
      in_directive = directive;
    }
    if (in_directive)
      continue;
    const llvm::StringRef spelling =
        token.is(TokenKind::raw_identifier) ? token.getRawIdentifier() : llvm::StringRef();
    if (in_template) {
      brackets += token.is(TokenKind::l_paren) - token.is(TokenKind::r_paren);
      if (brackets == 0)
        angles += token.is(TokenKind::less) - token.is(TokenKind::greater) -
                  2 * token.is(TokenKind::greatergreater);
      in_template = angles > 0 || token.is(TokenKind::raw_identifier);
      if (!in_template)
        begin.reset();
      continue;
    }
    const bool after_access = last == "public" || last == "protected" || last == "private";
    last = spelling;
    if (token.isOneOf(TokenKind::semi, TokenKind::l_brace, TokenKind::r_brace) ||
        (after_extern && token.is(TokenKind::string_literal)) ||
        (after_access && token.is(TokenKind::colon))) {
      begin.reset();
      is_shared = false;
    } else if (spelling == "template") {
      in_template = true;
      angles = brackets = 0;
    } else if (!begin) {
      begin = offset;
    }
    after_extern = spelling == "extern";
    is_shared |= spelling == "__shared__";
  }
  return {begin.value_or(name), is_shared};
}

/// Returns the declaration whose name a diagnostic is about; nothing if a macro makes it.
std::optional<Declaration> declaration_of(const clang::Diagnostic& diagnostic) {
  if (!diagnostic.hasSourceManager() || !diagnostic.getLocation().isFileID())
    return std::nullopt;
  const clang::SourceManager& sources = diagnostic.getSourceManager();
  const auto [file, name] = sources.getDecomposedLoc(diagnostic.getLocation());
  return declaration_at(sources.getBufferData(file), name);
}

void add(const clang::Diagnostic& diagnostic, const Targets& targets, DefinitionTargets& lacking) {
  const auto declaration = declaration_of(diagnostic);
  if (!declaration)
    return;
  const auto [file, name] = diagnostic.getSourceManager().getDecomposedLoc(diagnostic.getLocation());
  lacking[{real_path_of(diagnostic.getSourceManager(), file), declaration->begin}] = {targets.host,
                                                                                      targets.device, name};
}

} // namespace

void note_definition(const clang::Diagnostic& error, DefinitionTargets& lacking) {
  if (const auto targets = targets_of_declaration(error))
    add(error, *targets, lacking);
}

bool is_about_shared_object(const clang::Diagnostic& error) {
  if (error.getID() != clang::diag::err_ovl_no_viable_function_in_init)
    return false;
  const auto declaration = declaration_of(error);
  return declaration && declaration->is_shared;
}

void note_constructor(const clang::Diagnostic& note, DefinitionTargets& lacking) {
  if (note.getID() == clang::diag::note_ovl_candidate_bad_target)
    add(note, {true, true}, lacking);
}

void insert_targets(clang::Preprocessor& preprocessor, const clang::Token& token,
                    DefinitionTargets& lacking) {
  if (lacking.empty() || token.isAnnotation())
    return;
  const clang::SourceManager& sources = preprocessor.getSourceManager();
  clang::SourceLocation place = token.getLocation();
  if (place.isMacroID() &&
      !clang::Lexer::isAtStartOfMacroExpansion(place, sources, preprocessor.getLangOpts(), &place))
    return;
  const auto [file, offset] = sources.getDecomposedLoc(place);
  const std::string path = real_path_of(sources, file);
  auto found = lacking.upper_bound({path, offset});
  if (found == lacking.begin() || (--found)->first.first != path || offset > found->second.name)
    return;
  const Targets targets = found->second;
  lacking.erase(found);
  std::vector<clang::Token> tokens;
  const auto add = [&](TokenKind kind, const char* identifier = nullptr) {
    clang::Token& added = tokens.emplace_back();
    added.startToken();
    added.setKind(kind);
    if (identifier)
      added.setIdentifierInfo(preprocessor.getIdentifierInfo(identifier));
    added.setLocation(token.getLocation());
    added.setLength(0);
  };
  const auto attribute = [&](const char* name) {
    add(TokenKind::kw___attribute, "__attribute__");
    add(TokenKind::l_paren);
    add(TokenKind::l_paren);
    add(TokenKind::identifier, name);
    add(TokenKind::r_paren);
    add(TokenKind::r_paren);
  };
  if (targets.host)
    attribute("host");
  if (targets.device)
    attribute("device");
  tokens.push_back(token);
  // The first of them takes the token's place, and the others follow.
  const_cast<clang::Token&>(token) = tokens.front();
  auto stream = std::make_unique<clang::Token[]>(tokens.size() - 1);
  std::copy(tokens.begin() + 1, tokens.end(), stream.get());
  preprocessor.EnterTokenStream(std::move(stream), static_cast<unsigned>(tokens.size() - 1),
                                /*DisableMacroExpansion=*/true, /*IsReinject=*/true);
}

} // namespace warplens::analysis
