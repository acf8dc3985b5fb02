#include "driver/stages/launch_spec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <optional>
#include <toml++/toml.h>

namespace warplens::driver {
namespace {

using Json = nlohmann::json;

/// A type of elements and of scalars, and the tensor maps' number for it (cuda.h, CUtensorMapDataType).
struct ElementType {
  const char* name;
  std::uint32_t bytes;
  std::optional<int> in_tensor_map;
};
constexpr ElementType element_types[] = {{"i8", 1, {}}, {"u8", 1, 0},   {"i16", 2, {}}, {"u16", 2, 1},
                                         {"i32", 4, 3}, {"u32", 4, 2},  {"i64", 8, 5},  {"u64", 8, 4},
                                         {"f16", 2, 6}, {"bf16", 2, 9}, {"f32", 4, 7},  {"f64", 8, 8}};
/// Names in CUDA, and in Triton's signatures.
const std::map<std::string, std::string> aliases{{"char", "i8"},      {"short", "i16"}, {"int", "i32"},
                                                 {"unsigned", "u32"}, {"half", "f16"},  {"float", "f32"},
                                                 {"double", "f64"},   {"fp16", "f16"},  {"fp32", "f32"},
                                                 {"fp64", "f64"},     {"bool", "u8"}};

const ElementType* type_named(std::string name) {
  if (const auto alias = aliases.find(name); alias != aliases.end())
    name = alias->second;
  const auto found = std::ranges::find_if(element_types, [&](const auto& type) { return type.name == name; });
  return found == std::end(element_types) ? nullptr : found;
}

std::string type_names() {
  std::vector<std::string> names;
  for (const ElementType& type : element_types)
    names.emplace_back(type.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Reads the file; it throws the first error, which ends the reading.
class Reader {
public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  LaunchSpec read() {
    const toml::table root = toml::parse_file(file_.string());
    allow(root, {"kernel", "grid", "block", "cluster", "shared", "arguments"}, "a launch");
    LaunchSpec spec;
    spec.file = file_;
    if (const toml::node* kernel = root.get("kernel"))
      spec.kernel = text(*kernel, "kernel");
    for (const auto& [key, sizes] : {std::pair{"grid", &spec.grid}, std::pair{"block", &spec.block}})
      if (const toml::node* node = root.get(key))
        *sizes = dimensions(*node, key);
      else
        stop(root, fmt::format("'{}' is missing", key));
    if (const toml::node* node = root.get("cluster"))
      spec.cluster = dimensions(*node, "cluster");
    if (const toml::node* node = root.get("shared"))
      spec.shared_bytes = static_cast<std::uint32_t>(integer(*node, "shared", 0, 1 << 20));
    if (const toml::node* node = root.get("arguments")) {
      const toml::array* const array = node->as_array();
      if (!array)
        stop(*node, "'arguments' is no list");
      for (const toml::node& argument : *array) {
        if (!argument.is_table())
          stop(argument, "an argument is no table, like { f32 = 2.5 }");
        spec.arguments.push_back(read_argument(*argument.as_table(), spec.arguments));
      }
    }
    return spec;
  }

  /// The first fault of the file, with its line.
  struct Fault {
    std::uint32_t line;
    std::string what;
  };

private:
  [[noreturn]] static void stop(const toml::node& node, std::string what) {
    throw Fault{node.source().begin.line, std::move(what)};
  }

  static void allow(const toml::table& table, std::initializer_list<std::string_view> keys,
                    std::string_view of) {
    for (const auto& [key, value] : table)
      if (std::ranges::find(keys, key.str()) == keys.end())
        stop(value, fmt::format("{} has no key '{}', only {}", of, key.str(), fmt::join(keys, ", ")));
  }
  static std::string text(const toml::node& node, std::string_view key) {
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty())
      stop(node, fmt::format("'{}' is no text", key));
    return *value;
  }
  static std::int64_t integer(const toml::node& node, std::string_view key, std::int64_t low,
                              std::int64_t high) {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < low || *value > high)
      stop(node, fmt::format("'{}' is no whole number from {} to {}", key, low, high));
    return *value;
  }
  static double number(const toml::node& node, std::string_view key) {
    const auto value = node.value<double>();
    if (!value)
      stop(node, fmt::format("'{}' is no number", key));
    return *value;
  }
  /// Reads one to three numbers of blocks or threads.
  static std::array<std::uint32_t, 3> dimensions(const toml::node& node, std::string_view key) {
    std::array<std::uint32_t, 3> sizes{1, 1, 1};
    const auto size = [&](const toml::node& one) {
      return static_cast<std::uint32_t>(integer(one, key, 1, std::numeric_limits<std::int32_t>::max()));
    };
    const toml::array* const array = node.as_array();
    if (array && (array->empty() || array->size() > 3))
      stop(node, fmt::format("'{}' has one to three numbers", key));
    for (std::size_t i = 0; i < (array ? array->size() : 1); ++i)
      sizes[i] = size(array ? *array->get(i) : node);
    return sizes;
  }
  static std::vector<std::int64_t> integers(const toml::table& table, std::string_view key, std::size_t low,
                                            std::size_t high) {
    const toml::array* const array = table[key].as_array();
    if (!array || array->size() < low || array->size() > high)
      stop(table, fmt::format("a tensor map needs '{}', a list of {}", key,
                              low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high)));
    std::vector<std::int64_t> values;
    for (const toml::node& value : *array)
      values.push_back(integer(value, key, 1, std::int64_t{1} << 40));
    return values;
  }

  LaunchArgument read_argument(const toml::table& table, const std::vector<LaunchArgument>& earlier) {
    LaunchArgument argument;
    if (const toml::node* buffer = table.get("buffer"))
      argument = read_buffer(table, *buffer);
    else if (table.contains("tensor_map"))
      argument = read_tensor_map(table, earlier);
    else if (table.contains("same_as")) {
      allow(table, {"same_as"}, "such an argument");
      argument = {.bytes = 8, .buffer_bytes = 0, .plan = same_as(table, earlier), .line = 0};
    } else if (const toml::node* bytes = table.get("bytes"))
      argument = read_bytes(table, *bytes);
    else
      argument = read_scalar(table);
    argument.line = table.source().begin.line;
    return argument;
  }

  static const ElementType& type(const toml::node& node, std::string_view key) {
    const std::string name = text(node, key);
    const ElementType* const found = type_named(name);
    if (!found)
      stop(node, fmt::format("'{}' is no type; there are {}", name, type_names()));
    return *found;
  }

  static Json same_as(const toml::table& table, const std::vector<LaunchArgument>& earlier) {
    const toml::node& node = *table.get("same_as");
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 0 || static_cast<std::size_t>(*value) >= earlier.size() ||
        earlier[static_cast<std::size_t>(*value)].buffer_bytes == 0)
      stop(node, "'same_as' is the number of an earlier argument that is a buffer; the first one is 0");
    return {{"same_as", *value}};
  }

  LaunchArgument read_buffer(const toml::table& table, const toml::node& node) {
    allow(table, {"buffer", "count", "fill", "value", "start", "step", "low", "high", "seed", "file", "save"},
          "a buffer");
    const ElementType& element = type(node, "buffer");
    LaunchArgument argument{.bytes = 8, .buffer_bytes = 0, .plan = fill(table, element), .line = 0};
    if (argument.plan["fill"] == "file") {
      const std::filesystem::path file = argument.plan["file"].get<std::string>();
      std::error_code error;
      argument.buffer_bytes = std::filesystem::file_size(file, error);
      if (error || argument.buffer_bytes == 0)
        stop(table, fmt::format("{}: {}", file.string(), error ? error.message() : "is empty"));
      if (const toml::node* count = table.get("count"))
        stop(*count, "a buffer of a file is as large as that");
      return argument;
    }
    const toml::node* const count = table.get("count");
    if (!count)
      stop(table, "a buffer needs 'count', its number of elements");
    argument.plan["count"] = integer(*count, "count", 1, std::int64_t{1} << 40);
    argument.buffer_bytes = argument.plan["count"].get<std::uint64_t>() * element.bytes;
    return argument;
  }

  /// Returns the plan of what a buffer holds, and where it is saved.
  Json fill(const toml::table& table, const ElementType& element) const {
    Json plan{{"type", element.name}};
    const bool is_float = plan["type"] == "bf16" || plan["type"].get<std::string>().front() == 'f';
    const auto figure = [&](std::string_view key, double otherwise) {
      const toml::node* const node = table.get(key);
      return node ? number(*node, key) : otherwise;
    };
    const toml::node* const named = table.get("fill");
    const std::string fill = named                     ? text(*named, "fill")
                             : table.contains("value") ? "value"
                             : table.contains("file")  ? "file"
                                                       : "zeros";
    plan["fill"] = fill;
    if (fill == "zeros" || fill == "value") {
      plan["fill"] = "value";
      plan["value"] = figure("value", 0);
    } else if (fill == "iota") {
      plan["start"] = figure("start", 0);
      plan["step"] = figure("step", 1);
    } else if (fill == "random") {
      plan["low"] = figure("low", 0);
      plan["high"] = figure("high", is_float ? 1 : 100);
      plan["seed"] =
          table.contains("seed") ? integer(*table.get("seed"), "seed", 0, std::int64_t{1} << 53) : 1;
    } else if (fill == "file" && table.contains("file"))
      plan["file"] = path(*table.get("file"), "file");
    else
      stop(named ? *named : table,
           fmt::format("'{}' is no way to fill a buffer; there are zeros, value, iota, "
                       "random and file",
                       fill));
    if (const toml::node* save = table.get("save"))
      plan["save"] = path(*save, "save");
    return plan;
  }

  std::string path(const toml::node& node, std::string_view key) const {
    return (std::filesystem::absolute(file_).parent_path() / text(node, key)).string();
  }

  LaunchArgument read_tensor_map(const toml::table& table, const std::vector<LaunchArgument>& earlier) {
    allow(table,
          {"tensor_map", "sizes", "strides", "box", "swizzle", "same_as", "fill", "value", "start", "step",
           "low", "high", "seed", "save"},
          "a tensor map");
    const ElementType& element = type(*table.get("tensor_map"), "tensor_map");
    if (!element.in_tensor_map)
      stop(table, fmt::format("tensor maps have no elements of type {}", element.name));
    const auto sizes = integers(table, "sizes", 1, 5);
    const auto box = integers(table, "box", sizes.size(), sizes.size());
    std::vector<std::int64_t> strides;
    if (table.contains("strides"))
      strides = integers(table, "strides", sizes.size() - 1, sizes.size() - 1);
    else
      for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
        strides.push_back((i == 0 ? element.bytes : strides.back()) * sizes[i]);
    static const std::map<std::int64_t, int> swizzles{{0, 0}, {32, 1}, {64, 2}, {128, 3}};
    const toml::node* const swizzle = table.get("swizzle");
    const auto chosen = swizzles.find(swizzle ? integer(*swizzle, "swizzle", 0, 128) : 0);
    if (chosen == swizzles.end())
      stop(*swizzle, "'swizzle' is 0, 32, 64 or 128 bytes");
    LaunchArgument argument{.bytes = 128, .buffer_bytes = 0, .plan = {}, .line = 0};
    if (table.contains("same_as"))
      argument.plan = same_as(table, earlier);
    else {
      argument.plan = fill(table, element);
      const std::int64_t bytes = sizes.back() * (strides.empty() ? element.bytes : strides.back());
      argument.buffer_bytes = static_cast<std::uint64_t>(bytes);
      argument.plan["count"] = argument.buffer_bytes / element.bytes;
    }
    argument.plan["tensor_map"] = {{"data_type", *element.in_tensor_map},
                                   {"sizes", sizes},
                                   {"strides", strides},
                                   {"box", box},
                                   {"swizzle", chosen->second}};
    return argument;
  }

  static LaunchArgument read_bytes(const toml::table& table, const toml::node& node) {
    allow(table, {"bytes"}, "such an argument");
    const std::string digits = text(node, "bytes");
    if (digits.size() % 2 != 0 || digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos)
      stop(node, "'bytes' is no even number of hexadecimal digits");
    return {.bytes = digits.size() / 2, .buffer_bytes = 0, .plan = {{"bytes", digits}}, .line = 0};
  }

  static LaunchArgument read_scalar(const toml::table& table) {
    const auto [key, value] = table.size() == 1
                                  ? std::pair{std::string(table.begin()->first.str()), &table.begin()->second}
                                  : std::pair{std::string(), nullptr};
    const ElementType* const element = type_named(key);
    if (!element)
      stop(table,
           fmt::format("an argument is a buffer, a tensor_map, same_as, bytes, or a scalar of the types {}",
                       type_names()));
    const std::string name = element->name;
    Json plan{{"type", name}};
    if (name.front() == 'f' || name == "bf16")
      plan["scalar"] = number(*value, key);
    else {
      const bool is_signed = name.front() == 'i';
      const std::uint32_t bits = 8 * element->bytes;
      const std::int64_t high = bits == 64 ? std::numeric_limits<std::int64_t>::max()
                                           : (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
      plan["scalar"] = integer(*value, key, is_signed ? -high - 1 : 0, high);
    }
    return {.bytes = element->bytes, .buffer_bytes = 0, .plan = std::move(plan), .line = 0};
  }

  std::filesystem::path file_;
};

} // namespace

Expected<LaunchSpec> read_launch_spec(const std::filesystem::path& file) {
  try {
    return Reader(file).read();
  } catch (const toml::parse_error& error) {
    return fail("{}:{}: {}", file.string(), error.source().begin.line, error.description());
  } catch (const Reader::Fault& fault) {
    return fail("{}:{}: {}", file.string(), fault.line, fault.what);
  }
}

} // namespace warplens::driver
