#include "rewriter/plan.h"

#include "rewriter/iteration_boxes.h"
#include "support/files.h"
#include "support/hash.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace warplens::rewriter {

namespace {

/// The use that a probe has of its text: one expression may be an access and the condition of two bodies.
enum class Form { object, pointer, copied_to, copied_from, taken, not_taken, any, entered };

Form form_of(const Access& access) {
  if (access.when)
    switch (*access.when) {
    case When::taken: return Form::taken;
    case When::not_taken: return Form::not_taken;
    case When::any: return Form::any;
    case When::entered: return Form::entered;
    }
  if (access.copy)
    return access.site.kind == AccessKind::store ? Form::copied_to : Form::copied_from;
  return access.through_pointer ? Form::pointer : Form::object;
}

using Place = std::tuple<std::string, Span, Form>; ///< file, stretch of text

/// Returns the text on one line, without runs of blanks.
std::string on_one_line(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (std::string_view(" \t\r\n\f\v").find(c) == std::string_view::npos)
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  while (!result.empty() && result.back() == ' ')
    result.pop_back();
  return result;
}

class Planner {
public:
  Planner(std::span<const Located> parses, const UserFiles& files) : parses_(parses), files_(files) {}

  Expected<Plan> run();

private:
  Expected<void> read_files();
  void choose_expansions();
  void expand(const Access& access);
  std::optional<Span> span_of(const Access& access, std::string& reason) const;
  std::string text_of(const std::string& file, const Span& span) const;
  void merge();
  void name_sites();
  void add_kernel_entries();
  void add_bodies_without_code();
  Unseen describe(const Access& access, std::string reason) const;

  /// All accesses that share a place.
  struct Merged {
    const Access* first = nullptr;
    Span span;
    Site site;
    std::vector<std::pair<std::size_t, std::size_t>> needed_sent, needed_stored; ///< (parse, access)
    bool overloads_address_of = false, lvalue_in_some_instances = false;
    bool widths_differ = false; ///< it is a copy for which there is no one probe
    bool is_left = false;       ///< at least one of them is left
    AccessKind kind_left = AccessKind::load;
    std::optional<Span> out_of; ///< the loop that all accesses left are hoisted out of
    LeftIterations iterations;  ///< likewise
    std::string repeated;
    unsigned joined_bytes = 0;                                             ///< likewise
    std::optional<std::pair<std::size_t, analysis::Position>> joined_into; ///< in which parse
  };

  const Merged* left_of(const std::pair<std::size_t, std::size_t>& access) const;

  /// The numbers of names of each sort in a file.
  struct NameNumbers {
    unsigned flags = 0, counters = 0;
  };
  static std::string when(const Merged& merged, FileEdits& edits, NameNumbers& numbers);

  std::span<const Located> parses_;
  const UserFiles& files_;
  Plan plan_;
  std::map<Place, Merged> merged_;
  std::map<std::pair<std::size_t, std::size_t>, Merged*> of_access_;
  std::map<std::pair<std::size_t, analysis::Position>, Merged*>
      joined_; ///< for accesses joined from several; keyed by parse and place
};

Expected<void> Planner::read_files() {
  for (const Located& parse : parses_) {
    for (const Access& access : parse.accesses)
      plan_.text[access.file];
    for (const KernelEntry& kernel : parse.kernels)
      plan_.text[kernel.file];
  }
  for (auto& [path, text] : plan_.text) {
    TRY_LET(whole, read_file(path));
    text = std::move(*whole);
  }
  return {};
}

void Planner::expand(const Access& access) {
  const UserFile& file = files_.at(access.file);
  if (std::any_of(access.invocations.begin(), access.invocations.end(),
                  [&](unsigned offset) { return file.disagreeing.contains(offset); }))
    return;
  for (const unsigned offset : access.invocations)
    plan_.edits[access.file].expansions[offset] = file.invocations.at(offset);
}

/// Chooses the macro invocations that make way for their expansions: those in which the access cannot be
/// wrapped in the file's own text, those that show the program their argument's text, and those with one
/// argument that is accessed in two ways.
void Planner::choose_expansions() {
  std::map<Place, AccessKind> kinds;
  for (const Located& parse : parses_)
    for (const Access& access : parse.accesses) {
      if (!access.unseen.empty() || access.when)
        continue;
      const auto& invocations = files_.at(access.file).invocations;
      bool needed =
          !access.direct || std::any_of(access.invocations.begin(), access.invocations.end(),
                                        [&](unsigned offset) { return invocations.at(offset).stringizes; });
      if (access.direct) {
        const auto [entry, added] =
            kinds.try_emplace({access.file, *access.direct, form_of(access)}, access.site.kind);
        needed = needed || (!added && entry->second != access.site.kind);
      }
      if (needed)
        expand(access);
    }
}

std::optional<Span> Planner::span_of(const Access& access, std::string& reason) const {
  const auto edits = plan_.edits.find(access.file);
  const auto expanded = [&](unsigned offset) {
    return edits != plan_.edits.end() && edits->second.expansions.contains(offset);
  };
  if (access.direct) {
    const bool inside =
        std::any_of(access.invocations.begin(), access.invocations.end(), [&](unsigned offset) {
          if (!expanded(offset))
            return false;
          const Invocation& invocation = files_.at(access.file).invocations.at(offset);
          const bool whole =
              access.direct->begin.offset <= invocation.begin && access.direct->end.offset >= invocation.end;
          return !whole;
        });
    if (!inside)
      return access.direct;
  }
  if (access.expanded && !access.invocations.empty() &&
      std::all_of(access.invocations.begin(), access.invocations.end(), expanded))
    return access.expanded;
  reason = "in a macro whose expansion has no place in the source";
  for (const unsigned offset : access.invocations)
    if (const auto& disagreeing = files_.at(access.file).disagreeing; disagreeing.contains(offset))
      reason = disagreeing.at(offset);
  return std::nullopt;
}

std::string Planner::text_of(const std::string& file, const Span& span) const {
  const std::string& text = plan_.text.at(file);
  const auto& invocations = files_.at(file).invocations;
  std::string result;
  unsigned cursor = span.begin.offset;
  const auto tokens = [&](unsigned offset, unsigned from, unsigned to) {
    const Invocation& invocation = invocations.at(offset);
    for (unsigned i = from; i < to && i < invocation.tokens.size(); ++i)
      result += invocation.tokens[i];
    cursor = invocation.end;
  };
  const unsigned last = span.end.token / 2; // the number of tokens in front of the end
  if (span.begin.token != 0) {
    const bool same = span.end.token != 0 && span.end.offset == span.begin.offset;
    tokens(span.begin.offset, span.begin.token / 2 - 1, same ? last : ~0u);
    if (same)
      return result;
  }
  if (cursor < span.end.offset && span.end.offset <= text.size())
    result += text.substr(cursor, span.end.offset - cursor);
  if (span.end.token != 0)
    tokens(span.end.offset, 0, last);
  return on_one_line(result);
}

Unseen Planner::describe(const Access& access, std::string reason) const {
  const auto& span = access.direct ? access.direct : access.expanded;
  return {access.site.file, access.site.line, access.site.column,
          span ? text_of(access.file, *span) : std::string(), std::move(reason)};
}

void Planner::merge() {
  std::set<std::tuple<std::string, unsigned, unsigned, std::string>> reported;
  const auto report = [&](const Access& access, const std::string& reason) {
    if (access.is_local)
      plan_.unseen_local.insert(access.in_debug_information);
    if (reported.insert({access.site.file, access.site.line, access.site.column, reason}).second)
      plan_.unseen.push_back(describe(access, reason));
  };
  for (std::size_t parse = 0; parse < parses_.size(); ++parse)
    for (std::size_t i = 0; i < parses_[parse].accesses.size(); ++i) {
      const Access& access = parses_[parse].accesses[i];
      std::string reason = access.unseen;
      const auto span = reason.empty() ? span_of(access, reason) : std::nullopt;
      if (!span) {
        if (access.is_left && !access.when)
          report(access, reason);
        continue;
      }
      Merged& merged = merged_[{access.file, *span, form_of(access)}];
      if (!merged.first) {
        merged.first = &access;
        merged.span = *span;
        merged.site = access.site;
      } else if (merged.site.kind != access.site.kind) {
        report(access, fmt::format("the same text is also a {}", name_of(merged.site.kind)));
        continue;
      }
      if (access.copy && access.copy->probe.empty() && access.copy->bytes != merged.first->copy->bytes) {
        report(access, "asynchronous copy in inline PTX, of other widths in other instances");
        merged.widths_differ = true;
        continue;
      }
      of_access_[{parse, i}] = &merged;
      if (merged.site.space != access.site.space)
        merged.site.space = Space::generic;
      merged.overloads_address_of |= access.overloads_address_of;
      merged.lvalue_in_some_instances |= access.lvalue_in_some_instances;
      merged.site.in_template |= access.site.in_template;
      merged.site.copies = std::max(merged.site.copies, access.site.copies);
      merged.site.is_reduction &= access.site.is_reduction;
      merged.site.is_floating &= access.site.is_floating;
      merged.site.waits |= access.site.waits;
      if (merged.site.aggregation != access.site.aggregation)
        merged.site.aggregation = LaneAggregation::none;
      if (access.is_left) {
        merged.kind_left =
            merged.is_left && merged.kind_left != access.kind_left ? access.site.kind : access.kind_left;
        if (!merged.is_left)
          merged.joined_bytes = access.joined_bytes;
        else if (merged.joined_bytes != access.joined_bytes)
          merged.joined_bytes = 0;
        if (!merged.is_left) {
          merged.out_of = access.out_of;
          merged.iterations = access.iterations;
        } else if (merged.out_of != access.out_of || merged.iterations != access.iterations) {
          merged.out_of.reset();
          merged.iterations = {};
        }
        if (merged.repeated.empty())
          merged.repeated = access.repeated;
        merged.is_left = true;
      }
      if (access.joined_into)
        merged.joined_into = {parse, *access.joined_into};
      if (access.joined_bytes > 0)
        joined_[{parse, access.in_debug_information}] = &merged;
      for (const std::size_t dependence : access.needed.sent)
        merged.needed_sent.push_back({parse, dependence});
      for (const std::size_t dependence : access.needed.stored)
        merged.needed_stored.push_back({parse, dependence});
    }
}

/// Returns the C++ condition under which a probe records, and adds the code that its loops need for that.
std::string Planner::when(const Merged& merged, FileEdits& edits, NameNumbers& numbers) {
  const std::vector<UnrolledLoop>& loops = merged.iterations.loops;
  const std::vector<Box> boxes = boxes_of(merged.iterations).value_or(std::vector<Box>{});
  std::vector<std::string> counters(loops.size());
  std::string slot =
      "0"; // the flag's index: one for each iteration of the loops inside the one that it is declared at
  unsigned slots = 1;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const auto is_one_iteration = [&](const Box& box) {
      return box[i] && box[i]->first == box[i]->last && box[i] == boxes.front()[i];
    };
    const bool has_slots = merged.out_of && merged.out_of->begin < loops[i].whole.begin &&
                           (boxes.empty() || !std::ranges::all_of(boxes, is_one_iteration));
    if (!has_slots && std::ranges::none_of(boxes, [i](const Box& box) { return box[i].has_value(); }))
      continue;
    LoopEdits& loop = edits.loops[loops[i].whole];
    if (loop.counter.empty())
      loop = {std::move(loop.flags), fmt::format("warplens_iteration_{}", ++numbers.counters), loops[i].body,
              loops[i].needs_braces};
    counters[i] = loop.counter;
    if (has_slots) {
      slot =
          slots == 1 ? loop.counter : fmt::format("({}) * {} + {}", slot, loops[i].iterations, loop.counter);
      slots *= std::max(loops[i].iterations, 1u);
    }
  }
  std::string condition = condition_of(merged.iterations, boxes, counters);
  if (!merged.out_of)
    return condition;
  if (boxes.size() > 1 && !condition.empty())
    condition = '(' + condition + ')';
  const std::string flag = fmt::format("warplens_first_{}", ++numbers.flags);
  std::vector<std::string>& flags = edits.loops[*merged.out_of].flags;
  if (slots == 1) {
    flags.push_back(flag);
    return condition.empty() ? flag : fmt::format("{} && {}.once()", condition, flag);
  }
  flags.push_back(fmt::format("{}[{}]", flag, slots));
  if (slot.find(' ') != std::string::npos)
    slot = '(' + slot + ')';
  const std::string own = fmt::format("{}[{} % {}]", flag, slot, slots);
  return condition.empty() ? own : fmt::format("{} && {}.once()", condition, own);
}

/// Returns the access that this one became a part of, or itself, or null if it was removed.
const Planner::Merged* Planner::left_of(const std::pair<std::size_t, std::size_t>& access) const {
  const auto found = of_access_.find(access);
  if (found == of_access_.end())
    return nullptr;
  const Merged& merged = *found->second;
  if (merged.widths_differ)
    return nullptr;
  if (merged.is_left || !merged.joined_into)
    return merged.is_left ? &merged : nullptr;
  const auto joined = joined_.find(*merged.joined_into);
  return joined == joined_.end() ? nullptr : joined->second;
}

/// Names each site after its place in the source: a header seen by two files has the same sites in both.
void Planner::name_sites() {
  for (auto& [place, merged] : merged_) {
    Site& site = merged.site;
    const std::string& file = std::get<0>(place);
    const Access& access = *merged.first;
    site.expression = text_of(file, access.call     ? *access.call
                                    : access.direct ? *access.direct
                                                    : merged.span);
    site.id = stable_hash(fmt::format("{}:{}:{}:{}:{}", site.file, site.line, site.column, name_of(site.kind),
                                      site.expression));
    site.id += site.id == 0; // 0 is no site
  }
  std::set<std::uint64_t> known;
  std::map<std::string, NameNumbers> numbers; // keyed by file
  for (auto& [place, merged] : merged_) {
    Site& site = merged.site;
    if (merged.widths_differ)
      continue;
    if (!merged.is_left) {
      const auto joined = merged.joined_into ? joined_.find(*merged.joined_into) : joined_.end();
      plan_.removed.push_back(
          {site.file, site.line, site.column, site.expression,
           joined == joined_.end()
               ? "removed by the compiler"
               : fmt::format("joined by the compiler with {}, as one access of {} bytes",
                             joined->second->site.expression, joined->second->joined_bytes)});
      continue;
    }
    site.kind = merged.kind_left;
    if (merged.joined_bytes > 0)
      site.element_bytes = merged.joined_bytes;
    const auto depend_on = [&](std::span<const std::pair<std::size_t, std::size_t>> needed) {
      for (const auto& dependence : needed)
        if (const Merged* load = left_of(dependence))
          site.depends_on.push_back(load->site.id);
    };
    depend_on(merged.needed_sent);
    if (site.kind != AccessKind::update) // its load is sent before the value that it stores is there
      depend_on(merged.needed_stored);
    std::sort(site.depends_on.begin(), site.depends_on.end());
    site.depends_on.erase(std::unique(site.depends_on.begin(), site.depends_on.end()), site.depends_on.end());
    FileEdits& edits = plan_.edits[std::get<0>(place)];
    edits.probes.push_back({merged.span, site.kind, site.id, merged.first->through_pointer,
                            merged.first->when, merged.overloads_address_of, merged.lvalue_in_some_instances,
                            merged.first->handle});
    edits.probes.back().bytes = merged.joined_bytes;
    edits.probes.back().when = when(merged, edits, numbers[std::get<0>(place)]);
    edits.probes.back().copy = merged.first->copy;
    if (merged.first->copy)
      plan_.copies.insert(merged.first->in_debug_information);
    if (const auto& copy = merged.first->copy; copy && copy->condition)
      edits.probes.back().when = fmt::format("({}) {} 0", text_of(std::get<0>(place), *copy->condition),
                                             copy->negated ? "==" : "!=");
    if (!merged.repeated.empty() && !merged.out_of)
      plan_.repeated.push_back({site.file, site.line, site.column, site.expression, merged.repeated});
    if (known.insert(site.id).second)
      plan_.sites.push_back(site);
  }
  const auto by_place = [](const auto& a, const auto& b) {
    return std::tie(a.file, a.line, a.column, a.expression) <
           std::tie(b.file, b.line, b.column, b.expression);
  };
  std::stable_sort(plan_.sites.begin(), plan_.sites.end(), by_place);
  std::stable_sort(plan_.removed.begin(), plan_.removed.end(), by_place);
  std::stable_sort(plan_.unseen.begin(), plan_.unseen.end(), by_place);
  std::stable_sort(plan_.repeated.begin(), plan_.repeated.end(), by_place);
}

void Planner::add_kernel_entries() {
  std::set<std::pair<std::string, Position>> entries;
  for (const Located& parse : parses_)
    for (const KernelEntry& kernel : parse.kernels) {
      if (kernel.direct)
        entries.insert({kernel.file, *kernel.direct});
      // A kernel that a macro makes can be entered if its invocation is replaced anyway; else its block keeps
      // its buffer to the kernel's end, which only costs time.
      else if (const auto edits = plan_.edits.find(kernel.file);
               edits != plan_.edits.end() && edits->second.expansions.contains(kernel.expanded->offset))
        entries.insert({kernel.file, *kernel.expanded});
    }
  for (const auto& [file, position] : entries)
    plan_.edits[file].kernel_entries.push_back(position);
}

void Planner::add_bodies_without_code() {
  std::set<std::pair<std::string, Position>> known;
  for (const Located& parse : parses_)
    for (const LocatedBodyWithoutCode& body : parse.without_code)
      if (known.insert({body.file, body.begin}).second)
        plan_.edits[body.file].without_code.push_back(body);
}

Expected<Plan> Planner::run() {
  TRY(read_files());
  choose_expansions();
  merge();
  name_sites();
  add_kernel_entries();
  add_bodies_without_code();
  return std::move(plan_);
}

} // namespace

Expected<Plan> plan(std::span<const Located> parses, const UserFiles& files) {
  return Planner(parses, files).run();
}

} // namespace warplens::rewriter
