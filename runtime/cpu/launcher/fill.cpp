#include "runtime/cpu/launcher/fill.h"

#include "machine/numbers.h"
#include "support/files.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

namespace warplens::launcher {
namespace {

/// Returns the sequence's next number (Steele et al., "Fast splittable pseudorandom number generators",
/// OOPSLA 2014: SplitMix64).
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t bits = state += 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

template <class Value> void append(std::string& bytes, Value value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::uint32_t bytes_of_integer(const std::string& type) {
  return static_cast<std::uint32_t>(std::stoul(type.substr(1)) / 8);
}

/// Appends the number as an element of the type; integers keep their low bits.
void append_element(std::string& bytes, const std::string& type, double value) {
  if (type == "f64")
    return append(bytes, value);
  if (type == "f32")
    return append(bytes, static_cast<float>(value));
  if (type == "f16")
    return append(bytes, machine::float_to_half(static_cast<float>(value)));
  if (type == "bf16")
    return append(bytes, machine::float_to_bfloat(static_cast<float>(value)));
  const std::uint64_t integer = value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                          : static_cast<std::uint64_t>(value);
  bytes.append(reinterpret_cast<const char*>(&integer), bytes_of_integer(type));
}

} // namespace

Expected<std::string> contents_of(const nlohmann::json& plan) {
  const std::string fill = plan["fill"], type = plan["type"];
  if (fill == "file")
    return read_file(plan["file"].get<std::string>());
  const std::uint64_t count = plan["count"];
  std::string bytes;
  if (fill == "value") {
    append_element(bytes, type, plan["value"]);
    std::string all;
    all.reserve(bytes.size() * count);
    for (std::uint64_t i = 0; i < count; ++i)
      all += bytes;
    return all;
  }
  std::function<double(std::uint64_t)> element;
  if (fill == "iota") {
    const double start = plan["start"], step = plan["step"];
    element = [=](std::uint64_t i) { return start + step * static_cast<double>(i); };
  } else {
    const double low = plan["low"], high = plan["high"];
    std::uint64_t state = plan["seed"];
    element = [=](std::uint64_t) mutable {
      const double uniform = static_cast<double>(next_random(state) >> 11) * 0x1p-53;
      return low + (high - low) * uniform;
    };
  }
  const bool is_integer = type.front() != 'f' && type.front() != 'b';
  for (std::uint64_t i = 0; i < count; ++i)
    append_element(bytes, type, is_integer ? std::floor(element(i)) : element(i));
  return bytes;
}

std::string scalar_of(const nlohmann::json& plan) {
  const std::string type = plan["type"];
  std::string bytes;
  if (plan["scalar"].is_number_integer() && type.front() != 'f' && type != "bf16") {
    const std::int64_t value = plan["scalar"]; // 64 bits, which a double does not have
    bytes.append(reinterpret_cast<const char*>(&value), bytes_of_integer(type));
  } else
    append_element(bytes, type, plan["scalar"]);
  return bytes;
}

} // namespace warplens::launcher
