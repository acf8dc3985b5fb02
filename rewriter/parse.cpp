#include "rewriter/parse.h"

#include "analysis/accesses_left.h"
#include "analysis/clang_invocation.h"
#include "analysis/optimise.h"
#include "analysis/precompiled_headers.h"
#include "rewriter/refused.h"
#include "rewriter/template_keywords.h"
#include "rewriter/text_record.h"

#include <algorithm>
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Lex/HeaderSearchOptions.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <filesystem>
#include <string_view>

namespace warplens::rewriter {

std::vector<std::vector<std::string>> per_architecture(const std::vector<std::string>& arguments) {
  constexpr std::string_view flag = "--cuda-gpu-arch=";
  std::vector<std::string> rest, architectures;
  for (const std::string& argument : arguments)
    if (!argument.starts_with(flag))
      rest.push_back(argument);
    else if (std::find(architectures.begin(), architectures.end(), argument) == architectures.end())
      architectures.push_back(argument);
  if (architectures.empty())
    return {arguments};
  std::vector<std::vector<std::string>> result;
  for (const std::string& architecture : architectures) {
    result.push_back(rest);
    result.back().push_back(architecture);
  }
  return result;
}

namespace {

/// The input and the outcome of one parse.
struct Attempt {
  std::filesystem::path cache; ///< of precompiled headers; empty: the headers' text is read
  bool is_last;
  bool find_accesses_left;
  const UseTree& use;
  const KeywordPlaces keywords = {};              ///< the keywords to insert
  const analysis::DefinitionTargets targets = {}; ///< the attributes to insert
  /// Keywords and attributes that would make more of the source usable; the parse then does not call `use`.
  KeywordPlaces lacking = {};
  analysis::DefinitionTargets lacking_targets = {};
  std::string refusal; ///< the reason if the source could not be used; empty: it could
};

/// The last of a parse's consumers: if there is code generation, it has finished by then.
class TreeConsumer : public clang::ASTConsumer {
public:
  TreeConsumer(clang::CompilerInstance& compiler, clang::CodeGenerator* generator,
               const analysis::ErrorList& errors, Attempt& attempt)
      : compiler_(compiler), record_(compiler.getPreprocessor(), attempt.keywords, attempt.targets),
        generator_(generator), errors_(errors), attempt_(attempt) {}

  void HandleTranslationUnit(clang::ASTContext& context) override {
    const RefusedFunctions refused(context, errors_.errors(), errors_.nested_launches());
    if (!attempt_.cache.empty() && !errors_.errors().empty()) {
      attempt_.refusal = errors_.first(); // the caller reads the text
    } else if (errors_.incomplete()) {
      attempt_.refusal = errors_.first();
    } else if (attempt_.targets.empty() && !errors_.lacking_targets().empty()) {
      attempt_.lacking_targets = errors_.lacking_targets();
      attempt_.refusal = errors_.first();
    } else if (refused.elsewhere()) {
      attempt_.refusal = refused.elsewhere()->message;
    } else if (!needs_keywords(refused)) {
      attempt_.refusal.clear();
      const auto module =
          generator_ ? analysis::take_device_module(*generator_, compiler_.getLangOpts()) : nullptr;
      if (!module) // a module is missing after an error in any function
        return attempt_.use(context, record_, refused, nullptr);
      const auto accesses_left = analysis::AccessesLeft::in_module(*module);
      attempt_.use(context, record_, refused, &accesses_left);
    }
  }

private:
  bool needs_keywords(const RefusedFunctions& refused) {
    if (!attempt_.is_last && attempt_.keywords.empty())
      for (const clang::SourceRange body : refused.bodies())
        attempt_.lacking.merge(lacking_keywords(compiler_.getSourceManager(), compiler_.getLangOpts(), body));
    return !attempt_.lacking.empty();
  }

  clang::CompilerInstance& compiler_;
  TextRecord record_;
  clang::CodeGenerator* generator_;
  const analysis::ErrorList& errors_;
  Attempt& attempt_;
};

class ParseAction : public clang::ASTFrontendAction {
public:
  ParseAction(const analysis::ErrorList& errors, Attempt& attempt) : errors_(errors), attempt_(attempt) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    auto generator =
        attempt_.find_accesses_left ? analysis::device_code_generator(compiler, context_) : nullptr;
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    auto tree = std::make_unique<TreeConsumer>(compiler, generator.get(), errors_, attempt_);
    if (generator)
      consumers.push_back(std::move(generator));
    consumers.push_back(std::move(tree));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

private:
  llvm::LLVMContext context_;
  const analysis::ErrorList& errors_;
  Attempt& attempt_;
};

/// Treats a header that -include takes from a folder of system headers as one: it is looked up there instead
/// of by its path.
void find_forced_headers_in_their_folders(clang::CompilerInstance& compiler) {
  for (std::string& header : compiler.getPreprocessorOpts().Includes)
    for (const clang::HeaderSearchOptions::Entry& folder : compiler.getHeaderSearchOpts().UserEntries)
      if (folder.Group == clang::frontend::System &&
          std::filesystem::path(header).parent_path() == folder.Path)
        header = std::filesystem::path(header).filename().string();
}

} // namespace

Expected<analysis::Compilation> prepare_parse(const std::vector<std::string>& arguments,
                                              const std::string& source) {
  auto compilation = analysis::prepare_compilation(
      arguments, source, analysis::Half::device,
      {"-fsyntax-only", analysis::optimised, "-w", "-fno-caret-diagnostics", "-ferror-limit=0"});
  if (compilation)
    find_forced_headers_in_their_folders(*compilation->compiler);
  return compilation;
}

namespace {

/// Returns false if the attempt is one with precompiled headers and there are none, or Clang crashes behind
/// them.
Expected<bool> parse_once(const std::vector<std::string>& arguments, const std::string& source,
                          Attempt& attempt) {
  TRY_LET(compilation, prepare_parse(arguments, source));
  if (!attempt.cache.empty() && !analysis::use_precompiled_headers(*compilation->compiler, attempt.cache))
    return false;
  attempt.refusal =
      fmt::format("{}: Clang could not parse it", source); // overwritten once Clang has parsed it
  auto action = std::make_unique<ParseAction>(*compilation->errors, attempt);
  clang::CompilerInstance& compiler = *compilation->compiler;
  if (attempt.cache.empty()) {
    compiler.ExecuteAction(*action);
  } else if (!analysis::survives(*compilation, [&] { compiler.ExecuteAction(*action); })) {
    static_cast<void>(action.release()); // it has the code that Clang was making
    return false;
  }
  return true;
}

} // namespace

Expected<void> parse(const std::vector<std::string>& arguments, const std::string& source,
                     bool find_accesses_left, const std::filesystem::path& cache, const UseTree& use) {
  if (!cache.empty()) {
    Attempt attempt{cache, true, find_accesses_left, use};
    TRY_LET(parsed, parse_once(arguments, source, attempt));
    if (*parsed && attempt.refusal.empty())
      return {};
  }
  KeywordPlaces keywords;
  analysis::DefinitionTargets targets;
  constexpr int most = 3; // as they are, with attributes, with keywords as well
  for (int i = 1;; ++i) {
    Attempt attempt{{}, i == most, find_accesses_left, use, keywords, targets};
    TRY(parse_once(arguments, source, attempt));
    const bool goes_on = i < most && (!attempt.lacking.empty() || !attempt.lacking_targets.empty());
    if (!goes_on)
      return attempt.refusal.empty() ? Expected<void>{} : fail("{}", attempt.refusal);
    keywords.merge(attempt.lacking);
    targets.merge(attempt.lacking_targets);
  }
}

} // namespace warplens::rewriter
