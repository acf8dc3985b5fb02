#include "rewriter/parse.h"

#include "analysis/clang_invocation.h"
#include "analysis/optimise.h"
#include "analysis/survivors.h"
#include "rewriter/refused.h"
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

/// The last of a parse's consumers: code generation, where there is one, is done by then.
class TreeConsumer : public clang::ASTConsumer {
public:
  TreeConsumer(clang::CompilerInstance& compiler, clang::CodeGenerator* generator,
               const analysis::ErrorList& errors, const UseTree& use, std::string& refusal)
      : compiler_(compiler), record_(compiler.getPreprocessor()), generator_(generator), errors_(errors),
        use_(use), refusal_(refusal) {}

  void HandleTranslationUnit(clang::ASTContext& context) override {
    const RefusedFunctions refused(context, errors_.errors());
    if (errors_.incomplete()) {
      refusal_ = errors_.first();
    } else if (refused.elsewhere()) {
      refusal_ = refused.elsewhere()->message;
    } else {
      const auto module =
          generator_ ? analysis::take_device_module(*generator_, compiler_.getLangOpts()) : nullptr;
      if (!module) // there is none with an error in any function
        return use_(context, record_, refused, nullptr);
      const auto survivors = analysis::Survivors::of_module(*module);
      use_(context, record_, refused, &survivors);
    }
  }

private:
  clang::CompilerInstance& compiler_;
  TextRecord record_;
  clang::CodeGenerator* generator_;
  const analysis::ErrorList& errors_;
  const UseTree& use_;
  std::string& refusal_;
};

class ParseAction : public clang::ASTFrontendAction {
public:
  ParseAction(bool find_survivors, const analysis::ErrorList& errors, const UseTree& use,
              std::string& refusal)
      : find_survivors_(find_survivors), errors_(errors), use_(use), refusal_(refusal) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    auto generator = find_survivors_ ? analysis::device_code_generator(compiler, context_) : nullptr;
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    auto tree = std::make_unique<TreeConsumer>(compiler, generator.get(), errors_, use_, refusal_);
    if (generator)
      consumers.push_back(std::move(generator));
    consumers.push_back(std::move(tree));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

private:
  llvm::LLVMContext context_;
  bool find_survivors_;
  const analysis::ErrorList& errors_;
  const UseTree& use_;
  std::string& refusal_;
};

/// A header that -include takes from a folder of system headers is a system header: find it there instead of
/// by its path.
void find_forced_headers_in_their_folders(clang::CompilerInstance& compiler) {
  for (std::string& header : compiler.getPreprocessorOpts().Includes)
    for (const clang::HeaderSearchOptions::Entry& folder : compiler.getHeaderSearchOpts().UserEntries)
      if (folder.Group == clang::frontend::System &&
          std::filesystem::path(header).parent_path() == folder.Path)
        header = std::filesystem::path(header).filename().string();
}

} // namespace

Expected<void> parse(const std::vector<std::string>& arguments, const std::string& source,
                     bool find_survivors, const UseTree& use) {
  auto compilation = analysis::prepare_compilation(
      arguments, source, analysis::Half::device,
      {"-fsyntax-only", analysis::optimised, "-w", "-fno-caret-diagnostics", "-ferror-limit=0"});
  if (!compilation)
    return tl::unexpected(compilation.error());
  find_forced_headers_in_their_folders(*compilation->compiler);
  std::string refusal = fmt::format("{}: Clang could not parse it", source); // until it has
  const UseTree use_and_note = [&](auto&&... what) { refusal.clear(), use(what...); };
  ParseAction action(find_survivors, *compilation->errors, use_and_note, refusal);
  compilation->compiler->ExecuteAction(action);
  if (!refusal.empty())
    return fail("{}", refusal);
  return {};
}

} // namespace warplens::rewriter
