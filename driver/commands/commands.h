// The subcommands. Each declares itself on the command line; what it returns when chosen is the exit code's
// cause.
#pragma once

#include "support/expected.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace warplens::driver {

/// What main() runs once the command line has been parsed. An error is printed and ends with exit code 1.
using Action = std::function<Expected<void>()>;

/// `rest` holds what followed `--run` or `--` on the command line.
void declare_profile(CLI::App& app, const std::vector<std::string>& rest, Action& chosen);
void declare_run(CLI::App& app, const std::vector<std::string>& rest, Action& chosen);
void declare_compile_commands(CLI::App& app, const std::vector<std::string>& rest, Action& chosen);
void declare_patch(CLI::App& app, Action& chosen);
void declare_model(CLI::App& app, Action& chosen);
void declare_report(CLI::App& app, Action& chosen);
void declare_diff(CLI::App& app, Action& chosen);
void declare_trace(CLI::App& app, Action& chosen);
void declare_gpus(CLI::App& app, Action& chosen);
void declare_calibrate(CLI::App& app, Action& chosen);

/// What `warplens nvcc --help` prints: the options that nvcc does not have. `warplens-nvcc --help` is nvcc's
/// own, as build systems expect it.
Expected<void> print_nvcc_help();

/// `warplens nvcc WORDS...`, whose command line is nvcc's. The exit code, as nvcc's.
int nvcc_command(std::vector<std::string> words);

} // namespace warplens::driver
