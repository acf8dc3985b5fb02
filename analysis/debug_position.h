// Where an access is, in the words of debug information.
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

/// A path as Position has it.
std::string canonical_file(const std::string& file, const std::string& directory = {});

/// Of a location in a module's debug information, without what it is inlined into.
Position position_of(const llvm::DILocation& location);

/// Of a place in the AST, as Clang writes it into the debug information: of a macro the invocation.
Position position_of(const clang::ASTContext& context, clang::SourceLocation place);

/// Tells where Clang puts the instructions of source-level accesses in the debug information: a load at the
/// expression that names the place (for members: at the member's name; for `*p`: at the star), stores and
/// updates at the operator, copies of objects at the operator or where the construction begins, atomics and
/// __ldg where the call begins, and everything within a macro at the invocation.
class DebugPositions {
public:
  explicit DebugPositions(const clang::ASTContext& context) : context_(context) {}
  Position of(const MemoryOperation& operation);

private:
  void enter(const clang::FunctionDecl* function);
  void visit(const clang::Stmt* statement);

  const clang::ASTContext& context_;
  const clang::FunctionDecl* function_ = nullptr; // the function that the maps are of
  llvm::DenseMap<const clang::Stmt*, clang::SourceLocation>
      accesses_; // by place, where it is not the place's own
  llvm::DenseMap<const clang::Stmt*, clang::SourceLocation> calls_; // by argument
};

} // namespace warplens::analysis
