// Parses WARPLENS_DEVICE.
#include "runtime/cpu/device/device_description.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <string_view>
#include <variant>

namespace warplens::cpu {
namespace {

using Field = std::variant<int DeviceDescription::*, std::int64_t DeviceDescription::*>;

const std::map<std::string_view, Field>& fields() {
  using D = DeviceDescription;
  static const std::map<std::string_view, Field> all = {
      {"sms", &D::sms},
      {"max_threads_per_sm", &D::max_threads_per_sm},
      {"max_blocks_per_sm", &D::max_blocks_per_sm},
      {"shared_per_block", &D::shared_per_block},
      {"shared_per_block_optin", &D::shared_per_block_optin},
      {"shared_per_sm", &D::shared_per_sm},
      {"shared_reserved_per_block", &D::shared_reserved_per_block},
      {"registers_per_sm", &D::registers_per_sm},
      {"registers_per_block", &D::registers_per_block},
      {"registers_per_thread", &D::registers_per_thread},
      {"register_unit", &D::register_unit},
      {"register_files", &D::register_files},
      {"shared_unit", &D::shared_unit},
      {"l2_bytes", &D::l2_bytes},
      {"clock_khz", &D::clock_khz},
      {"memory_clock_khz", &D::memory_clock_khz},
      {"bus_width_bits", &D::bus_width_bits},
      {"major", &D::major},
      {"minor", &D::minor},
      {"global_bytes", &D::global_bytes},
  };
  return all;
}

/// Reads the whole of `text` as a number; accepts zero only where it makes sense.
template <class Integer> bool read(std::string_view key, std::string_view text, Integer& value) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool may_be_zero = key == "minor" || key == "shared_reserved_per_block" || key == "l2_bytes";
  if (error != std::errc() || end != text.data() + text.size() || number < (may_be_zero ? 0 : 1))
    return false;
  value = number;
  return true;
}

bool set(DeviceDescription& device, std::string_view key, std::string_view value) {
  if (key == "name") {
    device.name = value;
    return !value.empty();
  }
  if (key == "warp_size")
    return value == "32";
  const auto field = fields().find(key);
  return field != fields().end() &&
         std::visit([&](auto member) { return read(key, value, device.*member); }, field->second);
}

} // namespace

DeviceDescription parse_device(const std::string& text, std::string& warnings) {
  DeviceDescription device;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (pair.empty())
      continue;
    if (equals == pair.npos || !set(device, pair.substr(0, equals), pair.substr(equals + 1)))
      warnings +=
          fmt::format("warplens: WARPLENS_DEVICE: '{}' is not understood, its default is used\n", pair);
  }
  return device;
}

namespace {
std::atomic<int> newest_code = 0;
}

void note_architecture(int architecture) {
  int newest = newest_code;
  while (architecture > newest && !newest_code.compare_exchange_weak(newest, architecture)) {
  }
}

const DeviceDescription& device() {
  static const DeviceDescription named = [] {
    const char* text = std::getenv("WARPLENS_DEVICE");
    std::string warnings;
    DeviceDescription parsed = parse_device(text ? text : "", warnings);
    std::fputs(warnings.c_str(), stderr);
    return parsed;
  }();
  // Code that is newer than the GPU may count on the shared memory of its architecture, which programs see.
  static const DeviceDescription newer = [] {
    DeviceDescription of_code = named;
    of_code.shared_per_block_optin = std::max(named.shared_per_block_optin, 232448);
    of_code.shared_per_sm = std::max(named.shared_per_sm, 233472);
    return of_code;
  }();
  const int newest = newest_code;
  const bool is_newer = newest >= 90 && newest < 120 && 10 * named.major + named.minor < 90;
  return is_newer ? newer : named;
}

} // namespace warplens::cpu
