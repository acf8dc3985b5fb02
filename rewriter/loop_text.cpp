#include "rewriter/loop_text.h"

#include "rewriter/text_record.h"

#include <algorithm>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

namespace warplens::rewriter {

namespace {

const clang::Stmt& without_attributes(const clang::Stmt& statement) {
  const auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(&statement);
  return attributed ? *attributed->getSubStmt() : statement;
}

/// Returns whether control can enter the statement other than through its beginning.
bool has_side_entry(const clang::Stmt* statement, bool in_switch = false) {
  if (!statement || llvm::isa<clang::LambdaExpr>(statement))
    return false;
  if (llvm::isa<clang::LabelStmt>(statement) || (llvm::isa<clang::SwitchCase>(statement) && !in_switch))
    return true;
  in_switch |= llvm::isa<clang::SwitchStmt>(statement);
  return std::any_of(statement->child_begin(), statement->child_end(),
                     [&](const clang::Stmt* child) { return has_side_entry(child, in_switch); });
}

/// Returns the statement that ends the text of a statement, or null if that is not known.
const clang::Stmt* last_part(const clang::Stmt* statement) {
  for (;;) {
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement))
      statement = loop->getBody();
    else if (const auto* while_loop = llvm::dyn_cast<clang::WhileStmt>(statement))
      statement = while_loop->getBody();
    else if (const auto* range_loop = llvm::dyn_cast<clang::CXXForRangeStmt>(statement))
      statement = range_loop->getBody();
    else if (const auto* branch = llvm::dyn_cast<clang::SwitchStmt>(statement))
      statement = branch->getBody();
    else if (const auto* labelled = llvm::dyn_cast<clang::SwitchCase>(statement))
      statement = labelled->getSubStmt();
    else if (const auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(statement))
      statement = attributed->getSubStmt();
    else if (const auto* choice = llvm::dyn_cast<clang::IfStmt>(statement)) {
      if (choice->isConstexpr()) // an instance lacks the branch that is not taken
        return nullptr;
      statement = choice->getElse() ? choice->getElse() : choice->getThen();
    } else
      return statement;
  }
}

/// Returns the place behind the statement's closing brace or semicolon; invalid if a macro makes that.
clang::SourceLocation behind(const clang::Stmt& statement, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::Stmt* last = last_part(&statement);
  if (!last)
    return {};
  if (llvm::isa<clang::CompoundStmt, clang::NullStmt, clang::DeclStmt>(last))
    return last->getEndLoc().isMacroID()
               ? clang::SourceLocation()
               : clang::Lexer::getLocForEndOfToken(last->getEndLoc(), 0, sources, context.getLangOpts());
  return clang::Lexer::findLocationAfterToken(last->getEndLoc(), clang::tok::semi, sources,
                                              context.getLangOpts(), false);
}

const clang::Stmt* body_of(const clang::Stmt& loop) {
  if (const auto* for_loop = llvm::dyn_cast<clang::ForStmt>(&loop))
    return for_loop->getBody();
  if (const auto* while_loop = llvm::dyn_cast<clang::WhileStmt>(&loop))
    return while_loop->getBody();
  if (const auto* do_loop = llvm::dyn_cast<clang::DoStmt>(&loop))
    return do_loop->getBody();
  const auto* range_loop = llvm::dyn_cast<clang::CXXForRangeStmt>(&loop);
  return range_loop ? range_loop->getBody() : nullptr;
}

/// Returns the place in front of the statement and the pragmas that it must follow directly.
clang::SourceLocation in_front_of(const clang::Stmt& statement, const TextRecord& record) {
  // #pragma unroll must stand right before the loop, and nothing can stand before it on its line.
  const clang::SourceLocation before_pragma = record.end_of_token_before_pragma(statement.getBeginLoc());
  return before_pragma.isValid() ? before_pragma : statement.getBeginLoc();
}

void add_body(LoopText& text, const clang::Stmt& body, const clang::ASTContext& context,
              const TextRecord& record) {
  clang::SourceLocation begin, end;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&body)) {
    text.has_braces = true;
    end = block->getRBracLoc();
    begin =
        block->getLBracLoc().isMacroID() ? block->getLBracLoc() : block->getLBracLoc().getLocWithOffset(1);
  } else {
    begin = in_front_of(body, record);
    end = behind(body, context);
  }
  const clang::SourceManager& sources = context.getSourceManager();
  if (begin.isMacroID() || end.isInvalid() || end.isMacroID() ||
      sources.getFileID(begin) != sources.getFileID(end))
    return;
  text.body_begin = begin;
  text.body_end = end;
}

} // namespace

bool is_loop(const clang::Stmt& statement) {
  return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(
      without_attributes(statement));
}

const clang::Stmt* loop_at(std::span<const clang::Stmt* const> loops, const analysis::Position& start,
                           const clang::ASTContext& context) {
  const auto found = std::find_if(loops.begin(), loops.end(), [&](const clang::Stmt* loop) {
    return analysis::position_of(context, without_attributes(*loop).getBeginLoc()) == start;
  });
  return found == loops.end() ? nullptr : *found;
}

LoopText text_of_loop(const clang::Stmt& loop, const clang::ASTContext& context, const TextRecord& record) {
  LoopText text;
  const clang::SourceLocation keyword = without_attributes(loop).getBeginLoc();
  text.begin = in_front_of(loop, record);
  text.end = behind(loop, context);
  if (const clang::Stmt* body = body_of(without_attributes(loop)))
    add_body(text, *body, context, record);
  const clang::SourceManager& sources = context.getSourceManager();
  if (keyword.isMacroID() || text.begin.isMacroID() || text.end.isInvalid() || text.end.isMacroID() ||
      sources.getFileID(text.begin) != sources.getFileID(text.end))
    text.obstacle = "a macro makes part of that loop";
  else if (has_side_entry(&loop))
    text.obstacle = "a label leads into that loop";
  else if (!record.under_same_conditions(text.begin, text.end))
    text.obstacle = "that loop begins and ends under different #if";
  return text;
}

} // namespace warplens::rewriter
