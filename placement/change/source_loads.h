// Edits of sources that several changes share: each load of an array as another expression.
#pragma once

#include "placement/change/suggested.h"
#include "placement/moved_source.h"
#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::placement {

/// Returns the lines as a text.
std::string joined_lines(const std::vector<std::string>& lines);

/// Returns the kernel's name without its namespaces, template arguments and parameters.
std::string base_name(const std::string& kernel);

/// Returns the source with a function around each load of the array, which takes its address. The error says
/// which load is not of a form that this edit takes.
Expected<std::string> source_with_loads_by(const std::string& function, const TracedKernel& kernel,
                                           const Array& array, const std::string& source);

/// Returns the source with the array, a parameter of the kernel, in the memory to which `moved` moves it.
Expected<std::string>
source_with_moved(Expected<std::string> (*moved)(const SourceArray&, const std::string&),
                  const TracedKernel& kernel, const Array& array, const std::string& source);

} // namespace warplens::placement
