#include "driver/arguments/nvcc_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace warplens::driver {
namespace {

int architecture_number(const std::string& architecture) {
  int number = 0;
  std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
  return number;
}

/// "sm_80", "compute_90a", … → "80", "90a"; nothing for native, all and all-major, which name no
/// architecture.
Expected<std::optional<std::string>> architecture_of(const std::string& value) {
  if (value == "native" || value == "all" || value == "all-major")
    return std::nullopt;
  for (std::string_view prefix : {"sm_", "compute_", "lto_"})
    if (value.starts_with(prefix) && architecture_number(value.substr(prefix.size())) > 0)
      return value.substr(prefix.size());
  return fail("nvcc argument -arch: '{}' is not an architecture (sm_80, for example)", value);
}

Expected<void> add_architecture(NvccArguments& result, const std::string& value) {
  auto architecture = architecture_of(value);
  if (!architecture)
    return tl::unexpected(architecture.error());
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

/// What ends earlier wins: `-c -ptx` is a query, `-c -lib` compiles.
void set_phase(NvccArguments& result, Meaning phase) {
  constexpr std::array order{Meaning::link,
                             Meaning::run,
                             Meaning::library_archive,
                             Meaning::compile,
                             Meaning::compile_relocatable,
                             Meaning::compile_whole,
                             Meaning::device_link,
                             Meaning::no_object};
  const auto rank = [&](Meaning meaning) { return std::ranges::find(order, meaning) - order.begin(); };
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
  switch (argument.meaning) {
  case Meaning::include_path: add_list(result.preprocessing, "-I"); break;
  case Meaning::system_include_path:
    for (const auto& folder : split_commas(value))
      add(result.preprocessing, {"-isystem", folder});
    break;
  case Meaning::define: add(result.preprocessing, {"-D" + value}); break; // a macro's value may hold commas
  case Meaning::undefine: add_list(result.preprocessing, "-U"); break;
  case Meaning::include_file:
    for (const auto& file : split_commas(value))
      add(result.preprocessing, {"-include", file});
    break;
  case Meaning::standard: result.standard = value; break;
  case Meaning::optimisation: result.optimisation = "-O" + value; break;
  case Meaning::architecture: return add_architecture(result, value);
  case Meaning::code_generation: return add_code_generation(result, value);
  case Meaning::fast_math: result.fast_math = result.flush_to_zero = true; break;
  case Meaning::fused_multiply_add: result.fused_multiply_add = value == "true"; break;
  case Meaning::flush_to_zero: result.flush_to_zero = value == "true"; break;
  case Meaning::host_compiler: add_list(result.host_compiler, ""); break;
  case Meaning::unknown: add(result.host_compiler, {value}); break;
  case Meaning::linker: add_list(result.linking, "-Wl,"); break;
  case Meaning::library: add_list(result.linking, "-l"); break;
  case Meaning::library_path: add_list(result.linking, "-L"); break;
  case Meaning::extended_lambda: result.extended_lambda = true; break;
  case Meaning::relaxed_constexpr: result.relaxed_constexpr = true; break;
  case Meaning::device_debug: result.device_debug = true; break;
  case Meaning::default_stream: result.per_thread_stream = value == "per-thread"; break;
  case Meaning::keep: result.keep = true; break;
  case Meaning::verbose: result.verbose = true; break;
  case Meaning::parallelism:
    if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos)
      return fail("nvcc argument --threads: '{}' is not a number", value);
    break;
  case Meaning::relocatable: result.relocatable = value == "true"; break;
  case Meaning::output: result.output = value; break;
  case Meaning::output_directory: result.output_directory = value; break;
  case Meaning::dependencies:
  case Meaning::user_dependencies: result.dependencies = argument.meaning; break;
  case Meaning::dependency_file: result.dependency_file = value; break;
  case Meaning::dependency_target: result.dependency_target = value; break;
  case Meaning::dependency_phony: result.dependency_phony = true; break;
  case Meaning::compile_relocatable:
    result.relocatable = true;
    set_phase(result, argument.meaning);
    break;
  case Meaning::compile:
  case Meaning::compile_whole:
  case Meaning::link:
  case Meaning::library_archive:
  case Meaning::run:
  case Meaning::device_link:
  case Meaning::no_object: set_phase(result, argument.meaning); break;
  case Meaning::input:
  case Meaning::language:
  case Meaning::options_file:
  case Meaning::forward_unknown:
  case Meaning::keep_directory:
  case Meaning::other: break;
  }
  return {};
}

bool is_linker_input(std::string_view file) {
  constexpr auto endings = std::to_array<std::string_view>({".o", ".obj", ".a", ".lib", ".so", ".res"});
  return std::ranges::any_of(endings, [&](std::string_view ending) { return file.ends_with(ending); }) ||
         file.find(".so.") != std::string_view::npos;
}

/// Objects and libraries are what they are; -x says what the other files are, or their names do.
void sort_inputs(NvccArguments& result) {
  const auto language =
      std::ranges::find(result.all.rbegin(), result.all.rend(), Meaning::language, &NvccArgument::meaning);
  for (const auto& argument : result.all) {
    if (argument.meaning != Meaning::input)
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
  auto all = read_nvcc_arguments(words);
  if (!all)
    return tl::unexpected(all.error());
  NvccArguments result;
  result.all = std::move(*all);
  for (const auto& argument : result.all)
    if (auto applied = apply(result, argument); !applied)
      return tl::unexpected(applied.error());
  sort_inputs(result);
  std::ranges::sort(result.architectures, {}, architecture_number);
  return result;
}

std::vector<std::string> words_without(const NvccArguments& nvcc,
                                       const std::function<bool(const NvccArgument&)>& drop) {
  std::vector<std::string> words;
  for (const auto& argument : nvcc.all)
    if (!drop(argument))
      words.insert(words.end(), argument.words.begin(), argument.words.end());
  return words;
}

} // namespace warplens::driver
