// Does an lvalue designate memory, or a variable that the compiler may keep in registers? The second has a
// probe only where it is left in memory anyway: taking its address would force it there.
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

/// Is the function defined where it gets no probes: in a system or toolkit header?
bool is_opaque(const clang::FunctionDecl& function, const clang::SourceManager& sources);

/// May a value of this type be read or written as a whole by a function that takes a reference to it: is it a
/// scalar or a class of at most 16 bytes?
bool is_small_value(clang::QualType type, const clang::ASTContext& context);

/// Follows references and objects through the calls it was told of. What a reference is bound to is known
/// only once the whole translation unit was seen: first note all calls, then ask.
class Storage {
public:
  explicit Storage(const clang::ASTContext& context) : context_(context) {}

  /// Notes what the call binds `callee`'s reference parameters to. `object` is the object of a member call
  /// (an lvalue, or a pointer to it), else null.
  void note_call(const clang::FunctionDecl& callee, const clang::Expr* object,
                 llvm::ArrayRef<const clang::Expr*> arguments, const clang::FunctionDecl& caller);
  void note_range(const clang::CXXForRangeStmt& loop);

  /// `local`: a thread's own variable, in registers or in local memory as the compiler decides.
  enum class Kind { registers, local, memory };
  struct Designated {
    Kind kind = Kind::registers;
    const clang::VarDecl* variable = nullptr; ///< local: which, where the lvalue itself names it
  };

  /// A reference whose bindings are not known is taken to designate memory.
  Designated designated(const clang::Expr* lvalue, const clang::FunctionDecl& function) const;

private:
  struct Root {
    enum Kind { registers, local, memory, parameter, self } kind = registers;
    const clang::VarDecl* variable = nullptr;      ///< local, parameter: which
    const clang::FunctionDecl* function = nullptr; ///< parameter, self: of which function
  };
  struct Binding {
    const clang::Expr* expression;
    const clang::FunctionDecl* function; ///< where the expression stands
  };
  using Slot = std::pair<const clang::FunctionDecl*,
                         int>; ///< a function and its parameter's number, or -1 for its object

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
