// Decides without parsing whether a source can have anything to probe.
#pragma once

#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::rewriter {

/// Returns false if no file of the user's in this compilation has code of its own for the device, as in a
/// source that only calls Thrust's algorithms, which takes nvcc's parser and Clang's several seconds. The
/// files are preprocessed, for one architecture, and their inactive parts searched, too. The function errs
/// towards true; it leaves a source that cannot be preprocessed to the parser's error messages.
Expected<bool> may_have_device_code(const std::vector<std::string>& arguments, const std::string& source);

} // namespace warplens::rewriter
