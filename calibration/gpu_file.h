// Turns findings into a GPU file that `--gpu FILE` takes.
#pragma once

#include "calibration/analyse.h"

#include <string>

namespace warplens::calibration {

/// Returns the file's text. Figures without a finding, and those that no measurement here can find, are
/// assumptions and marked as such. `when` is a date, for the sources. The error names the value that
/// device.csv lacks.
Expected<std::string> print_gpu_file(const Curves& curves, const Findings& findings, const std::string& when);

/// Returns the findings that a GPU file has no figure for, one line each, for people.
std::string print_findings(const Curves& curves, const Findings& findings);

} // namespace warplens::calibration
