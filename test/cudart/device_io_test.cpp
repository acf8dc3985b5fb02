// printf of device code, and its heap.
#include "runtime/cpu/device_library/device_io.h"
#include "test/catch.h"

#include <cstring>

namespace {

/// Packs arguments as device code does: each aligned to its size.
class Packed {
public:
  template <class T> Packed& add(T value) {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    std::memcpy(bytes_ + offset_, &value, sizeof(T));
    offset_ += sizeof(T);
    return *this;
  }
  const char* bytes() const { return bytes_; }

private:
  alignas(16) char bytes_[256] = {};
  std::size_t offset_ = 0;
};

std::string printed(const char* format, const Packed& arguments, int expected_count) {
  int count = -1;
  const std::string text = warplens::cpu::format_packed(format, arguments.bytes(), count);
  CHECK(count == expected_count);
  return text;
}

} // namespace

TEST_CASE("device printf unpacks aligned arguments") {
  CHECK(printed("no arguments, 100%%\n", Packed(), 0) == "no arguments, 100%\n");
  CHECK(printed("%d %f %c|%s|", Packed().add(-7).add(2.5).add(int{'x'}).add("text"), 4) ==
        "-7 2.500000 x|text|");
  CHECK(printed("%u %lld %d %zu", Packed().add(4000000000u).add(-1LL).add(3).add(std::size_t{9}), 4) ==
        "4000000000 -1 3 9");
  CHECK(printed("%5d|%-5d|%05.1f|%+d|%#x", Packed().add(42).add(42).add(3.14159).add(1).add(255), 5) ==
        "   42|42   |003.1|+1|0xff");
  CHECK(printed("%*d|%.*f", Packed().add(4).add(7).add(2).add(1.0), 4) == "   7|1.00");
  CHECK(printed("%hhd %hd %lx", Packed().add(int{-1}).add(int{-2}).add(0xffL), 3) == "-1 -2 ff");
  CHECK(printed("%e %g %a", Packed().add(1.0).add(0.1).add(1.0), 3) == "1.000000e+00 0.1 0x1p+0");
  CHECK(printed("%p", Packed().add(reinterpret_cast<void*>(0x1000)), 1) == "0x1000");
  CHECK(printed("%s", Packed().add(static_cast<const char*>(nullptr)), 1) == "(null)");
  CHECK(printed("%", Packed(), 0) == "%");
  CHECK(printed("%y %d", Packed().add(5), 1) == "%y 5");
  const std::string long_text(3000, 'a');
  CHECK(printed("%s", Packed().add(long_text.c_str()), 1) == long_text);
}

TEST_CASE("printf without a format is an error") {
  CHECK(__warplens_cpu_vprintf(nullptr, nullptr) == -1);
}

TEST_CASE("the device heap") {
  CHECK(__warplens_cpu_malloc(0) == nullptr);
  void* const a = __warplens_cpu_malloc(24);
  REQUIRE(a);
  std::memset(a, 1, 24);
  __warplens_cpu_free(a);
  CHECK(__warplens_cpu_malloc(24) == a);
  __warplens_cpu_free(a);
  __warplens_cpu_free(nullptr);
  CHECK(__warplens_cpu_malloc(std::size_t{1} << 60) == nullptr);
}
