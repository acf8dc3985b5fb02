// Results → what a baseline keeps of them.
#pragma once

#include "result/baseline.h"
#include "result/result.h"
#include "support/expected.h"

#include <vector>

namespace warplens::report {

/// Returns what a baseline keeps of each kernel of the result, in the result's order. Kernels whose identity
/// `known` has stay as recorded there: the result may have nothing more of them. The error names a kernel of
/// whose trials the result does not have all, or that an older version of Warplens modelled.
Expected<std::vector<RecordedKernel>> recorded_kernels(const Result& result, const Baseline& known);

/// Returns the program's name in a baseline: its source, or its own name, and its arguments.
std::string recorded_program(const std::string& program, const std::string& arguments);

/// Returns a result whose kernels have nothing but names and identities, those of the baseline for the
/// program: equal ones need not be modelled again.
Result known_kernels(const Baseline& baseline, const std::string& program);

} // namespace warplens::report
