// The contents of an nvcc command line.
#pragma once

#include "support/expected.h"
#include "toolchain/nvcc/nvcc_grammar.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace warplens::toolchain {

struct NvccArguments {
  std::vector<NvccArgument> all;          ///< in their order, for the real nvcc
  std::vector<std::string> architectures; ///< "80", "90a", … ascending by number; empty: nvcc's default
  std::vector<std::string> preprocessing; ///< -I, -isystem, -D, -U and -include, as clang takes them
  std::vector<std::string> host_compiler; ///< the host compiler's arguments after -Xcompiler
  std::string compiler_binary;            ///< -ccbin; empty: nvcc's own choice
  std::vector<std::string> linking;       ///< -L, -l, objects and -Wl,… as the host linker driver takes them
  std::vector<std::string> cuda_inputs;   ///< the sources that nvcc compiles as CUDA
  std::string standard;                   ///< "c++17"; empty: the default
  std::string optimisation;               ///< "-O3"; empty: the default
  std::string output;                     ///< -o
  std::string output_directory;           ///< -odir
  std::string dependency_file, dependency_target; ///< -MF, -MT
  OptionKind dependencies = OptionKind::other;    ///< dependencies, user_dependencies, or none wanted
  bool dependency_phony = false;                  ///< -MP
  OptionKind phase = OptionKind::link;            ///< compile, compile_relocatable, compile_whole, link,
                                                  ///< library_archive, run, device_link or no_object
  bool fast_math = false;
  bool fused_multiply_add = true;
  bool flush_to_zero = false; ///< implied by fast_math
  bool extended_lambda = false;
  bool relaxed_constexpr = false;
  bool device_debug = false; ///< -G
  bool host_debug = false;   ///< -g
  bool per_thread_stream = false;
  bool relocatable = false;
  bool hidden_entities = true; ///< whether kernels and variables are hidden from other libraries
  bool keep = false;
  bool verbose = false;
};

/// Parses a command line. The error names the argument and its fault.
Expected<NvccArguments> parse_nvcc_arguments(const std::vector<std::string>& words);

/// Returns the dialect in which a source is compiled with probes: the user's own, but C++14 for older ones,
/// since the probes and CUDA's headers as Clang reads them need that.
std::string dialect_with_probes(const NvccArguments& nvcc);

/// Returns the words of all arguments for which `drop` returns false.
std::vector<std::string> words_without(const NvccArguments& nvcc,
                                       const std::function<bool(const NvccArgument&)>& drop);

} // namespace warplens::toolchain
