#include "driver/arguments/nvcc_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace warplens::driver {
namespace {

enum class Meaning {
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
  host_compiler,
  linker,
  library,
  library_path,
  ignored_flag,
  ignored_value, ///< nothing that Clang or the linker needs to know; nvcc gets it as it stands
};

struct Option {
  std::string_view
      letter; ///< the short form, value joined (-Ifoo), apart (-I foo) or after = (-I=foo); empty: none
  std::string_view word; ///< the long form, value apart or after =
  Meaning meaning;
};

// Spellings: CUDA Compiler Driver NVCC, 13.0, chapter 4.2.
constexpr auto options = std::to_array<Option>({
    {"-I", "--include-path", Meaning::include_path},
    {"-isystem", "--system-include", Meaning::system_include_path},
    {"-D", "--define-macro", Meaning::define},
    {"-U", "--undefine-macro", Meaning::undefine},
    {"-include", "--pre-include", Meaning::include_file},
    {"-std", "--std", Meaning::standard},
    {"-O", "--optimize", Meaning::optimisation},
    {"-arch", "--gpu-architecture", Meaning::architecture},
    {"-code", "--gpu-code", Meaning::ignored_value},
    {"-gencode", "--generate-code", Meaning::code_generation},
    {"-use_fast_math", "--use_fast_math", Meaning::fast_math},
    {"-Xcompiler", "--compiler-options", Meaning::host_compiler},
    {"-Xlinker", "--linker-options", Meaning::linker},
    {"-l", "--library", Meaning::library},
    {"-L", "--library-path", Meaning::library_path},
    {"-Xptxas", "--ptxas-options", Meaning::ignored_value},
    {"-Xcudafe", "--Xcudafe", Meaning::ignored_value},
    {"-ccbin", "--compiler-bindir", Meaning::ignored_value},
    {"-maxrregcount", "--maxrregcount", Meaning::ignored_value},
    {"-ftz", "--ftz", Meaning::ignored_value},
    {"-fmad", "--fmad", Meaning::ignored_value},
    {"-prec-div", "--prec-div", Meaning::ignored_value},
    {"-prec-sqrt", "--prec-sqrt", Meaning::ignored_value},
    {"-diag-suppress", "--diag-suppress", Meaning::ignored_value},
    {"-rdc", "--relocatable-device-code", Meaning::ignored_value}, // one file: nothing to relocate against
    {"-t", "--threads", Meaning::ignored_value},
    {"-m", "--machine", Meaning::ignored_value},
    {"-g", "--debug", Meaning::ignored_flag},
    {"-G", "--device-debug", Meaning::ignored_flag},
    {"-lineinfo", "--generate-line-info", Meaning::ignored_flag},
    {"-w", "--disable-warnings", Meaning::ignored_flag},
    {"-v", "--verbose", Meaning::ignored_flag},
    {"-res-usage", "--resource-usage", Meaning::ignored_flag},
    {"-restrict", "--restrict", Meaning::ignored_flag},
    {"-extended-lambda", "--extended-lambda", Meaning::ignored_flag},
    {"-expt-extended-lambda", "--expt-extended-lambda", Meaning::ignored_flag},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", Meaning::ignored_flag},
});

bool takes_value(Meaning meaning) {
  return meaning != Meaning::ignored_flag && meaning != Meaning::fast_math;
}

struct Match {
  const Option* option;
  std::optional<std::string> value; ///< joined or after =
};

/// The longest spelling that fits, so that -lineinfo is not -l ineinfo.
std::optional<Match> match(std::string_view argument) {
  std::optional<Match> best;
  std::size_t length = 0;
  const auto offer = [&](const Option& option, std::string_view spelling, bool may_join) {
    if (spelling.empty() || spelling.size() <= length || !argument.starts_with(spelling))
      return;
    std::string_view rest = argument.substr(spelling.size());
    const bool with_value = takes_value(option.meaning);
    if (rest.empty())
      best = Match{&option, std::nullopt};
    else if (with_value && rest.starts_with('='))
      best = Match{&option, std::string(rest.substr(1))};
    else if (with_value && may_join)
      best = Match{&option, std::string(rest)};
    else
      return;
    length = spelling.size();
  };
  for (const auto& option : options) {
    // nvcc joins values to its one-letter options only; -std and its like take them after = or apart.
    offer(option, option.letter, option.letter.size() == 2);
    offer(option, option.word, false);
  }
  return best;
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    if (end > begin)
      parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

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

Expected<void> apply(NvccArguments& result, const Option& option, const std::string& value) {
  const auto add = [](std::vector<std::string>& list, std::initializer_list<std::string> arguments) {
    list.insert(list.end(), arguments);
  };
  const auto add_list = [&](std::vector<std::string>& list, const char* flag) {
    for (const auto& part : split_commas(value))
      list.push_back(flag + part);
  };
  switch (option.meaning) {
  case Meaning::include_path: add_list(result.preprocessing, "-I"); break;
  case Meaning::system_include_path:
    for (const auto& folder : split_commas(value))
      add(result.preprocessing, {"-isystem", folder});
    break;
  case Meaning::define: add(result.preprocessing, {"-D" + value}); break; // a macro's value may hold commas
  case Meaning::undefine: add_list(result.preprocessing, "-U"); break;
  case Meaning::include_file: add(result.preprocessing, {"-include", value}); break;
  case Meaning::standard: result.standard = value; break;
  case Meaning::optimisation: result.optimisation = "-O" + value; break;
  case Meaning::architecture: return add_architecture(result, value);
  case Meaning::code_generation: return add_code_generation(result, value);
  case Meaning::fast_math: result.fast_math = true; break;
  case Meaning::host_compiler: add_list(result.host_compiler, ""); break;
  case Meaning::linker: add_list(result.linking, "-Wl,"); break;
  case Meaning::library: add_list(result.linking, "-l"); break;
  case Meaning::library_path: add_list(result.linking, "-L"); break;
  case Meaning::ignored_flag:
  case Meaning::ignored_value: break;
  }
  return {};
}

bool is_linker_input(std::string_view argument) {
  return argument.ends_with(".o") || argument.ends_with(".a") || argument.ends_with(".so");
}

} // namespace

Expected<NvccArguments> parse_nvcc_arguments(const std::vector<std::string>& arguments) {
  NvccArguments result;
  result.original = arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    if (is_linker_input(argument) && !argument.starts_with('-')) {
      result.linking.push_back(argument);
      continue;
    }
    const auto found = match(argument);
    if (!found)
      return fail("nvcc argument '{}' is not one that profiling a single file understands", argument);
    std::string value = found->value.value_or("");
    if (takes_value(found->option->meaning) && !found->value) {
      if (i + 1 == arguments.size())
        return fail("nvcc argument '{}' needs a value", argument);
      value = arguments[++i];
    }
    if (auto applied = apply(result, *found->option, value); !applied)
      return tl::unexpected(applied.error());
  }
  std::ranges::sort(result.architectures, {}, architecture_number);
  return result;
}

} // namespace warplens::driver
