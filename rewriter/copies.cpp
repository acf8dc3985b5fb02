#include "rewriter/copies.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <llvm/Support/Regex.h>

namespace warplens::rewriter {

namespace {

bool is_pointer(const clang::Expr& argument) {
  const clang::QualType type = argument.IgnoreImplicit()->getType();
  return type->isPointerType() || type->isArrayType();
}

std::optional<unsigned> constant(const clang::Expr& expression, const clang::ASTContext& context) {
  clang::Expr::EvalResult result;
  if (expression.isValueDependent() || !expression.EvaluateAsInt(result, context))
    return std::nullopt;
  return static_cast<unsigned>(result.Val.getInt().getLimitedValue(~0u));
}

/// Returns whether the function is one of the namespace, or of one in it.
bool is_in(const clang::FunctionDecl& function, llvm::StringRef name) {
  for (const clang::DeclContext* scope = function.getDeclContext(); scope; scope = scope->getParent())
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(scope); space && space->getName() == name)
      return true;
  return false;
}

/// The operands of inline PTX, by their numbers.
class Operands {
public:
  Operands(const clang::GCCAsmStmt& assembly, const clang::ASTContext& context)
      : assembly_(assembly), context_(context) {}

  const clang::Expr* operator[](llvm::StringRef number) const {
    unsigned index = 0;
    if (number.getAsInteger(10, index) || index < assembly_.getNumOutputs() ||
        index >= assembly_.getNumOutputs() + assembly_.getNumInputs())
      return nullptr;
    return assembly_.getInputExpr(index - assembly_.getNumOutputs());
  }
  /// Returns the value of a number, or of the constant that an operand such as "%2" is.
  std::optional<unsigned> value(llvm::StringRef text) const {
    unsigned number = 0;
    if (!text.consume_front("%"))
      return text.getAsInteger(0, number) ? std::nullopt : std::optional(number);
    const clang::Expr* operand = (*this)[text];
    return operand ? constant(*operand, context_) : std::nullopt;
  }

private:
  const clang::GCCAsmStmt& assembly_;
  const clang::ASTContext& context_;
};

constexpr char begin_of_copy[] = "cp(\\.reduce)?\\.async\\.(ca\\.|cg\\.|bulk\\.(shared|global|tensor))";

} // namespace

std::optional<Copy> copy_by_function(const clang::CallExpr& call, const clang::ASTContext& context) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee || !callee->getIdentifier() || llvm::isa<clang::CXXMethodDecl>(callee))
    return std::nullopt;
  Copy copy;
  copy.text.call = &call;
  for (const clang::Expr* argument : call.arguments()) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(argument))
      break;
    const clang::QualType type = argument->IgnoreImplicit()->getType();
    copy.text.parameters += is_pointer(*argument) || type->isScalarType() ? 'v' : 'r';
  }
  const auto has_pointer = [&](unsigned number) {
    return number < copy.text.parameters.size() && is_pointer(*call.getArg(number));
  };
  const auto between = [&](unsigned to, unsigned from, const char* probe) -> std::optional<Copy> {
    copy.to = call.getArg(to);
    copy.from = call.getArg(from);
    copy.text.probe = probe;
    return copy;
  };
  const std::size_t count = copy.text.parameters.size();
  if (callee->getName() == "__pipeline_memcpy_async" && count >= 3) {
    copy.text.bytes = constant(*call.getArg(2), context).value_or(0);
    return between(0, 1, "pipeline_copy");
  }
  if (callee->getName() != "memcpy_async" ||
      !(is_in(*callee, "cuda") || is_in(*callee, "cooperative_groups")))
    return std::nullopt;
  if (has_pointer(0) && has_pointer(1) && count == 4)
    return between(0, 1, "thread_copy");
  const bool of_group = is_in(*callee, "cooperative_groups");
  if (has_pointer(1) && has_pointer(2) && count == (of_group ? 4 : 5))
    return between(1, 2, of_group ? "group_copy" : "threads_copy");
  if (has_pointer(1) && has_pointer(3) && count == 5 && of_group)
    return between(1, 3, "group_copy_of_elements");
  return std::nullopt;
}

std::optional<Copy> copy_in_ptx(const clang::GCCAsmStmt& assembly, const clang::ASTContext& context) {
  const llvm::StringRef text = assembly.getAsmString()->getString();
  static const llvm::Regex whole(
      "(@(!?)(%%)?([A-Za-z_][A-Za-z0-9_]*)[ \t]+)?"
      "cp\\.async\\.(ca|cg)\\.shared(::cta)?\\.global((\\.L2::[A-Za-z0-9_]+)*)[ \t]*"
      "\\[[ \t]*%([0-9]+)[ \t]*\\],[ \t]*\\[[ \t]*%([0-9]+)[ \t]*\\],[ \t]*"
      "(%?[0-9]+)[ \t]*(,[ \t]*(%?[0-9]+)[ \t]*)?(,[ \t]*%[0-9]+[ \t]*)?;");
  llvm::SmallVector<llvm::StringRef, 16> found;
  static const llvm::Regex begin(begin_of_copy);
  if (!whole.match(text, &found) ||
      begin.match(text.substr(static_cast<std::size_t>(found[0].end() - text.begin()))))
    return std::nullopt;
  const Operands operands(assembly, context);
  Copy copy;
  copy.text.assembly = &assembly;
  copy.cache_operator = found[5] == "ca" ? CacheOperator::async_ca : CacheOperator::async_cg;
  copy.to = operands[found[9]];
  copy.from = operands[found[10]];
  copy.text.bytes = operands.value(found[11]).value_or(0);
  const unsigned bytes = copy.text.bytes;
  if (!copy.to || !copy.from || (bytes != 4 && bytes != 8 && bytes != 16))
    return std::nullopt;
  if (!found[4].empty()) {
    const llvm::Regex sets("setp\\.ne\\.[bsu]32[ \t]+(%%)?" + found[4].str() +
                           "[ \t]*,[ \t]*%([0-9]+)[ \t]*,[ \t]*0[ \t]*;");
    llvm::SmallVector<llvm::StringRef, 3> predicate;
    if (!sets.match(text, &predicate) || !(copy.text.condition = operands[predicate[2]]))
      return std::nullopt;
    copy.text.negated = found[2] == "!";
  }
  // The bytes that are read, before a cache policy. The others are zero.
  llvm::StringRef read = found[13];
  if (found[7].contains("cache_hint") && found[14].empty())
    read = "";
  if (!read.empty() && operands.value(read) != bytes) {
    if (copy.text.condition || !read.consume_front("%") || !(copy.text.condition = operands[read]))
      return std::nullopt;
  }
  if (copy.text.condition && copy.text.condition->HasSideEffects(context)) // it would be evaluated twice
    return std::nullopt;
  return copy;
}

std::string name_of_copy_in(const clang::GCCAsmStmt& assembly) {
  static const llvm::Regex begin(begin_of_copy);
  llvm::SmallVector<llvm::StringRef, 4> found;
  const llvm::StringRef text = assembly.getAsmString()->getString();
  if (!begin.match(text, &found))
    return {};
  return ("cp" + found[1] + ".async" + (found[2].starts_with("bulk") ? ".bulk" : "")).str();
}

} // namespace warplens::rewriter
