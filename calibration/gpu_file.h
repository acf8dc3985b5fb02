// Findings → a GPU file that `--gpu FILE` takes.
#pragma once

#include "calibration/analyse.h"

#include <string>

namespace warplens::calibration {

/// The file's text. Figures that nothing was found of are assumptions and say so; so do those that no
/// measurement here can find. `when` is a date, for the sources. The error says what device.csv lacks.
Expected<std::string> print_gpu_file(const Curves& curves, const Findings& findings, const std::string& when);

/// What was found that a GPU file has no figure for, one line each, for people.
std::string print_findings(const Curves& curves, const Findings& findings);

} // namespace warplens::calibration
