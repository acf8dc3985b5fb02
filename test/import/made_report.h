// A report of Nsight Compute made in memory, message by message.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::test {

/// Builds a protobuf message.
class Message {
public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& real(std::uint32_t field, double value) {
    varint(field << 3 | 1);
    for (const auto bits = std::bit_cast<std::uint64_t>(value);
         const unsigned byte : {0, 1, 2, 3, 4, 5, 6, 7})
      bytes_ += static_cast<char>(bits >> (8 * byte));
    return *this;
  }
  Message& single(std::uint32_t field, float value) {
    varint(field << 3 | 5);
    for (const auto bits = std::bit_cast<std::uint32_t>(value); const unsigned byte : {0, 1, 2, 3})
      bytes_ += static_cast<char>(bits >> (8 * byte));
    return *this;
  }
  Message& text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& value) { return text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

/// Returns a message with its length before it, as the file has them.
inline std::string framed(const Message& message) {
  const auto size = static_cast<std::uint32_t>(message.bytes().size());
  std::string bytes;
  for (const unsigned byte : {0, 1, 2, 3})
    bytes += static_cast<char>(size >> (8 * byte));
  return bytes + message.bytes();
}

/// A counter of a launch: its value, and its values by address.
struct MadeCounter {
  std::string name;
  double value = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_instruction{};
};

inline Message extents(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return Message().number(1, x).number(2, y).number(3, z);
}

/// Returns a report of one launch of a kernel whose code is at an address. The names of the counters are the
/// block's strings.
inline std::string made_report(const std::string& mangled, const std::string& name, std::uint64_t address,
                               const std::string& cubin, const std::vector<MadeCounter>& counters) {
  constexpr std::uint64_t id = 77;
  Message strings, launch;
  launch.text(5, mangled).text(6, "short_name").text(7, name);
  launch.message(10, extents(64, 2, 1)).message(11, extents(128, 1, 1));
  launch.message(15, Message().number(1, id));
  for (std::size_t i = 0; i < counters.size(); ++i) {
    strings.text(1, counters[i].name);
    Message metric;
    metric.number(1, i).message(2, Message().real(3, counters[i].value));
    for (const auto& [key, value] : counters[i].by_instruction)
      metric.message(3,
                     Message().message(1, Message().number(5, key)).message(2, Message().number(5, value)));
    launch.message(13, metric);
  }
  strings.text(1, "device__attribute_display_name");
  launch.message(13,
                 Message().number(1, counters.size()).message(2, Message().text(1, "NVIDIA A100-SXM4-80GB")));

  const std::string module = framed(Message().number(1, id).text(4, cubin).message(
      9, Message().message(1, Message().text(1, mangled).number(2, address))));
  const std::string result = framed(launch);
  return std::string("NVR\0", 4) + framed(Message().number(1, 7)) +
         framed(Message().number(1, 1).number(2, 0).number(5, module.size())) + module +
         framed(Message().number(1, 0).number(2, 1).message(4, strings).number(5, result.size())) + result;
}

} // namespace warplens::test
