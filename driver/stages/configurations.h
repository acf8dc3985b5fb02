// The configurations of a sweep: the values of its parameters, and the words that they fill in.
#pragma once

#include "significance/run_set.h"
#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::driver {

/// A parameter of a sweep or a scan with its values: `n=60:200:5` (from, to, step) or `t=8,16`.
struct VariedParameter {
  std::string name;
  std::vector<std::string> values;
};

/// The error names the option.
Expected<VariedParameter> parse_varied(const std::string& text, const std::string& option = "--vary");

/// Returns all combinations; the last parameter varies fastest.
Expected<std::vector<significance::Parameters>> configurations_of(const std::vector<VariedParameter>& varied);

/// Replaces each `{name}` by the parameter's value. An error names a parameter that there is not.
Expected<std::string> fill_in(const std::string& text, const significance::Parameters& parameters,
                              const std::string& option = "--vary");

/// Returns whether the text has `{name}`.
bool mentions(const std::string& text, const std::string& name);

/// Reads the parameters out of a file's name by a pattern such as `gemm_{n}.csv`. The error names both.
Expected<significance::Parameters> parameters_in(const std::string& file, const std::string& pattern);

} // namespace warplens::driver
