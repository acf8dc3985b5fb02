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

  static bool has_loop(const clang::Stmt* statement) {
    return statement != nullptr &&
           (is_loop(statement) || std::ranges::any_of(statement->children(), &BodyFinder::has_loop));
  }

  void look_into(const clang::Stmt* statement) {
    if (statement == nullptr || llvm::isa<clang::LambdaExpr>(statement))
      return;
    if (is_loop(statement) && !accesses(statement))
      return add_innermost_loops(statement);
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
      if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement); loop && !loop->getConditionVariable())
        add(loop->getCond(), statement, When::taken);
      else if (const auto* tested = llvm::dyn_cast<clang::WhileStmt>(statement);
               tested && !tested->getConditionVariable())
        add(tested->getCond(), statement, When::taken);
      else if (const auto* last = llvm::dyn_cast<clang::DoStmt>(statement))
        add(last->getCond(), statement, When::any);
      return;
    }
    for (const clang::Stmt* child : statement->children())
      add_innermost_loops(child);
  }

  void add(const clang::Expr* condition, const clang::Stmt* body, When when) {
    if (condition == nullptr)
      return;
    condition = condition->IgnoreImplicit();
    if (condition->getType()->isScalarType() && !condition->isValueDependent())
      bodies_.push_back({function_, condition, body, when});
  }

  const clang::FunctionDecl* function_ = nullptr;
  std::set<const clang::Stmt*> accesses_;
  std::set<const clang::FunctionDecl*> with_accesses_; ///< canonical
  std::unordered_map<const clang::Stmt*, bool> known_;
  std::vector<FoundBody> bodies_;
};

} // namespace

std::vector<FoundBody> find_bodies(const Found& found, const std::vector<bool>& is_access) {
  return BodyFinder(found, is_access).bodies();
}

} // namespace warplens::rewriter
