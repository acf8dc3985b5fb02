#include "test/analysis/parsed.h"

#include "analysis/clang_invocation.h"
#include "analysis/optimise.h"
#include "test/catch.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/Lexer.h>
#include <fstream>
#include <llvm/ADT/STLExtras.h>

namespace warplens::test {

namespace {

constexpr const char* keywords = R"(
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
typedef unsigned long size_t;
struct float4 { float x, y, z, w; } __attribute__((aligned(16)));
struct uint3 { unsigned x, y, z; };
#define threadIdx_x __nvvm_read_ptx_sreg_tid_x()
#define __syncwarp(mask) __nvvm_bar_warp_sync(mask)
#define __ldg(p) __nvvm_ldg_f(p)
#define __ldgi(p) __nvvm_ldg_i(p)
#define atomicAdd(p, v) __nvvm_atom_add_gen_i(p, v)
#line 1
)";

/// Finds every subscript, dereference and `->` member that is loaded, stored, updated or copied as an object,
/// and the first argument of __ldg and atomicAdd. Variables by name alone are left out unless they are
/// references.
class Finder : public clang::RecursiveASTVisitor<Finder> {
public:
  explicit Finder(const clang::SourceManager& sources) : sources_(sources) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return false; }

  bool TraverseFunctionDecl(clang::FunctionDecl* function) {
    return within(function, &Base::TraverseFunctionDecl);
  }
  bool TraverseCXXMethodDecl(clang::CXXMethodDecl* function) {
    return within(function, &Base::TraverseCXXMethodDecl);
  }
  bool TraverseCXXConstructorDecl(clang::CXXConstructorDecl* function) {
    return within(function, &Base::TraverseCXXConstructorDecl);
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    const clang::FunctionDecl* outer = std::exchange(function_, lambda->getCallOperator());
    const bool go_on = Base::TraverseLambdaExpr(lambda);
    function_ = outer;
    return go_on;
  }

  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    if (cast->getCastKind() == clang::CK_LValueToRValue)
      add(cast->getSubExpr(), AccessKind::load);
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator* binary) {
    if (binary->isAssignmentOp())
      add(binary->getLHS(), binary->isCompoundAssignmentOp() ? AccessKind::update : AccessKind::store);
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* unary) {
    if (unary->isIncrementDecrementOp())
      add(unary->getSubExpr(), AccessKind::update);
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* construction) {
    if (construction->getConstructor()->isCopyOrMoveConstructor())
      add(construction->getArg(0)->IgnoreParenImpCasts(), AccessKind::load);
    return true;
  }
  bool VisitCXXOperatorCallExpr(clang::CXXOperatorCallExpr* call) {
    if (call->getOperator() == clang::OO_Equal) {
      add(call->getArg(1)->IgnoreParenImpCasts(), AccessKind::load);
      add(call->getArg(0)->IgnoreParenImpCasts(), AccessKind::store);
    }
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (!callee || !callee->getIdentifier() || call->getNumArgs() == 0)
      return true;
    const llvm::StringRef name = callee->getName();
    if (name == "__ldg" || name.starts_with("__nvvm_ldg"))
      add(call->getArg(0), AccessKind::load, true);
    else if (name == "atomicAdd" || name.starts_with("__nvvm_atom"))
      add(call->getArg(0), AccessKind::atomic, true);
    return true;
  }

  std::vector<MemoryOperation> operations;

private:
  using Base = clang::RecursiveASTVisitor<Finder>;

  template <class Function> bool within(Function* function, bool (Base::*traverse)(Function*)) {
    const clang::FunctionDecl* outer = std::exchange(function_, function);
    const bool go_on = (this->*traverse)(function);
    function_ = outer;
    return go_on;
  }

  void add(const clang::Expr* place, AccessKind kind, bool through_pointer = false) {
    if (!function_ || function_->isDependentContext() || place->isTypeDependent() ||
        !sources_.isInMainFile(sources_.getExpansionLoc(place->getBeginLoc())) ||
        sources_.getPresumedLoc(sources_.getExpansionLoc(place->getBeginLoc())).isInvalid())
      return;
    const clang::Expr* plain = place->IgnoreParens();
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(plain)) {
      add(choice->getTrueExpr(), kind);
      add(choice->getFalseExpr(), kind);
      return;
    }
    if (!through_pointer) {
      const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(plain);
      const bool is_reference = name && name->getDecl()->getType()->isReferenceType();
      const auto* member = llvm::dyn_cast<clang::MemberExpr>(plain);
      const bool in_memory = llvm::isa<clang::ArraySubscriptExpr>(plain) || is_reference || member ||
                             (llvm::isa<clang::UnaryOperator>(plain) &&
                              llvm::cast<clang::UnaryOperator>(plain)->getOpcode() == clang::UO_Deref);
      if (!in_memory)
        return;
    }
    operations.push_back({function_, place, through_pointer, kind, CacheOperator::none});
  }

  const clang::SourceManager& sources_;
  const clang::FunctionDecl* function_ = nullptr;
};

class GenerateAction : public clang::ASTFrontendAction {
  llvm::LLVMContext context_; // outlives the module
  clang::CodeGenerator* generator_ = nullptr;

public:
  std::unique_ptr<llvm::Module> module;

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    auto generator = analysis::device_code_generator(compiler, context_);
    generator_ = generator.get();
    return generator;
  }
  void EndSourceFileAction() override {
    module = analysis::take_device_module(*generator_, getCompilerInstance().getLangOpts());
  }
};

} // namespace

/// Keeps the AST alive.
struct Parsed::Frontend {
  analysis::Compilation compilation;
  clang::SyntaxOnlyAction action;
  ~Frontend() { action.EndSourceFile(); }
};

std::vector<std::string> bare_arguments() {
  return {"-x",
          "cuda",
          "-nocudainc",
          "-nogpulib",
          "--cuda-gpu-arch=sm_80",
          "-std=c++17",
          "-Wno-unknown-cuda-version"};
}

std::vector<std::string> toolkit_arguments(const std::filesystem::path& scratch) {
  std::ofstream(scratch / "texture_fetch_functions.h");
  const std::string cuda = WARPLENS_TEST_CUDA;
  return {"-x",
          "cuda",
          "--cuda-path=" + cuda,
          "-isystem",
          scratch.string(),
          "-isystem",
          cuda + "/include/cccl",
          "--cuda-gpu-arch=sm_80",
          "-std=c++17",
          "-Wno-unknown-cuda-version"};
}

Parsed::Parsed(const std::string& source) : Parsed(source, bare_arguments(), true) {}

Parsed::Parsed(const std::string& source, std::vector<std::string> arguments, bool prelude)
    : folder_(TemporaryDirectory::create().value()), arguments_(std::move(arguments)),
      frontend_(std::make_unique<Frontend>()) {
  const std::string file = (folder_.path() / "source.cu").string();
  std::ofstream(file) << (prelude ? keywords : "") << source;
  auto compilation =
      analysis::prepare_compilation(arguments_, file, analysis::Half::device, {"-fsyntax-only"});
  if (!compilation)
    FAIL(compilation.error().message);
  frontend_->compilation = std::move(*compilation);
  clang::CompilerInstance& compiler = *frontend_->compilation.compiler;
  compiler.createTarget();
  compiler.createFileManager();
  compiler.createSourceManager(compiler.getFileManager());
  REQUIRE(frontend_->action.BeginSourceFile(compiler, compiler.getFrontendOpts().Inputs.front()));
  llvm::consumeError(frontend_->action.Execute());
  if (!frontend_->compilation.errors->errors().empty())
    FAIL(frontend_->compilation.errors->first());
  Finder finder(compiler.getSourceManager());
  finder.TraverseDecl(compiler.getASTContext().getTranslationUnitDecl());
  operations_ = std::move(finder.operations);
  facts_ = analysis::analyse(compiler.getASTContext(), operations_, nullptr);
}

Parsed::~Parsed() = default;

std::string Parsed::written(std::size_t operation) const {
  const clang::ASTContext& context = frontend_->compilation.compiler->getASTContext();
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::Expr* place = operations_[operation].place->IgnoreParens();
  return clang::Lexer::getSourceText(
             clang::CharSourceRange::getTokenRange(sources.getSpellingLoc(place->getBeginLoc()),
                                                   sources.getSpellingLoc(place->getEndLoc())),
             sources, context.getLangOpts())
      .str();
}

std::size_t Parsed::index(const std::string& text, std::size_t occurrence) const {
  const clang::SourceManager& sources = frontend_->compilation.compiler->getSourceManager();
  std::vector<std::pair<clang::SourceLocation, std::size_t>> found;
  for (std::size_t i = 0; i < operations_.size(); ++i)
    if (written(i) == text)
      found.emplace_back(operations_[i].place->getBeginLoc(), i);
  llvm::stable_sort(found, [&](const auto& one, const auto& other) {
    return sources.isBeforeInTranslationUnit(one.first, other.first);
  });
  if (occurrence >= found.size())
    FAIL("no occurrence " << occurrence << " of " << text);
  return found[occurrence].second;
}

const analysis::Facts& Parsed::facts(const std::string& text, std::size_t occurrence) const {
  return facts_[index(text, occurrence)];
}

Space Parsed::space(const std::string& text, std::size_t occurrence) const {
  return facts(text, occurrence).space;
}

std::uint32_t Parsed::sequence(const std::string& text, std::size_t occurrence) const {
  return facts(text, occurrence).sequence;
}

std::uint32_t Parsed::sequence_in_code(const std::string& text, std::size_t occurrence) {
  clang::ASTContext& context = frontend_->compilation.compiler->getASTContext();
  return analysis::analyse(context, operations_, &accesses_left())[index(text, occurrence)].sequence;
}

std::vector<std::string> Parsed::written_all(const std::vector<std::size_t>& operations) const {
  std::vector<std::string> result;
  for (const std::size_t operation : operations)
    result.push_back(written(operation));
  return result;
}

std::vector<std::string> Parsed::depends_on(const std::string& text, std::size_t occurrence) const {
  return written_all(facts(text, occurrence).needed.sent);
}

std::vector<std::string> Parsed::stores(const std::string& text, std::size_t occurrence) const {
  return written_all(facts(text, occurrence).needed.stored);
}

const analysis::AccessesLeft& Parsed::accesses_left() {
  if (!accesses_left_) {
    auto compilation =
        analysis::prepare_compilation(arguments_, (folder_.path() / "source.cu").string(),
                                      analysis::Half::device, {"-fsyntax-only", analysis::optimised});
    if (!compilation)
      FAIL(compilation.error().message);
    GenerateAction action;
    compilation->compiler->ExecuteAction(action);
    REQUIRE(action.module);
    accesses_left_ =
        std::make_unique<analysis::AccessesLeft>(analysis::AccessesLeft::in_module(*action.module));
  }
  return *accesses_left_;
}

analysis::AccessLeft Parsed::access_left(const std::string& text, std::size_t occurrence) {
  return accesses_left().of(frontend_->compilation.compiler->getASTContext(),
                            operations_[index(text, occurrence)]);
}

bool Parsed::in_local_memory(const std::string& text, std::size_t occurrence) {
  const MemoryOperation& operation = operations_[index(text, occurrence)];
  const clang::Expr* place = operation.place->IgnoreParenImpCasts();
  while (!llvm::isa<clang::DeclRefExpr>(place))
    if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(place))
      place = subscript->getBase()->IgnoreParenImpCasts();
    else
      place = llvm::cast<clang::MemberExpr>(place)->getBase()->IgnoreParenImpCasts();
  const auto* variable = llvm::cast<clang::VarDecl>(llvm::cast<clang::DeclRefExpr>(place)->getDecl());
  return accesses_left().in_local_memory(frontend_->compilation.compiler->getASTContext(), operation,
                                         variable->getType()->isPointerType() ? nullptr : variable);
}

std::string Parsed::fate(const std::string& text, std::size_t occurrence) {
  const analysis::AccessLeft left = access_left(text, occurrence);
  return !left.is_left ? "removed" : left.hoisted ? "hoisted" : "stays";
}

} // namespace warplens::test
