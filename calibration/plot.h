// Draws the curves by gnuplot.
#pragma once

#include <string>

namespace warplens::calibration {

/// Returns a script for gnuplot that, run in the curves' folder, draws each existing curve into an SVG file
/// of its name.
std::string print_plot_script(const std::string& gpu);

} // namespace warplens::calibration
