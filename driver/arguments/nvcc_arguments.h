// What a command line of nvcc's asks for.
#pragma once

#include "driver/arguments/nvcc_grammar.h"
#include "support/expected.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace warplens::driver {

struct NvccArguments {
  std::vector<NvccArgument> all;          ///< in their order, for the real nvcc
  std::vector<std::string> architectures; ///< "80", "90a", … ascending by number; empty: nvcc's default
  std::vector<std::string> preprocessing; ///< -I, -isystem, -D, -U and -include, as clang takes them
  std::vector<std::string> host_compiler; ///< what -Xcompiler hands on
  std::vector<std::string> linking;       ///< -L, -l, objects and -Wl,… as the host linker driver takes them
  std::vector<std::string> cuda_inputs;   ///< the sources that nvcc takes for CUDA
  std::string standard;                   ///< "c++17"; empty: the default
  std::string optimisation;               ///< "-O3"; empty: the default
  std::string output;                     ///< -o
  std::string output_directory;           ///< -odir
  std::string dependency_file, dependency_target; ///< -MF, -MT
  Meaning dependencies = Meaning::other;          ///< dependencies, user_dependencies, or none wanted
  bool dependency_phony = false;                  ///< -MP
  Meaning phase = Meaning::link; ///< compile, compile_relocatable, compile_whole, link, library_archive, run,
                                 ///< device_link or no_object
  bool fast_math = false;
  bool fused_multiply_add = true;
  bool flush_to_zero = false; ///< implied by fast_math
  bool extended_lambda = false;
  bool relaxed_constexpr = false;
  bool device_debug = false;
  bool per_thread_stream = false;
  bool relocatable = false;
  bool keep = false;
  bool verbose = false;
};

/// The error names the argument and says what is wrong with it.
Expected<NvccArguments> parse_nvcc_arguments(const std::vector<std::string>& words);

/// The words of all arguments but those that `drop` says yes to.
std::vector<std::string> words_without(const NvccArguments& nvcc,
                                       const std::function<bool(const NvccArgument&)>& drop);

} // namespace warplens::driver
