// Tests damaged files: cut short, flipped, forged. Each gives one clear line, never a crash, never other
// accesses.
#include "test/trace/patterns.h"
#include "trace/access_codec.h"
#include "trace/chunk_file.h"
#include "trace/inspect.h"
#include "trace/metadata.h"

#include <sstream>

using namespace warplens;
using namespace warplens::trace;
using namespace warplens::trace::test;

namespace {

struct Outcome {
  std::string error; ///< the error of open() or of reading; empty: none
  bool truncated = false;
  std::vector<Record> records; ///< the records of all launches
};

Outcome read_whole(const std::filesystem::path& path) {
  Outcome outcome;
  const auto reader = Reader::open(path);
  if (!reader)
    return {reader.error().message, false, {}};
  outcome.truncated = reader->truncated();
  for (const Launch& launch : reader->launches()) {
    const auto read = reader->for_each_access(
        launch.id, [&](std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
          outcome.records.push_back({block, warp, access});
        });
    if (!read)
      outcome.error = read.error().message;
  }
  return outcome;
}

bool is_one_line(const std::string& text) {
  return !text.empty() && text.find('\n') == std::string::npos && text.back() != '.';
}

Bytes joined(std::span<const Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

void contains(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  CHECK(is_one_line(text));
}

/// Writes a chunk of one part.
void write(ChunkOutput& output, ChunkType type, std::uint32_t launch, std::uint32_t records,
           const Bytes& payload) {
  Packer packer;
  good(output.write(type, launch, good(packer.pack(records, {&payload, 1}))));
}

/// Returns the error of a trace whose chunks are all well formed but for the given contents: checksums right,
/// contents wrong.
std::string error_of_forged(ChunkType type, std::uint32_t launch, std::uint32_t records, Bytes payload) {
  const auto path = scratch_file("forged");
  {
    ChunkOutput output = good(ChunkOutput::create(path));
    Bytes program, begin;
    encode(program, sample_program());
    write(output, ChunkType::program, 0, 1, program);
    encode(begin, sample_launch(0));
    write(output, ChunkType::launch, 0, 1, begin);
    write(output, type, launch, records, payload);
  }
  return read_whole(path).error;
}

} // namespace

TEST_CASE("a trace cut at any byte keeps a prefix or says that nothing is left") {
  const auto path = scratch_file("cut");
  write_sample(path, 1, 8);
  const Outcome complete = read_whole(path);
  REQUIRE(complete.error.empty());
  REQUIRE(complete.records.size() == 16);
  std::size_t records_left = 16;
  bool program_left = true;
  for (std::size_t size = std::filesystem::file_size(path); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    const Outcome outcome = read_whole(path);
    INFO("cut at " << size << ": " << outcome.error);
    if (outcome.error.empty()) {
      REQUIRE(program_left);
      REQUIRE(outcome.truncated);
      REQUIRE(outcome.records.size() <= records_left);
      REQUIRE(std::equal(outcome.records.begin(), outcome.records.end(), complete.records.begin()));
      records_left = outcome.records.size();
    } else { // not even the program's record is left, and so for every shorter prefix
      program_left = false;
      REQUIRE(is_one_line(outcome.error));
      REQUIRE(outcome.error.find(size ? "was cut short before its first record" : "it is empty") !=
              std::string::npos);
      REQUIRE(size < 100);
    }
  }
  CHECK(records_left == 0);
  CHECK_FALSE(program_left);
}

TEST_CASE("a flipped bit in any byte is found") {
  const auto path = scratch_file("flipped");
  write_sample(path, 1, 8);
  const FileBytes bytes = file_bytes(path);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  auto put = [&](std::size_t place, char byte) {
    file.seekp(static_cast<std::streamoff>(place));
    file.put(byte).flush();
  };
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    const std::size_t bit = place * 5 % 8;
    put(place, static_cast<char>(bytes[place] ^ (1 << bit)));
    const Outcome outcome = read_whole(path);
    INFO("bit " << bit << " of byte " << place << " of " << bytes.size());
    REQUIRE(is_one_line(outcome.error));
    put(place, bytes[place]);
  }
  CHECK(read_whole(path).error.empty());
}

TEST_CASE("a file that is no trace is distinguished from a damaged or newer one") {
  const auto path = scratch_file("other");
  CHECK(Reader::open(scratch_file("absent")).error().message ==
        "cannot read the trace " + scratch_file("absent").string() + ": No such file or directory");
  CHECK(Reader::open("/tmp").error().message == "cannot read the trace /tmp: it is not a regular file");
  write_file(path, {});
  CHECK(read_whole(path).error == path.string() + " is not a Warplens trace: it is empty");
  write_file(path, FileBytes(1000, 'x'));
  CHECK(read_whole(path).error ==
        path.string() + " is not a Warplens trace: its first bytes are not a trace's");
  write_sample(path);
  FileBytes newer = file_bytes(path);
  newer[8] = 16;
  write_file(path, newer);
  CHECK(read_whole(path).error.find("has format version 16, this warplens reads up to 15") !=
        std::string::npos);
  newer[8] = 14;
  write_file(path, newer);
  CHECK(read_whole(path).error.find("has format version 14, this warplens reads 15: record it again") !=
        std::string::npos);
}

TEST_CASE("something appended to a complete trace is found") {
  const auto path = scratch_file("longer");
  write_sample(path);
  FileBytes longer = file_bytes(path);
  longer.insert(longer.end(), 100, 'x');
  write_file(path, longer);
  CHECK(read_whole(path).error.find("there is no chunk where one should start") != std::string::npos);
}

TEST_CASE("forged contents behind right checksums are refused, each by name") {
  AccessEncoder encoder;
  for (const Record& record : random_records(3, 50))
    encoder.add(record.block, record.warp, record.access);
  const Bytes accesses = joined(encoder.take());
  CHECK(error_of_forged(ChunkType::accesses, 0, 50, accesses).empty());
  contains(error_of_forged(ChunkType::accesses, 0, 51, accesses), "it states 51 accesses and holds 50");
  contains(error_of_forged(ChunkType::accesses, 7, 50, accesses),
           "accesses of launch 7, which did not begin");
  contains(error_of_forged(ChunkType::accesses, 0, 50, {}), "its table of shapes ends too early");
  contains(error_of_forged(static_cast<ChunkType>(99), 0, 0, {}), "unknown type 99");

  Bytes many_shapes;
  put_varint(many_shapes, 1ull << 60);
  contains(error_of_forged(ChunkType::accesses, 0, 0, many_shapes), "more than can be");

  Bytes site;
  encode(site, sample_site(1));
  contains(error_of_forged(ChunkType::sites, 0, 4000, site), "states 4000 records and ends within record 1");
  site.push_back(0);
  contains(error_of_forged(ChunkType::sites, 0, 1, site), "goes on behind its last record");
  Site without_copies = sample_site(1);
  without_copies.copies = 0;
  Bytes impossible;
  encode(impossible, without_copies);
  contains(error_of_forged(ChunkType::sites, 0, 1, impossible),
           "record 0 of a chunk has an impossible value");

  Bytes again;
  encode(again, sample_launch(0));
  contains(error_of_forged(ChunkType::launch, 0, 1, again), "a launch begins twice");
  Bytes end;
  encode(end, LaunchEnd{3, true, 0, 0});
  contains(error_of_forged(ChunkType::launch_end, 3, 1, end), "a launch ends that did not begin");
  Bytes program;
  encode(program, sample_program());
  contains(error_of_forged(ChunkType::program, 0, 1, program),
           "it names no program at its start, or several");
}

TEST_CASE("chunks that promise too much are refused before memory is spent on them") {
  const auto path = scratch_file("promise");
  write_sample(path);
  FileBytes bytes = file_bytes(path);
  const std::size_t raw_size = file_header_bytes + 20;
  for (int i = 0; i < 4; ++i)
    bytes[raw_size + static_cast<std::size_t>(i)] = static_cast<char>(0xff);
  write_file(path, bytes);
  CHECK(read_whole(path).error.find("is too long") != std::string::npos);

  Bytes many;
  contains(error_of_forged(ChunkType::kernel_launches, 0, max_metadata_records, many),
           "more sites, allocations and launches than can be");
  { // a few kilobytes in the file, 80 MiB in memory
    ChunkOutput output = good(ChunkOutput::create(path));
    Bytes program, allocation;
    encode(program, sample_program());
    write(output, ChunkType::program, 0, 1, program);
    encode(allocation, Allocation{0, 0, std::string(max_chunk_bytes - 100, 'x')});
    for (int i = 0; i < 5; ++i)
      write(output, ChunkType::allocations, 0, 1, allocation);
  }
  contains(read_whole(path).error, "more sites, allocations and launches than can be");
}

TEST_CASE("memory used at impossible addresses, or before a launch that has begun, is refused") {
  const auto error_of = [](const MemoryUse& use) {
    Bytes payload;
    encode(payload, use);
    return error_of_forged(ChunkType::memory_uses, 0, 1, payload);
  };
  using Kind = MemoryUse::Kind;
  const std::uint64_t most = ~std::uint64_t{0};
  CHECK(error_of({1, Kind::read, most - 100, 100, 0, 1, ""}).empty());
  CHECK(error_of({1, Kind::unseen, 0, 0, 0, 0, "something"}).empty());
  contains(error_of({0, Kind::read, 0, 100, 100, 1, ""}), "memory used before launch 0 comes too late");
  const std::string impossible = "record 0 of a chunk has an impossible value";
  contains(error_of({1, Kind::read, most - 99, 100, 0, 1, ""}), impossible); // beyond the address space
  contains(error_of({1, Kind::read, 0, 100, most / 2, 4, ""}),
           impossible); // the rows exceed the address space
  contains(error_of({1, Kind::read, most / 2, 100, most / 2, 2, ""}), impossible);
  contains(error_of({1, Kind::read, 0, 100, 99, 2, ""}), impossible);       // rows within one another
  contains(error_of({1, Kind::read, 0, 0, 0, 1ull << 40, ""}), impossible); // rows of nothing
  contains(error_of({1, Kind(3), 0, 100, 100, 1, ""}), impossible);
  Bytes disorder;
  encode(disorder, MemoryUse{7, Kind::read, 0, 100, 100, 1, ""});
  encode(disorder, MemoryUse{6, Kind::read, 0, 100, 100, 1, ""});
  contains(error_of_forged(ChunkType::memory_uses, 0, 2, disorder),
           "memory used before launch 6 comes too late");
}

TEST_CASE("random payloads behind right checksums never crash the decoder") {
  AccessEncoder encoder;
  for (const Record& record : random_records(4, 200))
    encoder.add(record.block, record.warp, record.access);
  const Bytes original = joined(encoder.take());
  AccessDecoder decoder;
  std::mt19937_64 random(2024);
  std::uint64_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes payload = original;
    const auto changes = 1 + random() % 4;
    for (std::uint64_t i = 0; i < changes; ++i)
      payload[random() % payload.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0)
      payload.resize(random() % payload.size());
    std::uint32_t visited = 0;
    const auto decoded =
        decoder.decode(payload, 200, [&](std::uint64_t, std::uint32_t, const WarpAccess& access) {
          ++visited;
          for (unsigned lane = 0; lane < warp_lanes; ++lane)
            if (!(access.active >> lane & 1) && access.addresses[lane] != 0)
              FAIL("an inactive lane has an address");
        });
    if (decoded && visited != 200)
      FAIL("accesses are missing without an error");
    refused += !decoded;
  }
  CHECK(refused > 5000); // most changes cannot be seen without the checksum, but these can
}

TEST_CASE("random metadata never crashes the decoder") {
  std::mt19937_64 random(77);
  Bytes original;
  for (std::uint64_t id = 0; id < 20; ++id) {
    Site site = sample_site(id);
    site.depends_on = {1, 2, 3};
    encode(original, site);
  }
  std::uint64_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes payload = original;
    payload[random() % payload.size()] = static_cast<std::uint8_t>(random());
    std::vector<Site> sites;
    refused += !decode(payload, 20, sites);
  }
  CHECK(refused > 1000);
}

TEST_CASE("random uses of memory never crash the decoder, and none goes beyond the address space") {
  std::mt19937_64 random(78);
  Bytes original;
  for (std::uint32_t launch = 0; launch < 8; ++launch)
    for (const MemoryUse& use : sample_uses(launch))
      encode(original, use);
  std::uint64_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes payload = original;
    for (int change = 0; change < 3; ++change)
      payload[random() % payload.size()] = static_cast<std::uint8_t>(random());
    std::vector<MemoryUse> uses;
    refused += !decode(payload, 24, uses);
    for (const MemoryUse& use : uses)
      if (use.rows != 0 && use.address + (use.rows - 1) * use.pitch + use.row_bytes < use.address)
        FAIL("a use wraps around the address space");
  }
  CHECK(refused > 1000);
}
