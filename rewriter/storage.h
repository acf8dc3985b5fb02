// Decides whether an lvalue designates memory, or a variable that the compiler may keep in registers. The
// latter gets a probe only if it is left in memory anyway: taking its address would force it there.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/Expr.h>
#include <clang/AST/StmtCXX.h>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace warplens::rewriter {

/// Returns whether the function is defined in a system or toolkit header, where it gets no probes.
bool is_opaque(const clang::FunctionDecl& function, const clang::SourceManager& sources);

/// Returns whether a function that takes a reference to this type may read or write the value as a whole: a
/// scalar or a class of at most 16 bytes.
bool is_small_value(clang::QualType type, const clang::ASTContext& context);

/// Follows references and objects through the noted calls. The bindings of a reference are complete only
/// after the whole translation unit: callers first note all calls, then query.
class Storage {
public:
  explicit Storage(const clang::ASTContext& context) : context_(context) {}

  /// Notes the objects that the call binds `callee`'s reference parameters to. `object` is the object of a
  /// member call (an lvalue, or a pointer to it), else null.
  void note_call(const clang::FunctionDecl& callee, const clang::Expr* object,
                 llvm::ArrayRef<const clang::Expr*> arguments, const clang::FunctionDecl& caller);
  void note_range(const clang::CXXForRangeStmt& loop);

  /// `local` is a thread's own variable, in registers or in local memory as the compiler decides.
  enum class Kind { registers, local, memory };
  struct Designated {
    Kind kind = Kind::registers;
    const clang::VarDecl* variable = nullptr; ///< for local: the variable, if the lvalue itself names it
  };

  /// Returns what an lvalue designates. A reference with unknown bindings counts as memory.
  Designated designated(const clang::Expr* lvalue, const clang::FunctionDecl& function) const;

private:
  struct Root {
    enum Kind { registers, local, memory, parameter, self } kind = registers;
    const clang::VarDecl* variable = nullptr;      ///< for local and parameter: the variable
    const clang::FunctionDecl* function = nullptr; ///< for parameter and self: the function it belongs to
  };
  struct Binding {
    const clang::Expr* expression;
    const clang::FunctionDecl* function; ///< the function that contains the expression
  };
  using Slot = std::pair<const clang::FunctionDecl*,
                         int>; ///< a function and its parameter's number, or -1 for its object

  template <class Finder> struct RootVisitor;
  struct LvalueRoot;
  struct PointeeRoot;

  Root root(const clang::Expr* lvalue, const clang::FunctionDecl& function, unsigned depth) const;
  Root root_of_pointee(const clang::Expr* pointer, const clang::FunctionDecl& function, unsigned depth) const;
  Root root_of_variable(const clang::VarDecl& variable, const clang::FunctionDecl& function,
                        unsigned depth) const;
  Root root_of_result(const clang::CallExpr& call, const clang::FunctionDecl& function, unsigned depth) const;
  Root root_of_object(const clang::Expr* object, const clang::FunctionDecl& function, unsigned depth) const;
  Kind reached(const Root& root, std::set<Slot>& visited) const;

  const clang::ASTContext& context_;
  std::map<Slot, std::vector<Binding>> bindings_;
  std::map<const clang::VarDecl*, const clang::Expr*> ranges_;
};

} // namespace warplens::rewriter
