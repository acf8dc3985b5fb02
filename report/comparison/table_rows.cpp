#include "report/comparison/table_rows.h"

#include "result/names.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace warplens::report::comparison {
namespace {

using import::KernelCounters;

constexpr std::string_view heading =
    "board\tprogram\targuments\tkernel\tlaunch\tblocks\tshare\tuse\ttest\tcycles\tus\tl1\tl2\tdram_read\t"
    "dram_write\ttop_stall\ttraits\tsource\treason";
constexpr std::size_t key_columns = 5;

/// Returns the text as one field: the table has no quotes.
std::string field(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string figure(const KernelPair& pair, std::string_view name) {
  const auto found = std::ranges::find(pair.figures, name, &FigurePair::name);
  return found == pair.figures.end() ? "" : fmt::format("{:.10g}", found->measured);
}

/// Returns the state, other than issuing, that took most of the warps' time.
std::string top_stall(const KernelPair& pair) {
  const FigurePair* top = nullptr;
  for (const FigurePair& one : pair.figures)
    if (one.name.starts_with("stall_") && (top == nullptr || one.measured > top->measured))
      top = &one;
  return top == nullptr ? "" : top->name.substr(std::string_view("stall_").size());
}

/// Returns those of the table's traits that the result's accesses show.
std::string traits_of(const KernelResult& kernel) {
  std::vector<std::string_view> traits;
  const auto has = [&](auto condition) { return std::ranges::any_of(kernel.sites, condition); };
  const auto in = [](Space space) {
    return [space](const SiteResult& site) { return site.site.space == space; };
  };
  if (has(in(Space::shared)))
    traits.push_back("shared memory");
  if (has(in(Space::constant)))
    traits.push_back("constant memory");
  if (has([](const SiteResult& site) { return site.site.cache_operator == CacheOperator::tex; }))
    traits.push_back("textures");
  if (has(in(Space::local)))
    traits.push_back("local memory");
  if (has([](const SiteResult& site) { return site.site.kind == AccessKind::atomic; }))
    traits.push_back("atomics");
  if (has([](const SiteResult& site) { return is_asynchronous(site.site.cache_operator); }))
    traits.push_back("asynchronous copies");
  return fmt::format("{}", fmt::join(traits, ", "));
}

std::string row_of(const KernelPair& pair, const ComparisonReport& report, const RowOptions& options) {
  const KernelResult& kernel = report.result->kernels[pair.modelled];
  const bool is_whole =
      static_cast<double>(kernel.snapshot.blocks) >= static_cast<double>(kernel.grid.count());
  const std::string cycles = figure(pair, "cycles");
  const std::string columns[] = {
      options.board.empty() ? kernel.gpu : options.board,
      std::filesystem::path(report.result->program).stem().string(),
      "",
      import::base_name(kernel.name),
      pair.launch > 1 ? std::to_string(pair.launch) : "",
      is_whole ? "" : std::to_string(kernel.snapshot.blocks),
      "",
      "held back",
      "",
      cycles,
      cycles.empty() ? figure(pair, "microseconds") : "", // a time at another clock is no fact of the kernel
      figure(pair, "l1_read_hit_rate"),
      figure(pair, "l2_read_hit_rate"),
      figure(pair, "dram_read_bytes"),
      figure(pair, "dram_write_bytes"),
      top_stall(pair),
      traits_of(kernel),
      options.source.empty() ? fmt::format("{}", fmt::join(report.measured_names, ", ")) : options.source,
      ""};
  std::string row;
  for (const std::string& column : columns)
    row += (row.empty() ? "" : "\t") + field(column);
  return row;
}

/// Returns the first columns of a row, which identify it.
std::string key_of(const std::string& row) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < key_columns && end != std::string::npos; ++i)
    end = row.find('\t', i == 0 ? 0 : end + 1);
  return row.substr(0, end);
}

} // namespace

Expected<std::string> with_rows(std::string table, const ComparisonReport& report,
                                const RowOptions& options) {
  std::set<std::string> keys;
  bool has_heading = false;
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = std::min(table.find('\n', at), table.size());
    const std::string row = table.substr(at, end - at);
    at = end + 1;
    if (row.empty() || row.starts_with('#'))
      continue;
    if (!has_heading && row != heading)
      return fail("the columns are not those of the table of errors: board, program, arguments, …");
    if (has_heading)
      keys.insert(key_of(row));
    has_heading = true;
  }
  if (!table.empty() && !table.ends_with('\n'))
    table += '\n';
  if (!has_heading)
    table += std::string(heading) + "\n";
  for (const KernelPair& pair : report.comparison->kernels) {
    const std::string row = row_of(pair, report, options);
    if (!keys.insert(key_of(row)).second)
      return fail("the table has a row of {} on {} already",
                  import::base_name(report.result->kernels[pair.modelled].name),
                  options.board.empty() ? report.result->kernels[pair.modelled].gpu : options.board);
    table += row + "\n";
  }
  return table;
}

} // namespace warplens::report::comparison
