// The curves as pictures, by gnuplot.
#pragma once

#include <string>

namespace warplens::calibration {

/// A script for gnuplot that, run in the curves' folder, draws each curve that is there into an SVG file of
/// its name.
std::string print_plot_script(const std::string& gpu);

} // namespace warplens::calibration
