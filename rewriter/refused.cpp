#include "rewriter/refused.h"

#include "rewriter/find.h"
#include "rewriter/text_record.h"

#include <algorithm>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

namespace warplens::rewriter {
namespace {

/// Collects the outermost functions, templates included.
class FunctionVisitor : public clang::RecursiveASTVisitor<FunctionVisitor> {
public:
  bool TraverseFunctionDecl(clang::FunctionDecl* function) { return note(function); }
  bool TraverseCXXMethodDecl(clang::CXXMethodDecl* function) { return note(function); }
  bool TraverseCXXConstructorDecl(clang::CXXConstructorDecl* function) { return note(function); }
  bool TraverseCXXDestructorDecl(clang::CXXDestructorDecl* function) { return note(function); }
  bool TraverseCXXConversionDecl(clang::CXXConversionDecl* function) { return note(function); }

  std::vector<const clang::FunctionDecl*> functions;

private:
  bool note(const clang::FunctionDecl* function) {
    if (function->doesThisDeclarationHaveABody())
      functions.push_back(function);
    return true;
  }
};

} // namespace

RefusedFunctions::Place RefusedFunctions::place_of(clang::SourceLocation location) const {
  const auto [file, offset] = sources_.getDecomposedExpansionLoc(location);
  return {file.getHashValue(), offset};
}

const clang::FunctionDecl*
RefusedFunctions::function_around(const std::vector<const clang::FunctionDecl*>& functions,
                                  const analysis::ClangError& error) const {
  const Place place = error.place.isValid() ? place_of(error.place) : Place();
  const auto around = std::ranges::find_if(functions, [&](const clang::FunctionDecl* function) {
    const Place begin = place_of(function->getBody()->getBeginLoc()), end = place_of(function->getEndLoc());
    return begin.first == place.first && end.first == place.first && begin <= place && place <= end;
  });
  return around == functions.end() ? nullptr : *around;
}

void RefusedFunctions::note_without_code(const clang::FunctionDecl& function,
                                         const analysis::ClangError& error) {
  const clang::SourceRange braces = function.getBody()->getSourceRange();
  if (!braces.getBegin().isMacroID() && !braces.getEnd().isMacroID() &&
      std::ranges::find(without_code_, braces, &BodyWithoutCode::braces) == without_code_.end())
    without_code_.push_back({braces, error.message});
}

RefusedFunctions::RefusedFunctions(clang::ASTContext& context, std::span<const analysis::ClangError> errors,
                                   std::span<const analysis::ClangError> nested_launches)
    : sources_(context.getSourceManager()) {
  if (errors.empty() && nested_launches.empty())
    return;
  FunctionVisitor visitor;
  visitor.TraverseAST(context);
  for (const analysis::ClangError& error : errors) {
    const clang::FunctionDecl* const around = function_around(visitor.functions, error);
    if (around == nullptr) {
      if (!elsewhere_)
        elsewhere_ = &error;
      continue;
    }
    if (begins_.insert(place_of(around->getBody()->getBeginLoc())).second)
      bodies_.push_back(around->getBody()->getSourceRange());
    if (runs_on_device(*around) && is_users(sources_, error.place)) {
      in_device_functions_.push_back(error);
      note_without_code(*around, error);
    }
  }
  for (const analysis::ClangError& launch : nested_launches)
    if (const clang::FunctionDecl* const around = function_around(visitor.functions, launch);
        around != nullptr && runs_on_device(*around) && is_users(sources_, launch.place))
      note_without_code(*around, launch);
}

bool RefusedFunctions::contains(const clang::FunctionDecl& function) const {
  const clang::FunctionDecl* outermost = &function;
  for (const clang::DeclContext* around = &function; around; around = around->getParent())
    if (const auto* outer = llvm::dyn_cast<clang::FunctionDecl>(around))
      outermost = outer;
  return outermost->hasBody() && begins_.contains(place_of(outermost->getBody()->getBeginLoc()));
}

} // namespace warplens::rewriter
