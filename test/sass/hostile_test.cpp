// Tests that no bytes crash the decoder, and that each error is one line.
#include "sass/print.h"
#include "test/sass/decoded.h"

#include <cstring>
#include <random>

using namespace warplens;
using namespace warplens::sass;

namespace {

/// Decodes bytes that may be anything, and prints the table; returns the error's message.
std::string take_apart(const std::string& bytes) {
  const auto code = decode(bytes);
  if (code) {
    CHECK_FALSE(print(*code).empty());
    return {};
  }
  CHECK_FALSE(code.error().message.empty());
  CHECK(code.error().message.find('\n') == std::string::npos);
  return code.error().message;
}

template <class Number> void put(std::string& bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

} // namespace

TEST_CASE("what is no cubin is refused by name") {
  CHECK(take_apart("") == "not a cubin: it does not begin as a 64-bit ELF file does");
  CHECK(take_apart("\x7f"
                   "ELF") == "not a cubin: it does not begin as a 64-bit ELF file does");
  std::string cubin = recorded_cubin(80);
  put<std::uint16_t>(cubin, 18, 62);
  CHECK(take_apart(cubin) == "not a cubin: an ELF file for another machine than a CUDA GPU");
  cubin = recorded_cubin(80);
  put<std::uint8_t>(cubin, 0x31, 61);
  CHECK(take_apart(cubin) == "the cubin is for sm_61, whose instructions are not of 128 bits");
  cubin = recorded_cubin(80);
  put<std::uint64_t>(cubin, 0x28, ~std::uint64_t{0} - 10);
  CHECK(take_apart(cubin) == "the cubin's table of sections is not inside the file");
  CHECK(take_apart(recorded_cubin(80).substr(0, 40)) == "the cubin ends within its header");
}

TEST_CASE("a cubin cut at any place is refused or decoded") {
  const std::string cubin = recorded_cubin(80);
  for (std::size_t size = 0; size < cubin.size(); size += size < 128 ? 1 : 61)
    take_apart(cubin.substr(0, size));
}

TEST_CASE("random damage never crashes the decoder") {
  std::mt19937_64 random(2026);
  for (const int architecture : {80, 100}) {
    const std::string cubin = recorded_cubin(architecture);
    std::size_t refused = 0;
    for (int round = 0; round < 1000; ++round) {
      std::string damaged = cubin;
      for (auto damages = 1 + random() % 8; damages > 0; --damages)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      refused += !take_apart(damaged).empty();
    }
    CHECK(refused < 1000);
  }
}

TEST_CASE("damage to headers, symbols and lines is found or harmless") {
  std::mt19937_64 random(7);
  const std::string cubin = recorded_cubin(80);
  std::uint64_t sections = 0;
  std::memcpy(&sections, cubin.data() + 0x28, sizeof sections);
  std::size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = cubin;
    // The table of sections, or the sections before the code: symbols, lines, attributes.
    const std::uint64_t begin = round % 2 == 0 ? sections : 0, size = round % 2 == 0 ? 1600 : 3000;
    constexpr std::array<std::uint32_t, 6> values{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
    for (auto damages = 1 + random() % 3; damages > 0; --damages)
      put(damaged, begin + random() % size / 4 * 4, values[random() % values.size()]);
    refused += !take_apart(damaged).empty();
  }
  CHECK(refused > 300);
}
