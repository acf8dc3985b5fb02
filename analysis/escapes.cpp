#include "analysis/escapes.h"

#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>

namespace warplens::analysis {

namespace {

const clang::VarDecl* named_variable(const clang::Stmt* statement) {
  const auto* expression = llvm::dyn_cast_or_null<clang::Expr>(statement);
  const auto* reference =
      expression ? llvm::dyn_cast<clang::DeclRefExpr>(expression->IgnoreParens()) : nullptr;
  return reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
}

/// Returns whether `parent` uses its operand `child`, the name of a pointer variable, in a way that the data
/// flow sees.
bool is_seen_use(const clang::Stmt& parent, const clang::Stmt& child, bool in_lambda) {
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&parent))
    return cast->getCastKind() == clang::CK_LValueToRValue ||
           (cast->getCastKind() == clang::CK_NoOp && cast->getType().isConstQualified());
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(&parent))
    return !in_lambda || !binary->isAssignmentOp() || binary->getLHS() != &child;
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&parent))
    return unary->getOpcode() != clang::UO_AddrOf; // ++ and -- stay within the space
  return llvm::isa<clang::LambdaExpr, clang::ParenExpr>(&parent);
}

struct Walk {
  llvm::DenseSet<const clang::VarDecl*> escaping;

  void visit(const clang::Stmt* statement, bool in_lambda) {
    if (!statement)
      return;
    if (const auto* declarations = llvm::dyn_cast<clang::DeclStmt>(statement))
      for (const clang::Decl* declaration : declarations->decls())
        if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration))
          if (variable->getType()->isReferenceType() &&
              !variable->getType()->getPointeeType().isConstQualified())
            if (const clang::VarDecl* bound = named_variable(variable->getInit()))
              escaping.insert(bound);
    in_lambda |= llvm::isa<clang::LambdaExpr>(statement); // its body is among its children
    for (const clang::Stmt* child : statement->children()) {
      const clang::VarDecl* variable = named_variable(child);
      if (variable && variable->getType()->isPointerType() ? !is_seen_use(*statement, *child, in_lambda)
                                                           : variable && takes_address(*statement))
        escaping.insert(variable);
      visit(child, in_lambda);
    }
  }

  static bool takes_address(const clang::Stmt& parent) {
    const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&parent);
    return unary && unary->getOpcode() == clang::UO_AddrOf;
  }
};

} // namespace

llvm::DenseSet<const clang::VarDecl*> escaping_variables(const clang::FunctionDecl& function) {
  Walk walk;
  walk.visit(function.getBody(), false);
  return std::move(walk.escaping);
}

} // namespace warplens::analysis
