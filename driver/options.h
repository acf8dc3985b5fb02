// The options that several subcommands share, and where each is declared on the command line.
#pragma once

#include "model/model.h"
#include "report/columns.h"
#include "runtime/cpu/checks.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens::driver {

enum class Backend { automatic, gpu, cpu };
enum class Format { text, json, csv, html, sarif, patch, perfetto };

/// What modelling and reporting take.
struct ModelOptions {
  std::vector<std::string> gpus{"a100"};
  std::string schedule, placement, start; ///< empty: as the GPU's file says
  std::uint32_t trials = 64;              ///< at most
  model::Confidence confidence;
  bool cold = false; ///< launches begin with an empty L2
  bool timeline = false;
  std::uint32_t timeline_bins = 256;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  model::Ranks ranks;                           ///< not an option: `model` under mpirun
  std::optional<std::uint64_t> snapshot_blocks; ///< of a launch; empty: as many as the GPUs ask for
};

struct OutputOptions {
  Format format = Format::text;
  std::string file; ///< empty: stdout
  bool quiet = false;
  std::vector<const report::Column*> columns; ///< text and patch; empty: the usual ones
  const report::Column* sort = nullptr;       ///< text: sites by this figure; null: as in the source
  std::optional<unsigned> width;              ///< text; empty: the terminal's
  double threshold = 0.05;                    ///< sarif: the least share of the latency
};

/// What a run of an instrumented program takes.
struct TraceOptions {
  std::string kernel; ///< regex; empty: every kernel
  std::uint32_t launches = 1;
  std::string keep_trace; ///< empty: the trace is temporary
  cpu::Checks checks;
  bool deterministic = false;
};

/// --memcheck and its like are flags of the CPU back end.
void add_check_options(CLI::App& command, cpu::Checks& checks);

/// What is wrong with an option's value, or nothing: for CLI::Validator.
std::string check_regex(const std::string& text);
std::string check_fraction(const std::string& text);

/// Does it show the time-lapse? Then the model makes one, asked for or not.
bool shows_timeline(Format format);

/// A subcommand's help starts with this line, for CLI11 knows nothing of what follows `--run` and `--`.
void set_usage(CLI::App& command, const std::string& usage);

void add_model_options(CLI::App& command, ModelOptions& options);
void add_output_options(CLI::App& command, OutputOptions& options, Format initial);
void add_trace_options(CLI::App& command, TraceOptions& options);

} // namespace warplens::driver
