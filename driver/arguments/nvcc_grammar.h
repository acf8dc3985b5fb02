// The grammar of nvcc 13's command line: which options there are, how each is spelled, which take a value.
#pragma once

#include "support/expected.h"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::driver {

/// What an option means to us. Most only matter to nvcc, which gets them as they stand.
enum class Meaning {
  input,   ///< not an option: a file
  unknown, ///< an option of the host compiler's, where those are forwarded
  other,
  include_path,
  system_include_path,
  define,
  undefine,
  include_file,
  standard,
  optimisation,
  architecture,
  code_generation,
  fast_math,
  fused_multiply_add, ///< -fmad
  flush_to_zero,      ///< -ftz
  host_compiler,
  linker,
  library,
  library_path,
  extended_lambda,
  relaxed_constexpr,
  device_debug,
  default_stream,
  relocatable,
  language,
  output,
  output_directory,
  options_file,
  forward_unknown,
  compile,             ///< -c
  compile_relocatable, ///< -dc
  compile_whole,       ///< -dw
  link,                ///< what nvcc does without any of these
  library_archive,     ///< -lib
  device_link,         ///< -dlink
  no_object,    ///< anything that ends before there is a host object: -ptx, -E, -M, --version, --dryrun, …
  dependencies, ///< -MD
  user_dependencies, ///< -MMD
  dependency_file,   ///< -MF
  dependency_target, ///< -MT
  dependency_phony,  ///< -MP
  run,               ///< -run: link, then start the program
  keep,              ///< --keep, --save-temps
  keep_directory,    ///< --keep-dir
  parallelism,       ///< --threads
  verbose,           ///< -v
};

struct NvccArgument {
  Meaning meaning = Meaning::other;
  std::string value;              ///< an input's path, too
  std::vector<std::string> words; ///< as given; one or two
};

/// The arguments in their order, options files put in where they stand. The error names the word that is not
/// nvcc's.
Expected<std::vector<NvccArgument>> read_nvcc_arguments(const std::vector<std::string>& words);

/// "a,b" → "a", "b".
std::vector<std::string> split_commas(std::string_view text);

} // namespace warplens::driver
