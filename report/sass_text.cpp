// The machine code of each kernel as text, a line per instruction.
#include "report/annotated_source.h"
#include "report/report.h"
#include "report/sass_rows.h"
#include "result/figure_text.h"
#include "result/headroom.h"
#include "result/no_time.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <filesystem>

namespace warplens::report {
namespace {

constexpr std::size_t min_code_width = 24;

/// A column left of the instruction's text.
struct SassColumn {
  std::string_view heading, unit;
  std::size_t width;
  bool is_left = false;
};
constexpr SassColumn sass_columns[] = {{"offset", "", 6},    {"warp", "execs", 5},     {"active", "lanes", 6},
                                       {"time", "%", 5},     {"mostly", "", 18, true}, {"sect/", "req", 5},
                                       {"latency", "ns", 8}, {"line", "", 6}};

std::string padded(const SassColumn& column, std::string_view text) {
  return (column.is_left ? pad_right(text, column.width) : pad_left(text, column.width)) + " ";
}

class SassReport {
public:
  explicit SassReport(const TextOptions& options)
      : options_(options), width_(line_width(options)), style_(options.colour) {}

  std::string print(const Result& result) {
    field("program", result.program);
    if (result.kernels.empty())
      line("No kernel was traced.");
    for (const KernelResult& kernel : result.kernels)
      print(kernel);
    legend(result);
    return std::move(text_);
  }

private:
  void line(const std::string& text) { text_ += text + "\n"; }
  void field(std::string_view name, const std::string& value) {
    text_ += labelled(style_, name, value, width_);
  }

  void print(const KernelResult& kernel) {
    line("");
    line(style_.bold(fmt::format("{} on {}", display_name(printable(kernel.name)), printable(kernel.gpu))));
    if (!kernel.code)
      return field("code", "not known, because " + why_no_code(kernel));
    head(kernel);
    line("");
    std::string headings, units;
    for (const SassColumn& column : sass_columns) {
      headings += padded(column, column.heading);
      units += padded(column, column.unit);
    }
    line(style_.dim(headings + " instruction"));
    line(style_.dim(without_trailing_blanks(units)));
    const bool by_time = options_.sort != nullptr;
    std::uint32_t function = 0;
    for (const InstructionResult* const instruction : instructions_of(*kernel.code, by_time)) {
      if (!by_time && instruction->function != function) {
        function = instruction->function;
        line(style_.dim(cut(printable(kernel.code->functions[function]), width_)));
      }
      print(*instruction, kernel);
    }
  }

  void head(const KernelResult& kernel) {
    const CodeResult& code = *kernel.code;
    std::uint64_t executed = code.accesses_apart + code.executions_left_out;
    for (const InstructionResult& instruction : code.instructions)
      executed += instruction.executions;
    const double scale = blocks_per_snapshot_block(kernel);
    field("code", fmt::format("{}{} instructions, {}",
                              kernel.executed ? fmt::format("sm_{}, ", kernel.executed->architecture) : "",
                              code.instructions.size() + code.left_out, way(kernel)));
    std::string sum = fmt::format("{} warp instructions", executed);
    if (scale > 1)
      sum += fmt::format(" in the snapshot, which stand for {} of the launch",
                         short_count(double(executed) * scale));
    if (code.accesses_apart != 0)
      sum += fmt::format("; {} of them are accesses whose instruction is not known", code.accesses_apart);
    field("executed", sum);
    if (code.left_out != 0)
      field("left out", fmt::format("{} instructions that are executed least, {} times in all", code.left_out,
                                    code.executions_left_out));
    if (!kernel.time)
      field("time", "not known, because " + why_no_time(kernel));
    files_ = files_of(code);
    for (std::size_t i = 0; i < files_.size(); ++i)
      field(i == 0 ? "source" : "",
            files_.size() == 1 ? code.files[files_[i]] : fmt::format("{}: {}", i + 1, code.files[files_[i]]));
  }

  /// Returns how the instructions that warps executed are known.
  static std::string way(const KernelResult& kernel) {
    const bool knows_lanes =
        std::ranges::any_of(kernel.code->instructions, [](const InstructionResult& instruction) {
          return instruction.active_lanes.has_value();
        });
    return knows_lanes ? "executed beside the program"
                       : "the way of warps inferred from their accesses; lanes are not known";
  }

  /// Returns the files that instructions name, in the order of the instructions.
  static std::vector<std::uint32_t> files_of(const CodeResult& code) {
    std::vector<std::uint32_t> files;
    for (const InstructionResult& instruction : code.instructions)
      if (instruction.line != 0 && std::ranges::find(files, instruction.file) == files.end())
        files.push_back(instruction.file);
    return files;
  }

  std::string place_of(const InstructionResult& instruction) const {
    if (instruction.line == 0)
      return "-";
    if (files_.size() == 1)
      return std::to_string(instruction.line);
    return fmt::format("{}:{}", std::ranges::find(files_, instruction.file) - files_.begin() + 1,
                       instruction.line);
  }

  void print(const InstructionResult& instruction, const KernelResult& kernel) {
    const SiteResult* const site = site_of(instruction, kernel);
    const std::optional<double> time = time_share(instruction);
    const std::optional<WarpState> state = longest_state(instruction);
    const std::string texts[] = {
        fmt::format("{:#06x}", instruction.offset),
        short_count(double(instruction.executions)),
        instruction.active_lanes ? fmt::format("{:.1f}", *instruction.active_lanes) : "-",
        time ? percent(*time) : "-",
        state ? std::string(name_of(*state)) : "-",
        ratio(instruction.sectors == 0
                  ? std::nullopt
                  : std::optional(double(instruction.sectors) / double(instruction.requests))),
        site != nullptr && site->site.kind != AccessKind::store ? nanoseconds(site->latency_ns) : "-",
        place_of(instruction)};
    std::string figures;
    for (std::size_t i = 0; i < std::size(sass_columns); ++i)
      figures += padded(sass_columns[i], texts[i]);
    const std::size_t gutter = width_of(figures) + 1;
    std::string before = figures + " ";
    for (const std::string& part :
         wrapped_code(printable(instruction.text), std::max(width_, gutter + min_code_width) - gutter)) {
      line(before + part);
      before.assign(gutter, ' ');
    }
  }

  void legend(const Result& result) {
    if (std::ranges::none_of(result.kernels,
                             [](const KernelResult& kernel) { return kernel.code.has_value(); }))
      return;
    line("");
    for (const char* const text :
         {"warp execs  executions by warps, of the snapshot; a predicate may be false in all lanes",
          "time %      the share of the warps' time in which they wait to issue it, or issue it; mostly: in "
          "which state, by Nsight Compute's names",
          "latency     of the access in the source that it makes, in the mean over all instructions that do"})
      for (std::string before; const std::string& part : wrapped(text, width_ - 12)) {
        line(style_.dim(before + part));
        before.assign(12, ' ');
      }
  }

  const TextOptions& options_;
  std::size_t width_;
  Style style_;
  std::string text_;
  std::vector<std::uint32_t> files_; ///< of the kernel: files_of()
};

} // namespace

std::string print_sass(const Result& result, const TextOptions& options) {
  return SassReport(options).print(result);
}

} // namespace warplens::report
