// The power of kernels as a document and as JSON, schema `warplens-power/1`.
#pragma once

#include "document/document.h"
#include "judge/powered_kernel.h"

#include <span>
#include <string>

namespace warplens::report {

/// Returns each kernel's power, its parts, and the lines that take its energy; people read those that take
/// most.
document::Document power_document(std::span<const judge::PoweredKernel> kernels);
std::string print_power_json(std::span<const judge::PoweredKernel> kernels);

} // namespace warplens::report
