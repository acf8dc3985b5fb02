#include "driver/options.h"

#include <charconv>
#include <fmt/format.h>
#include <regex>

namespace warplens::driver {
namespace {

/// A whole number of the option's type and no less than `least`. CLI11 itself takes -1 for a large one, and
/// the largest for what is larger still.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {[=](const std::string& text) {
            std::uint64_t number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            const bool whole = error == std::errc() && end == text.data() + text.size();
            return whole && number >= least && number <= most
                       ? std::string()
                       : fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
          },
          ""};
}

/// The program would find out, but only once it runs.
std::string check_regex(const std::string& text) {
  try {
    const std::regex ignored(text, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    return fmt::format("'{}' is not a regular expression: {}", text, error.what());
  }
  return "";
}

class UsageLine : public CLI::Formatter {
public:
  explicit UsageLine(std::string usage) : usage_(std::move(usage)) { column_width(34); }
  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n"; }

private:
  std::string usage_;
};

} // namespace

void set_usage(CLI::App& command, const std::string& usage) {
  command.formatter(std::make_shared<UsageLine>(usage));
}

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("--gpu", options.gpus, "GPUs to model, by name (see `warplens gpus`) or as a file")
      ->delimiter(',')
      ->type_name("NAME[,NAME...]")
      ->capture_default_str()
      ->expected(1, 64);
  command.add_option("--trials", options.trials, "Monte Carlo trials")
      ->check(whole_number(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--seed", options.seed, "seed of the random numbers: the same seed gives the same result")
      ->check(whole_number(0, UINT64_MAX))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--threads", options.threads,
                  "cores to model with (0: all); the result does not depend on it")
      ->check(whole_number(0, 1024))
      ->type_name("N")
      ->capture_default_str();
}

void add_output_options(CLI::App& command, OutputOptions& options, Format initial) {
  options.format = initial;
  command
      .add_option_function<std::string>(
          "--format",
          [&options](const std::string& name) {
            options.format = name == "json" ? Format::json : name == "csv" ? Format::csv : Format::text;
          },
          "text: annotated source; json: warplens-result/1; csv: a row per site")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->default_str(initial == Format::json ? "json" : "text");
  command.add_option("-o,--output", options.file, "write the result to a file instead of stdout")
      ->type_name("FILE");
  command.add_flag("--quiet", options.quiet, "say nothing on stderr but errors");
}

void add_trace_options(CLI::App& command, TraceOptions& options) {
  command.add_option("--kernel", options.kernel, "trace only kernels whose name matches")
      ->type_name("REGEX")
      ->check(CLI::Validator(check_regex, ""));
  command.add_option("--launches", options.launches, "trace the first N launches of each kernel")
      ->check(whole_number(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--snapshot-blocks", options.blocks,
                  "collect exactly N blocks of a launch (default: what the GPUs ask for)")
      ->type_name("N")
      ->check(whole_number(1, std::uint64_t{1} << 48));
  command.add_flag(
      "--memcheck", options.memcheck,
      "CPU back end: report the first access out of bounds, misaligned or to freed memory, and end "
      "there (`run`: of a program that `profile --memcheck` built)");
  command.add_flag(
      "--deterministic", options.deterministic,
      "CPU back end: blocks run one after the other, so that atomics in floating point give the same "
      "sum in every run");
  command.add_option("--trace", options.keep_trace, "keep the trace in this file")->type_name("FILE");
}

} // namespace warplens::driver
