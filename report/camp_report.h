// Estimates of how kernels slow each other down, as text and as JSON, schema `warplens-corun/1`.
#pragma once

#include "judge/pair_estimates.h"
#include "report/report.h"

#include <span>
#include <string>

namespace warplens::report {

/// Prints the pairs, and all of the kernels at once where `together` is there.
std::string print_pairs_text(std::span<const KernelResult> kernels, std::span<const judge::SharedL2> pairs,
                             const judge::SharedByAll* together, const TextOptions& options);
/// Schema `warplens-corun/1`, with method "camp": no estimate was measured, `validated` is false.
std::string print_pairs_json(std::span<const KernelResult> kernels, std::span<const judge::SharedL2> pairs,
                             const judge::SharedByAll* together);

} // namespace warplens::report
