// Traces for the tests: known ones, random ones, and the size of their files.
#pragma once

#include "support/temporary.h"
#include "test/catch.h"
#include "test/trace/append.h"
#include "trace/reader.h"

#include <fstream>
#include <iterator>
#include <random>
#include <tuple>

namespace warplens::trace::test {

inline std::filesystem::path scratch_file(const std::string& name) {
  static TemporaryDirectory folder = TemporaryDirectory::create().value();
  return folder.path() / name;
}

/// Returns the value; stops the test with the error's own words.
template <class T> decltype(auto) good(T&& expected) {
  INFO((expected ? std::string() : expected.error().message));
  REQUIRE(expected);
  if constexpr (!std::is_same_v<std::decay_t<T>, Expected<void>>)
    return std::move(*expected);
}

inline Program sample_program() {
  return {"./spmv u 1024", "cpu", "A100"};
}

inline Site sample_site(std::uint64_t id) {
  Site site;
  site.id = id;
  site.file = "spmv.cu";
  site.line = 20 + static_cast<std::uint32_t>(id);
  site.column = 7;
  site.expression = "val[j]";
  site.element_bytes = 4;
  site.sequence = 2;
  site.object = "val";
  site.macro = "LOAD";
  site.in_template = true;
  return site;
}

inline Launch sample_launch(std::uint32_t id, std::uint64_t blocks = 64) {
  Launch launch;
  launch.id = id;
  launch.kernel = "spmv(int const*, float*)";
  launch.symbol = "_Z4spmvPKiPf";
  launch.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
  launch.block = {256, 1, 1};
  launch.blocks = blocks;
  return launch;
}

/// Returns an access of 4 bytes a lane, with `address(lane)` for each active lane.
template <class Address>
WarpAccess make_access(std::uint64_t site, std::uint32_t active, Address address,
                       AccessKind kind = AccessKind::load) {
  WarpAccess access{site, active, 4, Space::global, kind, {}};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    if (active >> lane & 1)
      access.addresses[lane] = address(lane);
  return access;
}

inline WarpAccess make_barrier(std::uint64_t site, std::uint32_t active) {
  return {site, active, 0, Space::generic, AccessKind::barrier, {}};
}

/// Returns every shape of access: all kinds, spaces and masks, regular and wild addresses up to the ends of
/// the address space.
inline std::vector<Record> random_records(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Record> records;
  Record record;
  for (std::size_t i = 0; i < count; ++i) {
    if (random() % 4 == 0) {
      record.block = random() % 8 == 0 ? random() : random() % 50;
      record.warp = static_cast<std::uint32_t>(random() % 32);
    }
    const std::uint32_t masks[] = {~0u, ~0u, static_cast<std::uint32_t>(random()), 1u << random() % 32,
                                   0x0000ffff};
    const std::uint64_t base = random() % 8 == 0 ? random() : 0x7f0000000000 + random() % (1 << 24);
    const std::uint64_t stride = random() % 3 == 0 ? random() : random() % 256;
    const unsigned spread = random() % 65;
    const auto pattern = random() % 3;
    record.access = make_access(random() % 12, masks[random() % 5], [&](unsigned lane) {
      const std::uint64_t noise = spread == 0 ? 0 : random() >> (64 - spread);
      return pattern == 0 ? base + stride * lane : pattern == 1 ? base + noise : base - noise;
    });
    record.access.bytes = static_cast<std::uint16_t>(random() % 5 == 0 ? random() : 1u << random() % 5);
    record.access.space = static_cast<Space>(random() % 5);
    record.access.kind = static_cast<AccessKind>(random() % 5);
    if (record.access.kind == AccessKind::barrier)
      record.access = make_barrier(record.access.site, record.access.active);
    records.push_back(record);
  }
  return records;
}

inline std::vector<Record> read_all(const Reader& reader, std::uint32_t launch) {
  std::vector<Record> records;
  good(reader.for_each_access(launch, [&](std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
    records.push_back({block, warp, access});
  }));
  return records;
}

inline std::vector<MemoryUse> sample_uses(std::uint32_t launch) {
  return {{launch, MemoryUse::Kind::unseen, 0, 0, 0, 0, "an untraced launch of f()"},
          {launch, MemoryUse::Kind::written, 0x7f0000000000, 4096, 4096, 1, ""},
          {launch, MemoryUse::Kind::read, 0x7f0000000100, 100, 512, 7, ""}};
}

/// Writes a small complete trace with everything in it.
inline void write_sample(const std::filesystem::path& path, std::uint64_t seed = 1, std::size_t count = 40) {
  Writer writer = good(Writer::create(path, sample_program()));
  const std::vector<Site> sites{sample_site(0), sample_site(1)};
  good(writer.add_sites(sites));
  good(writer.add_allocation({0x7f0000000000, 4096, "val"}));
  for (std::uint32_t launch = 0; launch < 2; ++launch) {
    good(writer.add_memory_uses(sample_uses(launch)));
    good(writer.begin_launch(sample_launch(launch)));
    good(append(writer, launch, random_records(seed + launch, count)));
    good(writer.end_launch({launch, true, count * 32, count * 32}));
  }
  const std::vector<KernelLaunches> counts{{"spmv(int const*, float*)", "_Z4spmvPKiPf", 5}};
  good(writer.finish(counts));
}

using FileBytes = std::vector<char>;

inline FileBytes file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::filesystem::path& path, const FileBytes& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

} // namespace warplens::trace::test
