// Tests the overlay of device memory.
#include "machine/memory.h"
#include "test/catch.h"

#include <cstring>
#include <random>
#include <vector>

using namespace warplens::machine;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {

Range range_of(std::vector<u32>& array, u64 address) {
  return {address, array.size() * 4, reinterpret_cast<const std::byte*>(array.data())};
}

void put(Memory& memory, u64 address, u32 value, u32 writer) {
  std::byte* to = memory.write(address, 4, writer);
  REQUIRE(to);
  std::memcpy(to, &value, 4);
}
u32 get(Memory& memory, u64 address) {
  const std::byte* from = memory.read(address, 4);
  REQUIRE(from);
  u32 value = 0;
  std::memcpy(&value, from, 4);
  return value;
}

} // namespace

TEST_CASE("what is written is seen by later reads, and not by the caller") {
  std::vector<u32> array(3000, 5);
  Memory memory({range_of(array, 0x7000'0000'1004)}, true);
  CHECK(get(memory, 0x7000'0000'1004) == 5);
  put(memory, 0x7000'0000'1010, 9, 3);
  put(memory, 0x7000'0000'1010, 10, 4);
  put(memory, 0x7000'0000'3000, 5, 7); // the value that it has
  CHECK(get(memory, 0x7000'0000'1010) == 10);
  CHECK(get(memory, 0x7000'0000'1014) == 5);
  CHECK(array[3] == 5);
  CHECK(memory.written_pages() == 2);
  std::vector<std::array<u64, 4>> words;
  memory.for_each_written_word(
      [&](u64 address, u32 old, u32 value, u32 writer) { words.push_back({address, old, value, writer}); });
  CHECK(words == std::vector<std::array<u64, 4>>{{0x7000'0000'1010, 5, 10, 4}, {0x7000'0000'3000, 5, 5, 7}});
  memory.discard();
  CHECK(get(memory, 0x7000'0000'1010) == 5);
  CHECK(memory.written_pages() == 0);
}

TEST_CASE("accesses outside of the ranges, or over the end of a page, have no place") {
  std::vector<u32> first(16), second(16);
  Memory memory({range_of(first, 0x10000), range_of(second, 0x10080)});
  CHECK(memory.read(0x1003c, 4));
  CHECK_FALSE(memory.read(0x1003c, 8));
  CHECK_FALSE(memory.read(0x10040, 4));
  CHECK_FALSE(memory.read(0xfffc, 4));
  CHECK_FALSE(memory.write(0x1003e, 4, 0));
  CHECK_FALSE(memory.read(~u64{0} - 2, 4));
  CHECK(memory.read(0x10080, 64));
  CHECK(memory.contains(0x10000, 64));
  CHECK_FALSE(memory.contains(0x10000, 0x81));
  // Ranges that share a page keep what was written in each.
  put(memory, 0x1003c, 1, 0);
  put(memory, 0x10080, 2, 0);
  CHECK(get(memory, 0x1003c) == 1);
  CHECK(get(memory, 0x10080) == 2);
}

TEST_CASE("random accesses give what an array gives") {
  std::mt19937 random(1);
  std::vector<u32> array(20000);
  for (u32& value : array)
    value = static_cast<u32>(random());
  std::vector<u32> expected = array;
  const u64 address = reinterpret_cast<std::uintptr_t>(array.data());
  Memory memory({range_of(array, address)});
  for (int round = 0; round < 20000; ++round) {
    const u64 word = random() % array.size();
    if (random() % 2 == 0)
      put(memory, address + 4 * word, expected[word] = static_cast<u32>(random()), 0);
    else
      REQUIRE(get(memory, address + 4 * word) == expected[word]);
  }
  std::vector<u32> copy(array.size());
  CHECK(memory.copy_from(address, std::as_writable_bytes(std::span(copy))));
  CHECK(copy == expected);
  CHECK_FALSE(memory.copy_from(address + 4, std::as_writable_bytes(std::span(copy))));
  CHECK(memory.copy_to(address, std::as_bytes(std::span(copy)), 0));
}
