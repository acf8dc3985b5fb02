// Sectors, bytes and bank conflicts of single warp accesses, counted by hand.
#include "model/snapshot/coalesce.h"
#include "test/catch.h"

#include <functional>

using namespace warplens;

namespace {

trace::WarpAccess access(unsigned bytes, const std::function<std::uint64_t(unsigned)>& address,
                         std::uint32_t active = 0xffff'ffff) {
  trace::WarpAccess result;
  result.bytes = std::uint16_t(bytes);
  result.active = active;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    if (active >> lane & 1)
      result.addresses[lane] = address(lane);
  return result;
}

constexpr std::uint64_t base = 0x7f00'0000'0000;

constexpr model::LaneRules whole_warps{};

unsigned conflicts(unsigned bytes, const std::function<std::uint64_t(unsigned)>& address) {
  const auto banks = model::bank_wavefronts(access(bytes, address), whole_warps);
  return banks.count - banks.min;
}

} // namespace

TEST_CASE("Sectors per request of 4-byte accesses at each stride") {
  // 32 lanes span 32 × stride bytes; from 32 bytes on each lane has a sector of its own.
  const std::pair<unsigned, unsigned> expected[] = {{4, 4},   {8, 8},    {16, 16}, {32, 32},
                                                    {64, 32}, {128, 32}, {256, 32}};
  for (const auto& [stride, sectors] : expected) {
    INFO("stride " << stride);
    const auto touched =
        model::coalesce(access(4, [&, s = stride](unsigned lane) { return base + s * lane; }), whole_warps);
    CHECK(touched.sectors() == sectors);
    CHECK(touched.distinct_bytes() == 128);
    CHECK(touched.count == std::max(1u, std::min(32u, stride * 32 / 128)));
  }
}

TEST_CASE("Members of structs of 12 and 24 bytes") {
  // 32 structs of 12 bytes are 384 bytes, 12 sectors, and the accesses to each member touch all of them;
  // likewise 24 for 24 bytes.
  for (const unsigned member : {0u, 4u, 8u})
    CHECK(model::coalesce(access(4, [&](unsigned lane) { return base + 12 * lane + member; }), whole_warps)
              .sectors() == 12);
  for (const unsigned member : {0u, 8u, 16u})
    CHECK(model::coalesce(access(8, [&](unsigned lane) { return base + 24 * lane + member; }), whole_warps)
              .sectors() == 24);
}

TEST_CASE("Local memory has the words of a warp's lanes side by side") {
  // A thread's word n lies n lines on. A lane's request is given by the number of its first word.
  const auto sectors = [](unsigned bytes, const std::function<std::uint64_t(unsigned)>& word) {
    trace::WarpAccess of_lanes =
        access(bytes, [&](unsigned lane) { return base + 128 * word(lane) + 4 * lane; });
    of_lanes.space = Space::local;
    return model::coalesce(of_lanes, whole_warps).sectors();
  };
  CHECK(sectors(4, [](unsigned) { return 7; }) == 4);
  CHECK(sectors(8, [](unsigned) { return 7; }) == 8);
  CHECK(sectors(16, [](unsigned) { return 7; }) == 16);
  CHECK(sectors(4, [](unsigned lane) { return lane; }) == 32);
  CHECK(sectors(16, [](unsigned lane) { return 4 * lane; }) == 128);
  CHECK(sectors(4, [](unsigned lane) { return lane % 4; }) == 16);
  CHECK(sectors(8, [](unsigned lane) { return lane % 2; }) == 12); // of words 0, 1 and 2
  CHECK(sectors(1, [](unsigned) { return 7; }) == 4);
}

TEST_CASE("Vector loads, shared addresses, misalignment and few lanes") {
  const auto vectors =
      model::coalesce(access(16, [](unsigned lane) { return base + 16 * lane; }), whole_warps);
  CHECK(vectors.sectors() == 16);
  CHECK(vectors.count == 4);
  CHECK(vectors.distinct_bytes() == 512);

  const auto same = model::coalesce(access(4, [](unsigned) { return base + 64; }), whole_warps);
  CHECK(same.sectors() == 1);
  CHECK(same.distinct_bytes() == 4);

  CHECK(
      model::coalesce(access(4, [](unsigned lane) { return base + 4 + 4 * lane; }), whole_warps).sectors() ==
      5);
  CHECK(model::coalesce(access(
                            4, [](unsigned lane) { return base + 4 * lane; }, 0x0000'0101),
                        whole_warps)
            .sectors() == 2);

  // One lane across the border of two lines.
  const auto across = model::coalesce(access(16, [](unsigned) { return base + 120; }, 1), whole_warps);
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
  const auto doubles =
      model::bank_wavefronts(access(8, [](unsigned lane) { return 8ull * lane; }), whole_warps);
  CHECK(doubles.count == 2);
  CHECK(doubles.min == 2);
  const auto quads =
      model::bank_wavefronts(access(16, [](unsigned lane) { return 16ull * lane; }), whole_warps);
  CHECK(quads.count == 4);
  CHECK(quads.min == 4);
  // Rows of 128 bytes: all 16 lanes of a half-warp access the same two banks, all 8 of a quarter-warp the
  // same four.
  CHECK(conflicts(8, [](unsigned lane) { return 128ull * lane; }) == 2 * 15);
  CHECK(conflicts(16, [](unsigned lane) { return 128ull * lane; }) == 4 * 7);
  // All lanes want the same, or by pairs: two neighbouring phases are one, but for the GPUs before Volta.
  model::LaneRules joining = whole_warps;
  joining.joins_phases = true;
  const auto wavefronts = [&](unsigned bytes, auto&& address, const model::LaneRules& rules) {
    return model::bank_wavefronts(access(std::uint16_t(bytes), address), rules).count;
  };
  const auto broadcast = [](unsigned) { return std::uint64_t{0}; };
  CHECK(wavefronts(8, broadcast, whole_warps) == 2);
  CHECK(wavefronts(8, broadcast, joining) == 1);
  CHECK(wavefronts(16, broadcast, joining) == 2);
  CHECK(wavefronts(16, [](unsigned lane) { return 16ull * (lane / 2); }, joining) == 2);
  CHECK(wavefronts(16, [](unsigned lane) { return 16ull * (lane / 4 * 2 + lane % 2); }, joining) == 2);
  CHECK(wavefronts(16, [](unsigned lane) { return 16ull * lane; }, joining) == 4);
  // Only one half-warp takes part: one phase.
  const auto half =
      model::bank_wavefronts(access(8, [](unsigned lane) { return 8ull * lane; }, 0x0000'ffff), whole_warps);
  CHECK(half.count == 1);
  CHECK(half.min == 1);
}

TEST_CASE("Groups of lanes are coalesced by themselves") {
  // As on Fermi and Kepler: 128 bytes at a time, so half-warps of 8 bytes and quarter-warps of 16.
  const model::LaneRules by_128{128, 4, 4};
  const auto one_line = [](unsigned) { return base; };
  const auto row = [](unsigned lane) { return base + 16 * lane; };
  CHECK(model::coalesce(access(4, one_line), by_128).count == 1);
  CHECK(model::coalesce(access(8, one_line), by_128).count == 2);
  CHECK(model::coalesce(access(16, one_line), by_128).count == 4);
  CHECK(model::coalesce(access(16, one_line), by_128).sectors() == 4);
  CHECK(model::coalesce(access(16, one_line), by_128).distinct_bytes() == 16);
  CHECK(model::coalesce(access(16, one_line), whole_warps).count == 1);
  CHECK(model::coalesce(access(16, row), by_128).count == 4); // a line for each quarter-warp
  CHECK(model::coalesce(access(16, row), by_128).distinct_bytes() == 512);
  // Lanes 7 and 8 are in different quarters, 8 and 15 in the same.
  CHECK(model::coalesce(access(16, one_line, 0x0000'0180), by_128).count == 2);
  CHECK(model::coalesce(access(16, one_line, 0x0000'8100), by_128).count == 1);
  // As on Maxwell and Pascal: groups of eight lanes, whose 32 bytes may lie in one line with their
  // neighbours'.
  const model::LaneRules by_32{32, 4, 4};
  const auto coalesced = model::coalesce(access(4, [](unsigned lane) { return base + 4 * lane; }), by_32);
  CHECK(coalesced.count == 4);
  CHECK(coalesced.sectors() == 4);
  CHECK(coalesced.distinct_bytes() == 128);
  // From the middle of a sector on, each group touches two.
  CHECK(model::coalesce(access(4, [](unsigned lane) { return base + 16 + 4 * lane; }), by_32).sectors() == 8);
  CHECK(
      model::coalesce(access(4, [](unsigned lane) { return base + 16 + 4 * lane; }), whole_warps).sectors() ==
      5);
}

TEST_CASE("Bank conflicts where banks have 8 bytes, in both modes (Kepler)") {
  const model::LaneRules words_of_4{128, 8, 4}, words_of_8{128, 8, 8};
  const auto wavefronts = [](const model::LaneRules& rules, unsigned bytes, auto&& address) {
    const auto banks = model::bank_wavefronts(access(bytes, address), rules);
    return std::pair(banks.count, banks.min);
  };
  const auto stride = [](unsigned bytes) {
    return [=](unsigned lane) { return std::uint64_t{bytes} * lane; };
  };
  using Passes = std::pair<unsigned, unsigned>;
  // Neighbouring doubles: a whole warp at once in either mode.
  CHECK(wavefronts(words_of_8, 8, stride(8)) == Passes(1, 1));
  CHECK(wavefronts(words_of_4, 8, stride(8)) == Passes(1, 1));
  CHECK(wavefronts(words_of_8, 16, stride(16)) == Passes(2, 2));
  // Every other float: words i and i + 32 of 64 share a row in the mode of 4 bytes; in that of 8, each float
  // has a bank of its own.
  CHECK(wavefronts(words_of_4, 4, stride(8)) == Passes(1, 1));
  CHECK(wavefronts(words_of_8, 4, stride(8)) == Passes(1, 1));
  // Every fourth float: two rows of 256 bytes, each of which has 8 banks with two words that do not share.
  CHECK(wavefronts(words_of_4, 4, stride(16)) == Passes(2, 1));
  CHECK(wavefronts(words_of_8, 4, stride(16)) == Passes(2, 1));
  // A column of 33 floats: each lane's word lies in the next bank.
  CHECK(wavefronts(words_of_4, 4, stride(132)) == Passes(1, 1));
  // A column of 32 floats: one bank, two lanes to a row.
  CHECK(wavefronts(words_of_4, 4, stride(128)) == Passes(16, 1));
  CHECK(wavefronts(words_of_8, 4, stride(128)) == Passes(16, 1));
  // A column of 64 floats: one bank, and each lane a row of its own.
  CHECK(wavefronts(words_of_4, 4, stride(256)) == Passes(32, 1));
}

TEST_CASE("An access is uniform where the active lanes have one address") {
  CHECK(model::is_uniform(access(4, [](unsigned) { return base; })));
  CHECK_FALSE(model::is_uniform(access(4, [](unsigned lane) { return base + lane / 31 * 4; })));
  auto one_lane = access(4, [](unsigned lane) { return base + 4 * lane; });
  one_lane.active = 8;
  CHECK(model::is_uniform(one_lane));
}

TEST_CASE("An access to constant memory has a request for each address") {
  CHECK(model::distinct_addresses(access(4, [](unsigned) { return base; })).size() == 1);
  CHECK(model::distinct_addresses(access(4, [](unsigned lane) { return base + lane / 8 * 4; })).size() == 4);
  CHECK(model::distinct_addresses(access(4, [](unsigned lane) { return base + 4 * lane; })).size() == 32);
  CHECK(model::distinct_addresses(access(
                                      4, [](unsigned lane) { return base + 4 * lane; }, 0b1011))
            .size() == 3);
}

TEST_CASE("The compiler aggregates the atomics of lanes, by the GPU") {
  const model::LaneRules older;
  model::LaneRules adds, reduces;
  adds.adds_for_warp = reduces.adds_for_warp = reduces.reduces_for_warp = true;
  using enum LaneAggregation;
  const trace::WarpAccess one_word = access(4, [](unsigned) { return base; }),
                          half = access(4, [](unsigned) { return base; }, 0xffff'0000);
  CHECK(model::lanes_carried_out(one_word, none, reduces) == 0xffff'ffff);
  CHECK(model::lanes_carried_out(one_word, added, older) == 0xffff'ffff);
  CHECK(model::lanes_carried_out(one_word, added, adds) == 1);
  CHECK(model::lanes_carried_out(half, added, adds) == 0x1'0000);
  CHECK(model::lanes_carried_out(one_word, reduced, adds) == 1);
  CHECK(model::lanes_carried_out(half, reduced, adds) == 0xffff'0000); // not all lanes are active
  CHECK(model::lanes_carried_out(half, reduced, reduces) == 0x1'0000);
  trace::WarpAccess histogram = access(4, [](unsigned lane) { return base + lane % 3 * 4; });
  CHECK(model::lanes_carried_out(histogram, counted, reduces) == 0xffff'ffff);
  histogram.space = Space::shared;
  CHECK(model::lanes_carried_out(histogram, counted, reduces) == 0b111);
  CHECK(model::lanes_carried_out(histogram, counted, adds) == 0xffff'ffff);
}
