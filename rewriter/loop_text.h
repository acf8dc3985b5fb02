// The text of a loop that a block can be put around, { … for (…) … }, and the text of its body.
#pragma once

#include "analysis/debug_position.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/SourceLocation.h>
#include <span>
#include <string>

namespace warplens::rewriter {

class TextRecord;

/// Returns the loop among `loops` that starts at `start` according to debug information, or null if none
/// does.
const clang::Stmt* loop_at(std::span<const clang::Stmt* const> loops, const analysis::Position& start,
                           const clang::ASTContext& context);

struct LoopText {
  clang::SourceLocation begin, end; ///< in front of its first character, behind its last
  std::string obstacle;             ///< the reason if no block can be put around it; empty: one can
  /// The ends of its body, inside the body's braces if it has them. Invalid if a macro makes part of the
  /// body.
  clang::SourceLocation body_begin, body_end;
  bool has_braces = false;
};

/// Returns the text of the loop with its attributes and pragmas.
LoopText text_of_loop(const clang::Stmt& loop, const clang::ASTContext& context, const TextRecord& record);

/// Returns whether the statement is a loop, or a loop with attributes.
bool is_loop(const clang::Stmt& statement);

} // namespace warplens::rewriter
