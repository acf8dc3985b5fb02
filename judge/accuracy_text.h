// How far off a GPU's model was, in words.
#pragma once

#include "result/result.h"

namespace warplens::judge {

/// Returns all that is known of how far off a kernel's figures may be, as one sentence without an end: "time
/// 14 % off in the mean and 41 % at worst …", of whose measurements it is, and what was not among them.
std::string accuracy_text(const std::optional<Accuracy>& accuracy, std::string_view gpu);

/// Returns the note beside a GPU's name: "times of v100 are 14 % off in the mean".
std::string accuracy_in_mean(const std::optional<Accuracy>& accuracy);

/// Returns the note beside a kernel's time: "hardware: 10 to 15 µs in nine cases of ten, by 23 launches bound
/// by DRAM measured on v100"; or how far off times of the GPU are in the mean, where nothing like it was
/// measured.
std::string accuracy_beside_time(const KernelResult& kernel);

/// Returns a line for each kind of launches of which it is known how far off their times are: "bound by DRAM:
/// within 1.21 × in nine cases of ten, by 23 launches bound by DRAM measured on v100".
std::vector<std::string> accuracy_by_kind(const Accuracy& accuracy);

} // namespace warplens::judge
