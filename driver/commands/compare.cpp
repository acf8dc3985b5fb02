// `warplens compare` and `warplens counters`: what a profiler measured, beside the prediction, or alone.

#include "driver/commands/commands.h"
#include "driver/document_formats.h"
#include "driver/options.h"
#include "driver/stages/print.h"
#include "driver/stages/read_measured.h"
#include "driver/stages/read_result.h"
#include "report/comparison/counters.h"
#include "report/comparison/print.h"
#include "report/comparison/table_rows.h"
#include "report/report.h"
#include "support/files.h"
#include "support/pattern.h"
#include "toolchain/resources.h"
#include "toolchain/version.h"

#include <memory>
#include <nlohmann/json.hpp>

namespace warplens::driver {
namespace {

namespace comparison = report::comparison;

struct CompareOptions {
  std::string result, kernel, format = "text", table;
  std::vector<std::string> measured;
  import::NcuOptions ncu;
  comparison::ComparisonOptions pairing;
  comparison::RowOptions row;
  OutputOptions output;
};

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Returns the report page with the result and the comparison.
Expected<std::string> page_of(const comparison::ComparisonReport& report) {
  TRY(check_format(report_format("html")));
  TRY_LET(template_text, read_file(toolchain::resources().page));
  const nlohmann::ordered_json json = comparison::to_json(report);
  report::PageOptions page{*template_text, toolchain::version, {}};
  page.measured = &json;
  return report::print_page({{report.result_name, report.result}}, page);
}

Expected<void> print(const comparison::ComparisonReport& report, const CompareOptions& options) {
  return print_document(comparison::comparison_document(report),
                        {{"json", [&] { return json_text(comparison::to_json(report)); }},
                         {"html", [&] { return page_of(report); }}},
                        options.format, options.output);
}

/// Appends the rows to the table, which need not be there yet.
Expected<void> add_rows(const std::string& file, const comparison::ComparisonReport& report,
                        const comparison::RowOptions& options) {
  std::error_code error;
  std::string table;
  if (std::filesystem::exists(file, error)) {
    TRY_LET(text, read_file(file));
    table = std::move(*text);
  }
  const auto rows = comparison::with_rows(std::move(table), report, options);
  if (!rows)
    return fail("{}: {}", file, rows.error().message);
  return write_file(file, *rows);
}

Expected<void> compare_and_print(CompareOptions options) {
  TRY_LET(result, read_result(options.result));
  TRY_LET(launches, read_measured(options.measured, options.ncu));
  if (!options.kernel.empty())
    options.pairing.wants_kernel = [pattern = Pattern(options.kernel)](const std::string& name) {
      return pattern.is_found_in(name);
    };
  const auto pairs = comparison::compare(*result, *launches, options.pairing);
  if (!pairs)
    return fail("{}: {}", options.result, pairs.error().message);
  const comparison::ComparisonReport report{options.result, options.measured, &*result, &*launches, &*pairs};
  TRY(print(report, options));
  if (!options.table.empty())
    TRY(add_rows(options.table, report, options.row));
  if (pairs->kernels.empty())
    return fail("no launch of {} has a counterpart in {}: {}", fmt::join(options.measured, ", "),
                options.result,
                pairs->unpaired_launches.empty() ? "no kernel matches --kernel"
                                                 : pairs->unpaired_launches.front().why);
  return {};
}

struct CountersOptions {
  std::vector<std::string> measured;
  import::NcuOptions ncu;
  std::string format = "text";
  OutputOptions output;
};

Expected<void> read_and_print(const CountersOptions& options) {
  TRY_LET(launches, read_measured(options.measured, options.ncu));
  return print_document(
      comparison::counters_document(*launches),
      [&] { return json_text(comparison::counters_to_json(*launches)); }, options.format, options.output);
}

void add_measured_options(CLI::App& command, std::vector<std::string>& measured, import::NcuOptions& ncu) {
  command
      .add_option(
          "measured", measured,
          "what a profiler wrote: ncu's report (.ncu-rep) or its --csv, pages raw, details and source;\n"
          "nvprof's --csv; nsys's export (--type sqlite), of which each kernel has the median of its "
          "launches")
      ->required()
      ->type_name("MEASURED");
  command
      .add_option_function<std::string>(
          "--units", [&ncu](const std::string& word) { ncu.base_units = word == "base"; },
          "base: ncu's tables without a row of units are in bytes and ns, as --print-units base prints them")
      ->check(CLI::IsMember({"auto", "base"}))
      ->option_text("WORD=auto");
}

constexpr const char* footer =
    "  ncu --set full --import-source yes -o measured ./program; warplens compare result.json "
    "measured.ncu-rep\n"
    "  nsys profile -o times ./program; nsys export --type sqlite times.nsys-rep; warplens compare "
    "result.json "
    "times.sqlite\n\n"
    "Launches are paired by kernel, grid, block and number. What has no counterpart is named with the "
    "reason:\n"
    "in the text summed up, in JSON one by one. docs/compare.md explains the figures.";

} // namespace

void declare_compare(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand("compare", "what a profiler measured, beside the prediction");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("result", options->result, "a result, as --format json writes it")
      ->required()
      ->type_name("RESULT");
  add_measured_options(*command, options->measured, options->ncu);
  command->add_option("--kernel", options->kernel, "compare only kernels whose name matches")
      ->type_name("REGEX")
      ->check(CLI::Validator(check_regex, ""));
  command
      ->add_option("--gpu", options->pairing.gpu,
                   "the GPU of the result that was measured, where it has several")
      ->type_name("NAME");
  command
      ->add_option("--add-to", options->table,
                   "append a row for each launch to a table of measurements, as test/accuracy/ keeps them")
      ->type_name("FILE");
  command
      ->add_option("--board", options->row.board,
                   "for --add-to: the board's name there; the GPU's if not given")
      ->type_name("NAME");
  command
      ->add_option("--source", options->row.source,
                   "for --add-to: where the measurement comes from; the files' names if not given")
      ->type_name("TEXT");
  add_document_options(*command, options->format, options->output,
                       {{"html", "the report page with both"}, {"json", comparison::comparison_schema}});
  command->footer(footer);
  command->callback([options, &chosen] {
    if (options->table.empty() && !(options->row.board.empty() && options->row.source.empty()))
      throw CLI::ValidationError("--board, --source", "only --add-to takes them");
    chosen = [options] { return compare_and_print(*options); };
  });
}

void declare_counters(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command =
      line.app.add_subcommand("counters", "print what a profiler measured, also without the profiler");
  auto options = std::make_shared<CountersOptions>();
  add_measured_options(*command, options->measured, options->ncu);
  add_document_options(*command, options->format, options->output, {{"json", comparison::counters_schema}});
  command->callback([options, &chosen] { chosen = [options] { return read_and_print(*options); }; });
}

} // namespace warplens::driver
