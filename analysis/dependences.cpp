#include "analysis/dependences.h"

#include "analysis/forward.h"

#include <clang/AST/StmtVisitor.h>
#include <clang/Analysis/Analyses/Dominators.h>
#include <llvm/ADT/STLExtras.h>
#include <set>

namespace warplens::analysis {

using clang::Expr;

namespace {

/// The loads that a value was computed from.
struct Loads {
  std::set<std::size_t> operations;
  bool join(const Loads& other) {
    const std::size_t before = operations.size();
    operations.insert(other.operations.begin(), other.operations.end());
    return operations.size() != before;
  }
};
using State = Variables<Loads>;

class Flow : public clang::ConstStmtVisitor<Flow, void, State&> {
public:
  Flow(const FunctionOperations& own, std::span<const MemoryOperation> operations, const clang::CFG& graph)
      : own_(own), operations_(operations) {
    for (const clang::CFGBlock* block : graph)
      if (const Expr* condition = block->getLastCondition())
        branches_[condition] = block;
  }

  void transfer(const clang::CFGElement& element, State& state) {
    const auto statement = element.getAs<clang::CFGStmt>();
    if (!statement)
      return;
    const clang::Stmt* node = statement->getStmt();
    for (const std::size_t index : own_.at(node))
      addresses[index].join(operations_[index].through_pointer ? value(operations_[index].place, state)
                                                               : address(operations_[index].place, state));
    if (const auto branch = branches_.find(node); branch != branches_.end())
      conditions[branch->second].join(value(llvm::cast<Expr>(node), state));
    Visit(node, state);
  }

  void VisitDeclStmt(const clang::DeclStmt* declarations, State& state) {
    for (const clang::Decl* declaration : declarations->decls())
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration))
        if (variable->hasLocalStorage())
          state.assign(variable, variable->getInit() ? initial(variable, state) : Loads{});
  }
  void VisitBinaryOperator(const clang::BinaryOperator* binary, State& state) {
    if (binary->isAssignmentOp())
      store(binary->getLHS(), value(binary->getRHS(), state), binary->isCompoundAssignmentOp(), state);
  }
  void VisitCallExpr(const clang::CallExpr* call, State& state) { arguments(*call, state); }
  void VisitCXXOperatorCallExpr(const clang::CXXOperatorCallExpr* call, State& state) {
    arguments(*call, state);
    if (call->isAssignmentOp() && call->getNumArgs() == 2)
      store(call->getArg(0), value(call->getArg(1), state), call->getOperator() != clang::OO_Equal, state);
  }

  std::map<std::size_t, Loads> addresses, stored;     ///< by operation
  std::map<const clang::CFGBlock*, Loads> conditions; ///< of the branches at the blocks' ends

private:
  void store(const Expr* place, const Loads& loads, bool keep, State& state) {
    for (const std::size_t index : own_.at(place->IgnoreParens()))
      stored[index].join(loads);
    assign(place, loads, keep, state);
  }

  void arguments(const clang::CallExpr& call, const State& state) {
    for (const Expr* argument : call.arguments())
      for (const std::size_t index : own_.at(as_written(argument)))
        if (operations_[index].through_pointer)
          for (const Expr* other : call.arguments())
            if (other != argument)
              // The address of a fetch or a surface access depends on all of its arguments.
              (operations_[index].handle != Handle::none ? addresses : stored)[index].join(
                  value(other, state));
  }

  Loads initial(const clang::VarDecl* variable, const State& state) const {
    return variable->getType()->isReferenceType() ? address(variable->getInit(), state)
                                                  : value(variable->getInit(), state);
  }

  /// Returns the variable (not a reference) that a place lies in, if its name alone tells; `whole` is set if
  /// the place is all of the variable.
  static const clang::VarDecl* variable_of(const Expr* place, bool& whole) {
    whole = true;
    for (;;) {
      place = place->IgnoreParenImpCasts();
      if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(place)) {
        const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
        return variable && !variable->getType()->isReferenceType() ? variable : nullptr;
      }
      whole = false;
      if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(place); member && !member->isArrow())
        place = member->getBase();
      else if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(place);
               element && element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType())
        place = element->getBase();
      else
        return nullptr;
    }
  }

  static void assign(const Expr* place, const Loads& loads, bool keep, State& state) {
    bool whole = false;
    const clang::VarDecl* variable = variable_of(place, whole);
    if (!variable || !variable->hasLocalStorage())
      return; // stores to memory or through a reference are not followed
    if (whole && !keep)
      state.assign(variable, loads);
    else
      state.weaken(variable, loads);
  }

  bool reads(std::size_t index) const { return operations_[index].kind != AccessKind::store; }

  /// Finds the loads that the address of a place needs.
  struct AddressVisitor : clang::ConstStmtVisitor<AddressVisitor, Loads> {
    const Flow& flow;
    const State& state;

    Loads value(const Expr* expression) const { return flow.value(expression, state); }
    Loads address(const Expr* place) const { return flow.address(place, state); }

    Loads VisitExpr(const Expr* place) const { return flow.operands(place, state); }
    Loads VisitArraySubscriptExpr(const clang::ArraySubscriptExpr* element) const {
      Loads loads = value(element->getBase());
      loads.join(value(element->getIdx()));
      return loads;
    }
    Loads VisitMemberExpr(const clang::MemberExpr* member) const {
      return member->isArrow() ? value(member->getBase()) : address(member->getBase());
    }
    Loads VisitDeclRefExpr(const clang::DeclRefExpr* name) const {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
      return variable && variable->getType()->isReferenceType() ? state.get(variable) : Loads{};
    }
    Loads VisitUnaryDeref(const clang::UnaryOperator* unary) const { return value(unary->getSubExpr()); }
    Loads VisitUnaryOperator(const clang::UnaryOperator* unary) const { return address(unary->getSubExpr()); }
    Loads VisitCastExpr(const clang::CastExpr* cast) const {
      return cast->getSubExpr()->isGLValue() ? address(cast->getSubExpr()) : value(cast->getSubExpr());
    }
  };

  Loads address(const Expr* place, const State& state) const {
    return AddressVisitor{{}, *this, state}.Visit(place->IgnoreParens());
  }

  /// Returns the loads that a value needs. A load ends the search: the loads that its own address needed are
  /// not included.
  Loads value(const Expr* expression, const State& state) const {
    expression = expression->IgnoreParens();
    Loads loads;
    for (const std::size_t index : own_.at(expression))
      if (reads(index) && !operations_[index].through_pointer)
        loads.operations.insert(index);
    bool whole = false;
    if (const clang::VarDecl* variable = expression->isGLValue() ? variable_of(expression, whole) : nullptr) {
      loads.join(state.get(variable)); // a local array may or may not be in memory
      return loads;
    }
    if (!loads.operations.empty())
      return loads;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(expression))
      for (const Expr* argument : call->arguments())
        for (const std::size_t index : own_.at(as_written(argument)))
          if (reads(index) && operations_[index].through_pointer)
            loads.operations.insert(index); // __ldg(p), atomicAdd(p, …): the result was loaded
    if (!loads.operations.empty())
      return loads;
    if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expression))
      if (cast->getCastKind() == clang::CK_ArrayToPointerDecay)
        return address(cast->getSubExpr(), state);
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expression))
      if (unary->getOpcode() == clang::UO_AddrOf)
        return address(unary->getSubExpr(), state);
    return operands(expression, state);
  }

  Loads operands(const Expr* expression, const State& state) const {
    Loads loads;
    if (llvm::isa<clang::LambdaExpr>(expression))
      return loads;
    for (const clang::Stmt* child : expression->children())
      if (const auto* operand = llvm::dyn_cast_or_null<Expr>(child))
        loads.join(value(operand, state));
    return loads;
  }

  const FunctionOperations& own_;
  std::span<const MemoryOperation> operations_;
  llvm::DenseMap<const clang::Stmt*, const clang::CFGBlock*> branches_; ///< by their conditions
};

/// Adds to each operation's loads those of the conditions that decide whether it is executed.
void add_conditions(const FunctionOperations& own, clang::CFG& graph, Flow& flow) {
  clang::ControlDependencyCalculator control(&graph);
  for (clang::CFGBlock* block : graph)
    for (const clang::CFGElement& element : *block)
      if (const auto statement = element.getAs<clang::CFGStmt>())
        for (const std::size_t index : own.at(statement->getStmt()))
          for (const clang::CFGBlock* branch : control.getControlDependencies(block))
            flow.addresses[index].join(flow.conditions[branch]);
}

std::vector<std::size_t> indices(const Loads& loads) {
  return {loads.operations.begin(), loads.operations.end()};
}

} // namespace

std::map<std::size_t, Needed> dependences(clang::ASTContext& context, const clang::FunctionDecl& function,
                                          const FunctionOperations& own,
                                          std::span<const MemoryOperation> operations) {
  const std::unique_ptr<clang::CFG> graph = build_graph(function, context);
  if (!graph)
    return {};
  Flow flow(own, operations, *graph);
  run_forward(*graph, State{},
              [&](const clang::CFGElement& element, State& state) { flow.transfer(element, state); });
  add_conditions(own, *graph, flow);
  std::map<std::size_t, Needed> result;
  for (const auto& [index, loads] : flow.addresses)
    result[index].sent = indices(loads);
  for (const auto& [index, loads] : flow.stored)
    result[index].stored = indices(loads);
  return result;
}

} // namespace warplens::analysis
