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

RefusedFunctions::RefusedFunctions(clang::ASTContext& context, std::span<const analysis::ClangError> errors)
    : sources_(context.getSourceManager()) {
  if (errors.empty())
    return;
  FunctionVisitor visitor;
  visitor.TraverseAST(context);
  for (const analysis::ClangError& error : errors) {
    const Place place = error.place.isValid() ? place_of(error.place) : Place();
    const auto around = std::ranges::find_if(visitor.functions, [&](const clang::FunctionDecl* function) {
      const Place begin = place_of(function->getBody()->getBeginLoc()), end = place_of(function->getEndLoc());
      return begin.first == place.first && end.first == place.first && begin <= place && place <= end;
    });
    if (around == visitor.functions.end()) {
      if (!elsewhere_)
        elsewhere_ = &error;
      continue;
    }
    if (begins_.insert(place_of((*around)->getBody()->getBeginLoc())).second)
      bodies_.push_back((*around)->getBody()->getSourceRange());
    if (runs_on_device(**around) && is_users(sources_, error.place))
      in_device_functions_.push_back(error);
  }
}

bool RefusedFunctions::contains(const clang::FunctionDecl& function) const {
  const clang::FunctionDecl* outermost = &function;
  for (const clang::DeclContext* around = &function; around; around = around->getParent())
    if (const auto* outer = llvm::dyn_cast<clang::FunctionDecl>(around))
      outermost = outer;
  return outermost->hasBody() && begins_.contains(place_of(outermost->getBody()->getBeginLoc()));
}

} // namespace warplens::rewriter
