// Sources in which a kernel's array lies in constant memory or behind a texture: text in, text out.
#pragma once

#include "support/expected.h"

#include <cstdint>
#include <string>
#include <vector>

namespace warplens::placement {

/// A load of the array as the source has it.
struct SourceLoad {
  std::uint32_t line = 0, column = 0; ///< 1-based
  std::string expression;
};

/// An array that a kernel has as a parameter.
struct SourceArray {
  std::string kernel; ///< without its namespaces, template arguments and parameters
  std::string name;   ///< of the parameter
  std::uint64_t bytes = 0;
  std::vector<SourceLoad> loads;
};

/// Returns the source with the array in constant memory: each launch copies what it passes there, and the
/// loads are from the copy. The error says, as those below, what in the source is not of a form that this
/// edit takes.
Expected<std::string> source_with_constant(const SourceArray& array, const std::string& source);

/// Returns the source with a texture object over linear memory in place of the array: each launch makes one
/// of what it passes, and the loads are `tex1Dfetch`.
Expected<std::string> source_with_texture(const SourceArray& array, const std::string& source);

} // namespace warplens::placement
