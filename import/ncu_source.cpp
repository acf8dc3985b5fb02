// Reads the page `source` of Nsight Compute, and adds up the memory instructions of each line.
//
// Per launch and source file there are rows "File Path" and "Function Name", then a heading, then for each
// line of source a row with the sums over its instructions, and after it a row per instruction (SASS) with an
// address in place of a line number. Columns without a value for a row hold "-", left-out instructions "...".
// Two columns are called "Source": the line's and the instruction's text. (Nsight Compute CLI, "Console
// Output": `print-source`; Profiling Guide, "Source Metrics".) Hit rates are missing: the hardware counts
// them per kernel only.
#include "import/kernel_counters.h"
#include "import/table.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

namespace warplens::import {
namespace {

/// The columns that are added up, with the names that Nsight Compute's report has for them.
constexpr std::pair<std::string_view, std::string_view> columns_read[] = {
    {"Instructions Executed", "inst_executed"},
    {"Thread Instructions Executed", "thread_inst_executed"},
    {"L1 Tag Requests Global", "memory_l1_tag_requests_global"},
    {"L2 Theoretical Sectors Global", "memory_l2_theoretical_sectors_global"},
    {"L2 Theoretical Sectors Global Ideal", "memory_l2_theoretical_sectors_global_ideal"},
    {"L1 Wavefronts Shared", "memory_l1_wavefronts_shared"},
    {"L1 Wavefronts Shared Ideal", "memory_l1_wavefronts_shared_ideal"}};

std::string lower_case(std::string_view text) {
  std::string lower;
  for (const char c : text)
    if (c != ' ')
      lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// The memory instructions that a launch executed of one file.
struct FileBlock {
  std::string file, function;
  std::map<std::tuple<std::uint32_t, std::string, std::string>, LineCounters> lines;
};

struct Columns {
  std::size_t width = 0, line = 0, address = 0, space = 0, operation = 0;
  std::vector<std::pair<std::size_t, std::string_view>> counters;
};

Expected<Columns> columns_of(const CsvRow& heading) {
  TRY_LET(line, column(heading, "Line No"));
  TRY_LET(address, column(heading, "Address"));
  TRY_LET(space, column(heading, "Address Space"));
  TRY_LET(operation, column(heading, "Access Operation"));
  TRY(column(heading, "Instructions Executed"));
  Columns columns{heading.fields.size(), *line, *address, *space, *operation, {}};
  for (const auto& [name, metric] : columns_read)
    if (const auto found = find_column(heading, name))
      columns.counters.emplace_back(*found, metric);
  return columns;
}

void add_instruction(FileBlock& block, std::uint32_t line, const CsvRow& row, const Columns& columns) {
  const std::string space = lower_case(row.fields[columns.space]);
  if (space.empty() || space == "-")
    return;
  const std::string operation = lower_case(row.fields[columns.operation]);
  LineCounters& entry = block.lines[{line, space, operation}];
  entry = {block.file, line, space, operation, std::move(entry.counters)};
  for (const auto& [place, metric] : columns.counters)
    if (const auto value = printed_number(row.fields[place]))
      entry.counters[std::string(metric)] += *value;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Expected<std::vector<FileBlock>> read_blocks(const std::vector<CsvRow>& rows) {
  std::vector<FileBlock> blocks;
  std::string file, function;
  std::optional<Columns> columns;
  std::optional<std::uint32_t> line;
  for (const CsvRow& row : rows) {
    if (row.fields.size() == 2 && row.fields[0] == "File Path") {
      file = row.fields[1];
      columns.reset();
    } else if (row.fields.size() == 2 &&
               (row.fields[0] == "Function Name" || row.fields[0] == kernel_name_heading)) {
      function = row.fields[1];
      columns.reset();
    } else if (find_column(row, "Line No") && find_column(row, "Address")) {
      TRY_LET(found, columns_of(row));
      if (file.empty() || function.empty())
        return fail("line {}: a table begins, but of no file and function", row.line);
      columns = std::move(*found);
      line.reset();
      blocks.push_back({file, function, {}});
    } else if (columns) {
      if (row.fields.size() != columns->width)
        return fail("line {}: {} columns, and the heading has {}", row.line, row.fields.size(),
                    columns->width);
      const std::string& number = row.fields[columns->line];
      const std::string& address = row.fields[columns->address];
      if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos &&
          number.size() < 10)
        line = static_cast<std::uint32_t>(std::stoul(number));
      else if (line && !address.empty() && address != "-" && address != "...")
        add_instruction(blocks.back(), *line, row, *columns);
    }
  }
  if (blocks.empty())
    return fail(
        "no table with columns 'Line No' and 'Address': is this --page source --print-source cuda,sass?");
  return blocks;
}

} // namespace

Expected<void> add_ncu_source(std::string_view text, std::vector<KernelCounters>& launches) {
  TRY_LET(rows, parse_csv(without_messages(text)));
  TRY_LET(blocks, read_blocks(*rows));
  // A launch has a block per file; the next one begins where a file is repeated or another kernel appears.
  std::size_t current = 0;
  std::set<std::string> seen;
  for (FileBlock& block : *blocks) {
    while (current < launches.size() &&
           (seen.contains(block.file) || !has(block.function, base_name(launches[current].kernel)))) {
      ++current;
      seen.clear();
    }
    if (current == launches.size())
      return fail("{} in {} belongs to none of the {} launches in the file before", block.function,
                  block.file, launches.size());
    seen.insert(block.file);
    for (auto& [key, line] : block.lines)
      launches[current].lines.push_back(std::move(line));
  }
  return {};
}

} // namespace warplens::import
