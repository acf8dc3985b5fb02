// Sectors, bytes and bank conflicts of single warp accesses, counted by hand.
#include "model/coalesce.h"
#include "test/catch.h"

#include <functional>

using namespace warplens;

namespace {

trace::WarpAccess access(unsigned bytes, const std::function<std::uint64_t(unsigned)>& address,
                         std::uint32_t active = 0xffff'ffff) {
  trace::WarpAccess result;
  result.bytes = std::uint16_t(bytes);
  result.active = active;
  for (unsigned lane = 0; lane < trace::warp_lanes; ++lane)
    if (active >> lane & 1)
      result.addresses[lane] = address(lane);
  return result;
}

constexpr std::uint64_t base = 0x7f00'0000'0000;

unsigned conflicts(unsigned bytes, const std::function<std::uint64_t(unsigned)>& address) {
  const auto banks = model::bank_passes(access(bytes, address));
  return banks.passes - banks.least;
}

} // namespace

TEST_CASE("Sectors per request of 4-byte accesses at each stride") {
  // 32 lanes span 32 × stride bytes; from 32 bytes on each lane has a sector of its own.
  const std::pair<unsigned, unsigned> expected[] = {{4, 4},   {8, 8},    {16, 16}, {32, 32},
                                                    {64, 32}, {128, 32}, {256, 32}};
  for (const auto& [stride, sectors] : expected) {
    INFO("stride " << stride);
    const auto touched =
        model::coalesce(access(4, [&, s = stride](unsigned lane) { return base + s * lane; }));
    CHECK(touched.sectors() == sectors);
    CHECK(touched.distinct_bytes() == 128);
    CHECK(touched.count == std::max(1u, std::min(32u, stride * 32 / 128)));
  }
}

TEST_CASE("Members of structs of 12 and 24 bytes") {
  // 32 structs of 12 bytes are 384 bytes, 12 sectors, and each member's walk comes by all of them; likewise
  // 24 for 24 bytes.
  for (const unsigned member : {0u, 4u, 8u})
    CHECK(model::coalesce(access(4, [&](unsigned lane) { return base + 12 * lane + member; })).sectors() ==
          12);
  for (const unsigned member : {0u, 8u, 16u})
    CHECK(model::coalesce(access(8, [&](unsigned lane) { return base + 24 * lane + member; })).sectors() ==
          24);
}

TEST_CASE("Vector loads, shared addresses, misalignment and few lanes") {
  const auto vectors = model::coalesce(access(16, [](unsigned lane) { return base + 16 * lane; }));
  CHECK(vectors.sectors() == 16);
  CHECK(vectors.count == 4);
  CHECK(vectors.distinct_bytes() == 512);

  const auto same = model::coalesce(access(4, [](unsigned) { return base + 64; }));
  CHECK(same.sectors() == 1);
  CHECK(same.distinct_bytes() == 4);

  CHECK(model::coalesce(access(4, [](unsigned lane) { return base + 4 + 4 * lane; })).sectors() == 5);
  CHECK(
      model::coalesce(access(4, [](unsigned lane) { return base + 4 * lane; }, 0x0000'0101)).sectors() == 2);

  // One lane across the border of two lines.
  const auto across = model::coalesce(access(16, [](unsigned) { return base + 120; }, 1));
  REQUIRE(across.count == 2);
  CHECK(across.lines[0].sectors() == 0b1000);
  CHECK(across.lines[1].sectors() == 0b0001);
  CHECK(across.distinct_bytes() == 16);
}

TEST_CASE("Bank conflicts of 4-byte accesses") {
  const auto stride = [](unsigned words) {
    return conflicts(4, [=](unsigned lane) { return 4ull * words * lane; });
  };
  CHECK(stride(1) == 0);
  CHECK(stride(2) == 1);
  CHECK(stride(32) == 31);
  CHECK(stride(33) == 0);
  CHECK(conflicts(4, [](unsigned) { return 40; }) == 0);                       // one word for all
  CHECK(conflicts(4, [](unsigned lane) { return 128ull * (lane % 2); }) == 1); // two words of one bank
  CHECK(conflicts(1, [](unsigned lane) { return std::uint64_t{lane}; }) == 0); // four lanes share a word
}

TEST_CASE("Bank conflicts of 8- and 16-byte accesses, which come in phases") {
  const auto doubles = model::bank_passes(access(8, [](unsigned lane) { return 8ull * lane; }));
  CHECK(doubles.passes == 2);
  CHECK(doubles.least == 2);
  const auto quads = model::bank_passes(access(16, [](unsigned lane) { return 16ull * lane; }));
  CHECK(quads.passes == 4);
  CHECK(quads.least == 4);
  // Rows of 128 bytes: all 16 lanes of a half-warp want the same two banks, all 8 of a quarter-warp the same
  // four.
  CHECK(conflicts(8, [](unsigned lane) { return 128ull * lane; }) == 2 * 15);
  CHECK(conflicts(16, [](unsigned lane) { return 128ull * lane; }) == 4 * 7);
  // Only one half-warp takes part: one phase.
  const auto half = model::bank_passes(access(8, [](unsigned lane) { return 8ull * lane; }, 0x0000'ffff));
  CHECK(half.passes == 1);
  CHECK(half.least == 1);
}
