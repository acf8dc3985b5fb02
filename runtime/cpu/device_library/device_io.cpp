// Implements printf, assert, malloc and free of device code.
#include "runtime/cpu/device_library/device_io.h"

#include "runtime/abi/intrinsics.h"
#include "runtime/cpu/device/held_lock.h"
#include "runtime/cpu/memory/memory.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <string_view>

namespace warplens::cpu {
namespace {

std::atomic<bool> assertion_failed = false;

/// Reads arguments from the packed buffer.
class PackedArguments {
public:
  explicit PackedArguments(const char* buffer) : buffer_(buffer) {}

  template <class T> T next() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, buffer_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    ++count_;
    return value;
  }
  int count() const { return count_; }

private:
  const char* buffer_;
  std::size_t offset_ = 0;
  int count_ = 0;
};

/// Returns the conversion specification at the start of `text`, which starts with %; all of `text` if it is
/// incomplete.
std::string_view specification(std::string_view text) {
  const std::size_t end = text.find_first_not_of("-+ #0123456789.*hlLjzt", 1);
  return end == text.npos ? text : text.substr(0, end + 1);
}

template <class T> void append(std::string& out, const std::string& spec, T value) {
  const int length = std::snprintf(nullptr, 0, spec.c_str(), value);
  if (length <= 0)
    return;
  const std::size_t before = out.size();
  out.resize(before + static_cast<std::size_t>(length) + 1);
  std::snprintf(out.data() + before, static_cast<std::size_t>(length) + 1, spec.c_str(), value);
  out.pop_back();
}

/// Formats one conversion whose `*`s have been replaced by their values.
void convert(std::string& out, std::string spec, PackedArguments& arguments, const TextAt& text_at) {
  const char type = spec.back();
  const bool wide = spec.find_first_of("ljzt") != spec.npos;
  switch (type) {
  case 'd':
  case 'i':
  case 'o':
  case 'u':
  case 'x':
  case 'X':
    if (wide)
      append(out, spec, arguments.next<long long>());
    else
      append(out, spec, arguments.next<int>());
    break;
  case 'c': append(out, spec, arguments.next<int>()); break;
  case 'a':
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    std::erase(spec, 'L'); // device code has no long double
    append(out, spec, arguments.next<double>());
    break;
  case 's': {
    const char* text = arguments.next<const char*>();
    if (text && text_at)
      append(out, spec, text_at(reinterpret_cast<std::uintptr_t>(text)).c_str());
    else
      append(out, spec, text ? text : "(null)");
    break;
  }
  case 'p': append(out, spec, arguments.next<const void*>()); break;
  default: out += spec; break; // no conversion: copied unchanged
  }
}

/// Prints CUDA's message.
void print_failed_assertion(const char* message, const char* file, unsigned line, const char* function) {
  std::string where;
  if (const LaneContext* lane = __warplens_cpu_current_lane()) {
    const std::uint32_t* block = lane->block->block_index;
    const std::uint32_t* thread = lane->thread_index;
    where = fmt::format("block: [{},{},{}], thread: [{},{},{}] ", block[0], block[1], block[2], thread[0],
                        thread[1], thread[2]);
  }
  const std::string text =
      fmt::format("{}:{}: {}: {}Assertion `{}` failed.\n", file, line, function, where, message);
  const Holding the_stream;
  std::fputs(text.c_str(), stderr);
}

} // namespace

void fail_assertion(const char* message, const char* file, unsigned line, const char* function) {
  print_failed_assertion(message, file, line, function);
  assertion_failed = true;
}

bool take_failed_assertion() {
  return assertion_failed.exchange(false);
}

std::string format_packed(const char* format, const char* packed, int& count, const TextAt& text_at) {
  PackedArguments arguments(packed);
  std::string out;
  std::string_view rest = format;
  while (!rest.empty()) {
    const std::size_t percent = std::min(rest.find('%'), rest.size());
    out += rest.substr(0, percent);
    rest.remove_prefix(percent);
    if (rest.empty())
      break;
    const std::string_view spec = specification(rest);
    rest.remove_prefix(spec.size());
    if (spec == "%%") {
      out += '%';
      continue;
    }
    std::string filled;
    for (const char letter : spec)
      filled += letter == '*' ? std::to_string(arguments.next<int>()) : std::string(1, letter);
    convert(out, std::move(filled), arguments, text_at);
  }
  count = arguments.count();
  return out;
}

int print_packed(const char* format, const char* arguments, const TextAt& text_at) {
  int count = 0;
  const std::string text = format_packed(format, arguments, count, text_at);
  const Holding the_stream;
  std::fwrite(text.data(), 1, text.size(), stdout); // stdio locks the stream, so that texts do not mix
  return count;
}

} // namespace warplens::cpu

using namespace warplens::cpu;

int __warplens_cpu_vprintf(const char* format, const char* arguments) {
  return format ? print_packed(format, arguments) : -1;
}

void __warplens_cpu_assertfail(const char* message, const char* file, unsigned line, const char* function,
                               std::size_t) {
  fail_assertion(message, file, line, function);
  __warplens_cpu_abort_kernel("assert failed"); // destructors of this stack do not run
}

void* __warplens_cpu_malloc(std::size_t bytes) {
  return bytes == 0 ? nullptr : DeviceMemory::instance().allocate(bytes);
}

void __warplens_cpu_free(void* pointer) {
  if (pointer && !DeviceMemory::instance().free(pointer))
    __warplens_cpu_abort_kernel("free of a pointer that malloc did not return");
}
