// The grammar of nvcc 13's command line: the options, their spellings, and which take a value.
#pragma once

#include "support/expected.h"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::toolchain {

/// The kind of an option. Most options only matter to nvcc, which gets them unchanged.
enum class OptionKind {
  input,   ///< not an option: a file
  unknown, ///< an option of the host compiler's, if those are forwarded
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
  host_debug,
  default_stream,
  compiler_binary, ///< -ccbin
  timing,          ///< -time, -fdevice-time-trace: files about nvcc's own work
  relocatable,
  hidden_entities, ///< -device-entity-has-hidden-visibility
  language,
  output,
  output_directory,
  options_file,
  forward_unknown,
  compile,             ///< -c
  compile_relocatable, ///< -dc
  compile_whole,       ///< -dw
  link,                ///< nvcc's default phase
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
  OptionKind kind = OptionKind::other;
  std::string value;              ///< also an input's path
  std::vector<std::string> words; ///< one or two words, unchanged
};

/// Returns the arguments in their order, with the contents of options files in place. The error names the
/// word that is not nvcc's.
Expected<std::vector<NvccArgument>> read_nvcc_arguments(const std::vector<std::string>& words);

/// Splits a list as nvcc does: at commas that neither a backslash nor double quotes shield, and without these
/// signs: `a,b\,c,"d,e"` → "a", "b,c", "d,e".
std::vector<std::string> split_commas(std::string_view text);

/// Splits the value of -D, which is a list as well, but keeps the double quotes of a macro's text:
/// `A,B=1\,2,C="d,e",D=\"f\"` → `A`, `B=1,2`, `C="d,e"`, `D="f"`.
std::vector<std::string> split_definitions(std::string_view text);

/// Splits the value of -Xcompiler. nvcc puts a blank in the place of each unshielded comma, and a shell
/// splits what that gives: `-DA -DB=1\,2,-DC='x y'` → "-DA", "-DB=1,2", "-DC=x y".
Expected<std::vector<std::string>> split_compiler_options(std::string_view text);

} // namespace warplens::toolchain
