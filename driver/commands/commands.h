// The subcommands. Each declares itself on the command line; the Expected that it returns when chosen
// determines the exit code.
#pragma once

#include "support/expected.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplens::driver {

/// The work that main() runs once the command line has been parsed. An error is printed and ends with exit
/// code 1.
using Action = std::function<Expected<void>()>;

/// Declares a subcommand; `rest` holds the words after `--run` or `--` on the command line.
void declare_profile(CLI::App& app, const std::vector<std::string>& rest, Action& chosen);
/// Returns the command line of `profile` for the words of `warplens FILE.cu …`, which writes the page beside
/// the report unless they choose an output; nothing if they do not begin with a file.
std::optional<std::vector<std::string>> profile_words(const std::vector<std::string>& words);
void declare_run(CLI::App& app, const std::vector<std::string>& rest, Action& chosen);
void declare_placement(CLI::App& app, const std::vector<std::string>& rest, Action& chosen);
void declare_advise(CLI::App& app, const std::vector<std::string>& rest, Action& chosen);
void declare_compile_commands(CLI::App& app, const std::vector<std::string>& rest, Action& chosen);
void declare_dram_map(CLI::App& app, Action& chosen);
void declare_patch(CLI::App& app, Action& chosen);
void declare_model(CLI::App& app, Action& chosen);
void declare_report(CLI::App& app, Action& chosen);
void declare_view(CLI::App& app, Action& chosen);
/// `exit_code` is that of a comparison that succeeds, for --exit-code verdict.
void declare_diff(CLI::App& app, Action& chosen, int& exit_code);
/// `exit_code`: likewise.
void declare_ab(CLI::App& app, const std::vector<std::string>& rest, Action& chosen, int& exit_code);
void declare_baseline(CLI::App& app, const std::vector<std::string>& rest, Action& chosen);
/// `exit_code`: that of the gate's outcome.
void declare_gate(CLI::App& app, const std::vector<std::string>& rest, Action& chosen, int& exit_code);
void declare_compare(CLI::App& app, Action& chosen);
void declare_counters(CLI::App& app, Action& chosen);
/// `exit_code`: that which the protocol wants.
void declare_lsp(CLI::App& app, const std::vector<std::string>& rest, Action& chosen, int& exit_code);
void declare_mcp(CLI::App& app, Action& chosen);

/// Describes `app`, which holds every subcommand by the time that the action runs.
void declare_help(CLI::App& app, Action& chosen);
void declare_doctor(CLI::App& app, Action& chosen);
void declare_clocks(CLI::App& app, Action& chosen);
void declare_corun(CLI::App& app, Action& chosen);
void declare_power(CLI::App& app, Action& chosen);
void declare_sweep(CLI::App& app, Action& chosen);
void declare_explain(CLI::App& app, Action& chosen);
void declare_trace(CLI::App& app, Action& chosen);
void declare_gpus(CLI::App& app, Action& chosen);
void declare_inspect(CLI::App& app, Action& chosen);
void declare_calibrate(CLI::App& app, Action& chosen);

/// Runs `warplens assemble WORDS...`, which only programs start.
Expected<void> assemble_command(const std::vector<std::string>& words);

/// Prints the text of `warplens nvcc --help`: the options that nvcc does not have. `warplens-nvcc --help` is
/// nvcc's own, as build systems expect it.
Expected<void> print_nvcc_help();

/// Runs `warplens nvcc WORDS...`, whose command line is nvcc's. Returns the exit code, as nvcc's.
int nvcc_command(std::vector<std::string> words);

} // namespace warplens::driver
