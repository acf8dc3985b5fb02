#include "rewriter/storage.h"

#include "rewriter/text_record.h"

#include <algorithm>
#include <clang/AST/Attr.h>
#include <clang/AST/StmtVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <functional>

namespace warplens::rewriter {

namespace {

constexpr unsigned deepest = 64; // enough for any code that people wrote; ends self-reference

/// Returns whether the function only passes a reference on.
bool passes_on(const clang::FunctionDecl& function) {
  const clang::IdentifierInfo* name = function.getIdentifier();
  return name && (name->isStr("move") || name->isStr("forward") || name->isStr("as_const"));
}

int index_of(const clang::VarDecl& parameter) {
  return static_cast<int>(llvm::cast<clang::ParmVarDecl>(parameter).getFunctionScopeIndex());
}

/// Collects the results that a function returns.
struct ReturnCollector : clang::ConstStmtVisitor<ReturnCollector> {
  std::vector<const clang::Expr*> results;

  void VisitStmt(const clang::Stmt* statement) {
    for (const clang::Stmt* child : statement->children())
      if (child)
        Visit(child);
  }
  void VisitLambdaExpr(const clang::LambdaExpr*) {}
  void VisitReturnStmt(const clang::ReturnStmt* returns) {
    if (returns->getRetValue())
      results.push_back(returns->getRetValue());
  }
};

} // namespace

bool is_opaque(const clang::FunctionDecl& function, const clang::SourceManager& sources) {
  const clang::FunctionDecl* definition = function.getDefinition();
  return !is_users(sources, (definition ? definition : &function)->getLocation());
}

bool is_small_value(clang::QualType type, const clang::ASTContext& context) {
  type = type.getNonReferenceType();
  if (type->isScalarType())
    return true;
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return record && record->hasDefinition() && !record->isEmpty() && !record->isLambda() &&
         context.getTypeSizeInChars(type).getQuantity() <= 16;
}

void Storage::note_call(const clang::FunctionDecl& callee, const clang::Expr* object,
                        llvm::ArrayRef<const clang::Expr*> arguments, const clang::FunctionDecl& caller) {
  const clang::FunctionDecl* canonical = callee.getCanonicalDecl();
  if (object)
    bindings_[{canonical, -1}].push_back({object, &caller});
  for (unsigned i = 0; i < callee.getNumParams() && i < arguments.size(); ++i)
    if (callee.getParamDecl(i)->getType()->isReferenceType())
      bindings_[{canonical, static_cast<int>(i)}].push_back({arguments[i], &caller});
}

void Storage::note_range(const clang::CXXForRangeStmt& loop) {
  ranges_[loop.getLoopVariable()] = loop.getRangeInit();
}

Storage::Designated Storage::designated(const clang::Expr* lvalue,
                                        const clang::FunctionDecl& function) const {
  std::set<Slot> visited;
  const Root root_found = root(lvalue, function, 0);
  return {reached(root_found, visited), root_found.kind == Root::local ? root_found.variable : nullptr};
}

Storage::Kind Storage::reached(const Root& root_found, std::set<Slot>& visited) const {
  switch (root_found.kind) {
  case Root::registers: return Kind::registers;
  case Root::local: return Kind::local;
  case Root::memory: return Kind::memory;
  case Root::parameter:
  case Root::self: break;
  }
  const bool is_self = root_found.kind == Root::self;
  const Slot slot{root_found.function->getCanonicalDecl(), is_self ? -1 : index_of(*root_found.variable)};
  if (!visited.insert(slot).second)
    return Kind::registers;
  const auto found = bindings_.find(slot);
  if (found ==
      bindings_.end()) // no visible caller: the functors of a library's algorithms are its own variables
    return !is_self || llvm::cast<clang::CXXMethodDecl>(root_found.function)->isVirtual() ? Kind::memory
                                                                                          : Kind::local;
  Kind most = Kind::registers;
  for (const Binding& binding : found->second) {
    const Root next = is_self ? root_of_object(binding.expression, *binding.function, 0)
                              : root(binding.expression, *binding.function, 0);
    most = std::max(most, reached(next, visited));
    if (most == Kind::memory)
      break;
  }
  return most;
}

Storage::Root Storage::root_of_object(const clang::Expr* object, const clang::FunctionDecl& function,
                                      unsigned depth) const {
  return object->getType()->isPointerType() ? root_of_pointee(object, function, depth)
                                            : root(object, function, depth);
}

/// Finds the root of an expression of one function.
template <class Finder> struct Storage::RootVisitor : clang::ConstStmtVisitor<Finder, Root> {
  const Storage& storage;
  const clang::FunctionDecl& function;
  const unsigned depth; ///< of the expression

  Root root(const clang::Expr* lvalue) const { return storage.root(lvalue, function, depth + 1); }
  Root root_of_pointee(const clang::Expr* pointer) const {
    return storage.root_of_pointee(pointer, function, depth + 1);
  }
};

struct Storage::PointeeRoot : RootVisitor<PointeeRoot> {
  Root VisitExpr(const clang::Expr*) { return {Root::memory}; }
  Root VisitCastExpr(const clang::CastExpr* cast) {
    if (cast->getCastKind() == clang::CK_ArrayToPointerDecay)
      return root(cast->getSubExpr());
    if (cast->getSubExpr()->getType()->isPointerType() && cast->getCastKind() != clang::CK_LValueToRValue)
      return root_of_pointee(cast->getSubExpr());
    return {Root::memory};
  }
  Root VisitCXXThisExpr(const clang::CXXThisExpr*) {
    const clang::FunctionDecl* owner = &function;
    // A lambda's `this` is that of the function it stands in.
    while (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(owner)) {
      if (!method->getParent()->isLambda())
        break;
      const auto* outer = llvm::dyn_cast_or_null<clang::FunctionDecl>(method->getParent()->getDeclContext());
      if (!outer)
        return {Root::memory};
      owner = outer;
    }
    return {Root::self, nullptr, owner};
  }
  Root VisitUnaryAddrOf(const clang::UnaryOperator* unary) { return root(unary->getSubExpr()); }
  Root VisitBinAdd(const clang::BinaryOperator* sum) {
    return root_of_pointee(sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS());
  }
  Root VisitBinSub(const clang::BinaryOperator* difference) { return VisitBinAdd(difference); }
};

Storage::Root Storage::root_of_pointee(const clang::Expr* pointer, const clang::FunctionDecl& function,
                                       unsigned depth) const {
  return depth > deepest ? Root{Root::memory}
                         : PointeeRoot{{{}, *this, function, depth}}.Visit(pointer->IgnoreParens());
}

Storage::Root Storage::root_of_variable(const clang::VarDecl& variable, const clang::FunctionDecl& function,
                                        unsigned depth) const {
  if (variable.getType()->isReferenceType()) {
    if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
      const auto* owner = llvm::dyn_cast<clang::FunctionDecl>(parameter->getDeclContext());
      return owner ? Root{Root::parameter, parameter, owner} : Root{Root::memory};
    }
    if (const auto range = ranges_.find(&variable); range != ranges_.end())
      return range->second->getType()->isArrayType() ? root(range->second, function, depth + 1)
                                                     : Root{Root::memory};
    return variable.getInit() ? root(variable.getInit(), function, depth + 1) : Root{Root::memory};
  }
  if (const auto* constant = variable.getAttr<clang::CUDAConstantAttr>())
    // Clang marks host constants that device code uses __constant__; nvcc folds them.
    return {constant->isImplicit() ? Root::registers : Root::memory};
  if (variable.hasAttr<clang::CUDADeviceAttr>() || variable.hasAttr<clang::CUDASharedAttr>() ||
      variable.hasAttr<clang::HIPManagedAttr>())
    // warpSize and its like are declared __device__ in Clang's own headers and are no variables.
    return {is_users(context_.getSourceManager(), variable.getLocation()) ? Root::memory : Root::registers};
  if (variable.isStaticLocal())
    return {Root::memory};
  return variable.isLocalVarDeclOrParm() ? Root{Root::local, &variable} : Root{};
}

Storage::Root Storage::root_of_result(const clang::CallExpr& call, const clang::FunctionDecl& function,
                                      unsigned depth) const {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee)
    return {Root::memory};
  if (passes_on(*callee) && call.getNumArgs() == 1)
    return root(call.getArg(0), function, depth + 1);
  const clang::FunctionDecl* definition = nullptr;
  if (!callee->hasBody(definition))
    return {Root::memory};

  const auto* member_operator = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
  const bool object_is_argument = member_operator && llvm::isa<clang::CXXMethodDecl>(callee);
  ReturnCollector returned;
  if (const clang::Stmt* body = definition->getBody())
    returned.Visit(body);
  Root answer;
  for (const clang::Expr* result : returned.results) {
    Root found = root(result, *definition, depth + 1);
    if (found.kind == Root::self && found.function->getCanonicalDecl() == definition->getCanonicalDecl()) {
      if (object_is_argument)
        found = root(call.getArg(0), function, depth + 1);
      else if (const auto* member_call = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call))
        found = root_of_object(member_call->getImplicitObjectArgument(), function, depth + 1);
    } else if (found.kind == Root::parameter &&
               found.function->getCanonicalDecl() == definition->getCanonicalDecl()) {
      // The arguments of a library's function that returns one of two references (std::max) count as loaded
      // already.
      const unsigned index = unsigned(index_of(*found.variable)) + object_is_argument;
      if (is_opaque(*definition, context_.getSourceManager()) &&
          is_small_value(found.variable->getType(), context_))
        found = {};
      else if (index < call.getNumArgs())
        found = root(call.getArg(index), function, depth + 1);
    }
    if (found.kind != Root::registers && !(found.kind == Root::local && answer.kind != Root::registers))
      answer = found;
    if (found.kind == Root::memory)
      break;
  }
  return answer;
}

/// Temporaries, literals and template parameters are in registers.
struct Storage::LvalueRoot : RootVisitor<LvalueRoot> {
  Root VisitExprWithCleanups(const clang::ExprWithCleanups* cleanups) { return root(cleanups->getSubExpr()); }
  Root VisitDeclRefExpr(const clang::DeclRefExpr* reference) {
    if (reference->isNonOdrUse() == clang::NOUR_Constant ||
        reference->isNonOdrUse() == clang::NOUR_Unevaluated)
      return {};
    if (const auto* binding = llvm::dyn_cast<clang::BindingDecl>(reference->getDecl()))
      return binding->getBinding() ? root(binding->getBinding()) : Root{};
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    Root found = variable ? storage.root_of_variable(*variable, function, depth) : Root{};
    if (found.kind == Root::local && reference->refersToEnclosingVariableOrCapture())
      found.variable = nullptr; // a lambda's variable, which may be a copy
    return found;
  }
  Root VisitMemberExpr(const clang::MemberExpr* member) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl()))
      return member->isNonOdrUse() == clang::NOUR_Constant
                 ? Root{}
                 : storage.root_of_variable(*variable, function, depth);
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (!field)
      return {};
    if (field->getType()->isReferenceType())
      return {Root::memory};
    return member->isArrow() ? root_of_pointee(member->getBase()) : root(member->getBase());
  }
  Root VisitArraySubscriptExpr(const clang::ArraySubscriptExpr* subscript) {
    const clang::Expr* base = subscript->getBase();
    return base->getType()->isPointerType() ? root_of_pointee(base) : root(base);
  }
  Root VisitUnaryDeref(const clang::UnaryOperator* unary) { return root_of_pointee(unary->getSubExpr()); }
  Root VisitBinComma(const clang::BinaryOperator* comma) { return root(comma->getRHS()); }
  Root VisitBinPtrMemD(const clang::BinaryOperator* member) { return root(member->getLHS()); }
  Root VisitBinPtrMemI(const clang::BinaryOperator* member) { return root_of_pointee(member->getLHS()); }
  Root VisitAbstractConditionalOperator(const clang::AbstractConditionalOperator* conditional) {
    const Root first = root(conditional->getTrueExpr());
    if (first.kind != Root::registers && first.kind != Root::local)
      return first;
    const Root second = root(conditional->getFalseExpr());
    return second.kind == Root::registers ? first : second;
  }
  Root VisitCastExpr(const clang::CastExpr* cast) {
    const bool is_passed_on =
        cast->getCastKind() == clang::CK_UserDefinedConversion || cast->getSubExpr()->isGLValue();
    return is_passed_on ? root(cast->getSubExpr()) : Root{};
  }
  Root VisitCallExpr(const clang::CallExpr* call) {
    return call->isGLValue() ? storage.root_of_result(*call, function, depth) : Root{};
  }
};

Storage::Root Storage::root(const clang::Expr* lvalue, const clang::FunctionDecl& function,
                            unsigned depth) const {
  return depth > deepest ? Root{Root::memory}
                         : LvalueRoot{{{}, *this, function, depth}}.Visit(lvalue->IgnoreParens());
}

} // namespace warplens::rewriter
