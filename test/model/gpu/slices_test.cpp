// The slice of the L2 in which a line lies: by hand, and the properties of the hashes.
#include "model/gpu/slices.h"
#include "test/catch.h"

#include <set>

using namespace warplens;
using model::SliceHash;

namespace {

model::Slices slices(std::uint32_t number, SliceHash hash) {
  model::Gpu gpu;
  gpu.l2.slices = number;
  gpu.l2.slice_index = hash;
  return model::Slices(gpu);
}

} // namespace

TEST_CASE("Slices by hand") {
  CHECK(slices(1, SliceHash::polynomial).of(12345) == 0);
  CHECK(slices(16, SliceHash::modulo).of(0x123) == 3);
  CHECK(slices(12, SliceHash::modulo).of(23) == 2 * 4 + 3); // 23 = 5·4 + 3, and 5 mod 3 is 2
  CHECK(slices(16, SliceHash::xor_fold).of(0x1234'5678) == (1 ^ 2 ^ 3 ^ 4 ^ 5 ^ 6 ^ 7 ^ 8));
  // x^4 + x + 1: x^4 is x + 1, x^5 is x^2 + x, and x^15 is 1 again.
  const model::Slices polynomial = slices(16, SliceHash::polynomial);
  CHECK(polynomial.of(1u << 3) == 8);
  CHECK(polynomial.of(1u << 4) == 3);
  CHECK(polynomial.of(1u << 5) == 6);
  CHECK(polynomial.of(1u << 15) == 1);
  CHECK(polynomial.of(1u << 15 | 1) == 0);
}

TEST_CASE("Lines are shared evenly, and strides of powers of two keep all slices busy by the polynomial") {
  for (const std::uint32_t number : {2u, 12u, 64u, 80u, 96u, 160u, 1024u})
    for (const SliceHash hash : {SliceHash::modulo, SliceHash::xor_fold, SliceHash::polynomial}) {
      INFO(number << " slices, hash " << int(hash));
      const model::Slices under_test = slices(number, hash);
      std::vector<unsigned> lines(number);
      for (std::uint32_t line = 0; line < number * 1024; ++line) {
        ++lines.at(under_test.of(line));
      }
      CHECK(lines == std::vector<unsigned>(number, 1024));
    }
  const auto slices_of_stride = [](SliceHash hash, unsigned shift) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t i = 0; i < 64; ++i)
      seen.insert(slices(64, hash).of(i << shift));
    return seen.size();
  };
  for (unsigned shift = 0; shift <= 24; ++shift) {
    CHECK(slices_of_stride(SliceHash::polynomial, shift) == 64);
    CHECK(slices_of_stride(SliceHash::modulo, shift) == (shift < 6 ? 64u >> shift : 1));
  }
}
