#include "runtime/host/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace warplens::runtime {
namespace {

/// Returns the variable's value; unset and empty ones are absent.
std::optional<std::string_view> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value ? std::optional<std::string_view>(value) : std::nullopt;
}

/// Reads a number; leaves `into` unchanged if the variable is absent.
template <class Into> Expected<void> read_count(const char* name, Into& into) {
  TRY_LET(count, count_in_environment(name));
  if (*count)
    into = **count;
  return {};
}

/// Reads numbers with commas between them; empty if the variable is absent.
Expected<std::vector<std::uint32_t>> read_numbers(const char* name) {
  std::vector<std::uint32_t> numbers;
  const auto text = variable(name);
  if (!text || *text == "none")
    return numbers;
  for (const char *at = text->data(), *const end = at + text->size();; ++at) {
    std::uint32_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc() || (behind != end && *behind != ','))
      return fail("{}={}: expected numbers with commas between them, or none", name, *text);
    numbers.push_back(number);
    if ((at = behind) == end)
      return numbers;
  }
}

} // namespace

Expected<std::optional<std::uint64_t>> count_in_environment(const char* name) {
  const auto text = variable(name);
  if (!text)
    return std::nullopt;
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), count);
  if (error != std::errc() || end != text->data() + text->size() || count == 0 ||
      count > (std::uint64_t{1} << 48))
    return fail("{}={}: expected a whole number from 1 to 2^48", name, *text);
  return count;
}

Expected<Settings> Settings::from_environment() {
  Settings settings;
  if (const auto folder = variable("WARPLENS_TRACE_FOLDER"))
    settings.trace_folder = *folder;
  else if (const auto path = variable("WARPLENS_TRACE"))
    settings.trace = *path;
  else
    return settings;
  if (const auto text = variable("WARPLENS_KERNEL")) {
    const auto kernel = Pattern::compile(*text);
    if (!kernel)
      return fail("WARPLENS_KERNEL={}: not a regular expression: {}", *text, kernel.error().message);
    settings.kernel = *kernel;
  }
  if (const auto path = variable("WARPLENS_STOP_WHEN_TRACED"))
    settings.stop_when_traced = *path;
  TRY_LET(execute, read_numbers("WARPLENS_EXECUTE"));
  settings.execute = *execute;
  settings.log_times = variable("WARPLENS_LOG_TIMES").has_value();
  std::optional<std::uint64_t> stall_seconds;
  for (const Expected<void>& read :
       {read_count("WARPLENS_LAUNCHES", settings.launches),
        read_count("WARPLENS_SNAPSHOT_THREADS", settings.snapshot_threads),
        read_count("WARPLENS_SNAPSHOT_WAVE", settings.snapshot_wave_threads),
        read_count("WARPLENS_SNAPSHOT_SMS", settings.snapshot_sms),
        read_count("WARPLENS_SNAPSHOT_MOST_THREADS", settings.snapshot_max_threads),
        read_count("WARPLENS_SNAPSHOT_ENOUGH", settings.snapshot_enough_accesses),
        read_count("WARPLENS_SNAPSHOT_BLOCKS", settings.snapshot_blocks),
        read_count("WARPLENS_SNAPSHOT_ACCESSES", settings.snapshot_accesses),
        read_count("WARPLENS_SNAPSHOT_WHOLE", settings.snapshot_whole_accesses),
        read_count("WARPLENS_STALL_SECONDS", stall_seconds)})
    if (!read)
      return tl::unexpected(read.error());
  if (stall_seconds)
    settings.stall = std::chrono::seconds(std::min<std::uint64_t>(*stall_seconds, 1'000'000));
  return settings;
}

} // namespace warplens::runtime
