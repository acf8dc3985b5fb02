// The words in which the text and the page print an estimator's figures of a placement.
#pragma once

#include "placement/experiment.h"

#include <string>

namespace warplens::placement {

/// Returns the figure of a placement: a time without its interval, or PORPLE's cycles.
std::string figure_text(const Candidate& candidate);

/// Returns that of the trace's placement, with the interval that it has.
std::string sample_text(const Experiment& experiment);

/// Returns the change against the trace's placement, with its interval where it has one: "-5 % ±1".
std::string change_text(const Candidate& candidate, const Experiment& experiment);

/// Returns what decides the figure: what binds the kernel in the model, or the paper's parts; empty: nothing
/// does.
std::string deciding_parts(const Candidate& candidate, const Experiment& experiment);

/// Returns what is not known of a placement: "no measured kernel has textures"; empty: nothing is.
std::string doubt_text(const Candidate& candidate);

/// Returns how the figure of the compiled source stands to that of the moved trace, or why the source was not
/// compiled; empty: that was not tried.
std::string source_text(const Candidate& candidate);

/// Returns the reasons of all refusals as one line: "131072 B of 65536 (nn.cu:41)".
std::string text_of(const std::vector<Reason>& reasons);

/// Returns how far off the model of the GPU was, and what was not measured, as reports of `profile` say it.
std::string accuracy_of_model(const Experiment& experiment);

/// Returns where the figures are from: "modelled, scaled to the measured time".
std::string origin_of_figures(const Experiment& experiment);

} // namespace warplens::placement
