#include "driver/commands/drop_in_options.h"

#include "toolchain/nvcc/checks.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace warplens::driver {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Takes `--name VALUE` or `--name=VALUE` out of the words and returns the value; nothing if it is not there.
Expected<std::optional<std::string>> take_value(std::vector<std::string>& words, const std::string& name) {
  const auto option = std::ranges::find_if(
      words, [&](const std::string& word) { return word == name || word.starts_with(name + '='); });
  if (option == words.end())
    return std::nullopt;
  const bool apart = *option == name;
  if (apart && option + 1 == words.end())
    return fail("{} needs a value", name);
  std::string value = apart ? option[1] : option->substr(name.size() + 1);
  words.erase(option, option + (apart ? 2 : 1));
  return value;
}

/// Takes all occurrences of an option; the last one counts.
Expected<std::optional<std::string>> take_last_value(std::vector<std::string>& words,
                                                     const std::string& name) {
  std::optional<std::string> last;
  for (;;) {
    auto value = take_value(words, name);
    if (!value || !*value)
      return value ? last : value;
    last = std::move(*value);
  }
}

/// `auto` is nvcc's choice: objects for GPUs.
Expected<bool> is_for_cpu(std::string_view backend, std::string_view where) {
  if (backend != "auto" && backend != "gpu" && backend != "cpu")
    return fail("{}: '{}' is not auto, gpu or cpu", where, backend);
  return backend == "cpu";
}

Expected<bool> asks_for_json(std::vector<std::string>& words) {
  TRY_LET(format, take_last_value(words, "--format"));
  if (*format && **format != "text" && **format != "json")
    return fail("--format: '{}' is not text or json", **format);
  return *format == "json";
}

} // namespace

Expected<DropInOptions> take_drop_in_options(std::vector<std::string> words) {
  DropInOptions options;
  options.report = !words.empty() && words.front() == "--report";
  if (options.report) {
    words.erase(words.begin());
    TRY_LET(json, asks_for_json(words));
    options.json = *json;
    options.words = std::move(words);
    return options;
  }
  const bool says_strict = std::erase(words, "--strict") > 0;
  options.strict = says_strict || !variable("WARPLENS_STRICT").empty();
  TRY_LET(backend, take_last_value(words, "--backend"));
  if (const auto known = variable("WARPLENS_BACKEND"); *backend || !known.empty()) {
    TRY_LET(for_cpu, *backend ? is_for_cpu(**backend, "--backend") : is_for_cpu(known, "WARPLENS_BACKEND"));
    options.for_cpu = *for_cpu;
  }
  for (const cpu::CheckName& check : cpu::check_names) {
    const std::string option = std::string("--") + check.name;
    const bool requested = std::erase(words, option) > 0;
    if (requested && !options.for_cpu)
      return fail("{} works on the CPU back end (--backend cpu){}", option, toolchain::on_a_gpu(check.check));
    if (options.for_cpu && (requested || !variable(check.variable).empty()))
      options.checks.add(check.check);
  }
  options.words = std::move(words);
  return options;
}

} // namespace warplens::driver
