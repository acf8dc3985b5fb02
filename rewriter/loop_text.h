// A loop as a stretch of text that a block can be put around, { … for (…) … }, and its body as another.
#pragma once

#include "analysis/debug_position.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/SourceLocation.h>
#include <span>
#include <string>

namespace warplens::rewriter {

class TextRecord;

/// The loop among `loops` that debug information says starts there; null: none.
const clang::Stmt* loop_at(std::span<const clang::Stmt* const> loops, const analysis::Position& start,
                           const clang::ASTContext& context);

struct LoopText {
  clang::SourceLocation begin, end; ///< in front of its first character, behind its last
  std::string obstacle;             ///< why no block can be put around it; empty: one can
  /// In front of its body and behind that, or behind and in front of the body's braces where it has them.
  /// Invalid where a macro makes part of the body.
  clang::SourceLocation body_begin, body_end;
  bool has_braces = false;
};

/// With its attributes and pragmas.
LoopText text_of_loop(const clang::Stmt& loop, const clang::ASTContext& context, const TextRecord& record);

/// Is it a loop, or one with attributes?
bool is_loop(const clang::Stmt& statement);

} // namespace warplens::rewriter
