#include "rewriter/bodies.h"

#include <algorithm>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <set>
#include <unordered_map>

namespace warplens::rewriter {
namespace {

bool is_loop(const clang::Stmt* statement) {
  return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(statement);
}

bool is_jump(const clang::Stmt* statement) {
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(statement))
    return block->body_empty() || (block->size() == 1 && is_jump(block->body_front()));
  return llvm::isa<clang::ReturnStmt, clang::BreakStmt, clang::ContinueStmt, clang::GotoStmt,
                   clang::NullStmt>(statement);
}

/// Returns the device function that the expression calls; null also where that is not known.
const clang::FunctionDecl* callee_of(const clang::Stmt* statement) {
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement))
    return call->getDirectCallee();
  if (const auto* construction = llvm::dyn_cast<clang::CXXConstructExpr>(statement))
    return construction->getConstructor();
  return nullptr;
}

/// Returns by how much the loop's increment changes its counter; 0 if that is no constant.
std::uint32_t step_of(const clang::ForStmt& loop, const clang::ASTContext& context) {
  const clang::Expr* increment = loop.getInc();
  if (increment == nullptr)
    return 0;
  increment = increment->IgnoreParenImpCasts();
  if (const auto* by_one = llvm::dyn_cast<clang::UnaryOperator>(increment))
    return by_one->isIncrementDecrementOp() ? 1 : 0;
  const auto* sum = llvm::dyn_cast<clang::CompoundAssignOperator>(increment);
  if (sum == nullptr ||
      !(sum->getOpcode() == clang::BO_AddAssign || sum->getOpcode() == clang::BO_SubAssign) ||
      sum->getRHS()->isValueDependent())
    return 0;
  const auto step = sum->getRHS()->getIntegerConstantExpr(context);
  return step && step->abs().ult(1U << 16) ? std::uint32_t(step->abs().getZExtValue()) : 0;
}

class BodyFinder {
public:
  BodyFinder(const Found& found, const std::vector<bool>& is_access) {
    for (std::size_t i = 0; i < found.operations.size(); ++i)
      if (is_access[i])
        note_access(found.operations[i].operation.function, found.operations[i].operation.place);
    for (const FoundBarrier& one : found.barriers)
      note_access(one.function, one.call);
    // A function accesses what those that it calls do.
    for (bool grows = true; grows;) {
      grows = false;
      for (const clang::FunctionDecl* function : found.functions)
        if (!with_accesses_.contains(function->getCanonicalDecl()) && accesses(function->getBody())) {
          with_accesses_.insert(function->getCanonicalDecl());
          grows = true;
        } else if (!always_.contains(function->getCanonicalDecl()) && always_accesses(function->getBody())) {
          always_.insert(function->getCanonicalDecl());
          grows = true;
        }
      known_.clear();
    }
    for (const clang::FunctionDecl* function : found.functions) {
      function_ = function;
      look_into(function->getBody());
    }
  }

  std::vector<FoundBody> bodies() && { return std::move(bodies_); }

private:
  void note_access(const clang::FunctionDecl* function, const clang::Stmt* place) {
    with_accesses_.insert(function->getCanonicalDecl());
    accesses_.insert(place);
  }

  bool accesses(const clang::Stmt* statement) {
    if (statement == nullptr)
      return false;
    if (const auto known = known_.find(statement); known != known_.end())
      return known->second;
    bool result = accesses_.contains(statement) || llvm::isa<clang::AsmStmt>(statement);
    if (const clang::FunctionDecl* callee = callee_of(statement))
      result = result || with_accesses_.contains(callee->getCanonicalDecl());
    else
      result = result || llvm::isa<clang::CallExpr>(statement);
    for (const clang::Stmt* child : statement->children())
      result = result || accesses(child);
    return known_[statement] = result;
  }

  /// Returns whether no execution of the statement passes without an access.
  bool always_accesses(const clang::Stmt* statement) const {
    if (statement == nullptr || llvm::isa<clang::LambdaExpr>(statement))
      return false;
    if (accesses_.contains(statement))
      return true;
    if (const clang::FunctionDecl* callee = callee_of(statement);
        callee != nullptr && always_.contains(callee->getCanonicalDecl()))
      return true;
    if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(statement))
      return always_accesses(branch->getInit()) || always_accesses(branch->getCond()) ||
             (always_accesses(branch->getThen()) && always_accesses(branch->getElse()));
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(statement))
      return always_accesses(choice->getCond()) ||
             (always_accesses(choice->getTrueExpr()) && always_accesses(choice->getFalseExpr()));
    if (const auto* logical = llvm::dyn_cast<clang::BinaryOperator>(statement);
        logical != nullptr && logical->isLogicalOp())
      return always_accesses(logical->getLHS());
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement))
      return always_accesses(loop->getInit()) || always_accesses(loop->getCond());
    if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(statement))
      return always_accesses(loop->getCond());
    if (const auto* selection = llvm::dyn_cast<clang::SwitchStmt>(statement))
      return always_accesses(selection->getCond());
    for (const clang::Stmt* child : statement->children()) {
      if (always_accesses(child))
        return true;
      if (has_jump(child))
        return false;
    }
    return false;
  }

  static bool has_jump(const clang::Stmt* statement) {
    return statement != nullptr && !llvm::isa<clang::LambdaExpr>(statement) &&
           (llvm::isa<clang::ReturnStmt, clang::BreakStmt, clang::ContinueStmt, clang::GotoStmt>(statement) ||
            std::ranges::any_of(statement->children(), &BodyFinder::has_jump));
  }

  /// Returns whether no iteration of the loop passes without an access.
  bool each_iteration_accesses(const clang::Stmt* loop) const {
    if (const auto* counted = llvm::dyn_cast<clang::ForStmt>(loop))
      return always_accesses(counted->getCond()) || always_accesses(counted->getBody()) ||
             (always_accesses(counted->getInc()) && !has_jump(counted->getBody()));
    if (const auto* tested = llvm::dyn_cast<clang::WhileStmt>(loop))
      return always_accesses(tested->getCond()) || always_accesses(tested->getBody());
    if (const auto* last = llvm::dyn_cast<clang::DoStmt>(loop))
      return always_accesses(last->getBody()) || always_accesses(last->getCond());
    if (const auto* ranged = llvm::dyn_cast<clang::CXXForRangeStmt>(loop))
      return always_accesses(ranged->getBody()) || always_accesses(ranged->getCond());
    return true;
  }

  static bool has_loop(const clang::Stmt* statement) {
    return statement != nullptr &&
           (is_loop(statement) || std::ranges::any_of(statement->children(), &BodyFinder::has_loop));
  }

  void look_into(const clang::Stmt* statement) {
    if (statement == nullptr || llvm::isa<clang::LambdaExpr>(statement))
      return;
    if (is_loop(statement) && !accesses(statement))
      return add_innermost_loops(statement);
    if (is_loop(statement) && !each_iteration_accesses(statement))
      add_loop(statement);
    const auto* branch = llvm::dyn_cast<clang::IfStmt>(statement);
    if (branch == nullptr || branch->isConstexpr() || branch->isConsteval()) {
      for (const clang::Stmt* child : statement->children())
        look_into(child);
      return;
    }
    look_into(branch->getCond());
    add_side(*branch, branch->getThen(), When::taken);
    add_side(*branch, branch->getElse(), When::not_taken);
  }

  void add_side(const clang::IfStmt& branch, const clang::Stmt* side, When when) {
    if (side == nullptr)
      return;
    if (accesses(side) || llvm::isa<clang::IfStmt>(side))
      return look_into(side);
    if (has_loop(side))
      return add_innermost_loops(side);
    if (!is_jump(side) && branch.getConditionVariable() == nullptr)
      add(branch.getCond(), side, when);
  }

  void add_innermost_loops(const clang::Stmt* statement) {
    if (statement == nullptr)
      return;
    if (is_loop(statement) && std::ranges::none_of(statement->children(), &BodyFinder::has_loop)) {
      add_loop(statement);
      return;
    }
    for (const clang::Stmt* child : statement->children())
      add_innermost_loops(child);
  }

  void add_loop(const clang::Stmt* statement) {
    bool is_marked = false;
    const clang::Stmt* body = nullptr;
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement)) {
      body = loop->getBody();
      is_marked = !loop->getConditionVariable() && add(loop->getCond(), statement, When::taken);
      if (is_marked)
        bodies_.back().step = step_of(*loop, function_->getASTContext());
    } else if (const auto* tested = llvm::dyn_cast<clang::WhileStmt>(statement)) {
      body = tested->getBody();
      is_marked = !tested->getConditionVariable() && add(tested->getCond(), statement, When::taken);
    } else if (const auto* last = llvm::dyn_cast<clang::DoStmt>(statement)) {
      is_marked = add(last->getCond(), statement, When::any);
    } else if (const auto* ranged = llvm::dyn_cast<clang::CXXForRangeStmt>(statement)) {
      body = ranged->getBody();
    }
    if (const auto* block = llvm::dyn_cast_if_present<clang::CompoundStmt>(body); block && !is_marked)
      bodies_.push_back({function_, nullptr, block, statement, When::entered});
  }

  /// Returns whether the condition can be marked.
  bool add(const clang::Expr* condition, const clang::Stmt* body, When when) {
    if (condition == nullptr)
      return false;
    condition = condition->IgnoreImplicit();
    if (!condition->getType()->isScalarType() || condition->isValueDependent())
      return false;
    bodies_.push_back({function_, condition, nullptr, body, when});
    return true;
  }

  const clang::FunctionDecl* function_ = nullptr;
  std::set<const clang::Stmt*> accesses_;
  std::set<const clang::FunctionDecl*> with_accesses_, always_; ///< canonical
  std::unordered_map<const clang::Stmt*, bool> known_;
  std::vector<FoundBody> bodies_;
};

} // namespace

std::vector<FoundBody> find_bodies(const Found& found, const std::vector<bool>& is_access) {
  return BodyFinder(found, is_access).bodies();
}

} // namespace warplens::rewriter
