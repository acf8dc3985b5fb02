#include "model/snapshot/lane_pattern.h"
#include "test/catch.h"

#include <vector>

using namespace warplens;
using model::LanePatternCounter;

namespace {

/// Returns a load of 4 bytes by the lanes of the mask, each at `address(lane)`.
template <class Address> trace::WarpAccess load(Address&& address, std::uint32_t active = ~0u) {
  trace::WarpAccess access;
  access.active = active;
  access.bytes = 4;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (active >> lane & 1)
      access.addresses[lane] = address(lane);
  return access;
}

model::LanePatternCounts counts_of(const std::vector<trace::WarpAccess>& accesses) {
  LanePatternCounter counter;
  for (const trace::WarpAccess& access : accesses)
    counter.add(access);
  return counter.counts();
}

} // namespace

TEST_CASE("lanes: the distance that most neighbours have") {
  const auto strided = load([](unsigned lane) { return 4096 + 32 * lane; });
  CHECK(counts_of({strided, strided}).stride_bytes == 32);
  CHECK(counts_of({strided, strided}).regular == 2);
  CHECK(counts_of({load([](unsigned lane) { return 65536 - 8 * lane; })}).stride_bytes == -8);
  // Two rows of a tile, of 16 lanes each.
  const auto tile = load([](unsigned lane) { return 4096 * (lane / 16) + 4 * (lane % 16); });
  CHECK(counts_of({tile}).stride_bytes == 4);
  CHECK(counts_of({tile}).regular == 1);
  // Rows of two lanes have no distance that most have.
  const auto narrow = load([](unsigned lane) { return 4096 * (lane / 2) + 4 * (lane % 2); });
  CHECK(counts_of({narrow}).requests == 1);
  CHECK(counts_of({narrow}).regular == 0);
  // The commonest distance of several requests counts; their order does not matter.
  CHECK(counts_of({tile, strided, strided}).stride_bytes == 32);
  CHECK(counts_of({strided, strided, tile}).regular == 2);
}

TEST_CASE("lanes: idle ones between two leave the pair out, and single lanes have no pattern") {
  const auto even = load([](unsigned lane) { return 4 * lane; }, 0x5555'5555);
  CHECK(counts_of({even}).requests == 1);
  CHECK(counts_of({even}).regular == 0);
  CHECK(counts_of({load([](unsigned) { return 64; }, 1)}).requests == 0);
  const auto few = load([](unsigned lane) { return 12 * lane; }, 0x8000'0007);
  CHECK(counts_of({few}).stride_bytes == 12);
}

TEST_CASE("lanes: one address for all is uniform, and no distance") {
  const auto uniform = load([](unsigned) { return 400; });
  CHECK(counts_of({uniform}).uniform == 1);
  CHECK(counts_of({uniform}).regular == 0);
  const auto nearly = load([](unsigned lane) { return lane < 30 ? 400 : 404; });
  CHECK(counts_of({nearly}).uniform == 0);
}

TEST_CASE("lanes: addresses that are data have neither") {
  const auto scattered = load([](unsigned lane) { return lane * lane * 2654435761u % 1048576 / 4 * 4; });
  const auto counts = counts_of({scattered});
  CHECK(counts.requests == 1);
  CHECK(counts.regular == 0);
  CHECK(counts.uniform == 0);
}

TEST_CASE("lanes: consecutive elements that begin within a sector, and where they do most often") {
  const auto at = [](std::uint64_t begin) { return load([=](unsigned lane) { return begin + 4 * lane; }); };
  CHECK(counts_of({at(4096)}).misaligned == 0);
  CHECK(counts_of({at(4096)}).offset_bytes == 0);
  CHECK(counts_of({at(4096), at(4100), at(4104), at(4132)}).misaligned == 3);
  CHECK(counts_of({at(4096), at(4100), at(4104), at(4132)}).offset_bytes == 4);
  // Elements at another distance are strided, wherever they begin.
  CHECK(counts_of({load([](unsigned lane) { return 4100 + 8 * lane; })}).misaligned == 0);
}
