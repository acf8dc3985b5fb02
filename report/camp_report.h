// Estimates of how kernels slow each other down, as a document and as JSON, schema `warplens-corun/1`.
#pragma once

#include "document/document.h"
#include "judge/pair_estimates.h"

#include <span>
#include <string>

namespace warplens::report {

/// Returns the pairs, and all of the kernels at once where `together` is there. People read the first 40
/// pairs.
document::Document pairs_document(std::span<const KernelResult> kernels,
                                  std::span<const judge::SharedL2> pairs, const judge::SharedByAll* together);
/// Schema `warplens-corun/1`, with method "camp": no estimate was measured, `validated` is false.
std::string print_pairs_json(std::span<const KernelResult> kernels, std::span<const judge::SharedL2> pairs,
                             const judge::SharedByAll* together);

} // namespace warplens::report
