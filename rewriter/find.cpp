#include "rewriter/find.h"

#include "rewriter/loop_text.h"
#include "rewriter/pointer_functions.h"
#include "rewriter/refused.h"
#include "rewriter/storage.h"
#include "rewriter/text_record.h"

#include <clang/AST/Attr.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <llvm/Support/SaveAndRestore.h>
#include <set>
#include <tuple>

namespace warplens::rewriter {

bool runs_on_device(const clang::FunctionDecl& function) {
  return function.hasAttr<clang::CUDAGlobalAttr>() || function.hasAttr<clang::CUDADeviceAttr>();
}

namespace {

/// Returns whether the class's own layout leaves members less aligned than their types require.
bool is_packed_member(const clang::Expr* place) {
  const auto* member = llvm::dyn_cast<clang::MemberExpr>(place->IgnoreParens());
  if (!member)
    return false;
  const clang::ValueDecl* field = member->getMemberDecl();
  const auto* record = llvm::dyn_cast<clang::RecordDecl>(field->getDeclContext());
  return field->hasAttr<clang::PackedAttr>() || (record && record->hasAttr<clang::PackedAttr>()) ||
         is_packed_member(member->getBase());
}

/// Visits expressions in post-order, so that an operation comes after those that its address needs.
class Finder : public clang::RecursiveASTVisitor<Finder> {
public:
  Finder(clang::ASTContext& context, const RefusedFunctions& refused,
         const analysis::AccessesLeft* accesses_left)
      : context_(context), refused_(refused), accesses_left_(accesses_left), storage_(context) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldTraversePostOrder() const { return true; }

  // These parts are not evaluated, or evaluated by the compiler.
  bool TraverseTypeLoc(clang::TypeLoc) { return true; }
  bool TraverseTemplateArgumentLoc(const clang::TemplateArgumentLoc&) { return true; }
  bool TraverseNestedNameSpecifierLoc(clang::NestedNameSpecifierLoc) { return true; }
  bool TraverseAttr(clang::Attr*) { return true; }
  bool dataTraverseStmtPre(clang::Stmt* statement) {
    return !llvm::isa<clang::UnaryExprOrTypeTraitExpr, clang::CXXNoexceptExpr, clang::CXXTypeidExpr,
                      clang::ConstantExpr, clang::RequiresExpr, clang::ConceptSpecializationExpr,
                      clang::TypeTraitExpr, clang::OffsetOfExpr, clang::RecoveryExpr>(statement) &&
           enter(statement);
  }
  bool dataTraverseStmtPost(clang::Stmt* statement) {
    if (!loops_.empty() && loops_.back() == statement)
      loops_.pop_back();
    return true;
  }

  bool TraverseDecl(clang::Decl* declaration);
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda);
  bool TraverseInitListExpr(clang::InitListExpr* list);
  bool TraverseForStmt(clang::ForStmt* loop);
  bool TraverseCXXForRangeStmt(clang::CXXForRangeStmt* loop);

  bool VisitExpr(clang::Expr* expression);
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast);
  bool VisitBinaryOperator(clang::BinaryOperator* binary);
  bool VisitUnaryOperator(clang::UnaryOperator* unary);
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* construction);
  bool VisitCallExpr(clang::CallExpr* call);
  bool VisitCXXDefaultArgExpr(clang::CXXDefaultArgExpr* argument) {
    return TraverseStmt(argument->getExpr());
  }
  bool VisitCXXDefaultInitExpr(clang::CXXDefaultInitExpr* initialiser) {
    return TraverseStmt(initialiser->getExpr());
  }
  bool VisitGCCAsmStmt(clang::GCCAsmStmt* assembly);

  Found finish();

private:
  bool enter(const clang::Stmt* statement);
  std::string reason_unseen() const;
  void add(MemoryOperation operation, const clang::Expr* written, std::string unseen);
  void access(AccessKind kind, const clang::Expr* written, std::string unseen = {});
  void through_pointer(const PointerFunction& function, const clang::Expr* pointer);
  void through_image(const ImageFunction& function, const clang::CallExpr* call);
  void arguments_of_library(const clang::FunctionDecl& callee, const clang::Expr* object,
                            llvm::ArrayRef<const clang::Expr*> arguments);
  void through_copy(const Copy& copy);
  void note_unseen(const clang::Expr* expression, std::string reason);
  bool is_copied_as_a_whole(const clang::CXXMethodDecl& copy) const;

  clang::ASTContext& context_;
  const RefusedFunctions& refused_;
  const analysis::AccessesLeft* accesses_left_;
  Storage storage_;
  const clang::FunctionDecl* function_ = nullptr; ///< the current device function; null: none
  bool in_instance_ = false;                      ///< in a template's instance, for the host or the device
  std::vector<const clang::Stmt*> loops_;         ///< the loops of that function around the current place
  Found found_;
  std::set<std::pair<clang::SourceLocation, clang::SourceLocation>>
      values_; ///< the places at which an instance has an expression that is no lvalue
};

bool Finder::TraverseDecl(clang::Decl* declaration) {
  if (!declaration)
    return true;
  if (llvm::isa<clang::StaticAssertDecl, clang::EnumDecl, clang::ConceptDecl>(declaration))
    return true;
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration))
    if (variable->getInit() && !variable->getInit()->isValueDependent() &&
        (variable->isConstexpr() || variable->isUsableInConstantExpressions(context_)))
      return true;
  auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
  if (!function)
    return RecursiveASTVisitor::TraverseDecl(declaration);

  if (function->hasAttr<clang::CUDAGlobalAttr>() && function->doesThisDeclarationHaveABody() &&
      llvm::isa<clang::CompoundStmt>(function->getBody()))
    found_.kernels.push_back(llvm::cast<clang::CompoundStmt>(function->getBody())->getLBracLoc());
  // A function whose only type information is that of its template has no accesses to find.
  if (function->isDependentContext() || function->isInvalidDecl())
    return true;
  llvm::SaveAndRestore<const clang::FunctionDecl*> in_function(
      function_, runs_on_device(*function) ? function : nullptr);
  if (function_ != nullptr && function->doesThisDeclarationHaveABody())
    found_.functions.push_back(function);
  llvm::SaveAndRestore<std::vector<const clang::Stmt*>> in_no_loop(loops_, {});
  llvm::SaveAndRestore<bool> in_instance(in_instance_,
                                         in_instance_ || function->getTemplateInstantiationPattern());
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function); constructor && function_)
    for (const clang::CXXCtorInitializer* initialiser : constructor->inits())
      if (!initialiser->isWritten() &&
          llvm::isa_and_nonnull<clang::CXXDefaultInitExpr>(initialiser->getInit()))
        TraverseStmt(initialiser->getInit());
  return RecursiveASTVisitor::TraverseDecl(declaration);
}

bool Finder::TraverseLambdaExpr(clang::LambdaExpr* lambda) {
  for (unsigned i = 0; i < lambda->capture_size(); ++i) {
    const clang::LambdaCapture* capture = lambda->capture_begin() + i;
    if (lambda->isInitCapture(capture)) // the others are copies without text of their own
      TraverseStmt(lambda->capture_init_begin()[i]);
  }
  const auto traverse_body = [this](clang::CXXMethodDecl* method) {
    if (method->isDependentContext())
      return;
    llvm::SaveAndRestore<const clang::FunctionDecl*> in_function(function_,
                                                                 runs_on_device(*method) ? method : nullptr);
    llvm::SaveAndRestore<std::vector<const clang::Stmt*>> in_no_loop(loops_, {});
    TraverseStmt(method->getBody());
  };
  if (const clang::FunctionTemplateDecl* generic = lambda->getDependentCallOperator()) {
    for (clang::FunctionDecl* instance : generic->specializations())
      if (auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(instance); method && method->hasBody())
        traverse_body(method);
  } else {
    traverse_body(lambda->getCallOperator());
  }
  return true;
}

bool Finder::TraverseInitListExpr(clang::InitListExpr* list) {
  clang::InitListExpr* semantic = list->isSemanticForm() ? list : list->getSemanticForm();
  for (clang::Stmt* child : (semantic ? semantic : list)->children())
    TraverseStmt(child);
  return true;
}

bool Finder::TraverseForStmt(clang::ForStmt* loop) {
  return TraverseStmt(loop->getInit()) && TraverseStmt(loop->getConditionVariableDeclStmt()) &&
         TraverseStmt(loop->getConditionVariable() ? nullptr : loop->getCond()) &&
         TraverseStmt(loop->getBody()) && TraverseStmt(loop->getInc());
}

bool Finder::TraverseCXXForRangeStmt(clang::CXXForRangeStmt* loop) {
  storage_.note_range(*loop);
  TraverseStmt(loop->getInit());
  TraverseStmt(loop->getRangeInit());
  // Code that has no text reads the elements.
  const clang::VarDecl* variable = loop->getLoopVariable();
  if (function_ && variable && !variable->getType()->isReferenceType())
    access(AccessKind::load, loop->getRangeInit(), "read by a range-based for");
  return TraverseStmt(loop->getBody());
}

/// Returns whether the compiler made the expression, with the range of its operand.
static bool has_the_range_of_its_operand(const clang::Expr& expression) {
  if (llvm::isa<clang::ImplicitCastExpr, clang::MaterializeTemporaryExpr, clang::CXXBindTemporaryExpr,
                clang::ExprWithCleanups, clang::CXXThisExpr>(expression))
    return true;
  const auto* construction = llvm::dyn_cast<clang::CXXConstructExpr>(&expression);
  if (construction && !llvm::isa<clang::CXXTemporaryObjectExpr>(construction))
    return true;
  const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(&expression);
  return call && llvm::isa_and_nonnull<clang::CXXConversionDecl>(call->getMethodDecl());
}

bool Finder::VisitExpr(clang::Expr* expression) {
  if (in_instance_ && !expression->isLValue() && !has_the_range_of_its_operand(*expression))
    values_.insert({expression->getBeginLoc(), expression->getEndLoc()});
  return true;
}

/// Counts a loop with attributes once, with them.
bool Finder::enter(const clang::Stmt* statement) {
  const auto* attributed = loops_.empty() ? nullptr : llvm::dyn_cast<clang::AttributedStmt>(loops_.back());
  if (is_loop(*statement) && !(attributed && attributed->getSubStmt() == statement))
    loops_.push_back(statement);
  return true;
}

/// Returns why nothing of the current function can have a probe, or an empty string.
std::string Finder::reason_unseen() const {
  return function_ && refused_.contains(*function_) ? "in a function that Clang does not take" : "";
}

void Finder::add(MemoryOperation operation, const clang::Expr* written, std::string unseen) {
  if (std::string reason = reason_unseen(); !reason.empty())
    unseen = std::move(reason);
  found_.operations.push_back(
      {operation, written, nullptr, false, std::move(unseen), false, loops_, std::nullopt});
}

void Finder::access(AccessKind kind, const clang::Expr* written, std::string unseen) {
  if (!function_ || !written)
    return;
  const clang::Expr* place = written->IgnoreParens();
  if (const auto* conditional = llvm::dyn_cast<clang::ConditionalOperator>(place)) {
    access(kind, conditional->getTrueExpr(), unseen);
    access(kind, conditional->getFalseExpr(), std::move(unseen));
    return;
  }
  if (const auto* comma = llvm::dyn_cast<clang::BinaryOperator>(place);
      comma && comma->getOpcode() == clang::BO_Comma)
    return access(kind, comma->getRHS(), std::move(unseen));
  if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(place);
      cast && (cast->getCastKind() == clang::CK_NoOp || cast->getCastKind() == clang::CK_DerivedToBase ||
               cast->getCastKind() == clang::CK_UncheckedDerivedToBase))
    return access(kind, cast->getSubExpr(), std::move(unseen));
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(place);
      call && place->isXValue() && call->getNumArgs() == 1)
    return access(kind, call->getArg(0), std::move(unseen)); // std::move(a[i])
  if (!place->isGLValue() || place->getType()->isFunctionType())
    return;
  if (unseen.empty()) {
    if (place->refersToBitField())
      unseen = "bit-field";
    else if (place->refersToVectorElement())
      unseen = "element of a vector";
    else if (is_packed_member(place))
      unseen = "packed member";
    else if (!place->isLValue())
      unseen = "temporary";
  }
  // What is volatile is loaded where other SMs' stores arrive, as by __ldcv.
  const bool skips_l1 = kind != AccessKind::store && place->getType().isVolatileQualified();
  add({function_, place, false, kind, skips_l1 ? CacheOperator::cv : CacheOperator::none}, written,
      std::move(unseen));
}

void Finder::through_pointer(const PointerFunction& function, const clang::Expr* pointer) {
  const clang::Expr* written = pointer->IgnoreImplicit();
  std::string unseen;
  if (!written->getType()->isPointerType() && !written->getType()->isArrayType())
    unseen = "not a plain pointer";
  add({function_, written, true, function.kind, function.cache_operator}, written, std::move(unseen));
}

/// Handles f(object, …), which returns the value it reads, and f(place, object, …), which stores the value at
/// `place` or writes the value there.
void Finder::through_image(const ImageFunction& function, const clang::CallExpr* call) {
  const auto parameters = call->getDirectCallee()->parameters();
  const bool tells_residency = llvm::any_of(parameters.drop_front(), [](const clang::ParmVarDecl* parameter) {
    return parameter->getType()->isPointerType();
  });
  if (tells_residency)
    return note_unseen(call, "fetch that reports whether its texels are resident");
  const bool object_is_second =
      function.kind == AccessKind::store || parameters.front()->getType()->isPointerType();
  const clang::Expr* object = call->getArg(object_is_second)->IgnoreParens();
  add({function_, object, true, function.kind, CacheOperator::tex, function.handle}, object, {});
  found_.operations.back().call = call;
}

void Finder::through_copy(const Copy& copy) {
  const auto one_side = [&](AccessKind kind, const clang::Expr* pointer) {
    const clang::Expr* written = pointer->IgnoreImplicit();
    add({function_, written, true, kind, copy.cache_operator}, written, {});
    found_.operations.back().copy = copy.text;
  };
  one_side(AccessKind::store, copy.to);
  one_side(AccessKind::load, copy.from);
}

void Finder::note_unseen(const clang::Expr* expression, std::string reason) {
  add({function_, expression, true, AccessKind::load}, expression, std::move(reason));
}

/// Returns whether the copy has no body to look into: the compiler's own, and a library's.
bool Finder::is_copied_as_a_whole(const clang::CXXMethodDecl& copy) const {
  if (copy.getParent()->isEmpty() || copy.getParent()->isLambda())
    return false;
  return copy.isTrivial() || !copy.isUserProvided() ||
         (is_opaque(copy, context_.getSourceManager()) &&
          is_small_value(context_.getRecordType(copy.getParent()), context_));
}

/// Counts reference arguments of a library's function as read or written by it, since its body is not seen.
void Finder::arguments_of_library(const clang::FunctionDecl& callee, const clang::Expr* object,
                                  llvm::ArrayRef<const clang::Expr*> arguments) {
  const auto by_reference = [&](const clang::Expr* argument, bool constant) {
    if (argument->isGLValue() && is_small_value(argument->getType(), context_))
      access(constant ? AccessKind::load : AccessKind::update, argument);
  };
  if (callee.getBuiltinID() != 0 ||
      (callee.getReturnType()->isReferenceType() && arguments.size() == 1 && !object))
    return; // std::move, std::forward and the like pass their argument on
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee); method && object) {
    const bool assigns = method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator() ||
                         method->getOverloadedOperator() == clang::OO_Equal;
    const bool hands_out_part = method->getReturnType()->isReferenceType() && !method->isOverloadedOperator();
    const bool subscripts = method->getOverloadedOperator() == clang::OO_Subscript;
    if (assigns && object->isGLValue())
      access(AccessKind::store, object);
    else if (!hands_out_part && !subscripts && object->isGLValue() && !method->isStatic())
      by_reference(object, method->isConst());
  }
  // A forwarding reference (T&&) takes a variable to read it.
  const clang::FunctionDecl* pattern = callee.getTemplateInstantiationPattern();
  for (unsigned i = 0; i < callee.getNumParams() && i < arguments.size(); ++i)
    if (const clang::QualType type = callee.getParamDecl(i)->getType(); type->isLValueReferenceType()) {
      const bool forwarding = pattern && i < pattern->getNumParams() &&
                              pattern->getParamDecl(i)->getType()->isRValueReferenceType();
      by_reference(arguments[i], forwarding || type->getPointeeType().isConstQualified());
    }
}

bool Finder::VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
  if (cast->getCastKind() == clang::CK_LValueToRValue)
    access(AccessKind::load, cast->getSubExpr());
  return true;
}

bool Finder::VisitBinaryOperator(clang::BinaryOperator* binary) {
  if (binary->isAssignmentOp())
    access(binary->isCompoundAssignmentOp() ? AccessKind::update : AccessKind::store, binary->getLHS());
  return true;
}

bool Finder::VisitUnaryOperator(clang::UnaryOperator* unary) {
  if (unary->isIncrementDecrementOp())
    access(AccessKind::update, unary->getSubExpr());
  return true;
}

bool Finder::VisitCXXConstructExpr(clang::CXXConstructExpr* construction) {
  if (!function_)
    return true;
  const clang::CXXConstructorDecl* constructor = construction->getConstructor();
  const llvm::ArrayRef<const clang::Expr*> arguments(construction->getArgs(), construction->getNumArgs());
  if (constructor->isCopyOrMoveConstructor() && is_copied_as_a_whole(*constructor)) {
    access(AccessKind::load, arguments[0]);
    return true;
  }
  storage_.note_call(*constructor, nullptr, arguments, *function_);
  if (is_opaque(*constructor, context_.getSourceManager()))
    arguments_of_library(*constructor, nullptr, arguments);
  return true;
}

bool Finder::VisitCallExpr(clang::CallExpr* call) {
  const clang::FunctionDecl* callee = call->getDirectCallee();
  if (!function_ || !callee)
    return true;
  llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  const clang::Expr* object = nullptr;
  if (const auto* member_call = llvm::dyn_cast<clang::CXXMemberCallExpr>(call))
    object = member_call->getImplicitObjectArgument();
  else if (llvm::isa<clang::CXXOperatorCallExpr>(call) && llvm::isa<clang::CXXMethodDecl>(callee)) {
    object = arguments.front();
    arguments = arguments.drop_front();
  }

  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
  if (method && object && arguments.size() == 1 &&
      (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator()) &&
      is_copied_as_a_whole(*method)) {
    access(AccessKind::load, arguments[0]);
    access(AccessKind::store, object);
    return true;
  }
  storage_.note_call(*callee, object, arguments, *function_);
  if (!is_opaque(*callee, context_.getSourceManager()))
    return true;
  const llvm::StringRef name = callee->getIdentifier() ? callee->getName() : "";
  if (is_barrier(name) && !method) {
    found_.barriers.push_back({function_, call, reason_unseen()});
    return true;
  }
  if (const auto known = pointer_function(name); known && !arguments.empty() && !method)
    through_pointer(*known, arguments[0]);
  else if (const auto image = image_function(name); image && arguments.size() > 1 && !method)
    through_image(*image, call);
  else if (const auto copy = copy_by_function(*call, context_))
    through_copy(*copy);
  else if (const char* reason = unprobed_function(name); reason && !method)
    note_unseen(call, reason);
  else
    arguments_of_library(*callee, object, arguments);
  return true;
}

bool Finder::VisitGCCAsmStmt(clang::GCCAsmStmt* assembly) {
  for (unsigned i = 0; i < assembly->getNumOutputs(); ++i)
    access(assembly->isOutputPlusConstraint(i) ? AccessKind::update : AccessKind::store,
           assembly->getOutputExpr(i));
  if (const std::string name = name_of_copy_in(*assembly); function_ && !name.empty()) {
    if (const auto copy = copy_in_ptx(*assembly, context_))
      through_copy(*copy);
    else
      note_unseen(assembly->getAsmString(), "asynchronous copy (" + name + ") in inline PTX");
  }
  return true;
}

Found Finder::finish() {
  Found result;
  result.kernels = std::move(found_.kernels);
  result.barriers = std::move(found_.barriers);
  result.functions = std::move(found_.functions);
  std::set<std::tuple<const clang::FunctionDecl*, const clang::Expr*, AccessKind, bool>> seen;
  for (FoundOperation& found : found_.operations) {
    const MemoryOperation& operation = found.operation;
    if (!seen.insert({operation.function, operation.place, operation.kind, operation.through_pointer}).second)
      continue;
    found.lvalue_in_some_instances =
        !operation.through_pointer &&
        values_.contains({operation.place->getBeginLoc(), operation.place->getEndLoc()});
    Storage::Designated designated{Storage::Kind::memory, nullptr};
    if (!operation.through_pointer) {
      designated = storage_.designated(operation.place, *operation.function);
      found.local = designated.kind != Storage::Kind::registers && accesses_left_ &&
                    accesses_left_->in_local_memory(context_, operation, designated.variable);
    }
    if (designated.kind == Storage::Kind::memory || found.local)
      result.operations.push_back(std::move(found));
  }
  return result;
}

} // namespace

Found find_memory_operations(clang::ASTContext& context, const RefusedFunctions& refused,
                             const analysis::AccessesLeft* accesses_left) {
  Finder finder(context, refused, accesses_left);
  for (clang::Decl* declaration : context.getTranslationUnitDecl()->decls())
    if (is_users(context.getSourceManager(), declaration->getLocation()))
      finder.TraverseDecl(declaration);
  return finder.finish();
}

} // namespace warplens::rewriter
