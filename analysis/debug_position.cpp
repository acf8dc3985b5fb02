#include "analysis/debug_position.h"

#include "analysis/operations.h"

#include <clang/AST/StmtVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

namespace warplens::analysis {

std::string canonical_file(const std::string& file, const std::string& directory) {
  llvm::SmallString<256> path(file);
  if (!directory.empty())
    llvm::sys::fs::make_absolute(directory, path);
  if (llvm::sys::fs::make_absolute(path))
    return file; // the current folder was removed: compare as spelt
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return std::string(path);
}

Position position_of(const llvm::DILocation& location) {
  return {canonical_file(location.getFilename().str(), location.getDirectory().str()), location.getLine(),
          location.getColumn()};
}

Position position_of(const clang::ASTContext& context, clang::SourceLocation place) {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::PresumedLoc presumed = sources.getPresumedLoc(sources.getExpansionLoc(place));
  if (presumed.isInvalid())
    return {};
  return {canonical_file(presumed.getFilename(), sources.getFileManager().getFileSystemOpts().WorkingDir),
          presumed.getLine(), presumed.getColumn()};
}

namespace {

/// Notes where a function's statements and expressions access memory; see DebugPositions.
class PlaceCollector : public clang::ConstStmtVisitor<PlaceCollector> {
public:
  PlaceCollector(DebugPositions::Places& accesses, DebugPositions::Places& calls)
      : accesses_(accesses), calls_(calls) {}

  void walk(const clang::Stmt* statement) {
    if (statement)
      Visit(statement);
  }

  void VisitStmt(const clang::Stmt* statement) {
    for (const clang::Stmt* child : statement->children())
      walk(child);
  }
  void VisitLambdaExpr(const clang::LambdaExpr*) {} // a lambda's body is a function of its own
  void VisitBinaryOperator(const clang::BinaryOperator* binary) {
    if (binary->isAssignmentOp())
      accesses_[binary->getLHS()->IgnoreParens()] = binary->getOperatorLoc();
    VisitStmt(binary);
  }
  void VisitUnaryOperator(const clang::UnaryOperator* unary) {
    if (unary->isIncrementDecrementOp())
      accesses_[unary->getSubExpr()->IgnoreParens()] = unary->getOperatorLoc();
    VisitStmt(unary);
  }
  void VisitCXXConstructExpr(const clang::CXXConstructExpr* construction) {
    if (construction->getConstructor()->isCopyOrMoveConstructor() && construction->getNumArgs() > 0)
      accesses_[construction->getArg(0)->IgnoreParenImpCasts()] = construction->getExprLoc();
    VisitStmt(construction);
  }
  void VisitCallExpr(const clang::CallExpr* call) {
    const auto* named = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
    const bool assigns = named && named->isAssignmentOp();
    for (const clang::Expr* argument : call->arguments()) {
      calls_[as_written(argument)] = call->getExprLoc();
      if (assigns)
        accesses_[argument->IgnoreParenImpCasts()] = named->getOperatorLoc();
    }
    VisitStmt(call);
  }

private:
  DebugPositions::Places& accesses_;
  DebugPositions::Places& calls_;
};

} // namespace

void DebugPositions::enter(const clang::FunctionDecl* function) {
  if (function_ == function)
    return;
  function_ = function;
  accesses_.clear();
  calls_.clear();
  PlaceCollector collector(accesses_, calls_);
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function))
    for (const clang::CXXCtorInitializer* initializer : constructor->inits())
      collector.walk(initializer->getInit());
  collector.walk(function->getBody());
}

Position DebugPositions::of(const MemoryOperation& operation) {
  const clang::FunctionDecl* function = definition_of(operation.function);
  if (!function || !operation.place)
    return {};
  enter(function);
  const clang::Expr* place =
      operation.through_pointer ? as_written(operation.place) : operation.place->IgnoreParens();
  const auto& known = operation.through_pointer ? calls_ : accesses_;
  const auto found = known.find(place);
  return position_of(context_, found == known.end() ? place->getExprLoc() : found->second);
}

} // namespace warplens::analysis
