// Measures the size of a warp access in the file, on patterns from the most regular to random ones. In memory
// it is 272 bytes.
#include "test/trace/patterns.h"
using namespace warplens;
using namespace warplens::trace;
using namespace warplens::trace::test;

namespace {

/// Returns the bytes of file per access; reads it back to be sure that no access is lost.
double bytes_per_access(const std::vector<Record>& records) {
  const auto path = scratch_file("size");
  Writer writer = good(Writer::create(path, sample_program()));
  good(writer.begin_launch(sample_launch(0)));
  good(append(writer, 0, records));
  good(writer.finish({}));
  const Reader reader = good(Reader::open(path));
  REQUIRE(read_all(reader, 0) == records);
  return static_cast<double>(reader.file_bytes()) / static_cast<double>(records.size());
}

constexpr std::uint64_t a = 0x7f0000000000, b = 0x7f1000000000, c = 0x7f2000000000;

} // namespace

TEST_CASE("streaming: c[i] = a[i] + b[i], one element a thread, blocks of 8 warps in turn, takes 0.2 bytes") {
  std::vector<Record> records;
  for (std::uint64_t block = 0; block < 2000; ++block)
    for (std::uint32_t warp = 0; warp < 8; ++warp) {
      auto address = [&](std::uint64_t base) {
        return [=](unsigned lane) { return base + 4 * (block * 256 + warp * 32 + lane); };
      };
      records.push_back({block, warp, make_access(1, ~0u, address(a))});
      records.push_back({block, warp, make_access(2, ~0u, address(b))});
      records.push_back({block, warp, make_access(3, ~0u, address(c), AccessKind::store)});
    }
  const double bytes = bytes_per_access(records);
  INFO(bytes << " bytes");
  CHECK(bytes <= 0.2);
}

TEST_CASE("barriers between accesses of many warps take at most 2 bytes") {
  const auto path = scratch_file("barriers");
  const auto bytes = [&](bool with_barriers) {
    std::vector<Record> records;
    for (std::uint64_t block = 0; block < 64; ++block)
      for (std::uint64_t round = 0; round < 20; ++round)
        for (std::uint32_t warp = 0; warp < 8; ++warp) {
          records.push_back({block, warp, make_access(1, ~0u, [&](unsigned lane) {
                               return 4 * (round * 256 + 32 * warp + lane);
                             })});
          if (with_barriers)
            records.push_back({block, warp, make_barrier(2, ~0u)});
        }
    Writer writer = good(Writer::create(path, sample_program()));
    good(writer.begin_launch(sample_launch(0)));
    good(append(writer, 0, records));
    good(writer.finish({}));
    CHECK(read_all(good(Reader::open(path)), 0) == records);
    return std::filesystem::file_size(path);
  };
  CHECK(bytes(true) - bytes(false) <= 2 * 64 * 20 * 8);
}

TEST_CASE("streaming in a grid-stride loop, warps of many blocks interleaved, takes 0.2 bytes") {
  std::vector<Record> records;
  for (std::uint64_t round = 0; round < 16; ++round) // 16 rounds of 4 iterations: rings drained in turn
    for (std::uint64_t block = 0; block < 64; ++block)
      for (std::uint32_t warp = 0; warp < 8; ++warp)
        for (std::uint64_t i = round * 4; i < round * 4 + 4; ++i) {
          auto address = [&](std::uint64_t base) {
            return [=](unsigned lane) { return base + 4 * ((i * 64 + block) * 256 + warp * 32 + lane); };
          };
          records.push_back({block, warp, make_access(1, ~0u, address(a))});
          records.push_back({block, warp, make_access(3, ~0u, address(c), AccessKind::store)});
        }
  const double bytes = bytes_per_access(records);
  INFO(bytes << " bytes");
  CHECK(bytes <= 0.2);
}

TEST_CASE(
    "scalar CSR SpMV: 131072 rows, 16 to 48 random sorted columns a row, one thread a row, takes 13 bytes") {
  std::mt19937 random(7);
  constexpr std::uint32_t rows = 131072, warps = 400;
  std::vector<Record> records;
  std::uint64_t row_start = 0;
  for (std::uint32_t warp = 0; warp < warps; ++warp) {
    const std::uint64_t block = warp / 8;
    const std::uint32_t in_block = warp % 8;
    std::array<std::vector<std::uint32_t>, warp_lanes> columns;
    std::array<std::uint64_t, warp_lanes> start{};
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      columns[lane].resize(16 + random() % 33);
      for (std::uint32_t& column : columns[lane])
        column = random() % rows;
      std::sort(columns[lane].begin(), columns[lane].end());
      start[lane] = row_start;
      row_start += columns[lane].size();
    }
    auto put = [&](std::uint64_t site, std::uint32_t active, auto address,
                   AccessKind kind = AccessKind::load) {
      records.push_back({block, in_block, make_access(site, active, address, kind)});
    };
    auto row = [&](std::uint64_t base) {
      return [=](unsigned lane) { return base + 4 * (warp * 32 + lane); };
    };
    put(1, ~0u, row(a));
    put(2, ~0u, row(a + 4));
    for (std::size_t j = 0; j < 48; ++j) {
      std::uint32_t active = 0;
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        active |= (j < columns[lane].size() ? 1u : 0u) << lane;
      if (!active)
        break;
      put(3, active, [&](unsigned lane) { return b + 4 * (start[lane] + j); });
      put(4, active, [&](unsigned lane) { return c + 4 * (start[lane] + j); });
      put(5, active, [&](unsigned lane) { return a + (1 << 24) + 4ull * columns[lane][j]; });
    }
    put(6, ~0u, row(c + (1 << 30)), AccessKind::store);
  }
  const double bytes = bytes_per_access(records);
  INFO(bytes << " bytes");
  CHECK(bytes <= 13);
}

TEST_CASE("fully random: any of 2^28 elements of 4 bytes, 28 bits a lane and 112 bytes in theory, takes 114 "
          "bytes") {
  std::mt19937_64 random(8);
  std::vector<Record> records;
  for (std::uint64_t i = 0; i < 40000; ++i)
    records.push_back({i / 800, static_cast<std::uint32_t>(i / 100 % 8),
                       make_access(1, ~0u, [&](unsigned) { return a + 4 * (random() >> 36); })});
  const double bytes = bytes_per_access(records);
  INFO(bytes << " bytes");
  CHECK(bytes <= 114);
}
