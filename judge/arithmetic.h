// Says which arithmetic takes a kernel's time.
#pragma once

#include "result/result.h"

#include <string>

namespace warplens::judge {

/// Returns which line issues most of the instructions of the pipe that bounds the kernel, or of all where
/// their issue does, as one clause; an empty text where neither does.
std::string arithmetic_verdict_on(const KernelResult& kernel);

/// Returns whether the FP64 pipe bounds the kernel, and what it takes are floats for a notable part: the line
/// with most of its instructions converts them to doubles and back.
bool computes_floats_as_doubles(const KernelResult& kernel);

} // namespace warplens::judge
