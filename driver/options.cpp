#include "driver/options.h"

namespace warplens::driver {

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("--gpu", options.gpus, "GPUs to model, by name (see `warplens gpus`) or as a file")
      ->delimiter(',')
      ->type_name("NAME[,NAME...]")
      ->capture_default_str()
      ->expected(1, 64);
  command.add_option("--trials", options.trials, "Monte Carlo trials")
      ->check(CLI::Range(1u, 1000000u))
      ->capture_default_str();
  command
      .add_option("--seed", options.seed, "seed of the random numbers: the same seed gives the same result")
      ->capture_default_str();
  command
      .add_option("--threads", options.threads,
                  "cores to model with (0: all); the result does not depend on it")
      ->check(CLI::Range(0u, 1024u))
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
  command.add_option("--kernel", options.kernel, "trace only kernels whose name matches")->type_name("REGEX");
  command.add_option("--launches", options.launches, "trace the first N launches of each kernel")
      ->check(CLI::Range(1u, 1000000u))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--snapshot-blocks", options.blocks,
                  "collect exactly N blocks of a launch (default: what the GPUs ask for)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command.add_option("--trace", options.keep_trace, "keep the trace in this file")->type_name("FILE");
}

} // namespace warplens::driver
