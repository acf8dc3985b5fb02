// How far off a GPU's model was, in words.
#pragma once

#include "result/result.h"

namespace warplens::report {

/// Returns all that is known of how far off a kernel's figures may be, as one sentence without an end: "time
/// 14 % off in the mean and 41 % at worst …", of whose measurements it is, and what was not among them.
std::string accuracy_text(const std::optional<Accuracy>& accuracy, std::string_view gpu);

/// Returns the note beside a time: "times of v100 are 14 % off in the mean".
std::string accuracy_beside_time(const std::optional<Accuracy>& accuracy);

} // namespace warplens::report
