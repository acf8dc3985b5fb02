// The options that several subcommands share, and where each is declared on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens::driver {

enum class Backend { automatic, gpu, cpu };
enum class Format { text, json, csv };

/// What modelling and reporting take.
struct ModelOptions {
  std::vector<std::string> gpus{"a100"};
  std::uint32_t trials = 64;
  std::uint64_t seed = 1;
  unsigned threads = 0;
};

struct OutputOptions {
  Format format = Format::text;
  std::string file; ///< empty: stdout
  bool quiet = false;
};

/// What a run of an instrumented program takes.
struct TraceOptions {
  std::string kernel; ///< regex; empty: every kernel
  std::uint32_t launches = 1;
  std::optional<std::uint64_t> blocks;
  std::string keep_trace; ///< empty: the trace is temporary
  bool memcheck = false;
  bool deterministic = false;
};

/// A subcommand's help starts with this line, for CLI11 knows nothing of what follows `--run` and `--`.
void set_usage(CLI::App& command, const std::string& usage);

void add_model_options(CLI::App& command, ModelOptions& options);
void add_output_options(CLI::App& command, OutputOptions& options, Format initial);
void add_trace_options(CLI::App& command, TraceOptions& options);

} // namespace warplens::driver
