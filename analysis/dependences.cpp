#include "analysis/dependences.h"

#include "analysis/forward.h"

#include <clang/AST/ExprCXX.h>
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

class Flow {
public:
  Flow(const FunctionOperations& own, std::span<const MemoryOperation> operations)
      : own_(own), operations_(operations) {}

  void transfer(const clang::CFGElement& element, State& state) {
    const auto statement = element.getAs<clang::CFGStmt>();
    if (!statement)
      return;
    const clang::Stmt* node = statement->getStmt();
    for (const std::size_t index : own_.at(node))
      result[index].join(operations_[index].through_pointer ? value(operations_[index].place, state)
                                                            : address(operations_[index].place, state));
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(node))
      coordinates(*call, state);
    if (const auto* declarations = llvm::dyn_cast<clang::DeclStmt>(node)) {
      for (const clang::Decl* declaration : declarations->decls())
        if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration))
          if (variable->hasLocalStorage())
            state.assign(variable, variable->getInit() ? initial(variable, state) : Loads{});
    } else if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(node)) {
      if (binary->isAssignmentOp())
        assign(binary->getLHS(), value(binary->getRHS(), state), binary->isCompoundAssignmentOp(), state);
    } else if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(node)) {
      if (call->isAssignmentOp() && call->getNumArgs() == 2)
        assign(call->getArg(0), value(call->getArg(1), state), call->getOperator() != clang::OO_Equal, state);
    }
  }

  std::map<std::size_t, Loads> result;

private:
  /// The address of a fetch or a surface access depends on all of its arguments.
  void coordinates(const clang::CallExpr& call, const State& state) {
    for (const Expr* argument : call.arguments())
      for (const std::size_t index : own_.at(argument->IgnoreParens()))
        if (operations_[index].handle != Handle::none)
          for (const Expr* other : call.arguments())
            result[index].join(value(other, state));
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

  /// Returns the loads that the address of a place needs.
  Loads address(const Expr* place, const State& state) const {
    place = place->IgnoreParens();
    if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(place)) {
      Loads loads = value(element->getBase(), state);
      loads.join(value(element->getIdx(), state));
      return loads;
    }
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(place))
      return member->isArrow() ? value(member->getBase(), state) : address(member->getBase(), state);
    if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(place)) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
      return variable && variable->getType()->isReferenceType() ? state.get(variable) : Loads{};
    }
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(place))
      return unary->getOpcode() == clang::UO_Deref ? value(unary->getSubExpr(), state)
                                                   : address(unary->getSubExpr(), state);
    if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(place))
      return cast->getSubExpr()->isGLValue() ? address(cast->getSubExpr(), state)
                                             : value(cast->getSubExpr(), state);
    return operands(place, state);
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
        for (const std::size_t index : own_.at(argument->IgnoreParens()))
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
};

} // namespace

std::map<std::size_t, std::vector<std::size_t>>
address_dependences(clang::ASTContext& context, const clang::FunctionDecl& function,
                    const FunctionOperations& own, std::span<const MemoryOperation> operations) {
  Flow flow(own, operations);
  if (const std::unique_ptr<clang::CFG> graph = build_graph(function, context))
    run_forward(*graph, State{},
                [&](const clang::CFGElement& element, State& state) { flow.transfer(element, state); });
  std::map<std::size_t, std::vector<std::size_t>> result;
  for (const auto& [index, loads] : flow.result)
    result[index].assign(loads.operations.begin(), loads.operations.end());
  return result;
}

} // namespace warplens::analysis
