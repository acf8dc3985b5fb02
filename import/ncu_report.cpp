// Reads the report of Nsight Compute (.ncu-rep) without NVIDIA's schema: the numbers below were found in
// reports of versions 2023 to 2025 by comparing them with what ncu prints of them.
//
//   file    "NVR\0", header, blocks; each message has its length in 4 bytes before it
//   header  1: the version of the format
//   block   a header and its payload: modules of code, then launches, then others
//
// A block without strings uses those of the block before.
#include "import/instruction_counters.h"
#include "import/kernel_counters.h"
#include "import/wire_format.h"

#include <bit>
#include <cmath>
#include <limits>

namespace warplens::import {
namespace {

constexpr std::string_view magic("NVR\0", 4);
constexpr std::uint64_t newest_version = 7;

/// Fields of a block's header.
constexpr std::uint32_t block_modules = 1, block_launches = 2, block_strings = 4, block_payload_bytes = 5;
constexpr std::uint32_t strings_text = 1;
/// Fields of a module: its id, the cubin, and its functions with their addresses in the GPU's memory.
constexpr std::uint32_t module_id = 1, module_cubin = 4, module_functions = 9;
constexpr std::uint32_t functions_one = 1, function_name = 1, function_address = 2;
/// Fields of a launch.
constexpr std::uint32_t launch_mangled = 5, launch_short_name = 6, launch_name = 7, launch_grid = 10,
                        launch_block = 11, launch_metric = 13, launch_module = 15;
/// Fields of a metric: the index of its name among the strings, its value, and its values by instance.
constexpr std::uint32_t metric_name = 1, metric_value = 2, metric_instance = 3;
constexpr std::uint32_t instance_key = 1, instance_value = 2;
/// A value's field says its type.
constexpr std::uint32_t value_text = 1, value_float = 2, value_double = 3, value_u32 = 4, value_u64 = 5;

/// Takes messages with their length before them.
class Messages {
public:
  explicit Messages(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }
  std::size_t position() const { return at_; }

  Expected<std::string_view> next(std::string_view what) {
    const std::size_t begin = at_;
    if (bytes_.size() - at_ < 4)
      return fail("byte {}: {} is cut short", begin, what);
    std::uint32_t size = 0;
    for (unsigned i = 0; i < 4; ++i)
      size |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes_[at_++])) << (8 * i);
    if (bytes_.size() - at_ < size)
      return fail("byte {}: {} is cut short: {} bytes of {}", begin, what, bytes_.size() - at_, size);
    const std::string_view message = bytes_.substr(at_, size);
    if (!is_message(message))
      return fail("byte {}: {} is no protobuf message", begin, what);
    at_ += size;
    return message;
  }

  Expected<std::string_view> payload(std::uint64_t size) {
    if (bytes_.size() - at_ < size)
      return fail("byte {}: the file is cut short: a block has {} bytes, and {} are left", at_, size,
                  bytes_.size() - at_);
    const std::string_view payload = bytes_.substr(at_, size);
    at_ += size;
    return payload;
  }

private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

std::vector<std::string_view> strings_of(std::string_view message) {
  std::vector<std::string_view> strings;
  WireReader reader(message);
  while (const auto field = reader.next())
    if (field->number == strings_text && !field->is_number())
      strings.push_back(field->bytes);
  return strings;
}

Extents extents_of(std::string_view message) {
  Extents extents{};
  for (std::uint32_t i = 0; i < 3; ++i)
    extents[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        number_in(message, i + 1).value_or(0), std::numeric_limits<std::uint32_t>::max()));
  return extents;
}

/// Returns the number of a value; none for a text, and for what is not finite.
std::optional<double> number_of(std::string_view value) {
  std::optional<double> number;
  WireReader reader(value);
  while (const auto field = reader.next()) {
    if (field->number == value_float && field->kind == WireField::Kind::fixed32)
      number = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
    else if (field->number == value_double && field->kind == WireField::Kind::fixed64)
      number = std::bit_cast<double>(field->value);
    else if ((field->number == value_u32 || field->number == value_u64) &&
             field->kind == WireField::Kind::varint)
      number = static_cast<double>(field->value);
  }
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// The modules that were read so far, by id; a module that is named again without code has its earlier code.
using Modules = std::map<std::uint64_t, Module>;

void add_module(std::string_view message, Modules& modules) {
  Module& module = modules[number_in(message, module_id).value_or(0)];
  if (const auto cubin = bytes_in(message, module_cubin))
    module.cubin = *cubin;
  WireReader reader(bytes_in(message, module_functions).value_or(""));
  while (const auto field = reader.next())
    if (field->number == functions_one && !field->is_number())
      if (const auto address = number_in(field->bytes, function_address))
        module.functions[*address] = bytes_in(field->bytes, function_name).value_or("");
}

/// Adds a metric's value; and its values by instruction, if it is one of those that are added up by line.
void add_metric(std::string_view metric, const std::vector<std::string_view>& strings, KernelCounters& launch,
                InstructionCounters& by_instruction) {
  const std::uint64_t index = number_in(metric, metric_name).value_or(strings.size());
  if (index >= strings.size())
    return;
  const std::string name(strings[index]);
  if (const auto value = bytes_in(metric, metric_value)) {
    if (const auto number = number_of(*value))
      launch.counters[name] = *number * base_scale(name);
    if (name == "device__attribute_display_name")
      launch.device = bytes_in(*value, value_text).value_or("");
  }
  if (!is_instruction_counter(name))
    return;
  WireReader reader(metric);
  while (const auto field = reader.next()) {
    if (field->number != metric_instance || field->is_number())
      continue;
    const auto key = bytes_in(field->bytes, instance_key), value = bytes_in(field->bytes, instance_value);
    const auto address = key ? number_in(*key, value_u64) : std::nullopt;
    if (const auto number = value ? number_of(*value) : std::nullopt; address && number)
      by_instruction[*address][name] = *number;
  }
}

KernelCounters launch_of(std::string_view message, const std::vector<std::string_view>& strings,
                         const Modules& modules) {
  KernelCounters launch;
  // A kernel without a name for people has its mangled one.
  for (const std::uint32_t field : {launch_name, launch_short_name, launch_mangled})
    if (launch.kernel.empty())
      launch.kernel = bytes_in(message, field).value_or("");
  if (const auto grid = bytes_in(message, launch_grid))
    launch.grid = extents_of(*grid);
  if (const auto block = bytes_in(message, launch_block))
    launch.block = extents_of(*block);
  InstructionCounters by_instruction;
  WireReader reader(message);
  while (const auto field = reader.next())
    if (field->number == launch_metric && !field->is_number())
      add_metric(field->bytes, strings, launch, by_instruction);
  if (by_instruction.empty()) {
    launch.lines_missing =
        "the report has no counters of instructions (collect with --set full, or --section SourceCounters)";
    return launch;
  }
  const auto id = number_in(bytes_in(message, launch_module).value_or(""), module_id);
  const auto module = modules.find(id.value_or(0));
  if (module == modules.end()) {
    launch.lines_missing = "the report does not have the kernel's code";
    return launch;
  }
  auto lines = lines_of(by_instruction, module->second);
  if (lines)
    launch.lines = std::move(*lines);
  else
    launch.lines_missing = lines.error().message;
  return launch;
}

} // namespace

Expected<std::vector<KernelCounters>> read_ncu_report(std::string_view bytes) {
  if (!bytes.starts_with(magic))
    return fail("no report of Nsight Compute: it does not begin with NVR");
  Messages messages(bytes.substr(magic.size()));
  TRY_LET(header, messages.next("the header"));
  const std::uint64_t version = number_in(*header, 1).value_or(0);
  if (version > newest_version)
    return fail("the report has version {} of its format, and {} is the newest that is known: print it with "
                "`ncu --import FILE --csv --page raw`, or install NVIDIA's Python module ncu_report",
                version, newest_version);
  std::vector<KernelCounters> launches;
  std::vector<std::string_view> strings;
  Modules modules;
  while (!messages.at_end()) {
    TRY_LET(block, messages.next("the header of a block"));
    if (const auto table = bytes_in(*block, block_strings); table && !table->empty())
      strings = strings_of(*table);
    TRY_LET(payload, messages.payload(number_in(*block, block_payload_bytes).value_or(0)));
    Messages entries(*payload);
    for (std::uint64_t i = 0; i < number_in(*block, block_modules).value_or(0); ++i) {
      TRY_LET(module, entries.next("a module"));
      add_module(*module, modules);
    }
    for (std::uint64_t i = 0; i < number_in(*block, block_launches).value_or(0); ++i) {
      TRY_LET(launch, entries.next("a launch"));
      launches.push_back(launch_of(*launch, strings, modules));
    }
  }
  if (launches.empty())
    return fail("the report has no launch of a kernel");
  return launches;
}

} // namespace warplens::import
