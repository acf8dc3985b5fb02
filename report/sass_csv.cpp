// One row per machine instruction and kernel.
#include "document/csv_row.h"
#include "report/report.h"
#include "report/sass_rows.h"
#include "report/statistic_fields.h"

namespace warplens::report {
namespace {

using document::CsvRow;

std::string heading() {
  CsvRow row;
  for (const char* name :
       {"kernel", "gpu", "launch", "function", "offset", "sass", "file", "line", "executions", "active_lanes",
        "requests", "sectors", "passes", "site", "latency_ns", "latency_ns_std", "time [fraction]"})
    row.add(name);
  for (const std::string_view state : names_of<WarpState>)
    row.add(fmt::format("{} [fraction]", state));
  return row.add("awaited [fraction]").end();
}

std::string row_of(const KernelResult& kernel, const InstructionResult& instruction) {
  const CodeResult& code = *kernel.code;
  const std::optional<InstructionTime>& time = instruction.time;
  const SiteResult* const site = site_of(instruction, kernel);
  const bool has_line = instruction.line != 0, has_requests = instruction.requests != 0;
  CsvRow row;
  row.add(kernel.name)
      .add(kernel.gpu)
      .add(kernel.launch)
      .add(code.functions[instruction.function])
      .add(fmt::format("{:#06x}", instruction.offset))
      .add(instruction.text)
      .add(has_line ? code.files[instruction.file] : "")
      .add(has_line ? std::to_string(instruction.line) : "")
      .add(instruction.executions)
      .add(instruction.active_lanes)
      .add(instruction.requests)
      .add(instruction.sectors != 0 ? std::to_string(instruction.sectors) : "")
      .add(has_requests ? std::to_string(instruction.passes) : "")
      .add(instruction.site ? fmt::format("{:016x}", *instruction.site) : "");
  add_statistic(row, site != nullptr && site->latency_ns ? &*site->latency_ns : nullptr)
      .add(time_share(instruction));
  for (std::size_t state = 0; state < warp_state_count; ++state)
    row.add(time ? std::optional(time->states[state]) : std::nullopt);
  return row.add(time ? std::optional(time->awaited) : std::nullopt).end();
}

} // namespace

std::string print_sass_csv(const Result& result, bool by_time) {
  std::string text = heading();
  for (const KernelResult& kernel : result.kernels)
    if (kernel.code)
      for (const InstructionResult* const instruction : instructions_of(*kernel.code, by_time))
        text += row_of(kernel, *instruction);
  return text;
}

} // namespace warplens::report
