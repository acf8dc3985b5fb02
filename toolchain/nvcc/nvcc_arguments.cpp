#include "toolchain/nvcc/nvcc_arguments.h"

#include "toolchain/ptx/ptxas.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace warplens::toolchain {
namespace {

/// Returns the architecture in "sm_80", "compute_90a", … → "80", "90a"; nothing for native, all and
/// all-major, which name none.
Expected<std::optional<std::string>> architecture_of(const std::string& value) {
  if (value == "native" || value == "all" || value == "all-major")
    return std::nullopt;
  for (std::string_view prefix : {"sm_", "compute_", "lto_"})
    if (value.starts_with(prefix) && architecture_number(value.substr(prefix.size())) > 0)
      return value.substr(prefix.size());
  return fail("nvcc argument -arch: '{}' is not an architecture (sm_80, for example)", value);
}

Expected<void> add_architecture(NvccArguments& result, const std::string& value) {
  TRY_LET(architecture, architecture_of(value));
  if (*architecture && std::ranges::find(result.architectures, **architecture) == result.architectures.end())
    result.architectures.push_back(**architecture);
  return {};
}

Expected<void> add_code_generation(NvccArguments& result, const std::string& value) {
  for (const auto& part : split_commas(value))
    if (part.starts_with("arch="))
      return add_architecture(result, part.substr(5));
  return fail("nvcc argument -gencode: '{}' has no arch=", value);
}

/// Sets the phase that ends earlier: `-c -ptx` is a query, `-c -lib` compiles.
void set_phase(NvccArguments& result, OptionKind phase) {
  constexpr std::array order{OptionKind::link,
                             OptionKind::run,
                             OptionKind::library_archive,
                             OptionKind::compile,
                             OptionKind::compile_relocatable,
                             OptionKind::compile_whole,
                             OptionKind::device_link,
                             OptionKind::no_object};
  const auto rank = [&](OptionKind kind) { return std::ranges::find(order, kind) - order.begin(); };
  if (rank(phase) > rank(result.phase))
    result.phase = phase;
}

Expected<void> apply(NvccArguments& result, const NvccArgument& argument) {
  const auto& value = argument.value;
  const auto add = [](std::vector<std::string>& list, std::initializer_list<std::string> arguments) {
    list.insert(list.end(), arguments);
  };
  const auto add_list = [&](std::vector<std::string>& list, const char* flag) {
    for (const auto& part : split_commas(value))
      list.push_back(flag + part);
  };
  switch (argument.kind) {
  case OptionKind::include_path: add_list(result.preprocessing, "-I"); break;
  case OptionKind::system_include_path:
    for (const auto& folder : split_commas(value))
      add(result.preprocessing, {"-isystem", folder});
    break;
  case OptionKind::define:
    for (const auto& definition : split_definitions(value))
      add(result.preprocessing, {"-D" + definition});
    break;
  case OptionKind::undefine: add_list(result.preprocessing, "-U"); break;
  case OptionKind::include_file:
    for (const auto& file : split_commas(value))
      add(result.preprocessing, {"-include", file});
    break;
  case OptionKind::standard: result.standard = value; break;
  case OptionKind::optimisation: result.optimisation = "-O" + value; break;
  case OptionKind::architecture: return add_architecture(result, value);
  case OptionKind::code_generation: return add_code_generation(result, value);
  case OptionKind::fast_math: result.fast_math = result.flush_to_zero = true; break;
  case OptionKind::fused_multiply_add: result.fused_multiply_add = value == "true"; break;
  case OptionKind::flush_to_zero: result.flush_to_zero = value == "true"; break;
  case OptionKind::host_compiler: {
    TRY_LET(options, split_compiler_options(value));
    result.host_compiler.insert(result.host_compiler.end(), options->begin(), options->end());
    break;
  }
  case OptionKind::unknown: add(result.host_compiler, {value}); break;
  case OptionKind::linker: add_list(result.linking, "-Wl,"); break;
  case OptionKind::library: add_list(result.linking, "-l"); break;
  case OptionKind::library_path: add_list(result.linking, "-L"); break;
  case OptionKind::extended_lambda: result.extended_lambda = true; break;
  case OptionKind::relaxed_constexpr: result.relaxed_constexpr = true; break;
  case OptionKind::device_debug: result.device_debug = true; break;
  case OptionKind::host_debug: result.host_debug = true; break;
  case OptionKind::default_stream: result.per_thread_stream = value == "per-thread"; break;
  case OptionKind::keep: result.keep = true; break;
  case OptionKind::verbose: result.verbose = true; break;
  case OptionKind::parallelism:
    if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos)
      return fail("nvcc argument --threads: '{}' is not a number", value);
    break;
  case OptionKind::relocatable: result.relocatable = value == "true"; break;
  case OptionKind::compiler_binary: result.compiler_binary = value; break;
  case OptionKind::hidden_entities: result.hidden_entities = value != "false"; break;
  case OptionKind::output: result.output = value; break;
  case OptionKind::output_directory: result.output_directory = value; break;
  case OptionKind::dependencies:
  case OptionKind::user_dependencies: result.dependencies = argument.kind; break;
  case OptionKind::dependency_file: result.dependency_file = value; break;
  case OptionKind::dependency_target: result.dependency_target = value; break;
  case OptionKind::dependency_phony: result.dependency_phony = true; break;
  case OptionKind::compile_relocatable:
    result.relocatable = true;
    set_phase(result, argument.kind);
    break;
  case OptionKind::compile:
  case OptionKind::compile_whole:
  case OptionKind::link:
  case OptionKind::library_archive:
  case OptionKind::run:
  case OptionKind::device_link:
  case OptionKind::no_object: set_phase(result, argument.kind); break;
  case OptionKind::input:
  case OptionKind::language:
  case OptionKind::options_file:
  case OptionKind::forward_unknown:
  case OptionKind::keep_directory:
  case OptionKind::timing:
  case OptionKind::other: break;
  }
  return {};
}

bool is_linker_input(std::string_view file) {
  constexpr auto endings = std::to_array<std::string_view>({".o", ".obj", ".a", ".lib", ".so", ".res"});
  return std::ranges::any_of(endings, [&](std::string_view ending) { return file.ends_with(ending); }) ||
         file.find(".so.") != std::string_view::npos;
}

/// Sorts the inputs: objects and libraries by their names, other files by -x or by their names.
void sort_inputs(NvccArguments& result) {
  const auto language =
      std::ranges::find(result.all.rbegin(), result.all.rend(), OptionKind::language, &NvccArgument::kind);
  for (const auto& argument : result.all) {
    if (argument.kind != OptionKind::input)
      continue;
    const auto& file = argument.value;
    if (is_linker_input(file))
      result.linking.push_back(file);
    else if (language == result.all.rend() ? file.ends_with(".cu") : language->value == "cu")
      result.cuda_inputs.push_back(file);
  }
}

} // namespace

Expected<NvccArguments> parse_nvcc_arguments(const std::vector<std::string>& words) {
  TRY_LET(all, read_nvcc_arguments(words));
  NvccArguments result;
  result.all = std::move(*all);
  for (const auto& argument : result.all)
    TRY(apply(result, argument));
  sort_inputs(result);
  std::ranges::sort(result.architectures, {}, architecture_number);
  return result;
}

std::string dialect_with_probes(const NvccArguments& nvcc) {
  if (nvcc.standard.empty())
    return "c++17"; // nvcc 13's default
  return nvcc.standard == "c++03" || nvcc.standard == "c++11" ? "c++14" : nvcc.standard;
}

std::vector<std::string> words_without(const NvccArguments& nvcc,
                                       const std::function<bool(const NvccArgument&)>& drop) {
  std::vector<std::string> words;
  for (const auto& argument : nvcc.all)
    if (!drop(argument))
      words.insert(words.end(), argument.words.begin(), argument.words.end());
  return words;
}

} // namespace warplens::toolchain
