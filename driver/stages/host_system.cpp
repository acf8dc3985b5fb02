#include "driver/stages/host_system.h"

#include "support/files.h"
#include "support/pattern.h"
#include "support/terminal_text.h"

#include <charconv>
#include <optional>
#include <sys/vfs.h>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;

/// The type of 9P file systems (Linux: V9FS_MAGIC).
constexpr auto file_server_type = 0x01021997;

bool has_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string text_of(const fs::path& file) {
  return read_file(file).value_or("");
}

/// Returns the container's program: "Docker", "Podman", or what the variable `container` names; empty: none.
std::string container_in(const fs::path& root) {
  if (has_file(root / "run/.containerenv"))
    return "Podman";
  if (has_file(root / ".dockerenv"))
    return "Docker";
  const std::string environment = '\0' + text_of(root / "proc/1/environ");
  constexpr std::string_view variable("\0container=", 11);
  const std::size_t at = environment.find(variable);
  if (at == std::string::npos)
    return "";
  const std::string name = environment.substr(at + variable.size());
  return printable(name.substr(0, name.find('\0')));
}

std::optional<double> first_number(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/// Returns what the control group (version 2) may use: ", 2 CPUs, 4.0 GB"; empty: it has no limits.
std::string limits_in(const fs::path& root) {
  std::string text;
  const std::string cpus = text_of(root / "sys/fs/cgroup/cpu.max"); // microseconds of each period, or "max"
  if (const std::size_t blank = cpus.find(' '); blank != std::string::npos) {
    const auto quota = first_number(cpus), period = first_number(std::string_view(cpus).substr(blank + 1));
    if (quota && period && *period > 0)
      text += fmt::format(", {:.3g} CPUs", *quota / *period);
  }
  if (const auto memory = first_number(text_of(root / "sys/fs/cgroup/memory.max")))
    text += fmt::format(", {:.1f} GB", *memory / 1e9);
  return text;
}

} // namespace

Diagnosis host_system(const fs::path& root, bool is_on_windows_disk) {
  constexpr std::string_view part = "system", use = "where builds and programs run";
  const std::string kernel = text_of(root / "proc/version");
  const auto release = Pattern("version ([^ ]+)").first_match(kernel);
  const std::string number = release ? (*release)[1] : "of unknown version";
  std::string found = "Linux " + number;
  const bool is_wsl = Pattern("[Mm]icrosoft").is_found_in(kernel);
  const bool is_wsl_2 = is_wsl && Pattern("microsoft-standard|WSL2").is_found_in(kernel);
  if (is_wsl && !is_wsl_2)
    return {part, Condition::limited, "WSL 1: " + found, "wsl --set-version DISTRIBUTION 2", use};
  if (is_wsl_2)
    found = fmt::format("WSL 2: {}, {}", found,
                        has_file(root / wsl_driver_folder / "libcuda.so.1")
                            ? "with the driver of Windows"
                            : "without NVIDIA's driver on Windows, which is not needed");
  if (const std::string container = container_in(root); !container.empty() && !(is_wsl && container == "wsl"))
    found = fmt::format("{} in {}{}", found, container, limits_in(root));
  if (is_wsl_2 && is_on_windows_disk)
    return {part, Condition::limited, found + "; this folder is on Windows' disk, where files are slow",
            "work in a folder of Linux, such as ~/", use};
  return {part, Condition::works, found, "", use};
}

bool is_on_windows_disk() {
  struct statfs found{};
  return statfs(".", &found) == 0 && found.f_type == file_server_type;
}

} // namespace warplens::driver
