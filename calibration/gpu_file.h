// Turns findings into a GPU file that `--gpu FILE` takes.
#pragma once

#include "calibration/analyse.h"
#include "document/document.h"
#include "model/gpu/nearest_gpu.h"

#include <string>

namespace warplens::calibration {

/// Returns the file's text, in the order of model::parameters(). Parameters that nothing here finds are those
/// of the GPU's nearest relative, and figures without a finding are assumptions; both are marked as such.
/// `when` is a date, for the sources. The error names the value that device.csv lacks.
Expected<std::string> print_gpu_file(const Curves& curves, const Findings& findings, const std::string& when,
                                     const model::GpuFigures& relative);

/// Returns the GPU's compute capability, 8.9.
Expected<double> compute_capability(const Curves& curves);

/// Returns what was found, a row each, among it what a GPU file has no figure for.
document::Document findings_document(const Curves& curves, const Findings& findings);

} // namespace warplens::calibration
