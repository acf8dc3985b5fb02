// Maps of DRAM, found from latencies that follow from a known map.
#include "model/dram/dram_map.h"
#include "placement/dram/find_dram_map.h"
#include "placement/dram/gf2.h"
#include "test/catch.h"

#include <random>

using namespace warplens;
using namespace warplens::placement;

namespace {

struct BankRow {
  std::uint64_t bank = 0, row = 0;
};

/// Latencies of a K80 in ns: a hit of the open row, another bank, a conflict; with noise.
class Memory {
public:
  explicit Memory(std::function<BankRow(std::uint64_t)> place_of) : place_of_(std::move(place_of)) {}
  double operator()(std::uint64_t first, std::uint64_t second) const {
    const BankRow a = place_of_(first), b = place_of_(second);
    const double ns = a.bank != b.bank ? 742 : a.row == b.row ? 352 : 1008;
    return ns + std::normal_distribution<double>(0, 12)(random_);
  }

private:
  std::function<BankRow(std::uint64_t)> place_of_;
  mutable std::mt19937_64 random_{3};
};

/// 4 channels of 16 banks, rows of 2 KB, chunks of 256 bytes.
BankRow in_turn(std::uint64_t address) {
  model::Gpu gpu;
  gpu.dram.channels = 4;
  gpu.dram.banks = 16;
  gpu.dram.row_bytes = 2048;
  gpu.dram.interleave_bytes = 256;
  const model::DramMap map(gpu);
  const model::DramMap::BankRow place = map(std::uint32_t(address / line_bytes));
  return {place.bank, place.row};
}

/// The same, with bits of the row folded into the bank by exclusive or.
BankRow folded(std::uint64_t address) {
  BankRow place = in_turn(address);
  place.bank ^= place.row & 15;
  return place;
}

std::vector<MeasuredPair> measured(const Memory& memory, const PairPlan& plan) {
  std::vector<MeasuredPair> pairs = pairs_to_measure(plan);
  for (MeasuredPair& pair : pairs)
    pair.ns = memory(pair.first, pair.second);
  return pairs;
}

std::vector<unsigned> bits_of(const FoundDramMap& map, AddressBit kind) {
  std::vector<unsigned> bits;
  for (unsigned i = 0; i < map.bits.size(); ++i)
    if (map.bits[i] == kind)
      bits.push_back(map.lowest_bit + i);
  return bits;
}

} // namespace

TEST_CASE("spaces over GF(2)") {
  const std::vector<std::uint64_t> vectors{0b0110, 0b0011, 0b0101};
  CHECK(basis_of(vectors).size() == 2);
  const auto functions = orthogonal_to(vectors, 0b1111);
  REQUIRE(functions.size() == 2);
  for (const std::uint64_t function : functions)
    for (const std::uint64_t vector : vectors)
      CHECK_FALSE(parity(function & vector));
}

TEST_CASE("a map that takes bits as they are") {
  const PairPlan plan;
  const auto map = find_dram_map(measured(Memory(in_turn), plan), plan);
  REQUIRE(map);
  CHECK(map->is_linear);
  CHECK(map->banks() == 64);
  CHECK(bits_of(*map, AddressBit::column) == std::vector<unsigned>{7, 10, 11, 12});
  CHECK(bits_of(*map, AddressBit::bank) == std::vector<unsigned>{8, 9, 13, 14, 15, 16});
  CHECK(bits_of(*map, AddressBit::row).front() == 17);
  CHECK(bits_of(*map, AddressBit::row).size() == 14);
}

TEST_CASE("a map that folds the row into the bank: one bit at a time fails, the null space does not") {
  const PairPlan plan;
  const auto pairs = measured(Memory(folded), plan);
  const auto classes = latency_classes(pairs);
  REQUIRE(classes);
  const auto one_by_one = bits_one_by_one(pairs, plan, *classes);
  CHECK(one_by_one[17 - plan.lowest_bit] == AddressBit::bank); // which is a row's
  const auto map = find_dram_map(pairs, plan);
  REQUIRE(map);
  CHECK(map->is_linear);
  CHECK(map->banks() == 64);
  CHECK(map->mispredicted < .001);
  CHECK(std::ranges::count(map->bank_functions, std::uint64_t{1} << 13 | std::uint64_t{1} << 17) == 1);
  CHECK(bits_of(*map, AddressBit::row).front() == 17);
}

TEST_CASE("a few mismeasured pairs do not hide the functions") {
  const PairPlan plan;
  auto pairs = measured(Memory(folded), plan);
  for (std::size_t i = 17; i < pairs.size(); i += 997)
    pairs[i].ns = 1010;
  const auto map = find_dram_map(pairs, plan);
  REQUIRE(map);
  CHECK(map->banks() == 64);
  CHECK(map->is_linear);
}

TEST_CASE("six channels are no functions of bits, but can be counted") {
  const auto six = [](std::uint64_t address) {
    const std::uint64_t chunk = address / 256, row_of_channel = chunk / 6 / 8;
    return BankRow{chunk % 6 * 16 + row_of_channel % 16, row_of_channel / 16};
  };
  PairPlan plan;
  plan.random_pairs = 16384;
  const Memory memory(six);
  const auto pairs = measured(memory, plan);
  const auto map = find_dram_map(pairs, plan);
  REQUIRE(map);
  CHECK_FALSE(map->is_linear);
  const auto classes = latency_classes(pairs);
  REQUIRE(classes);
  CHECK(count_banks(memory, plan, *classes) == 96);
}

TEST_CASE("the banks of each GPU's memory are counted, of which the largest have more than a thousand") {
  for (const char* name : {"v100", "a100", "h100-sxm", "h200", "t4", "rtx3090", "k80", "c2050"}) {
    INFO(name);
    const auto gpu = model::load_gpu(name, WARPLENS_GPU_FOLDER);
    REQUIRE(gpu);
    const model::DramMap map_of_gpu(*gpu);
    const Memory memory([&](std::uint64_t address) {
      const model::DramMap::BankRow place = map_of_gpu(std::uint32_t(address / line_bytes));
      return BankRow{place.bank, place.row};
    });
    const PairPlan plan;
    const auto pairs = measured(memory, plan);
    const auto map = find_dram_map(pairs, plan);
    if (!map)
      FAIL(map.error().message);
    const unsigned banks = gpu->dram.channels * gpu->dram.banks;
    if (map->is_linear) {
      CHECK(map->banks() == banks);
      continue;
    }
    const auto classes = latency_classes(pairs);
    REQUIRE(classes);
    CHECK(count_banks(memory, plan, *classes) == banks);
  }
}

TEST_CASE("a map like the paper's of a K80, with columns and rows in bits 8 to 21") {
  const auto place_of = [](std::uint64_t address) {
    return BankRow{(address >> 7 & 1) | address >> 22 << 1, address >> 15 & 127};
  };
  const PairPlan plan;
  const auto map = find_dram_map(measured(Memory(place_of), plan), plan);
  REQUIRE(map);
  CHECK(map->is_linear);
  CHECK(map->banks() == 1024);
  CHECK(bits_of(*map, AddressBit::column) == std::vector<unsigned>{8, 9, 10, 11, 12, 13, 14});
  CHECK(bits_of(*map, AddressBit::row) == std::vector<unsigned>{15, 16, 17, 18, 19, 20, 21});
}

TEST_CASE("latencies in which nothing conflicts, and too few of them") {
  const PairPlan plan;
  auto pairs = pairs_to_measure(plan);
  for (MeasuredPair& pair : pairs)
    pair.ns = 500;
  CHECK_FALSE(find_dram_map(pairs, plan));
  CHECK_FALSE(find_dram_map(std::vector<MeasuredPair>(10), plan));
}
