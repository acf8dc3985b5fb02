// Nsight Systems' export: values of launches, and databases damaged at random.

#include "import/kernel_counters.h"
#include "test/catch.h"

#include <cmath>
#include <cstring>
#include <random>
#include <sqlite3.h>

using namespace warplens;
using namespace warplens::import;

namespace {

/// Returns the bytes of a database that the statements make.
std::string database_of(const std::string& statements) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(":memory:", &database) == SQLITE_OK);
  char* message = nullptr;
  if (sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &message) != SQLITE_OK)
    FAIL(message);
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string text(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(database);
  return text;
}

constexpr const char* tables =
    "PRAGMA page_size = 512;"
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, demangledName, "
    "gridX, gridY, gridZ, blockX, blockY, blockZ);"
    "CREATE TABLE TARGET_INFO_GPU (id, name);"
    "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100');"
    "INSERT INTO StringIds VALUES (5, 'gather(int)'), (6, 'scatter(int)');";

/// Launches of two kernels, of which gather has two grids: enough for several pages.
std::string launches() {
  std::string text = tables;
  for (int i = 0; i < 60; ++i)
    text += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, {}, {}, 1, 1, 64, 2, 1);",
                        1000 * i, 1000 * i + 100 + i % 7, 5 + i % 2, 8 + i % 3);
  return text;
}

} // namespace

TEST_CASE("nsys: launches of a kernel with one grid are one median") {
  const std::string bytes = database_of(launches());
  CHECK(profiler_of(bytes).value() == Profiler::nsys);
  const auto kernels = read_nsys(bytes);
  if (!kernels)
    FAIL(kernels.error().message);
  REQUIRE(kernels->size() == 6); // two kernels, three grids
  const KernelCounters& first = kernels->front();
  CHECK(first.kernel == "gather(int)");
  CHECK(first.device == "NVIDIA H100");
  CHECK(first.grid == Extents{8, 1, 1});
  CHECK(first.block == Extents{64, 2, 1});
  CHECK(first.launches == 10);
  // Every sixth launch: 100, 106, 105, 104, 103, 102, 101, 100, 106, 105 ns.
  CHECK(first.counters.at("gpu__time_duration.sum") == Approx(103.5e-9));
  CHECK(first.range->shortest == Approx(100e-9));
  CHECK(first.range->longest == Approx(106e-9));
  CHECK((*kernels)[1].kernel == "scatter(int)");
}

TEST_CASE("nsys: a database that is written through a log is read from memory") {
  std::string bytes = database_of(launches());
  bytes[18] = bytes[19] = 2;
  CHECK(read_nsys(bytes).has_value());
}

TEST_CASE("nsys: pages that form a cycle end") {
  std::string text = tables;
  for (int i = 0; i < 2000; ++i)
    text +=
        fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, 5, 8, 1, 1, 64, 2, 1);", i, i);
  std::string bytes = database_of(text);
  // An interior page of a table (type 5) has the numbers of its children, 4 bytes each before a cell's key;
  // all lead to the page itself.
  constexpr std::size_t page_size = 512;
  std::size_t cycles = 0;
  for (std::size_t page = 1; page < bytes.size() / page_size; ++page) {
    char* const at = bytes.data() + page * page_size;
    if (at[0] != 5)
      continue;
    ++cycles;
    const auto number = static_cast<std::uint32_t>(page + 1);
    const char child[4] = {static_cast<char>(number >> 24), static_cast<char>(number >> 16),
                           static_cast<char>(number >> 8), static_cast<char>(number)};
    std::memcpy(at + 8, child, 4);
    const unsigned cells = static_cast<unsigned char>(at[3]) * 256u + static_cast<unsigned char>(at[4]);
    for (unsigned i = 0; i < cells; ++i) {
      const unsigned place =
          static_cast<unsigned char>(at[12 + 2 * i]) * 256u + static_cast<unsigned char>(at[13 + 2 * i]);
      if (place + 4 <= page_size)
        std::memcpy(at + place, child, 4);
    }
  }
  REQUIRE(cycles > 0);
  const auto kernels = read_nsys(bytes);
  REQUIRE_FALSE(kernels.has_value());
  CHECK(kernels.error().message.find("the database") == 0);
}

TEST_CASE("nsys: a damaged database is refused, or read as finite values") {
  const std::string original = database_of(launches());
  std::mt19937 random(11);
  std::size_t read = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = original;
    for (unsigned count = 1 + random() % 6; count > 0; --count) {
      const std::size_t place = random() % bytes.size();
      switch (random() % 5) {
      case 0: bytes.resize(place + 1); break;
      case 1: bytes.replace(place, 40, original.substr(random() % original.size(), 40)); break;
      case 2: bytes[place] = static_cast<char>(0xff); break;
      default: bytes[place] = static_cast<char>(random());
      }
    }
    const auto kernels = read_nsys(bytes);
    ++(kernels ? read : refused);
    if (!kernels) {
      CHECK_FALSE(kernels.error().message.empty());
      continue;
    }
    for (const KernelCounters& kernel : *kernels)
      for (const auto& [name, value] : kernel.counters)
        if (!std::isfinite(value) || value < 0)
          FAIL(name);
  }
  CHECK(read > 300);
  CHECK(refused > 300);
}
