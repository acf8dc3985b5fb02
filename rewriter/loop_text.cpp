#include "rewriter/loop_text.h"

#include "rewriter/text_record.h"

#include <algorithm>
#include <clang/AST/StmtVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

namespace warplens::rewriter {

namespace {

const clang::Stmt& without_attributes(const clang::Stmt& statement) {
  const auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(&statement);
  return attributed ? *attributed->getSubStmt() : statement;
}

/// Finds whether control can enter a statement other than through its beginning; the parameter tells whether
/// the statement is part of a switch within the visited one.
struct SideEntry : clang::ConstStmtVisitor<SideEntry, bool, bool> {
  bool VisitStmt(const clang::Stmt* statement, bool in_switch) {
    return llvm::any_of(statement->children(),
                        [&](const clang::Stmt* child) { return child && Visit(child, in_switch); });
  }
  bool VisitLambdaExpr(const clang::LambdaExpr*, bool) { return false; }
  bool VisitLabelStmt(const clang::LabelStmt*, bool) { return true; }
  bool VisitSwitchCase(const clang::SwitchCase* labelled, bool in_switch) {
    return !in_switch || VisitStmt(labelled, in_switch);
  }
  bool VisitSwitchStmt(const clang::SwitchStmt* branch, bool) { return VisitStmt(branch, true); }
};

/// Finds the statement that ends the text of a statement, or null if that is not known.
struct LastPart : clang::ConstStmtVisitor<LastPart, const clang::Stmt*> {
  const clang::Stmt* VisitStmt(const clang::Stmt* statement) { return statement; }
  const clang::Stmt* VisitForStmt(const clang::ForStmt* loop) { return Visit(loop->getBody()); }
  const clang::Stmt* VisitWhileStmt(const clang::WhileStmt* loop) { return Visit(loop->getBody()); }
  const clang::Stmt* VisitCXXForRangeStmt(const clang::CXXForRangeStmt* loop) {
    return Visit(loop->getBody());
  }
  const clang::Stmt* VisitSwitchStmt(const clang::SwitchStmt* branch) { return Visit(branch->getBody()); }
  const clang::Stmt* VisitSwitchCase(const clang::SwitchCase* labelled) {
    return Visit(labelled->getSubStmt());
  }
  const clang::Stmt* VisitAttributedStmt(const clang::AttributedStmt* attributed) {
    return Visit(attributed->getSubStmt());
  }
  const clang::Stmt* VisitIfStmt(const clang::IfStmt* choice) {
    if (choice->isConstexpr()) // an instance lacks the branch that is not taken
      return nullptr;
    return Visit(choice->getElse() ? choice->getElse() : choice->getThen());
  }
};

/// Returns the place behind the statement's closing brace or semicolon; invalid if a macro makes that.
clang::SourceLocation behind(const clang::Stmt& statement, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::Stmt* last = LastPart().Visit(&statement);
  if (!last)
    return {};
  if (llvm::isa<clang::CompoundStmt, clang::NullStmt, clang::DeclStmt>(last))
    return last->getEndLoc().isMacroID()
               ? clang::SourceLocation()
               : clang::Lexer::getLocForEndOfToken(last->getEndLoc(), 0, sources, context.getLangOpts());
  return clang::Lexer::findLocationAfterToken(last->getEndLoc(), clang::tok::semi, sources,
                                              context.getLangOpts(), false);
}

/// Finds the body of a loop; null for other statements.
struct BodyOf : clang::ConstStmtVisitor<BodyOf, const clang::Stmt*> {
  const clang::Stmt* VisitForStmt(const clang::ForStmt* loop) { return loop->getBody(); }
  const clang::Stmt* VisitWhileStmt(const clang::WhileStmt* loop) { return loop->getBody(); }
  const clang::Stmt* VisitDoStmt(const clang::DoStmt* loop) { return loop->getBody(); }
  const clang::Stmt* VisitCXXForRangeStmt(const clang::CXXForRangeStmt* loop) { return loop->getBody(); }
};

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
  if (const clang::Stmt* body = BodyOf().Visit(&without_attributes(loop)))
    add_body(text, *body, context, record);
  const clang::SourceManager& sources = context.getSourceManager();
  if (keyword.isMacroID() || text.begin.isMacroID() || text.end.isInvalid() || text.end.isMacroID() ||
      sources.getFileID(text.begin) != sources.getFileID(text.end))
    text.obstacle = "a macro makes part of that loop";
  else if (SideEntry().Visit(&loop, false))
    text.obstacle = "a label leads into that loop";
  else if (!record.under_same_conditions(text.begin, text.end))
    text.obstacle = "that loop begins and ends under different #if";
  return text;
}

} // namespace warplens::rewriter
