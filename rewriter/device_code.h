// Whether a source can have anything to probe, told without parsing it.
#pragma once

#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::rewriter {

/// Returns false if no file of the user's in this compilation has code of its own for the device, as in a
/// source that only calls Thrust's algorithms, which takes nvcc's parser and Clang's several seconds. The
/// files are preprocessed, for one architecture, and their inactive parts searched, too. Errors towards true;
/// a source that cannot be preprocessed is one for the parser to complain about.
Expected<bool> may_have_device_code(const std::vector<std::string>& arguments, const std::string& source);

} // namespace warplens::rewriter
