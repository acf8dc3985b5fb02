// The exit code that tells a verdict on two versions, and the options that both commands with one take.
#pragma once

#include "judge/gate.h"
#include "judge/speed_verdict.h"

#include <CLI/CLI.hpp>

namespace warplens::driver {

/// Returns the exit code of a verdict under --exit-code verdict: beside those of an error (1) and of a wrong
/// command line (2).
int exit_code_of(judge::SpeedVerdict verdict);

/// Returns the exit code of `warplens gate`.
int exit_code_of(judge::GateOutcome outcome);

/// Adds --exit-code, whose word sets `exits_with_verdict`.
void add_exit_code_option(CLI::App& command, bool& exits_with_verdict);

/// Adds --same-within.
void add_same_within_option(CLI::App& command, double& tolerance);

} // namespace warplens::driver
