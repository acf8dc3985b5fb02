// The part of nvcc's command line that compiling one file takes, by a table.
#pragma once

#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::driver {

struct NvccArguments {
  std::vector<std::string> original;      ///< as given, for the real nvcc
  std::vector<std::string> architectures; ///< "80", "90a", … ascending by number; empty: nvcc's default
  std::vector<std::string> preprocessing; ///< -I, -isystem, -D, -U and -include, as clang takes them
  std::vector<std::string> host_compiler; ///< what -Xcompiler hands on
  std::vector<std::string> linking;       ///< -L, -l, objects and -Wl,… as the host linker driver takes them
  std::string standard;                   ///< "c++17"; empty: the default
  std::string optimisation;               ///< "-O3"; empty: the default
  bool fast_math = false;
};

/// The error names the argument and says what is wrong with it.
Expected<NvccArguments> parse_nvcc_arguments(const std::vector<std::string>& arguments);

} // namespace warplens::driver
