#include "analysis/space_flow.h"

#include "analysis/escapes.h"

#include <clang/AST/Attr.h>
#include <clang/AST/StmtVisitor.h>

namespace warplens::analysis {

using clang::Expr;

std::vector<const clang::VarDecl*> captured_variables(const clang::FunctionDecl& function) {
  std::vector<const clang::VarDecl*> result;
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  if (method && method->getParent()->isLambda())
    for (const clang::LambdaCapture& capture : method->getParent()->captures())
      if (capture.capturesVariable())
        if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(capture.getCapturedVar()))
          result.push_back(variable);
  return result;
}

namespace {

using State = Variables<PointerFact>;
/// `this` is stored among the variables, under the null pointer.
constexpr const clang::VarDecl* this_object = nullptr;

class Flow : public clang::ConstStmtVisitor<Flow, void, State&> {
public:
  Flow(const clang::FunctionDecl& function,
       const std::function<SpaceSummary(const clang::FunctionDecl*)>& summary_of)
      : function_(function), summary_of_(summary_of), escaping_(escaping_variables(function)) {
    const std::vector<const clang::VarDecl*> captured = captured_variables(function);
    for (std::size_t i = 0; i < captured.size(); ++i)
      captured_[captured[i]] = PointerFact::input(first_captured_input(function) + i);
  }

  State entry_state() const {
    State state;
    PointerFact self = PointerFact::input(0);
    if (llvm::isa<clang::CXXConstructorDecl>(function_))
      self.within = {}; // nothing is in it yet
    state.assign(this_object, self);
    for (unsigned i = 0; i < function_.getNumParams(); ++i)
      state.assign(function_.getParamDecl(i), PointerFact::input(i + 1));
    return state;
  }

  void transfer(const clang::CFGElement& element, State& state);

  // Each of these is the effect of a statement.
  void VisitDeclStmt(const clang::DeclStmt* declarations, State& state);
  void VisitBinAssign(const clang::BinaryOperator* assignment, State& state);
  void VisitCallExpr(const clang::CallExpr* expression, State& state);
  void VisitCXXConstructExpr(const clang::CXXConstructExpr* construction, State& state);
  void VisitLambdaExpr(const clang::LambdaExpr* lambda, State& state) { capture(lambda, state); }
  void VisitReturnStmt(const clang::ReturnStmt* done, State& state);
  void VisitDeclRefExpr(const clang::DeclRefExpr* name, State& state);

  /// Returns the space that an operation accesses.
  SpaceSet accessed(const MemoryOperation& operation, const State& state) const {
    const Expr* place = operation.place;
    return operation.through_pointer ? value(place, state).target : address(place, state).target;
  }

  /// Returns the functions that are named other than to call them.
  std::vector<const clang::FunctionDecl*> address_taken() const {
    std::vector<const clang::FunctionDecl*> taken;
    for (const auto& [name, function] : named_functions_)
      if (!callees_.contains(name))
        taken.push_back(function);
    return taken;
  }

  SpaceFlow result;

private:
  template <class Finder> struct FactVisitor;
  struct AddressVisitor;
  struct ValueVisitor;

  PointerFact value(const Expr* expression,
                    const State& state) const; // for a pointer, an object, a lambda, …
  PointerFact address(const Expr* expression,
                      const State& state) const; // the address of the object that a glvalue names
  PointerFact loaded(const Expr* place, const State& state) const;
  PointerFact variable_address(const clang::VarDecl* variable, const State& state) const;
  PointerFact current(const clang::VarDecl* variable, const State& state) const;
  PointerFact called(const Expr* call, const State& state) const;
  PointerFact constructed(const clang::CXXConstructExpr* construction, const State& state) const;
  static const clang::FunctionDecl* callee(const Expr* call);
  Arguments passed(const Expr* call, const State& state) const;
  const Expr* implicit_object(const Expr* call) const;
  void assign(const Expr* place, const PointerFact& fact, State& state);
  void weaken_object(const Expr* place, const SpaceSet& within, State& state);
  void declare(const clang::VarDecl* variable, State& state);
  void call(const Expr* call, State& state);
  void capture(const clang::LambdaExpr* lambda, const State& state);
  bool is_lambda_body() const {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function_);
    return method && method->getParent()->isLambda();
  }

  const clang::FunctionDecl& function_;
  const std::function<SpaceSummary(const clang::FunctionDecl*)>& summary_of_;
  llvm::DenseSet<const clang::VarDecl*> escaping_;
  llvm::DenseMap<const clang::VarDecl*, PointerFact> captured_;
  llvm::MapVector<const clang::DeclRefExpr*, const clang::FunctionDecl*> named_functions_;
  llvm::DenseSet<const clang::DeclRefExpr*> callees_;
};

bool is_object(const clang::QualType& type) {
  return type->isRecordType() || type->isArrayType();
}

/// Returns an initial value as a glvalue or a prvalue, without its wrappers.
const Expr* unwrap(const Expr* expression) {
  for (;;) {
    const Expr* inner = expression->IgnoreParens();
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(inner))
      inner = full->getSubExpr();
    else if (const auto* bind = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(inner))
      inner = bind->getSubExpr();
    else if (const auto* standard = llvm::dyn_cast<clang::CXXDefaultArgExpr>(inner))
      inner = standard->getExpr();
    else if (const auto* member = llvm::dyn_cast<clang::CXXDefaultInitExpr>(inner))
      inner = member->getExpr();
    else if (const auto* substituted = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(inner))
      inner = substituted->getReplacement();
    if (!inner || inner == expression)
      return expression;
    expression = inner;
  }
}

/// The local variable (or `this`) that holds the object a glvalue names; `found` is false if there is none.
struct Root {
  bool found = false;
  const clang::VarDecl* variable = nullptr;
};
struct RootVisitor : clang::ConstStmtVisitor<RootVisitor, Root> {
  Root of(const Expr* place) { return Visit(unwrap(place)); }

  Root VisitMemberExpr(const clang::MemberExpr* member) {
    if (!member->isArrow())
      return of(member->getBase());
    const bool of_this = llvm::isa<clang::CXXThisExpr>(member->getBase()->IgnoreParenImpCasts());
    return of_this ? Root{true, this_object} : Root{};
  }
  Root VisitArraySubscriptExpr(const clang::ArraySubscriptExpr* element) {
    const auto* decay = llvm::dyn_cast<clang::ImplicitCastExpr>(element->getBase()->IgnoreParens());
    const bool of_array = decay && decay->getCastKind() == clang::CK_ArrayToPointerDecay;
    return of_array ? of(decay->getSubExpr()) : Root{};
  }
  Root VisitCastExpr(const clang::CastExpr* cast) { return of(cast->getSubExpr()); }
  Root VisitDeclRefExpr(const clang::DeclRefExpr* name) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    return variable ? Root{true, variable} : Root{};
  }
};

PointerFact Flow::current(const clang::VarDecl* variable, const State& state) const {
  if (const auto found = captured_.find(variable); found != captured_.end())
    return found->second;
  PointerFact fact = state.get(variable);
  if (escaping_.contains(variable)) {
    fact.within = SpaceSet::anything();
    if (variable->getType()->isPointerType())
      fact.target = SpaceSet::anything();
  }
  return fact;
}

PointerFact Flow::variable_address(const clang::VarDecl* variable, const State& state) const {
  if (variable->getType()->isReferenceType())
    return current(variable, state);
  if (variable->hasAttr<clang::CUDASharedAttr>())
    return {SpaceSet::of(Space::shared), SpaceSet::anything()};
  if (variable->hasAttr<clang::CUDAConstantAttr>())
    return {SpaceSet::of(Space::constant), SpaceSet::anything()};
  if (!variable->hasLocalStorage()) // __device__, __managed__, static
    return {SpaceSet::of(Space::global), SpaceSet::anything()};
  // PTX ISA, "Kernel Function Parameters": they lie in constant memory (.param space).
  const bool kernel_parameter =
      llvm::isa<clang::ParmVarDecl>(variable) && function_.hasAttr<clang::CUDAGlobalAttr>();
  const PointerFact content = current(variable, state);
  return {SpaceSet::of(kernel_parameter ? Space::constant : Space::local),
          is_object(variable->getType()) ? content.within : content.target};
}

/// Finds the fact about an expression at one point of the function.
template <class Finder> struct Flow::FactVisitor : clang::ConstStmtVisitor<Finder, PointerFact> {
  const Flow& flow;
  const State& state;

  PointerFact value(const Expr* expression) const { return flow.value(expression, state); }
  PointerFact address(const Expr* expression) const { return flow.address(expression, state); }

  PointerFact VisitExpr(const Expr*) { return PointerFact::anything(); }
  PointerFact VisitCallExpr(const clang::CallExpr* call) { return flow.called(call, state); }
};

struct Flow::AddressVisitor : FactVisitor<AddressVisitor> {
  PointerFact VisitDeclRefExpr(const clang::DeclRefExpr* name) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl()))
      return flow.variable_address(variable, state);
    const auto* binding = llvm::dyn_cast<clang::BindingDecl>(name->getDecl());
    return binding && binding->getBinding() ? address(binding->getBinding()) : PointerFact::anything();
  }
  PointerFact VisitArraySubscriptExpr(const clang::ArraySubscriptExpr* element) {
    const Expr* base = element->getBase();
    return base->getType()->isVectorType() ? address(base) : value(base);
  }
  PointerFact VisitMemberExpr(const clang::MemberExpr* member) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl()))
      return flow.variable_address(variable, state);
    const Expr* base = member->getBase();
    const bool is_value = member->isArrow() || !base->isGLValue();
    const PointerFact object = is_value ? value(base) : address(base);
    if (member->getMemberDecl()->getType()->isReferenceType())
      return {object.within, SpaceSet::anything()};
    return member->isArrow() || base->isGLValue() ? object
                                                  : PointerFact{SpaceSet::of(Space::local), object.within};
  }
  PointerFact VisitUnaryDeref(const clang::UnaryOperator* unary) { return value(unary->getSubExpr()); }
  PointerFact VisitUnaryOperator(const clang::UnaryOperator* unary) { return address(unary->getSubExpr()); }
  PointerFact VisitBinComma(const clang::BinaryOperator* comma) { return address(comma->getRHS()); }
  PointerFact VisitBinaryOperator(const clang::BinaryOperator* binary) {
    return binary->isAssignmentOp() ? address(binary->getLHS()) : PointerFact::anything();
  }
  PointerFact VisitConditionalOperator(const clang::ConditionalOperator* choice) {
    PointerFact fact = address(choice->getTrueExpr());
    fact.join(address(choice->getFalseExpr()));
    return fact;
  }
  PointerFact VisitMaterializeTemporaryExpr(const clang::MaterializeTemporaryExpr* temporary) {
    const PointerFact held = value(temporary->getSubExpr());
    return {SpaceSet::of(Space::local), is_object(temporary->getType()) ? held.within : held.target};
  }
  PointerFact VisitCastExpr(const clang::CastExpr* cast) {
    const Expr* inner = cast->getSubExpr();
    return inner->isGLValue() ? address(inner) : value(inner);
  }
  PointerFact VisitStringLiteral(const clang::StringLiteral*) { return {SpaceSet::of(Space::global), {}}; }
  PointerFact VisitPredefinedExpr(const clang::PredefinedExpr*) { return {SpaceSet::of(Space::global), {}}; }
};

PointerFact Flow::address(const Expr* expression, const State& state) const {
  return AddressVisitor{{{}, *this, state}}.Visit(unwrap(expression));
}

PointerFact Flow::loaded(const Expr* place, const State& state) const {
  place = unwrap(place);
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(place))
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl()))
      if (variable->hasLocalStorage() && !variable->getType()->isReferenceType() &&
          !variable->hasAttr<clang::CUDASharedAttr>())
        return current(variable, state);
  return {address(place, state).within, SpaceSet::anything()};
}

struct Flow::ValueVisitor : FactVisitor<ValueVisitor> {
  PointerFact VisitCastExpr(const clang::CastExpr* cast) {
    switch (cast->getCastKind()) {
    case clang::CK_ArrayToPointerDecay: return address(cast->getSubExpr());
    case clang::CK_NullToPointer: return {};
    case clang::CK_IntegralToPointer: return PointerFact::anything();
    default: return value(cast->getSubExpr());
    }
  }
  PointerFact VisitCXXThisExpr(const clang::CXXThisExpr*) {
    // In a lambda this is the enclosing object, not the closure.
    return flow.is_lambda_body() ? PointerFact::anything() : state.get(this_object);
  }
  PointerFact VisitUnaryAddrOf(const clang::UnaryOperator* unary) { return address(unary->getSubExpr()); }
  PointerFact VisitUnaryOperator(const clang::UnaryOperator* unary) {
    return unary->isIncrementDecrementOp() ? flow.loaded(unary->getSubExpr(), state)
                                           : PointerFact::anything();
  }
  PointerFact VisitBinAdd(const clang::BinaryOperator* sum) {
    if (!sum->getType()->isPointerType())
      return PointerFact::anything();
    return value(sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS());
  }
  PointerFact VisitBinSub(const clang::BinaryOperator* difference) { return VisitBinAdd(difference); }
  PointerFact VisitBinComma(const clang::BinaryOperator* comma) { return value(comma->getRHS()); }
  PointerFact VisitConditionalOperator(const clang::ConditionalOperator* choice) {
    PointerFact fact = value(choice->getTrueExpr());
    fact.join(value(choice->getFalseExpr()));
    return fact;
  }
  PointerFact VisitInitListExpr(const clang::InitListExpr* list) {
    PointerFact object;
    for (const Expr* initial : list->inits())
      if (initial->getType()->isPointerType())
        object.within.join(value(initial).target);
      else if (is_object(initial->getType()))
        object.within.join(value(initial).within);
    return object;
  }
  PointerFact VisitCXXConstructExpr(const clang::CXXConstructExpr* construction) {
    return flow.constructed(construction, state);
  }
  PointerFact VisitCXXNullPtrLiteralExpr(const clang::CXXNullPtrLiteralExpr*) { return {}; }
  PointerFact VisitGNUNullExpr(const clang::GNUNullExpr*) { return {}; }
  PointerFact VisitImplicitValueInitExpr(const clang::ImplicitValueInitExpr*) { return {}; }
  PointerFact VisitCXXScalarValueInitExpr(const clang::CXXScalarValueInitExpr*) { return {}; }
};

PointerFact Flow::value(const Expr* expression, const State& state) const {
  expression = unwrap(expression);
  if (expression->isGLValue()) {
    const PointerFact object = address(expression, state);
    return is_object(expression->getType()) ? PointerFact{{}, object.within} : loaded(expression, state);
  }
  return ValueVisitor{{{}, *this, state}}.Visit(expression);
}

const clang::FunctionDecl* Flow::callee(const Expr* call) {
  if (const auto* construction = llvm::dyn_cast<clang::CXXConstructExpr>(call))
    return construction->getConstructor();
  return llvm::cast<clang::CallExpr>(call)->getDirectCallee();
}

/// Returns the object a member function is called on; null for other calls.
const Expr* Flow::implicit_object(const Expr* call) const {
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call))
    return member->getImplicitObjectArgument();
  const auto* operator_call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
  const auto* method = operator_call ? llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee(call)) : nullptr;
  return method && method->isInstance() && operator_call->getNumArgs() ? operator_call->getArg(0) : nullptr;
}

Arguments Flow::passed(const Expr* call, const State& state) const {
  Arguments arguments;
  llvm::SmallVector<const Expr*, 8> expressions;
  const Expr* object = implicit_object(call);
  if (const auto* construction = llvm::dyn_cast<clang::CXXConstructExpr>(call)) {
    expressions.append(construction->arg_begin(), construction->arg_end());
    arguments[0] = {SpaceSet::of(Space::local), {}};
  } else {
    const auto* plain = llvm::cast<clang::CallExpr>(call);
    const bool object_first = object && llvm::isa<clang::CXXOperatorCallExpr>(call);
    expressions.append(plain->arg_begin() + object_first, plain->arg_end());
  }
  if (object)
    arguments[0] = object->getType()->isPointerType() ? value(object, state) : address(object, state);
  const clang::FunctionDecl* function = callee(call);
  for (unsigned i = 0; i < expressions.size() && i + 1 < max_inputs; ++i) {
    const bool by_reference = function && i < function->getNumParams()
                                  ? function->getParamDecl(i)->getType()->isReferenceType()
                                  : expressions[i]->isGLValue();
    arguments[i + 1] = by_reference ? address(expressions[i], state) : value(expressions[i], state);
  }
  return arguments;
}

PointerFact Flow::called(const Expr* call, const State& state) const {
  const clang::FunctionDecl* function = callee(call);
  if (function && function->getBuiltinID() == clang::Builtin::BI__builtin_assume_aligned)
    return value(llvm::cast<clang::CallExpr>(call)->getArg(0), state);
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(function);
  if (method && method->isDefaulted() &&
      (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator()))
    return address(llvm::cast<clang::CallExpr>(call)->getArg(0), state);
  const clang::FunctionDecl* definition = definition_of(function);
  return definition ? substitute(summary_of_(definition).returned, passed(call, state))
                    : PointerFact::anything();
}

PointerFact Flow::constructed(const clang::CXXConstructExpr* construction, const State& state) const {
  const clang::CXXConstructorDecl* constructor = construction->getConstructor();
  if (constructor->isCopyOrMoveConstructor() && constructor->isDefaulted() && construction->getNumArgs() > 0)
    return {{}, address(construction->getArg(0), state).within};
  if (constructor->isDefaultConstructor() && constructor->isTrivial())
    return {};
  const clang::FunctionDecl* definition = definition_of(constructor);
  if (!definition)
    return PointerFact::anything();
  return {{}, substitute(summary_of_(definition).this_within, passed(construction, state))};
}

void Flow::weaken_object(const Expr* place, const SpaceSet& within, State& state) {
  const Root root = RootVisitor().of(place);
  if (!root.found)
    return;
  state.weaken(root.variable, {{}, within});
  if (root.variable == this_object)
    result.summary.this_within.join(within);
}

void Flow::assign(const Expr* place, const PointerFact& fact, State& state) {
  place = unwrap(place);
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(place);
  const auto* variable = name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
  if (variable && variable->hasLocalStorage() && !variable->getType()->isReferenceType())
    state.assign(variable, fact);
  else
    weaken_object(place, place->getType()->isPointerType() ? fact.target : fact.within, state);
}

void Flow::declare(const clang::VarDecl* variable, State& state) {
  if (!variable->hasLocalStorage() || variable->hasAttr<clang::CUDASharedAttr>())
    return;
  const Expr* initial = variable->getInit();
  if (!initial)
    state.assign(variable, {});
  else if (variable->getType()->isReferenceType())
    state.assign(variable, address(initial, state));
  else if (variable->getType()->isPointerType() || is_object(variable->getType()))
    state.assign(variable, value(initial, state));
}

void Flow::call(const Expr* call, State& state) {
  const clang::FunctionDecl* function = callee(call);
  const clang::FunctionDecl* definition = definition_of(function);
  const Arguments arguments = passed(call, state);
  if (definition &&
      !definition->hasAttr<clang::CUDAGlobalAttr>()) // a kernel's arguments are global, in any launch
    result.calls.push_back({definition, arguments});
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(function);
  const Expr* object = implicit_object(call);
  if (method && method->isDefaulted() &&
      (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator()) && object &&
      !object->getType()->isPointerType()) {
    const auto* plain = llvm::cast<clang::CallExpr>(call);
    assign(object, value(plain->getArg(plain->getNumArgs() - 1), state), state);
    return;
  }
  if (object && method && !method->isConst() && !object->getType()->isPointerType())
    weaken_object(object,
                  definition ? substitute(summary_of_(definition).this_within, arguments)
                             : SpaceSet::anything(),
                  state);
  if (object && method && !method->isConst() &&
      llvm::isa<clang::CXXThisExpr>(object->IgnoreParenImpCasts()) && definition) {
    const SpaceSet within = substitute(summary_of_(definition).this_within, arguments);
    state.weaken(this_object, {{}, within});
    result.summary.this_within.join(within);
  }
  // Arguments passed by reference to non-const may hold other pointers afterwards.
  const auto* plain = llvm::dyn_cast<clang::CallExpr>(call);
  if (!plain || !function)
    return;
  const unsigned skipped = object && llvm::isa<clang::CXXOperatorCallExpr>(call) ? 1 : 0;
  for (unsigned i = 0; i < function->getNumParams() && i + skipped < plain->getNumArgs(); ++i) {
    const clang::QualType type = function->getParamDecl(i)->getType();
    if (type->isReferenceType() && !type->getPointeeType().isConstQualified() &&
        type->getPointeeType()->isRecordType())
      weaken_object(plain->getArg(i + skipped), SpaceSet::anything(), state);
  }
}

void Flow::capture(const clang::LambdaExpr* lambda, const State& state) {
  CaptureEdge edge;
  edge.closure = lambda->getLambdaClass();
  for (const clang::LambdaCapture& capture : lambda->captures())
    if (capture.capturesVariable())
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(capture.getCapturedVar()))
        edge.captured[variable] = variable->isInitCapture() && variable->getInit()
                                      ? value(variable->getInit(), state)
                                      : current(variable, state);
  result.captures.push_back(std::move(edge));
}

void Flow::transfer(const clang::CFGElement& element, State& state) {
  if (const auto initializer = element.getAs<clang::CFGInitializer>()) {
    const clang::CXXCtorInitializer* member = initializer->getInitializer();
    const clang::FieldDecl* field = member->getAnyMember();
    const PointerFact fact = field && field->getType()->isReferenceType() ? address(member->getInit(), state)
                                                                          : value(member->getInit(), state);
    const bool is_pointer =
        field && (field->getType()->isPointerType() || field->getType()->isReferenceType());
    if (is_pointer || !field || is_object(field->getType())) {
      state.weaken(this_object, {{}, is_pointer ? fact.target : fact.within});
      result.summary.this_within.join(is_pointer ? fact.target : fact.within);
    }
    return;
  }
  const auto statement = element.getAs<clang::CFGStmt>();
  if (!statement)
    return;
  Visit(statement->getStmt(), state);
}

void Flow::VisitDeclStmt(const clang::DeclStmt* declarations, State& state) {
  for (const clang::Decl* declaration : declarations->decls())
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration))
      declare(variable, state);
}

void Flow::VisitBinAssign(const clang::BinaryOperator* assignment, State& state) {
  if (assignment->getLHS()->getType()->isPointerType())
    assign(assignment->getLHS(), value(assignment->getRHS(), state), state);
}

void Flow::VisitCallExpr(const clang::CallExpr* expression, State& state) {
  call(expression, state);
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(expression->getCallee()->IgnoreParenImpCasts()))
    callees_.insert(name);
}

void Flow::VisitCXXConstructExpr(const clang::CXXConstructExpr* construction, State& state) {
  call(construction, state);
}

void Flow::VisitReturnStmt(const clang::ReturnStmt* done, State& state) {
  if (const Expr* returned = done->getRetValue())
    result.summary.returned.join(function_.getReturnType()->isReferenceType() ? address(returned, state)
                                                                              : value(returned, state));
}

void Flow::VisitDeclRefExpr(const clang::DeclRefExpr* name, State&) {
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(name->getDecl()))
    if (const clang::FunctionDecl* definition = definition_of(function))
      named_functions_[name] = definition;
}

} // namespace

SpaceFlow analyse_spaces(const clang::FunctionDecl& function, const clang::CFG* graph,
                         const FunctionOperations* own_operations,
                         std::span<const MemoryOperation> operations,
                         const std::function<SpaceSummary(const clang::FunctionDecl*)>& summary_of) {
  Flow flow(function, summary_of);
  // The states only grow, so joining over all visits of an element gives the final state.
  const auto visit = [&](const clang::CFGElement& element, State& state) {
    if (const auto statement = element.getAs<clang::CFGStmt>(); statement && own_operations)
      for (const std::size_t index : own_operations->at(statement->getStmt()))
        flow.result.operations[index].join(flow.accessed(operations[index], state));
    flow.transfer(element, state);
  };
  if (graph)
    run_forward(*graph, flow.entry_state(), visit);
  else
    flow.result.summary = {PointerFact::anything(), SpaceSet::anything()};
  flow.result.address_taken = flow.address_taken();
  return std::move(flow.result);
}

} // namespace warplens::analysis
