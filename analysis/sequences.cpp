#include "analysis/sequences.h"

#include <clang/AST/StmtVisitor.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/StringSet.h>
#include <set>

namespace warplens::analysis {

namespace {

/// Returns whether a function of this name synchronises: CUDA C++ Programming Guide, "Synchronization
/// Functions", "Memory Fence Functions", "Pipeline Primitives"; and Clang's builtins that NVIDIA's headers
/// are written with.
bool synchronises_by_name(const clang::FunctionDecl& function) {
  static const llvm::StringSet<> names{"__syncthreads",
                                       "__syncthreads_count",
                                       "__syncthreads_and",
                                       "__syncthreads_or",
                                       "__syncwarp",
                                       "__threadfence",
                                       "__threadfence_block",
                                       "__threadfence_system",
                                       "__barrier_sync",
                                       "__barrier_sync_count",
                                       "__pipeline_wait_prior",
                                       "__nvvm_bar0_popc",
                                       "__nvvm_bar0_and",
                                       "__nvvm_bar0_or",
                                       "__nvvm_bar_sync",
                                       "__nvvm_bar_warp_sync",
                                       "__nvvm_barrier_sync",
                                       "__nvvm_barrier_sync_cnt",
                                       "__nvvm_bar0",
                                       "__nvvm_membar_cta",
                                       "__nvvm_membar_gl",
                                       "__nvvm_membar_sys",
                                       "__nvvm_cp_async_wait_all",
                                       "__nvvm_cp_async_wait_group",
                                       "__nvvm_fence_sc_cluster",
                                       "atomic_thread_fence",
                                       "__cxx_atomic_thread_fence",
                                       "__atomic_thread_fence",
                                       "__nv_bar_sync"};
  const clang::IdentifierInfo* identifier = function.getIdentifier();
  if (!identifier)
    return false;
  if (names.contains(identifier->getName()))
    return true;
  // cooperative_groups::sync(group) and group.sync(); cuda::barrier's waits
  const bool waits = identifier->isStr("sync") || identifier->isStr("barrier_wait") ||
                     identifier->isStr("wait") || identifier->isStr("arrive_and_wait");
  for (const clang::DeclContext* scope = function.getDeclContext(); waits && scope;
       scope = scope->getParent())
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(scope))
      if (space->getName() == "cooperative_groups" || space->getName() == "cuda")
        return true;
  return false;
}

/// Returns whether inline assembly synchronises (PTX ISA, "Parallel Synchronization and Communication
/// Instructions").
bool synchronises(const clang::GCCAsmStmt& assembly) {
  const llvm::StringRef text = assembly.getAsmString()->getString();
  return text.contains("bar.") || text.contains("barrier") || text.contains("fence") ||
         text.contains("cp.async.wait");
}

/// Determines which functions end their caller's sequence.
class Callees : public clang::ConstStmtVisitor<Callees, bool> {
public:
  explicit Callees(const OperationsByFunction& operations) : operations_(operations) {}

  bool end_sequence(const clang::FunctionDecl* callee) {
    if (!callee)
      return false; // a call through a pointer is not known
    if (synchronises_by_name(*callee))
      return true;
    const clang::FunctionDecl* definition = definition_of(callee);
    if (!definition)
      return false;
    if (operations_.count(definition))
      return true;
    const auto [entry, is_new] = known_.try_emplace(definition, false); // false also ends recursion
    if (!is_new)
      return entry->second;
    const clang::Stmt* body = definition->getBody();
    const bool ends = body && Visit(body);
    known_[definition] = ends;
    return ends;
  }

  // Each of these returns whether the statement, or a part of it, ends the sequence.
  bool VisitStmt(const clang::Stmt* statement) {
    return llvm::any_of(statement->children(),
                        [this](const clang::Stmt* part) { return part && Visit(part); });
  }
  bool VisitGCCAsmStmt(const clang::GCCAsmStmt* assembly) {
    return synchronises(*assembly) || VisitStmt(assembly);
  }
  bool VisitCallExpr(const clang::CallExpr* call) {
    return end_sequence(call->getDirectCallee()) || VisitStmt(call);
  }
  bool VisitCXXConstructExpr(const clang::CXXConstructExpr* object) {
    return end_sequence(object->getConstructor()) || VisitStmt(object);
  }
  bool VisitLambdaExpr(const clang::LambdaExpr*) { return false; }

private:
  const OperationsByFunction& operations_;
  std::map<const clang::FunctionDecl*, bool> known_;
};

/// Walks one function in evaluation order.
class Numbering : public clang::ConstStmtVisitor<Numbering> {
public:
  Numbering(const FunctionOperations& own, std::span<const MemoryOperation> operations,
            std::span<const std::vector<std::size_t>> waits_for, const IsUnrolled& is_unrolled,
            Callees& callees, std::vector<std::uint32_t>& numbers)
      : own_(own), operations_(operations), waits_for_(waits_for), is_unrolled_(is_unrolled),
        callees_(callees), numbers_(numbers) {}

  void walk(const clang::Stmt* statement) {
    if (!statement || llvm::isa<clang::LambdaExpr>(statement)) // a lambda's body is a function of its own
      return;
    Visit(statement);
    access(statement, false);
  }

  // Each of these walks the parts of a statement.
  void VisitStmt(const clang::Stmt* statement) {
    for (const clang::Stmt* child : statement->children())
      walk(child);
  }
  void VisitForStmt(const clang::ForStmt* loop) {
    walk(loop->getInit());
    walk_loop(*loop,
              {loop->getConditionVariableDeclStmt(), loop->getCond(), loop->getBody(), loop->getInc()});
  }
  void VisitWhileStmt(const clang::WhileStmt* loop) {
    walk_loop(*loop, {loop->getConditionVariableDeclStmt(), loop->getCond(), loop->getBody()});
  }
  void VisitDoStmt(const clang::DoStmt* loop) { walk_loop(*loop, {loop->getBody(), loop->getCond()}); }
  void VisitCXXForRangeStmt(const clang::CXXForRangeStmt* loop) {
    walk(loop->getInit());
    walk(loop->getRangeStmt());
    walk(loop->getBeginStmt());
    walk(loop->getEndStmt());
    walk_loop(*loop, {loop->getCond(), loop->getLoopVarStmt(), loop->getBody(), loop->getInc()});
  }
  void VisitLabelStmt(const clang::LabelStmt* label) {
    end_sequence(); // a goto may jump back to here
    VisitStmt(label);
  }
  void VisitGCCAsmStmt(const clang::GCCAsmStmt* assembly) {
    VisitStmt(assembly);
    if (synchronises(*assembly))
      end_sequence();
  }
  void VisitBinaryOperator(const clang::BinaryOperator* binary) {
    // Since C++17 the right operand of an assignment is evaluated first.
    walk(binary->isAssignmentOp() ? binary->getRHS() : binary->getLHS());
    walk(binary->isAssignmentOp() ? binary->getLHS() : binary->getRHS());
  }
  void VisitCXXConstructExpr(const clang::CXXConstructExpr* construction) {
    VisitStmt(construction);
    if (callees_.end_sequence(construction->getConstructor()))
      end_sequence();
  }
  void VisitCallExpr(const clang::CallExpr* call) {
    walk(call->getCallee());
    const auto* named = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
    if (named && named->isAssignmentOp() && named->getNumArgs() == 2) {
      walk(named->getArg(1));
      walk(named->getArg(0));
    } else {
      for (const clang::Expr* argument : call->arguments())
        walk(argument);
    }
    for (const clang::Expr* argument : call->arguments())
      access(as_written(argument), true); // once all arguments are evaluated
    if (callees_.end_sequence(call->getDirectCallee()))
      end_sequence();
  }

private:
  void walk_loop(const clang::Stmt& loop, std::initializer_list<const clang::Stmt*> parts) {
    const bool is_straight = is_unrolled_(loop) && !callees_.Visit(&loop);
    if (!is_straight)
      end_sequence();
    for (const clang::Stmt* part : parts)
      walk(part);
    if (!is_straight)
      end_sequence();
  }

  void access(const clang::Stmt* place, bool through_pointer) {
    for (const std::size_t index : own_.at(place)) {
      if (operations_[index].through_pointer != through_pointer)
        continue;
      for (const std::size_t load : waits_for_[index])
        if (in_sequence_.contains(load))
          end_sequence();
      number_ += ended_;
      ended_ = false;
      numbers_[index] = number_;
      in_sequence_.insert(index);
    }
  }

  void end_sequence() {
    ended_ |= !in_sequence_.empty();
    in_sequence_.clear();
  }

  const FunctionOperations& own_;
  std::span<const MemoryOperation> operations_;
  std::span<const std::vector<std::size_t>> waits_for_;
  const IsUnrolled& is_unrolled_;
  Callees& callees_;
  std::vector<std::uint32_t>& numbers_;
  std::uint32_t number_ = 0;
  bool ended_ = false;
  std::set<std::size_t> in_sequence_;
};

} // namespace

std::vector<std::uint32_t> sequences(std::span<const MemoryOperation> operations,
                                     std::span<const std::vector<std::size_t>> waits_for,
                                     const IsUnrolled& is_unrolled) {
  std::vector<std::uint32_t> numbers(operations.size(), 0);
  const OperationsByFunction functions = by_function(operations);
  Callees callees(functions);
  for (const auto& [function, own] : functions) {
    Numbering numbering(own, operations, waits_for, is_unrolled, callees, numbers);
    if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function))
      for (const clang::CXXCtorInitializer* initializer : constructor->inits())
        numbering.walk(initializer->getInit());
    numbering.walk(function->getBody());
  }
  return numbers;
}

} // namespace warplens::analysis
