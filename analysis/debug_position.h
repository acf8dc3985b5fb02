// Source positions of accesses as debug information records them.
#pragma once

#include "analysis/memory_operation.h"

#include <clang/AST/ASTContext.h>
#include <compare>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <string>

namespace warplens::analysis {

/// A place in the source. The file is absolute and free of `.` and `..`.
struct Position {
  std::string file;
  std::uint32_t line = 0;   ///< 1-based; 0: not known
  std::uint32_t column = 0; ///< 1-based
  friend auto operator<=>(const Position&, const Position&) = default;
};

/// Returns a path in the form of Position::file.
std::string canonical_file(const std::string& file, const std::string& directory = {});

/// Returns the position of a location in a module's debug information, without what it is inlined into.
Position position_of(const llvm::DILocation& location);

/// Returns the position that Clang writes into the debug information for a place in the AST; within a macro
/// this is the invocation's.
Position position_of(const clang::ASTContext& context, clang::SourceLocation place);

/// Finds where Clang puts the instructions of source-level accesses in the debug information: a load at the
/// expression that names the place (for members: at the member's name; for `*p`: at the star), stores and
/// updates at the operator, copies of objects at the operator or where the construction begins, atomics and
/// __ldg where the call begins, and everything within a macro at the invocation.
class DebugPositions {
public:
  explicit DebugPositions(const clang::ASTContext& context) : context_(context) {}
  Position of(const MemoryOperation& operation);

  using Places = llvm::DenseMap<const clang::Stmt*, clang::SourceLocation>;

private:
  void enter(const clang::FunctionDecl* function);

  const clang::ASTContext& context_;
  const clang::FunctionDecl* function_ = nullptr; // the function that the maps belong to
  Places accesses_; // keyed by place; holds only locations that differ from the place's own
  Places calls_;    // keyed by argument
};

} // namespace warplens::analysis
