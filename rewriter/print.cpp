#include "rewriter/print.h"

#include "rewriter/includes.h"
#include "support/files.h"
#include "support/hash.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <iterator>

namespace warplens::rewriter {

namespace {

constexpr std::string_view probe_include = "#include <warplens/probe.h>\n";
constexpr std::string_view kernel_entry = " ::warplens::KernelScope warplens_kernel_scope;";

/// Returns a C++ string literal for any bytes.
std::string literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (c == '?') // no trigraphs
      result += "\\?";
    else if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\{:03o}", byte);
    else
      result += c;
  }
  return result + '"';
}

/// The nesting of insertions with the same ends: a loop's body encloses the loop, that the probe around a
/// pointer, and that the one around the load of the pointer itself. The marks of a condition enclose its
/// accesses.
enum class Rank { access, pointer, copy, other_copy, mark, other_mark, loop, body };

struct Insertion {
  Position at;
  bool closes = false;
  Rank rank = Rank::access;
  Position partner; ///< the other end
  std::string text;
};

/// Orders the insertions so that probes and blocks nest: at one place inner ones close first and outer ones
/// open first, after a kernel's entry.
bool comes_before(const Insertion& a, const Insertion& b) {
  if (a.at != b.at)
    return a.at < b.at;
  if (a.closes != b.closes)
    return a.closes;
  if (a.partner != b.partner)
    return a.partner > b.partner;
  return a.closes ? a.rank < b.rank : a.rank > b.rank;
}

/// Adds the block around a loop and, if its iterations are counted, the counting code.
void add_loop(const Span& whole, const LoopEdits& loop, std::vector<Insertion>& result) {
  std::string block = "{ ";
  for (const std::string& flag : loop.flags)
    block += fmt::format("{}{}", flag == loop.flags.front() ? "::warplens::First " : ", ", flag);
  block += loop.flags.empty() ? "" : "; ";
  if (!loop.counter.empty())
    block += fmt::format("unsigned {} = ~0u; ", loop.counter);
  result.push_back({whole.begin, false, Rank::loop, whole.end, block});
  result.push_back({whole.end, true, Rank::loop, whole.begin, " }"});
  if (loop.counter.empty())
    return;
  // Within braces it comes first, also before insertions that begin where they end.
  const Position end = loop.needs_braces ? loop.body.end : Position{~0u};
  result.push_back(
      {loop.body.begin, false, Rank::body, end,
       fmt::format("{} ++{};{}", loop.needs_braces ? "{" : "", loop.counter, loop.needs_braces ? " " : "")});
  if (loop.needs_braces)
    result.push_back({loop.body.end, true, Rank::body, loop.body.begin, " }"});
}

/// Adds the probe around the name of a function that copies, which becomes a function that also records the
/// copy's loads or its stores, or around an address in inline PTX.
void add_copy(const Probe& probe, std::vector<Insertion>& result) {
  const bool stores = probe.kind == AccessKind::store;
  const Position begin = probe.span.begin, end = probe.span.end;
  if (probe.copy->probe.empty()) {
    const std::string when = probe.when.empty() ? std::string() : probe.when + ", ";
    result.push_back({begin, false, Rank::pointer, end,
                      fmt::format("::warplens::copied_{}<{}>({}{:#018x}ull, ", stores ? "to" : "from",
                                  probe.copy->bytes, when, probe.site)});
    result.push_back({end, true, Rank::pointer, begin, ")"});
    return;
  }
  std::vector<std::string> parameters, names;
  for (const char how : probe.copy->parameters) {
    names.push_back(fmt::format("warplens_{}_{}", stores ? "to" : "from", names.size()));
    parameters.push_back(fmt::format("auto{} {}", how == 'r' ? "&&" : "", names.back()));
  }
  const Rank rank = stores ? Rank::other_copy : Rank::copy;
  result.push_back(
      {begin, false, rank, end,
       fmt::format("[&]({}) {{ ::warplens::{}_{}({:#018x}ull, {}); return ", fmt::join(parameters, ", "),
                   probe.copy->probe, stores ? "to" : "from", probe.site, fmt::join(names, ", "))});
  result.push_back({end, true, rank, begin, fmt::format("({}); }}", fmt::join(names, ", "))});
}

/// Adds, for the CPU back end's device half alone, what the lowering knows a refused body by
/// (lowering/inline_assembly.cpp), in place of the body.
void add_body_without_code(const LocatedBodyWithoutCode& body, std::vector<Insertion>& result) {
  result.push_back({body.begin, false, Rank::body, Position{~0u},
                    fmt::format("\n#if defined(__WARPLENS_CPU__) && defined(__CUDA_ARCH__)\n"
                                "asm volatile({});\n#else\n#line {}\n",
                                literal("warplens.refused " + body.reason), body.line)});
  result.push_back(
      {body.end, false, Rank::body, Position{~0u}, fmt::format("\n#endif\n#line {}\n", body.end_line)});
}

std::vector<Insertion> insertions(const FileEdits& edits, bool for_compiler) {
  static constexpr const char* functions[] = {"load", "store", "update", "atomic"};
  std::vector<Insertion> result;
  for (const Position& position : edits.kernel_entries)
    result.push_back({position, false, Rank::body, Position{~0u}, std::string(kernel_entry)});
  if (for_compiler)
    for (const LocatedBodyWithoutCode& body : edits.without_code)
      add_body_without_code(body, result);
  for (const auto& [whole, loop] : edits.loops)
    add_loop(whole, loop, result);
  for (const Probe& probe : edits.probes) {
    const Position begin = probe.span.begin, end = probe.span.end;
    if (probe.kind == AccessKind::barrier) {
      result.push_back(
          {begin, false, Rank::access, end, fmt::format("(::warplens::barrier({:#018x}ull), ", probe.site)});
      result.push_back({end, true, Rank::access, begin, ")"});
      continue;
    }
    if (probe.marks_when == When::entered) {
      result.push_back({end, false, Rank::body, Position{~0u},
                        fmt::format(" ::warplens::mark({:#018x}ull);", probe.site)});
      continue;
    }
    if (probe.marks_when) {
      const Rank rank = *probe.marks_when == When::not_taken ? Rank::other_mark : Rank::mark;
      const char* function = *probe.marks_when == When::taken       ? "taken"
                             : *probe.marks_when == When::not_taken ? "not_taken"
                                                                    : "always";
      result.push_back(
          {begin, false, rank, end, fmt::format("::warplens::{}({:#018x}ull, (", function, probe.site)});
      result.push_back({end, true, rank, begin, "))"});
      continue;
    }
    if (probe.copy) {
      add_copy(probe, result);
      continue;
    }
    const std::string when = probe.when.empty() ? std::string() : probe.when + ", ";
    const Rank rank = probe.through_pointer ? Rank::pointer : Rank::access;
    const char* function = probe.handle == Handle::texture   ? "Texture"
                           : probe.handle == Handle::surface ? "Surface"
                                                             : functions[static_cast<unsigned>(probe.kind)];
    const std::string call = fmt::format(
        "::warplens::{}{}{}({}{:#018x}ull, ", function, probe.lvalue_in_some_instances ? "_if_lvalue" : "",
        probe.bytes ? fmt::format("<{}>", probe.bytes) : "", when, probe.site);
    const char* address = probe.overloads_address_of ? "::warplens::address_of(" : "&(";
    const auto opening = probe.through_pointer            ? call
                         : probe.lvalue_in_some_instances ? "(" + call + "("
                                                          : "(*" + call + address;
    result.push_back({begin, false, rank, end, opening});
    result.push_back({end, true, rank, begin, probe.through_pointer ? ")" : ")))"});
  }
  std::stable_sort(result.begin(), result.end(), comes_before);
  return result;
}

struct Replacement {
  unsigned end = 0;
  std::string text;
};

/// Replaces the invocation by its expansion, on as many lines.
Replacement replacement(const std::string& source, const Invocation& invocation,
                        std::span<const Insertion> inside) {
  Replacement result{invocation.end, {}};
  auto next = inside.begin();
  const auto insert_at = [&](unsigned token) {
    for (; next != inside.end() && next->at.token == token; ++next)
      result.text += next->text;
  };
  for (unsigned i = 0; i < invocation.tokens.size(); ++i) {
    if (i > 0)
      result.text += ' ';
    insert_at(2 * (i + 1));
    result.text += invocation.tokens[i];
    insert_at(2 * (i + 1) + 1);
  }
  const auto original = std::string_view(source).substr(invocation.begin, invocation.end - invocation.begin);
  result.text.append(static_cast<std::size_t>(std::count(original.begin(), original.end(), '\n')), '\n');
  return result;
}

/// `for_compiler`: the text has `#line`, and may have parts for one back end alone.
std::string apply(const std::string& source, const FileEdits& edits,
                  std::map<unsigned, Replacement> replacements, bool for_compiler) {
  const std::vector<Insertion> all = insertions(edits, for_compiler);
  for (const auto& [offset, invocation] : edits.expansions) {
    std::vector<Insertion> inside;
    std::copy_if(all.begin(), all.end(), std::back_inserter(inside), [&](const Insertion& insertion) {
      return insertion.at.offset == offset && insertion.at.token != 0;
    });
    replacements[offset] = replacement(source, invocation, inside);
  }

  std::string result;
  unsigned cursor = 0;
  auto next = all.begin();
  const auto copy_to = [&](unsigned offset) {
    if (offset <= cursor)
      return;
    result.append(source, cursor, offset - cursor);
    cursor = offset;
  };
  const auto insert_up_to = [&](unsigned offset) {
    for (; next != all.end() && next->at.offset <= offset; ++next)
      if (next->at.token == 0) {
        copy_to(next->at.offset);
        result += next->text;
      }
  };
  for (const auto& [offset, change] : replacements) {
    insert_up_to(offset);
    copy_to(offset);
    result += change.text;
    cursor = change.end;
  }
  insert_up_to(static_cast<unsigned>(source.size()));
  copy_to(static_cast<unsigned>(source.size()));
  return result;
}

using Lines = std::map<std::string, std::set<unsigned>>; // keyed by file

Lines unseen_local_lines(const Plan& plan) {
  Lines lines;
  for (const analysis::Position& position : plan.unseen_local)
    lines[position.file].insert(position.line);
  return lines;
}

/// Returns the lines of removed accesses, without lines that have other accesses without a probe.
Lines removed_lines(const Plan& plan) {
  Lines lines;
  for (const Unseen& access : plan.removed)
    lines[analysis::canonical_file(access.file)].insert(access.line);
  for (const Unseen& access : plan.unseen)
    lines[analysis::canonical_file(access.file)].erase(access.line);
  return lines;
}

Lines copy_lines(const Plan& plan) {
  Lines lines;
  for (const analysis::Position& position : plan.copies)
    lines[position.file].insert(position.line);
  return lines;
}

/// Returns the notes for the CPU back end, which counts the accesses that it executes
/// (lowering/noted_accesses.h): lines with accesses that have no probe or, of copies, one elsewhere,
/// "KIND LINE,LINE,…,FILE".
std::string notes(const Plan& plan) {
  std::string annotations;
  for (const auto& [kind, lines] :
       {std::pair("warplens.local_memory", unseen_local_lines(plan)),
        std::pair("warplens.removed", removed_lines(plan)), std::pair("warplens.copied", copy_lines(plan))})
    for (const auto& [file, numbers] : lines)
      if (!numbers.empty())
        annotations += fmt::format("__attribute__((annotate({})))\n",
                                   literal(fmt::format("{} {},{}", kind, fmt::join(numbers, ","), file)));
  if (annotations.empty())
    return {};
  return "#if defined(__WARPLENS_CPU__) && defined(__CUDA_ARCH__)\n" + annotations +
         "__attribute__((device, used)) static void warplens_notes() {}\n#endif\n";
}

} // namespace

std::string site_table(const std::vector<Site>& sites) {
  if (sites.empty())
    return {};
  std::string dependences, records;
  std::size_t dependence_count = 0;
  for (const Site& site : sites) {
    std::string depends_on = "0";
    if (!site.depends_on.empty()) {
      depends_on = fmt::format("depends_on + {}", dependence_count);
      for (const std::uint64_t id : site.depends_on)
        dependences += fmt::format("{:#018x}ull, ", id);
      dependence_count += site.depends_on.size();
    }
    records +=
        fmt::format("  {{{:#018x}ull, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, "
                    "{}, {}, {}, {}}},\n",
                    site.id, literal(site.file), site.line, site.column, literal(site.expression),
                    static_cast<unsigned>(site.kind), static_cast<unsigned>(site.space),
                    static_cast<unsigned>(site.cache_operator), site.element_bytes, site.sequence,
                    literal(site.object), depends_on, site.depends_on.size(), literal(site.macro),
                    site.in_template, site.copies, site.is_reduction, static_cast<unsigned>(site.aggregation),
                    site.is_floating, site.last_line, site.step, site.waits);
  }
  std::string table = "namespace { namespace warplens_sites {\n";
  if (dependence_count > 0)
    table += fmt::format("const unsigned long long depends_on[] = {{{}}};\n", dependences);
  table += fmt::format("const ::warplens::SiteRecord records[] = {{\n{}}};\n", records);
  table += fmt::format("const ::warplens::RegisterSites registration(records, {});\n", sites.size());
  return table + "} }\n";
}

Expected<std::vector<RewrittenFile>> print(const Plan& plan, const UserFiles& files,
                                           const std::filesystem::path& source,
                                           const std::filesystem::path& output_directory) {
  std::error_code error;
  const std::string main = std::filesystem::canonical(source, error).string();
  std::set<std::string> edited{main};
  for (const auto& [path, edits] : plan.edits)
    if (!edits.probes.empty() || !edits.kernel_entries.empty() || !edits.without_code.empty())
      edited.insert(path);
  std::set<std::string> changed = with_includers(edited, files);

  const bool includes_itself = std::any_of(files.begin(), files.end(), [&](const auto& file) {
    return std::any_of(file.second.includes.begin(), file.second.includes.end(),
                       [&](const auto& include) { return include.second.target == main; });
  });
  const auto name_of = [&](const std::string& path) {
    return path == main ? source.string() : files.at(path).name;
  };
  const auto copy_of = [&](const std::string& path) {
    const std::filesystem::path name = name_of(path);
    return path == main
               ? output_directory / name.filename()
               : output_directory / fmt::format("{:016x}", stable_hash(name.string())) / name.filename();
  };

  std::vector<RewrittenFile> result;
  for (const std::string& path : changed) {
    const std::filesystem::path name = name_of(path);
    TRY_LET(text, read_file(path));
    std::map<unsigned, Include> includes = includes_beside(name, *text);
    if (const auto known = files.find(path); known != files.end())
      for (const auto& [offset, include] : known->second.includes)
        if (changed.contains(include.target) && !include.varies)
          includes[offset] = include;
    std::map<unsigned, Replacement> redirected;
    for (const auto& [offset, include] : includes) {
      const std::filesystem::path target =
          changed.contains(include.target) ? copy_of(include.target) : std::filesystem::path(include.target);
      redirected[offset] = {offset + include.length, '"' + std::filesystem::absolute(target).string() + '"'};
    }

    const auto edits = plan.edits.find(path);
    static const FileEdits none;
    const FileEdits& own = edits == plan.edits.end() ? none : edits->second;
    const bool is_main = path == main;
    const std::string mark =
        text->starts_with("\xef\xbb\xbf") ? "\xef\xbb\xbf" : ""; // a byte order mark stays in front
    const std::string table = is_main && !plan.sites.empty()
                                  ? "#ifndef __CUDA_ARCH__\n" + site_table(plan.sites) + "#endif\n"
                                  : std::string();
    const auto finish = [&](std::string body, bool with_line) {
      body.erase(0, mark.size());
      std::string whole = mark;
      if (is_main)
        whole += probe_include;
      if (with_line)
        whole += fmt::format("#line 1 {}\n", literal(name.string()));
      whole += body;
      std::string end = table + (is_main && with_line ? notes(plan) : std::string());
      if (includes_itself && !end.empty()) // the outermost inclusion has it
        end = "#if __INCLUDE_LEVEL__ == 0\n" + end + "#endif\n";
      if (!end.empty() && !whole.ends_with('\n'))
        whole += '\n';
      return whole + end;
    };
    RewrittenFile file{name, copy_of(path), finish(apply(*text, own, redirected, true), true),
                       finish(apply(*text, own, {}, false), false)};
    file.unchanged = *text;
    result.insert(is_main ? result.begin() : result.end(), std::move(file));
  }
  return result;
}

} // namespace warplens::rewriter
