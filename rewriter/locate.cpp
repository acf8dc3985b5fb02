#include "rewriter/locate.h"

#include "rewriter/bodies.h"
#include "rewriter/iteration_boxes.h"
#include "rewriter/loop_text.h"
#include "rewriter/text_record.h"

#include <algorithm>
#include <clang/AST/ASTContext.h>
#include <clang/AST/StmtVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <set>

namespace warplens::rewriter {

namespace {

/// Finds the name of the array that an lvalue or a pointer leads to: the last dereferenced object, or the
/// variable itself.
struct ObjectName : clang::ConstStmtVisitor<ObjectName, std::string> {
  std::string of(const clang::Expr* expression) { return Visit(expression->IgnoreParenCasts()); }

  std::string VisitArraySubscriptExpr(const clang::ArraySubscriptExpr* subscript) {
    return of(subscript->getBase());
  }
  std::string VisitUnaryOperator(const clang::UnaryOperator* unary) { return of(unary->getSubExpr()); }
  std::string VisitBinAdd(const clang::BinaryOperator* sum) {
    const clang::QualType left = sum->getLHS()->getType();
    return of(left->isPointerType() || left->isArrayType() ? sum->getLHS() : sum->getRHS());
  }
  std::string VisitBinSub(const clang::BinaryOperator* difference) { return VisitBinAdd(difference); }
  std::string VisitMemberExpr(const clang::MemberExpr* member) {
    const bool is_array = member->getType()->isPointerType() || member->getType()->isArrayType();
    const std::string base = is_array ? std::string() : of(member->getBase());
    return base.empty() ? member->getMemberDecl()->getNameAsString() : base;
  }
  std::string VisitDeclRefExpr(const clang::DeclRefExpr* reference) {
    return reference->getDecl()->getNameAsString();
  }
  std::string VisitCXXOperatorCallExpr(const clang::CXXOperatorCallExpr* call) {
    return call->getNumArgs() > 0 ? of(call->getArg(0)) : std::string();
  }
};

bool overloads_address_of(clang::QualType type, clang::ASTContext& context) {
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition())
    return false;
  const clang::DeclarationName name = context.DeclarationNames.getCXXOperatorName(clang::OO_Amp);
  if (!record->lookup(name).empty() || !context.getTranslationUnitDecl()->lookup(name).empty() ||
      !record->getEnclosingNamespaceContext()->lookup(name).empty())
    return true;
  return std::any_of(record->bases_begin(), record->bases_end(), [&](const clang::CXXBaseSpecifier& base) {
    return overloads_address_of(base.getType(), context);
  });
}

/// Returns the macro whose invocation stands where the expression is shown. An argument as it stands in the
/// file comes out of no macro.
std::string macro_around(clang::SourceLocation place, bool stands_in_file, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::SourceLocation name = sources.getExpansionLoc(place);
  while (stands_in_file && sources.isMacroArgExpansion(place))
    place = sources.getImmediateSpellingLoc(place);
  if (!place.isMacroID())
    return {};
  return {sources.getCharacterData(name),
          clang::Lexer::MeasureTokenLength(name, sources, context.getLangOpts())};
}

/// Returns whether the function is a template's instance. A lambda counts as the function around it.
bool is_instantiated(const clang::FunctionDecl& function) {
  for (const clang::DeclContext* around = &function; around; around = around->getParent()) {
    const auto* outer = llvm::dyn_cast<clang::FunctionDecl>(around);
    if (outer && outer->getTemplateInstantiationPattern())
      return true;
  }
  return false;
}

class Locator {
public:
  Locator(clang::ASTContext& context, const TextRecord& record, const analysis::AccessesLeft* accesses_left,
          UserFiles& files)
      : context_(context), sources_(context.getSourceManager()), record_(record),
        accesses_left_(accesses_left), files_(files), positions_(context) {}

  bool access(const FoundOperation& found, const analysis::Facts& facts, Access& access);
  bool barrier(const FoundBarrier& found, Access& access);
  bool body(const FoundBody& found, Access& access);
  bool kernel(clang::SourceLocation brace, KernelEntry& entry);
  LocatedBodyWithoutCode without_code(const BodyWithoutCode& body);

private:
  std::string note_file(clang::SourceLocation place);
  unsigned bytes_before_first_column(clang::SourceLocation place, unsigned line) const;
  void note_invocation(const std::string& file, const TextRecord::Expansion& expansion,
                       std::vector<unsigned>& touched);
  std::optional<Position> expanded(clang::SourceLocation place, bool behind, const std::string& file,
                                   std::vector<unsigned>& touched);
  clang::CharSourceRange file_range(std::initializer_list<const clang::Expr*> expressions) const;
  clang::CharSourceRange locate(const clang::Expr& place,
                                std::initializer_list<const clang::Expr*> expressions, Access& access);
  void show_at(clang::SourceLocation place, Site& site) const;
  clang::QualType accessed_type(const FoundOperation& found) const;
  clang::CharSourceRange locate_copy(const FoundOperation& found, Access& access);
  void hoist(const FoundOperation& found, const analysis::AccessLeft& left, Access& access) const;
  void restrict_iterations(const FoundOperation& found, const analysis::AccessLeft& left,
                           Access& access) const;
  std::string unrolled_loop(const FoundOperation& found, const analysis::Position& start,
                            const Access& access, UnrolledLoop& result) const;
  Span span_between(clang::SourceLocation begin, clang::SourceLocation end) const {
    return {{sources_.getFileOffset(begin), 0}, {sources_.getFileOffset(end), 0}};
  }

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const TextRecord& record_;
  const analysis::AccessesLeft* accesses_left_;
  UserFiles& files_;
  analysis::DebugPositions positions_;
};

std::string Locator::note_file(clang::SourceLocation place) {
  std::string path = real_path(sources_, place);
  UserFile& file = files_[path];
  if (file.name.empty())
    file.name = name_of(*sources_.getFileEntryRefForID(sources_.getFileID(place)));
  return path;
}

/// Returns the size of a byte order mark, which belongs to no line.
unsigned Locator::bytes_before_first_column(clang::SourceLocation place, unsigned line) const {
  constexpr llvm::StringRef mark = "\xef\xbb\xbf";
  return line == 1 && sources_.getBufferData(sources_.getFileID(place)).starts_with(mark) ? mark.size() : 0;
}

void Locator::note_invocation(const std::string& file, const TextRecord::Expansion& expansion,
                              std::vector<unsigned>& touched) {
  Invocation invocation{sources_.getFileOffset(expansion.begin), sources_.getFileOffset(expansion.end),
                        expansion.tokens, expansion.stringizes};
  if (std::find(touched.begin(), touched.end(), invocation.begin) == touched.end())
    touched.push_back(invocation.begin);
  UserFile& known = files_[file];
  const auto [entry, added] = known.invocations.try_emplace(invocation.begin, invocation);
  if (!added && entry->second != invocation)
    known.disagreeing[invocation.begin] =
        "in a macro that expands differently from one inclusion or architecture to the next";
}

/// Returns the place itself (a token's start) or behind its token, with the invocation that it comes from, if
/// any, replaced.
std::optional<Position> Locator::expanded(clang::SourceLocation place, bool behind, const std::string& file,
                                          std::vector<unsigned>& touched) {
  if (!place.isMacroID()) {
    const unsigned length =
        behind ? clang::Lexer::MeasureTokenLength(place, sources_, context_.getLangOpts()) : 0;
    return Position{sources_.getFileOffset(place) + length, 0};
  }
  const TextRecord::Expansion* expansion = record_.expansion_of(place);
  if (!expansion)
    return std::nullopt;
  const auto token = std::find(expansion->places.begin(), expansion->places.end(), place);
  if (token == expansion->places.end())
    return std::nullopt;
  note_invocation(file, *expansion, touched);
  const auto index = static_cast<unsigned>(token - expansion->places.begin());
  return Position{sources_.getFileOffset(expansion->begin), 2 * (index + 1) + (behind ? 1 : 0)};
}

/// Returns the range of the first expression that stands in the file's own text.
clang::CharSourceRange Locator::file_range(std::initializer_list<const clang::Expr*> expressions) const {
  clang::CharSourceRange range;
  for (const clang::Expr* expression : expressions) {
    range =
        clang::Lexer::makeFileCharRange(clang::CharSourceRange::getTokenRange(expression->getSourceRange()),
                                        sources_, context_.getLangOpts());
    if (range.isValid())
      break;
  }
  return range;
}

/// Returns the type of the accessed value, or null if it is not known.
clang::QualType Locator::accessed_type(const FoundOperation& found) const {
  const clang::QualType type = found.operation.place->getType();
  if (found.copy && !type->isPointerType() && !type->isArrayType()) // an address in inline PTX
    return {};
  if (found.call) { // the written value, the destination of the read one, or the call's result
    const clang::QualType first = found.call->getArg(0)->getType();
    return found.operation.kind == AccessKind::store ? first
           : first->isPointerType()                  ? first->getPointeeType()
                                                     : found.call->getType();
  }
  if (found.operation.through_pointer)
    return type->isArrayType() ? context_.getAsArrayType(type)->getElementType() : type->getPointeeType();
  return type;
}

/// Fills in the ranges of the access's text. Returns the first of `expressions` that stands in the file's own
/// text, or an invalid range.
clang::CharSourceRange Locator::locate(const clang::Expr& place,
                                       std::initializer_list<const clang::Expr*> expressions,
                                       Access& access) {
  const clang::CharSourceRange range = file_range(expressions);
  const clang::SourceLocation begin = sources_.getExpansionLoc(place.getBeginLoc());
  if (range.isValid() && sources_.getFileID(range.getBegin()) == sources_.getFileID(begin))
    access.direct =
        Span{{sources_.getFileOffset(range.getBegin()), 0}, {sources_.getFileOffset(range.getEnd()), 0}};
  const auto first = expanded(place.getBeginLoc(), false, access.file, access.invocations);
  const auto last = expanded(place.getEndLoc(), true, access.file, access.invocations);
  if (first && last)
    access.expanded = Span{*first, *last};
  return range;
}

void Locator::show_at(clang::SourceLocation place, Site& site) const {
  site.line = sources_.getSpellingLineNumber(place);
  site.column = sources_.getSpellingColumnNumber(place) - bytes_before_first_column(place, site.line);
}

/// Fills in the ranges of a copy's probe: around the function's name, or around the address.
clang::CharSourceRange Locator::locate_copy(const FoundOperation& found, Access& access) {
  const CopyText& copy = *found.copy;
  access.copy = CopySide{copy.probe, copy.parameters, copy.bytes, std::nullopt, copy.negated};
  if (!copy.call)
    if (const clang::Expr* condition = copy.condition) {
      const clang::CharSourceRange range = file_range({condition});
      if (range.isValid())
        access.copy->condition = span_between(range.getBegin(), range.getEnd());
      else
        access.unseen = "copy whose predicate a macro makes";
    }
  if (!copy.call)
    return locate(*found.operation.place, {found.operation.place, found.written}, access);
  const clang::Expr* name = copy.call->getCallee()->IgnoreImplicit();
  const clang::CharSourceRange range = locate(*name, {name}, access);
  if (const clang::CharSourceRange call = file_range({copy.call}); access.direct && call.isValid())
    access.call = span_between(call.getBegin(), call.getEnd());
  return range;
}

bool Locator::access(const FoundOperation& found, const analysis::Facts& facts, Access& access) {
  const clang::Expr* place =
      found.copy && found.copy->call ? found.copy->call->getCallee() : found.operation.place;
  const bool in_registers = facts.space == Space::local && !found.local && !found.call && !found.copy;
  if (!is_users(sources_, place->getBeginLoc()) || in_registers)
    return false;
  const clang::SourceLocation begin = sources_.getExpansionLoc(place->getBeginLoc());
  access.file = note_file(begin);
  access.through_pointer = found.operation.through_pointer;
  access.unseen = found.unseen;

  access.handle = found.operation.handle;
  access.lvalue_in_some_instances = found.lvalue_in_some_instances;
  access.in_debug_information = positions_.of(found.operation);
  access.is_local = found.local;

  // The range is widened to the parentheses around the place if only they can be found.
  clang::CharSourceRange range =
      found.copy ? locate_copy(found, access) : locate(*place, {place, found.written}, access);
  if (found.call && access.direct)
    if (const clang::CharSourceRange call = file_range({found.call});
        call.isValid() && sources_.getFileID(call.getBegin()) == sources_.getFileID(begin)) {
      access.call =
          Span{{sources_.getFileOffset(call.getBegin()), 0}, {sources_.getFileOffset(call.getEnd()), 0}};
      range = call;
    }

  Site& site = access.site;
  site.file = files_[access.file].name;
  show_at(access.direct ? range.getBegin() : begin, site);
  site.kind = found.operation.kind;
  site.space = found.call ? Space::global : facts.space;
  site.cache_operator = found.operation.cache_operator;
  site.sequence = facts.sequence;
  site.object = ObjectName().of(found.operation.place);
  site.macro = macro_around(place->getBeginLoc(), access.direct.has_value(), context_);
  site.in_template = is_instantiated(*found.operation.function);
  if (const clang::QualType type = accessed_type(found);
      !type.isNull() && !type->isVoidType() && !type->isIncompleteType()) {
    site.element_bytes = static_cast<std::uint32_t>(context_.getTypeSizeInChars(type).getQuantity());
    site.is_floating = site.kind == AccessKind::atomic && type->isRealFloatingType();
    access.overloads_address_of = !found.operation.through_pointer && overloads_address_of(type, context_);
  }
  access.needed = facts.needed;

  access.kind_left = site.kind;
  if (found.copy && found.copy->assembly)
    access.in_debug_information = analysis::position_of(context_, found.copy->assembly->getAsmLoc());
  if (found.copy) { // nothing of it is removed; what the compiler joins or hoists is not known
    if (found.copy->bytes != 0)
      site.element_bytes = found.copy->bytes;
    if (!found.copy->call)
      site.space = site.kind == AccessKind::store ? Space::shared : Space::global;
    return true;
  }
  if (accesses_left_) {
    const analysis::AccessLeft left = accesses_left_->of(access.in_debug_information, found.operation.kind,
                                                         found.operation.through_pointer);
    access.is_left = left.is_left;
    access.joined_bytes = left.joined_bytes;
    access.joined_into = left.joined_into;
    site.copies = left.copies;
    site.is_reduction = left.atomic.is_reduction;
    site.aggregation = left.atomic.aggregation;
    site.waits = left.waits;
    if (site.kind == AccessKind::update)
      access.kind_left = left.kind;
    if (left.hoisted && site.kind != AccessKind::atomic)
      hoist(found, left, access);
    if (site.kind != AccessKind::atomic)
      restrict_iterations(found, left, access);
  }
  return true;
}

/// Returns whether a stretch of the access's file contains the access.
bool holds(const Span& span, const Access& access) {
  const auto has = [&](const std::optional<Span>& place) {
    return !place || (span.begin <= place->begin && place->end <= span.end);
  };
  return has(access.direct) && has(access.expanded);
}

void Locator::hoist(const FoundOperation& found, const analysis::AccessLeft& left, Access& access) const {
  const clang::Stmt* loop = left.out_of ? loop_at(found.loops, *left.out_of, context_) : nullptr;
  if (!loop) {
    access.repeated = "hoisted out of a loop around a call of its function";
    return;
  }
  const LoopText text = text_of_loop(*loop, context_, record_);
  if (!text.obstacle.empty()) {
    access.repeated = "hoisted out of a loop, but " + text.obstacle;
    return;
  }
  const Span span = span_between(text.begin, text.end);
  if (real_path(sources_, text.begin) == access.file && holds(span, access))
    access.out_of = span;
  else // for example a default argument, which is written elsewhere
    access.repeated = "hoisted out of a loop that its text is not in";
}

void Locator::restrict_iterations(const FoundOperation& found, const analysis::AccessLeft& left,
                                  Access& access) const {
  LeftIterations known, result;
  for (const auto& loop : left.iterations.loops)
    known.loops.push_back({{}, {}, false, loop.iterations});
  known.left = left.iterations.left;
  const auto boxes = boxes_of(known);
  const auto depth_of = [&](const analysis::Position& start) {
    return std::ranges::find(found.loops, loop_at(found.loops, start, context_)) - found.loops.begin();
  };
  std::vector<std::size_t> counted; // indices into the loops
  std::string obstacle;
  if (!boxes) {
    obstacle = "the set of these iterations is irregular";
    access.out_of.reset();
  }
  for (std::size_t i = 0; i < known.loops.size(); ++i) {
    const analysis::Position& start = left.iterations.loops[i].start;
    std::string reason = unrolled_loop(found, start, access, known.loops[i]);
    if (reason.empty()) {
      counted.push_back(i);
      result.loops.push_back(known.loops[i]);
      continue;
    }
    if (boxes && std::ranges::any_of(*boxes, [i](const Box& box) { return box[i].has_value(); }))
      obstacle = reason;
    if (access.out_of && depth_of(start) > depth_of(*left.out_of)) { // one flag for all its iterations
      access.out_of.reset();
      obstacle = std::move(reason);
    }
  }
  if (!obstacle.empty() && access.repeated.empty())
    access.repeated = "left in some iterations of an unrolled loop, but " + obstacle;
  for (const auto& vector : known.left) {
    std::vector<std::optional<unsigned>> own;
    for (const std::size_t i : counted)
      own.push_back(boxes ? vector[i] : std::nullopt);
    result.left.insert(std::move(own));
  }
  access.iterations = std::move(result);
}

/// Finds the loop's text. Returns why its iterations cannot be counted there, or an empty string.
std::string Locator::unrolled_loop(const FoundOperation& found, const analysis::Position& start,
                                   const Access& access, UnrolledLoop& result) const {
  const clang::Stmt* loop = loop_at(found.loops, start, context_);
  if (!loop)
    return "that loop has no place in the source";
  const LoopText text = text_of_loop(*loop, context_, record_);
  if (!text.obstacle.empty())
    return text.obstacle;
  if (text.body_begin.isInvalid())
    return "a macro makes part of that loop";
  result.whole = span_between(text.begin, text.end);
  result.body = span_between(text.body_begin, text.body_end);
  result.needs_braces = !text.has_braces;
  if (real_path(sources_, text.begin) != access.file || !holds(result.body, access))
    return "it is not in that loop's body";
  return {};
}

bool Locator::barrier(const FoundBarrier& found, Access& access) {
  if (!is_users(sources_, found.call->getBeginLoc()))
    return false;
  const clang::SourceLocation begin = sources_.getExpansionLoc(found.call->getBeginLoc());
  access.file = note_file(begin);
  access.unseen = found.unseen;
  const clang::CharSourceRange range = locate(*found.call, {found.call}, access);
  access.in_debug_information = analysis::position_of(context_, found.call->getBeginLoc());
  access.kind_left = AccessKind::barrier;
  Site& site = access.site;
  site.file = files_[access.file].name;
  show_at(access.direct ? range.getBegin() : begin, site);
  site.kind = AccessKind::barrier;
  site.macro = macro_around(found.call->getBeginLoc(), access.direct.has_value(), context_);
  site.in_template = is_instantiated(*found.function);
  return true;
}

/// Locates a condition that stands in a file's own text; others are not worth the expansion of a macro.
bool Locator::body(const FoundBody& found, Access& access) {
  const clang::SourceLocation begin = found.body->getBeginLoc(), end = found.body->getEndLoc();
  const clang::SourceLocation mark =
      found.entered ? found.entered->getLBracLoc() : found.condition->getBeginLoc();
  if (!is_users(sources_, begin) || begin.isMacroID() || end.isMacroID() || mark.isMacroID() ||
      (found.condition && found.condition->getEndLoc().isMacroID()))
    return false;
  access.file = note_file(begin);
  if (found.condition)
    (void)locate(*found.condition, {found.condition}, access);
  else
    access.direct = Span{{sources_.getFileOffset(mark), 0}, {sources_.getFileOffset(mark) + 1, 0}};
  access.when = found.when;
  access.kind_left = AccessKind::mark;
  Site& site = access.site;
  site.file = files_[access.file].name;
  show_at(begin, site);
  site.last_line = std::max(site.line, sources_.getSpellingLineNumber(end));
  site.step = found.step;
  site.kind = AccessKind::mark;
  site.in_template = is_instantiated(*found.function);
  return access.direct.has_value() && sources_.getFileID(mark) == sources_.getFileID(begin);
}

bool Locator::kernel(clang::SourceLocation brace, KernelEntry& entry) {
  if (!is_users(sources_, brace))
    return false;
  entry.file = note_file(sources_.getExpansionLoc(brace));
  std::vector<unsigned> touched;
  const auto place = expanded(brace, true, entry.file, touched);
  (brace.isMacroID() ? entry.expanded : entry.direct) = place;
  return place.has_value();
}

LocatedBodyWithoutCode Locator::without_code(const BodyWithoutCode& body) {
  const clang::SourceLocation begin = body.braces.getBegin(), end = body.braces.getEnd();
  return {note_file(begin),
          {sources_.getFileOffset(begin) + 1, 0},
          {sources_.getFileOffset(end), 0},
          sources_.getExpansionLineNumber(begin),
          sources_.getExpansionLineNumber(end),
          body.reason};
}

/// An access that the compiler joins with one without a place of its own in the source is counted by itself,
/// and so is each of the joined iterations that cannot be distinguished.
void check_joined(std::vector<Access>& accesses) {
  std::set<analysis::Position> joined, with_others;
  for (const Access& access : accesses)
    if (access.joined_bytes > 0)
      joined.insert(access.in_debug_information);
  for (Access& access : accesses) {
    if (!access.joined_into)
      continue;
    with_others.insert(*access.joined_into);
    if (!joined.contains(*access.joined_into)) {
      access.joined_into.reset();
      access.is_left = true;
    }
  }
  for (Access& access : accesses)
    if (!access.repeated.empty() && !with_others.contains(access.in_debug_information))
      access.joined_bytes = 0;
}

} // namespace

Located locate(clang::ASTContext& context, const TextRecord& record, const Found& found,
               std::span<const analysis::Facts> facts, const analysis::AccessesLeft* accesses_left,
               std::span<const BodyWithoutCode> without_code, UserFiles& files) {
  for (const auto& [path, file] : record.files()) {
    UserFile& known = files[path];
    if (known.name.empty())
      known.name = file.name;
    for (const auto& [offset, include] : file.includes) {
      const auto [place, is_new] = known.includes.try_emplace(offset, include);
      place->second.varies |= include.varies || place->second.target != include.target;
    }
  }
  Locator locator(context, record, accesses_left, files);
  Located result;
  for (const clang::SourceLocation brace : found.kernels)
    if (KernelEntry entry; locator.kernel(brace, entry))
      result.kernels.push_back(std::move(entry));

  for (const BodyWithoutCode& body : without_code)
    result.without_code.push_back(locator.without_code(body));

  // Operations that turn out not to be in memory are dropped; those behind them move up.
  std::vector<std::size_t> index(found.operations.size(), SIZE_MAX);
  for (std::size_t i = 0; i < found.operations.size(); ++i)
    if (Access access; locator.access(found.operations[i], facts[i], access)) {
      index[i] = result.accesses.size();
      result.accesses.push_back(std::move(access));
    }
  check_joined(result.accesses);
  std::vector<bool> is_access;
  for (const std::size_t number : index)
    is_access.push_back(number != SIZE_MAX && result.accesses[number].is_left);
  for (Access& access : result.accesses)
    for (std::vector<std::size_t>* needed : {&access.needed.sent, &access.needed.stored}) {
      for (std::size_t& dependence : *needed)
        dependence = index[dependence];
      std::erase(*needed, SIZE_MAX);
    }
  for (const FoundBarrier& barrier : found.barriers)
    if (Access access; locator.barrier(barrier, access))
      result.accesses.push_back(std::move(access));
  for (const FoundBody& body : find_bodies(found, is_access))
    if (Access access; locator.body(body, access))
      result.accesses.push_back(std::move(access));
  return result;
}

} // namespace warplens::rewriter
